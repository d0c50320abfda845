"""Other packages beside fastnoise: `python -m bench.peers`, or `make peers`.

Every peer is the real package, in an environment under `.bench/env`; those that can share one do.
Each line is measured in turns with fastnoise, in the same process, for the same size and threads.

`.bench/peers.json` holds what was measured:

    date, machine, python    when and where: strings
    rows                     one object a line of the table:
        peer, version        who; fastnoise itself is the peer "fastnoise"
        environment          which environment it was measured in
        law                  "laplace", "staircase" or "discrete laplace"; epsilon 1, sensitivity 1
        values, threads      how many values a call, on how many threads
        ns                   nanoseconds a value, with the addition to the data: median
        fastnoise_ns         the same of fastnoise: same law, values, threads and process, in turns
        secure               "yes" or "no", and what the random bits come from
        attack_proof         "yes" or "no", and why: do the low bits of a result give the data away?
        unfair               what else differs; "" if nothing does
    missing                  one object a peer that was not measured: peer, reason
"""
