"""The speed table: `python -m bench.speed`. Ratios to baselines in the same process."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np

import fastnoise as fn
from bench.suite import recipes
from bench.suite.measure import cached_start, cold_start, import_ratio, seconds

SMALL = 2_048
README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- bench.speed -->", "<!-- /bench.speed -->"


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
        law = self.mechanism
        noise = recipes.staircase(
            self.generator, self.rows, law.epsilon, law.sensitivity, law.gamma
        )
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


def table(rows: int) -> Iterator[str]:
    """The lines of the table, as they are measured."""
    versions = f"{platform.python_version()}, numpy {np.__version__}, numba {numba.__version__}"
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    yield f"{rows:,} float64, `Staircase(epsilon=1)`, medians; {machine}; Python {versions}:"
    yield ""
    yield f"| {'what':47} | {'measured':44} | {'wanted':9} |"
    yield f"|{'-' * 49}|{'-' * 46}|{'-' * 11}|"
    for what, measured, wanted in Bench(rows).lines():
        yield f"| {what:47} | {measured:44} | {wanted:9} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    options = parser.parse_args()
    lines = []
    for line in table(options.rows):
        print(line, flush=True)
        lines.append(line)
    if options.readme:
        text = README.read_text()
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
        README.write_text("\n".join([f"{before}{BEGIN}", *lines, f"{END}{after}"]))


if __name__ == "__main__":
    main()
