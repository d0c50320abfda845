"""The speed tables: `python -m bench.speed`. Ratios to baselines in the same process."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

import numba
import numpy as np

import fastnoise as fn
from bench.suite import recipes
from bench.suite.measure import cached_start, cold_start, import_ratio, seconds
from bench.suite.mechanisms import CASES, CHOICES, VALUES, Case, all_cases

SMALL = 2_048
README = Path(__file__).parent.parent / "README.md"
SIZES = (100_000, 8_000_000, 100_000_000)
EPSILONS = (10.0, 0.1, 0.01)
MACHINE = (
    f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, "
    f"numpy {np.__version__}, numba {numba.__version__}"
)


class Bench:
    """Ten million float64, epsilon 1, medians."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.mechanism = fn.Staircase(epsilon=1.0)
        self.generator = np.random.default_rng(1)
        self.x, self.y = self.generator.random(rows), np.zeros(rows)
        self.threads = numba.get_num_threads()

    def perturb(self) -> None:
        self.mechanism.perturb(self.x, out=self.y)

    def perturb_small(self) -> None:
        self.mechanism.perturb(self.x[:SMALL], out=self.y[:SMALL])

    def add(self) -> None:
        np.add(self.x, 1.0, out=self.y)

    def recipe(self) -> None:
        noise = recipes.staircase(self.generator, self.mechanism, self.rows)
        np.add(self.x, noise, out=self.y)

    def keystream(self) -> None:
        from fastnoise_kernels.chacha import BATCH, keystream

        words = self.y.view(np.uint32)
        batches = words.size // BATCH
        keystream(batches, np.zeros(8, np.uint32), np.uint64(0), words, grain=BATCH)

    def doubles(self) -> None:
        self.generator.random(out=self.y)

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """(what, measured, wanted), one at a time because they take a while."""
        per_row = 1e9 / self.rows
        numba.set_num_threads(1)
        stream, random = seconds(self.keystream, self.doubles)
        yield (
            "keystream against PCG64 doubles, 1 thread",
            f"{random / stream:.2f} x ({stream * per_row:.2f} ns for 8 bytes)",
            ">= 1.3 x",
        )
        one, add, recipe = seconds(self.perturb, self.add, self.recipe)
        yield (
            "perturb against numpy's Algorithm 1, 1 thread",
            f"{recipe / one:.1f} x ({one * per_row:.2f} ns a row, numpy {recipe * per_row:.1f})",
            ">= 10 x",
        )
        numba.set_num_threads(min(2, self.threads))
        two, add, recipe = seconds(self.perturb, self.add, self.recipe)
        yield (
            "the same on 2 threads",
            f"{recipe / two:.1f} x ({two * per_row:.2f} ns a row)",
            ">= 20 x",
        )
        yield (
            "time against np.add, 2 threads",
            f"{two / add:.2f} x ({add * per_row:.2f} ns a row)",
            "<= 3 x",
        )
        yield "2 threads against 1", f"{one / two:.2f} x", ">= 1.5 x"
        (short,) = seconds(self.perturb_small, runs=2_000)
        yield f"perturb of {SMALL:,} rows", f"{short * 1e6:.1f} microseconds", "<= 25"
        ratio, importing = import_ratio()
        yield (
            "import of Staircase against import numpy",
            f"{ratio:.2f} x ({importing * 1e3:.0f} ms)",
            "<= 1.5 x",
        )
        yield "first perturb, cached", f"{cached_start():.2f} s", "<= 1.2 s"
        yield "first perturb, cold", f"{cold_start():.1f} s", "<= 15 s"


def engine_table(rows: int) -> Iterator[str]:
    """The lines of the engine's table, as they are measured."""
    yield f"{rows:,} float64, `Staircase(epsilon=1)`, medians; {MACHINE}:"
    yield ""
    yield from _rows(("what", "measured", "wanted"), Bench(rows).lines())


def mechanism_table(values: int = VALUES, choices: tuple[int, int] = CHOICES) -> Iterator[str]:
    """Every mechanism beside numpy."""
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield (
        f"{values:,} values, epsilon 1, `perturb` on 2 threads against the best numpy recipe and "
        "addition on one (`bench/suite/recipes.py`), medians of the same run:"
    )
    yield ""

    def lines() -> Iterator[tuple[str, str, str]]:
        for name, case in all_cases(values, choices):
            ours, numpys = (1e9 * s / case.x.size for s in seconds(case.ours, case.numpys, runs=5))
            measured = f"{numpys / ours:.1f} x ({ours:.2f} ns a value, numpy {numpys:.1f})"
            yield name, measured, f">= {case.wanted} x"

    yield from _rows(("mechanism", "measured", "wanted"), lines())


def flat_table(sizes: Sequence[int] = SIZES) -> Iterator[str]:
    """How the cost of a value depends on how many there are, and on epsilon."""
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    middle = f"{sizes[len(sizes) // 2]:,}"
    names = [f"{size:,}" for size in sizes] + [f"epsilon {epsilon}" for epsilon in EPSILONS]
    yield f"ns a value on 2 threads, in place; epsilon 1, or {middle} values:"
    yield ""

    def lines() -> Iterator[tuple[str, ...]]:
        for name in CASES:
            cases = [(size, 1.0) for size in sizes]
            cases += [(sizes[len(sizes) // 2], epsilon) for epsilon in EPSILONS]
            costs = [_cost(name, size, epsilon) for size, epsilon in cases]
            spread = max(costs) / min(costs)
            yield name, *(f"{cost:.2f}" for cost in costs), f"{spread:.2f} x"

    yield from _rows(("mechanism", *names, "largest / least"), lines())


def _cost(name: str, values: int, epsilon: float) -> float:
    case = Case(name, values, epsilon)
    case.y = case.x
    return 1e9 * seconds(case.ours, runs=max(5, 2_000_000 // values))[0] / case.x.size


def _rows(names: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|{'|'.join('---' for _ in names)}|"
    for line in lines:
        yield f"| {' | '.join(line)} |"


TABLES = {"engine": engine_table, "mechanisms": mechanism_table, "flat": flat_table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], help="which; all by default")
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the engine's table")
    parser.add_argument("--readme", action="store_true", help="write the tables into README.md")
    options = parser.parse_args()
    for name in options.tables or TABLES:
        lines = []
        for line in engine_table(options.rows) if name == "engine" else TABLES[name]():
            print(line, flush=True)
            lines.append(line)
        print()
        if options.readme:
            _put_into_readme(name, lines)


def _put_into_readme(name: str, lines: list[str]) -> None:
    begin, end = f"<!-- bench.speed {name} -->", f"<!-- /bench.speed {name} -->"
    before, rest = README.read_text().split(begin)
    after = rest.split(end)[1]
    README.write_text("\n".join([f"{before}{begin}", *lines, f"{end}{after}"]))


if __name__ == "__main__":
    main()
