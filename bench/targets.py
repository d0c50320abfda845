"""Every mechanism as it is compiled for other processors, beside numpy: a process for each.

numpy chooses its instructions by itself, so that its recipes run as fast as they can here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from bench.suite.cases import SUBJECTS, Case
from bench.suite.limits import Keystream, set_threads
from bench.suite.measure import seconds
from bench.suite.targets import TARGETS, environment, runs_here
from bench.table import Table

VALUES = 2_000_000
RUNS = 9
KEYSTREAM = "keystream, 8 bytes, 1 thread"


def targets_table(values: int = VALUES, runs: int = RUNS) -> Table:
    names = [name for name in TARGETS if runs_here(name)]

    def lines() -> Iterator[tuple[str, ...]]:
        measured = [_measured(name, values, runs) for name in names]
        for row in (KEYSTREAM, *SUBJECTS):
            yield row, *(found[row] for found in measured)

    caption = (
        f"{values:,} values, epsilon 1, `perturb` on 2 threads against numpy's recipe on one, for "
        "kernels that are compiled for less than this processor has; wanted with AVX2: 2 x, of "
        "Staircase 10 x, and anywhere at most 50 ns for 8 bytes of keystream"
    )
    return Table(caption, ("mechanism", *names), lines())


def _measured(target: str, values: int, runs: int) -> dict[str, str]:
    command = [sys.executable, "-m", "bench.targets", str(values), str(runs)]
    variables = {**os.environ, **environment(target)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=variables)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def measure(values: int, runs: int) -> dict[str, str]:
    """In this process: what each row of the table says."""
    set_threads(1)
    keystream = Keystream(2 * values)
    cost = 8e9 * seconds(keystream, runs=runs)[0] / keystream.words.nbytes
    found = {KEYSTREAM: f"{cost:.2f} ns"}
    set_threads(2)
    for name in SUBJECTS:
        case = Case(name, values)
        ours, numpys = seconds(case.ours, case.numpys, runs=runs)
        found[name] = f"{numpys / ours:.1f} x ({1e9 * ours / case.x.size:.2f} ns)"
    return found


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
