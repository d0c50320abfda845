"""Compile every kernel ahead of time, say while a container image is built."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fastnoise.engine import integer_noise
from fastnoise.mechanisms.discrete_staircase import Geometric
from fastnoise.mechanisms.staircase import Staircase
from fastnoise.progress import progress
from fastnoise.rows import Rows
from fastnoise.stream import Stream

ROWS = 16


def warmup() -> int:
    """Compile, or load from the cache, all that calls will use; how many kernels that was."""
    from fastnoise_kernels.jit import every_twin

    jobs = _jobs()
    with every_twin():
        for job in progress(jobs):
            job()
    return len(jobs)


def _jobs() -> list[tuple[str, Callable[[], object]]]:
    staircase, stream = Staircase(epsilon=1.0), Stream.from_key(bytes(32))
    geometric = Geometric(epsilon=1.0)
    noise = partial(integer_noise, staircase._release(staircase.grid), bytes(32), Rows(0), ROWS)
    return [
        ("keystream", partial(stream.keystream, ROWS)),
        ("staircase noise", noise),
        ("float64", partial(staircase.perturb, np.zeros(ROWS))),
        ("float32", partial(staircase.perturb, np.zeros(ROWS, np.float32))),
        ("int64", partial(geometric.perturb, np.zeros(ROWS, np.int64))),
        ("uint64", partial(geometric.perturb, np.zeros(ROWS, np.uint64))),
    ]
