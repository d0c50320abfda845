"""Throughput against rows and threads, for a picture."""

from __future__ import annotations

from typing import Any

from bench.suite.cases import Case
from bench.suite.limits import Pass, set_threads
from bench.suite.measure import seconds

ROWS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


def scaling(rows: tuple[int, ...] = ROWS) -> list[dict[str, Any]]:
    """Values a second of `Staircase(1).perturb`, of numpy's recipe and of np.add."""
    points = []
    for count in rows:
        case = Case("Staircase", count)
        runs = max(5, min(1000, 10_000_000 // count))
        for threads in (1, 2):
            set_threads(threads)
            ours, add = seconds(case.ours, Pass(case.x, case.y, threads), runs=runs)
            points.append(_point("fastnoise", count, threads, ours))
            points.append(_point("np.add", count, threads, add))
        if count <= 10_000_000:
            (numpys,) = seconds(case.numpys, runs=5)
            points.append(_point("numpy recipe", count, 1, numpys))
    return points


def _point(what: str, rows: int, threads: int, time: float) -> dict[str, Any]:
    return {"what": what, "rows": rows, "threads": threads, "per second": round(rows / time)}
