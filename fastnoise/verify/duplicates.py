"""Is noise ever repeated: in a row, in threads, in forked children, in processes of their own?"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fastnoise.mechanisms.laplace import Laplace
from fastnoise.stream import Stream
from fastnoise.verify.outcome import Row, Tally
from fastnoise.verify.subjects import CHOICES, USUAL, data_dtype

CALLS = 25
DRAWS = 256  # a call: even their signs repeat by chance less than once in 2**70
THREADS, FORKS, PROCESSES = 8, 6, 2
SECONDS = 120  # that a process may take

# Run in interpreters of their own: nobody should fork a caller's process that runs threads.
FORKING = """
import os
import numpy as np
import fastnoise as fn
mechanism = fn.{mechanism!r}
mechanism.perturb(np.zeros(200_000))
print(mechanism.sample({draws}).tobytes().hex(), flush=True)
for _ in range({forks}):
    if os.fork() == 0:
        print(mechanism.sample({draws}).tobytes().hex(), flush=True)
        os._exit(0)
    os.wait()
"""
SPAWNED = """
import fastnoise as fn
print(fn.{mechanism!r}.sample({draws}).tobytes().hex())
"""


def rows() -> list[Row]:
    one: list[Any] = [Laplace(1.0)]
    forked = [Row("duplicates", "forked children", in_children, one)]
    return [
        Row("duplicates", "calls in a row", in_a_row, [*USUAL, *CHOICES]),
        Row("duplicates", "threads", in_threads, one),
        *(forked if hasattr(os, "fork") else []),
        Row("duplicates", "spawned processes", in_processes, one),
        Row("duplicates", "one key", under_one_key, one),
    ]


def different(noise: list[bytes], count: int, tally: Tally) -> None:
    tally.expect(len(noise) == count, f"{len(noise)} of {count} calls answered")
    again = len(noise) - len(set(noise))
    tally.add(len(noise), [f"{again} of {len(noise)} calls repeat noise"] if again else [])


def draw(mechanism: Any, stream: Stream | None = None) -> bytes:
    """The noise, or the choices, of one call."""
    if hasattr(mechanism, "choose"):
        costs = np.zeros((DRAWS, 8))
        return bytes(mechanism.choose(costs, stream=stream).tobytes())
    return bytes(mechanism.sample(DRAWS, stream=stream).tobytes())


def in_a_row(mechanism: Any, tally: Tally) -> None:
    different([draw(mechanism) for _ in range(CALLS)], CALLS, tally)
    if not hasattr(mechanism, "choose"):
        zeros = np.zeros((DRAWS, *mechanism._row_shape), data_dtype(mechanism))
        different([mechanism.perturb(zeros).tobytes() for _ in range(CALLS)], CALLS, tally)


def in_threads(mechanism: Any, tally: Tally) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        noise = list(pool.map(lambda _: draw(mechanism), range(THREADS * CALLS)))
    different(noise, THREADS * CALLS, tally)


def in_children(mechanism: Any, tally: Tally) -> None:
    """A process whose threads have run, and children that it forks."""
    script = FORKING.format(mechanism=mechanism, draws=DRAWS, forks=FORKS)
    different(answers(script, 1), FORKS + 1, tally)


def in_processes(mechanism: Any, tally: Tally) -> None:
    script = SPAWNED.format(mechanism=mechanism, draws=DRAWS)
    different(answers(script, PROCESSES), PROCESSES, tally)


def answers(script: str, count: int) -> list[bytes]:
    """Lines that `count` interpreters print, all started at once."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(_: int) -> list[bytes]:
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, timeout=SECONDS)
        if done.returncode:
            raise RuntimeError(f"a process failed: {done.stderr.decode().strip()[-300:]}")
        return done.stdout.split()

    with ThreadPoolExecutor(count) as pool:
        return [line for lines in pool.map(run, range(count)) for line in lines]


def under_one_key(mechanism: Any, tally: Tally) -> None:
    """Mechanisms, children and positions of one stream share nothing."""
    stream = Stream.from_key(os.urandom(32))
    mechanisms = [m for m in [*USUAL, *CHOICES] if getattr(m, "dim", 1) == 1]
    different([pattern(m, stream.at(0)) for m in mechanisms], len(mechanisms), tally)
    views = [stream.at(0), stream.at(DRAWS), stream.child(1), stream.child("1")]
    views += [stream.child(b"1"), stream.child(2), stream.child(1).child(1)]
    different([pattern(mechanism, view) for view in views], len(views), tally)


def pattern(mechanism: Any, stream: Stream) -> bytes:
    """What two mechanisms would have in common if they shared words: signs; or choices."""
    noise = draw(mechanism, stream)
    return noise if hasattr(mechanism, "choose") else (np.frombuffer(noise, np.int64) < 0).tobytes()
