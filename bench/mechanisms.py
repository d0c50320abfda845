"""Every mechanism beside numpy, and whether its cost depends on more than the number of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.suite.cases import SUBJECTS, Case
from bench.suite.limits import set_threads
from bench.suite.measure import seconds
from bench.table import Table

VALUES = 8_000_000
RUNS = 15  # enough that some are not disturbed, on a machine that is shared with others
SIZES = (100_000, 8_000_000, 100_000_000)
EPSILONS = (10.0, 0.1, 0.01)


def mechanism_table(values: int = VALUES) -> Table:
    def lines() -> Iterator[tuple[str, str, str]]:
        set_threads(2)
        for name in SUBJECTS:
            case = Case(name, values)
            ours, numpys = (
                1e9 * s / case.x.size for s in seconds(case.ours, case.numpys, runs=RUNS)
            )
            measured = f"{numpys / ours:.1f} x ({ours:.2f} ns a value, numpy {numpys:.1f})"
            yield name, measured, f">= {case.wanted} x"

    caption = (
        f"{values:,} values, epsilon 1, `perturb` on 2 threads against the best numpy recipe and "
        "addition on one (`bench/suite/recipes.py`), least times of the same run"
    )
    return Table(caption, ("mechanism", "measured", "wanted"), lines())


def flat_table(sizes: Sequence[int] = SIZES) -> Table:
    middle = sizes[len(sizes) // 2]
    names = [f"{size:,}" for size in sizes] + [f"epsilon {epsilon}" for epsilon in EPSILONS]

    def lines() -> Iterator[tuple[str, ...]]:
        set_threads(2)
        for name in SUBJECTS:
            cases = [(size, 1.0) for size in sizes]
            cases += [(middle, epsilon) for epsilon in EPSILONS]
            costs = [_cost(name, size, epsilon) for size, epsilon in cases]
            spread = max(costs) / min(costs)
            yield name, *(f"{cost:.2f}" for cost in costs), f"{spread:.2f} x"

    caption = f"ns a value on 2 threads, in place; epsilon 1, or {middle:,} values"
    return Table(caption, ("mechanism", *names, "largest / least"), lines())


def _cost(name: str, values: int, epsilon: float) -> float:
    case = Case(name, values, epsilon=epsilon)
    case.y = case.x
    return 1e9 * seconds(case.ours, runs=max(5, 2_000_000 // values))[0] / case.x.size
