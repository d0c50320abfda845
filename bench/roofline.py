"""How far each kernel is from what limits it: the bytes it moves, the keystream it uses.

A kernel can be no faster than the slower of the two, and computes besides. Floats are read once
more before that: nothing may be drawn or written while one of them might be NaN. On one thread,
where nothing else disturbs, and on two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from fastnoise_kernels import layout
from fastnoise_kernels.words import words_stored

from bench.suite.cases import CANDIDATES, SUBJECTS, Case
from bench.suite.limits import Pass, Read, Words, set_threads
from bench.suite.measure import seconds
from bench.table import Table

VALUES = 8_000_000


def keystream_bytes(mechanism: Any) -> float:
    """Bytes of keystream a value, rejections and ties aside."""
    if hasattr(mechanism, "choose"):
        return 8.0 / CANDIDATES
    release = mechanism._law(mechanism.grid)
    return 4.0 * words_stored.py_func(int(release.tables[layout.WIDTH])) / release.dim


def bytes_moved(case: Case) -> tuple[int, int]:
    """A value: read before any noise; then read, and written."""
    size = case.x.itemsize
    checked = case.x.dtype.kind == "f" and not case.chooses
    return size if checked else 0, size if case.chooses else 2 * size


def roofline_table(values: int = VALUES) -> Table:
    def lines() -> Iterator[tuple[str, ...]]:
        for name in SUBJECTS:
            case = Case(name, values)
            words = keystream_bytes(case.mechanism)
            before, moved = bytes_moved(case)
            ours = []
            for threads in (1, 2):
                set_threads(threads)
                ours.append(_line(case, threads, words))
            shown = f"{before} + {moved}" if before else str(moved)
            yield name, shown, f"{words:.1f}", *ours[0], *ours[1]

    caption = (
        f"What limits each kernel, {values:,} values: ns a value for its bytes (floats are read "
        "once before anything is written; then `np.add`, on as many threads) and its keystream "
        "(AES-256 in the cache), ns it takes, and how far that is from its limit: the first "
        "reading, then the slower of the other two; on 1 thread, then on 2"
    )
    columns = ("memory", "keystream", "kernel", "distance") * 2
    return Table(caption, ("mechanism", "bytes moved", "of keystream", *columns), lines())


def _line(case: Case, threads: int, words: float) -> list[str]:
    before, moved = bytes_moved(case)
    target = np.zeros_like(case.x) if case.y is None else case.y
    fill = Words(max(1 << 18, int(case.x.size * words)))
    kernel, read, added, stream = seconds(
        case.ours, Read(case.x), Pass(case.x, target, threads), fill
    )
    read *= before / case.x.itemsize
    added *= moved / (2 * case.x.itemsize)
    stream *= case.x.size * words / fill.bytes
    times = [1e9 * time / case.x.size for time in (read + added, stream, kernel)]
    limit = read + max(added, stream)
    return [*(f"{time:.2f}" for time in times), f"{kernel / limit:.1f} x"]
