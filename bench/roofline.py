"""How far each kernel is from what limits it: the bytes it moves, the keystream it uses.

A kernel can be no faster than the slower of the two, and computes besides. On one thread, where
nothing else disturbs, and on two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from fastnoise_kernels import layout

from bench.suite.cases import CANDIDATES, SUBJECTS, Case
from bench.suite.limits import Pass, Words, set_threads
from bench.suite.measure import seconds
from bench.table import Table

VALUES = 8_000_000


def keystream_bytes(mechanism: Any) -> float:
    """Bytes of keystream a value, rejections and ties aside."""
    if hasattr(mechanism, "choose"):
        return 8.0 / CANDIDATES
    release = mechanism._release(mechanism.grid)
    return 4.0 * int(release.law[layout.WIDTH]) / release.dim


def bytes_moved(case: Case) -> float:
    """Read, and written, a value."""
    return float(case.x.itemsize * (1 if case.y is None else 2))


def roofline_table(values: int = VALUES) -> Table:
    def lines() -> Iterator[tuple[str, ...]]:
        for name in SUBJECTS:
            case = Case(name, values)
            words = keystream_bytes(case.mechanism)
            moved, ours = bytes_moved(case), []
            for threads in (1, 2):
                set_threads(threads)
                ours.append(_line(case, threads, moved, words))
            yield name, f"{moved:.0f}", f"{words:.1f}", *ours[0], *ours[1]

    caption = (
        f"What limits each kernel, {values:,} values: ns a value for its bytes (`np.add`, on as "
        "many threads) and its keystream (ChaCha20 in the cache), ns it takes, and how far that is "
        "from the slower of the two; on 1 thread, then on 2"
    )
    columns = ("memory", "keystream", "kernel", "distance") * 2
    return Table(caption, ("mechanism", "bytes moved", "of keystream", *columns), lines())


def _line(case: Case, threads: int, moved: float, words: float) -> list[str]:
    target = np.zeros_like(case.x) if case.y is None else case.y
    fill = Words(max(1 << 18, int(case.x.size * words)))
    kernel, memory, stream = seconds(case.ours, Pass(case.x, target, threads), fill)
    memory *= moved / (2 * case.x.itemsize)
    stream *= case.x.size * words / fill.bytes
    times = [1e9 * time / case.x.size for time in (memory, stream, kernel)]
    return [*(f"{time:.2f}" for time in times), f"{kernel / max(memory, stream):.1f} x"]
