"""Compile every kernel ahead of time, say while a container image is built."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from fastnoise.laws.engine import compiled_blocks, integer_noise, vector_noise
from fastnoise.mechanisms.box_staircase import BoxStaircase
from fastnoise.mechanisms.discrete_staircase import Geometric
from fastnoise.mechanisms.l1_staircase import L1Staircase
from fastnoise.mechanisms.l2_laplace import L2Laplace
from fastnoise.mechanisms.staircase import Staircase
from fastnoise.mechanisms.staircase_choice import StaircaseChoice
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
    stream, staircase, geometric = Stream.from_key(bytes(32)), Staircase(1.0), Geometric(1.0)
    vectors = [L2Laplace(1.0, 2), L1Staircase(1.0, 2), BoxStaircase(1.0, (1.0, 1.0))]
    plane = np.zeros((ROWS, 2))
    noise = partial(integer_noise, staircase._release(staircase.grid), bytes(32), Rows(0), ROWS)
    vector = vectors[0]._release(vectors[0].grid)
    return [
        ("keystream", partial(stream.keystream, ROWS)),
        ("single blocks", partial(compiled_blocks, bytes(32), [(0, 0)])),
        ("staircase noise", noise),
        ("float64", partial(staircase.perturb, np.zeros(ROWS))),
        ("float32", partial(staircase.perturb, np.zeros(ROWS, np.float32))),
        ("int64", partial(geometric.perturb, np.zeros(ROWS, np.int64))),
        ("uint64", partial(geometric.perturb, np.zeros(ROWS, np.uint64))),
        ("vector noise", partial(vector_noise, vector, bytes(32), Rows(0), ROWS)),
        *((type(law).__name__, partial(law.perturb, plane)) for law in vectors),
        ("float32 vectors", partial(vectors[0].perturb, plane.astype(np.float32))),
        ("choices", partial(StaircaseChoice(1.0).choose, plane)),
    ]
