"""Compile every kernel ahead of time, say while a container image is built."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from fastnoise.bits import compiled_blocks
from fastnoise.compiled import read_only
from fastnoise.progress import progress
from fastnoise.registry import REGISTRY
from fastnoise.repeats import has_repeats
from fastnoise.rows import Rows
from fastnoise.stream import Stream
from fastnoise.tags import block_tags, text_tags

ROWS = 16
FLOATS, INTEGERS = ("float64", "float32"), ("int64", "uint64")


def command(options: argparse.Namespace) -> int:
    from fastnoise_kernels.cache import where_kept

    started = time.perf_counter()
    count = warmup()
    print(f"{count} kernels ready in {time.perf_counter() - started:.1f} s ({where_kept()})")
    return 0


def warmup() -> int:
    """Compile, or load from the cache, all that calls will use; how many kernels that was."""
    from fastnoise_kernels.jit import every_twin

    jobs = _jobs()
    with every_twin():
        for job in progress(jobs):
            job()
    return len(jobs)


def _jobs() -> list[tuple[str, Callable[[], object]]]:
    """One for each kernel: a law of each filler, for each dtype that kernels are compiled for."""
    jobs: list[tuple[str, Callable[[], object]]] = [
        ("keystream", partial(Stream.from_key(bytes(32)).keystream, ROWS)),
        ("single blocks", partial(compiled_blocks, bytes(32), [0])),
        ("repeats of rows", _find_repeats),
        ("tags of ids", _make_tags),
    ]
    ready: set[str] = set()

    def add(job: Callable[[], object], *compiles: str) -> None:
        if needed := [name for name in compiles if name not in ready]:
            jobs.append((", ".join(needed), job))
            ready.update(needed)

    for entry in REGISTRY.values():
        for mechanism in entry.build():
            if entry.kind == "channel":
                add(partial(mechanism.choose, np.zeros((ROWS, 2))), "choices")
                continue
            law = mechanism._law(mechanism.grid)
            what = "numbers" if law.dim == 1 else "vectors"
            add(partial(law.noise, bytes(32), Rows(0), ROWS), f"noise of {what}")
            for dtype in INTEGERS if law.integers else FLOATS:
                # Loops are compiled for each dtype, fillers for each law: their sum.
                zeros = np.zeros((ROWS, *mechanism._row_shape), dtype)
                add(partial(mechanism.perturb, zeros), law.filler, f"{dtype} {what}")
    return jobs


def _find_repeats() -> None:
    """Numbers close together, then addresses of 96 bits."""
    ids = read_only(np.array([1, 0]))
    has_repeats(ids)
    has_repeats(ids, read_only(np.ones(2, np.uint32)))


def _make_tags() -> None:
    text_tags(np.zeros(2, np.int64), np.zeros(0, np.uint8), bytes(32), alone=True)
    block_tags(b"i", np.zeros((1, 2), np.uint64), bytes(32), alone=True)
