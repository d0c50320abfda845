"""What the engine does with ten million float64, and with a billion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module

import numpy as np

import fastnoise as fn
from bench.ids import id_lines
from bench.suite import recipes
from bench.suite.limits import Keystream, set_threads
from bench.suite.measure import cached_start, cold_start, import_ratio, seconds
from bench.table import Table

SMALL = 2_048
ROWS = 10_000_000
BILLION = 1_000_000_000
BUFFER = 4_000_000  # float64, one to read from and one to write to: 64 MB


class Engine:
    def __init__(self, rows: int, many: int, buffer: int) -> None:
        self.rows, self.many = rows, many
        self.mechanism = fn.Staircase(epsilon=1.0)
        self.generator = np.random.default_rng(1)
        self.x, self.y = self.generator.random(rows), np.zeros(rows)
        self.buffers = self.generator.random(buffer), np.zeros(buffer)
        self.keystream = Keystream(2 * rows)

    def perturb(self) -> None:
        self.mechanism.perturb(self.x, out=self.y)

    def perturb_small(self) -> None:
        self.mechanism.perturb(self.x[:SMALL], out=self.y[:SMALL])

    def perturb_one(self) -> None:
        self.mechanism.perturb(self.x[:1], out=self.y[:1])

    def layouts(self) -> dict[str, Callable[[], object]]:
        """Calls on what kernels cannot take as it is."""
        pandas, pyarrow = import_module("pandas"), import_module("pyarrow")
        x, mechanism, side = self.x, self.mechanism, int(self.rows**0.5)
        square = np.asfortranarray(x[: side * side].reshape(side, side))
        missing = self.generator.random(len(x)) < 0.1
        inputs = {
            "every other float64": np.repeat(x, 2)[::2],
            "every other float32": np.repeat(x.astype(np.float32), 2)[::2],
            "int64 to float64": (1000 * x).astype(np.int64),
            "big-endian float64": x.astype(">f8"),
            "Fortran order": square,
            "Arrow, a tenth null": pyarrow.array(x, mask=missing),
            "pandas Float64, a tenth NA": pandas.Series(pandas.arrays.FloatingArray(x, missing)),
        }
        return {
            what: partial(mechanism.perturb, values, nan="keep") for what, values in inputs.items()
        }

    def layout_lines(self) -> Iterator[tuple[str, str, str]]:
        """Against a contiguous array, on as many threads."""
        calls = self.layouts()
        for threads in (1, 2):
            set_threads(threads)
            plain, *others = seconds(
                partial(self.mechanism.perturb, self.x), *calls.values(), runs=5
            )
            for what, time in zip(calls, others, strict=True):
                yield (
                    f"{what} against contiguous float64, {threads} thread{'s' * (threads > 1)}",
                    f"{time / plain:.2f} x ({time * 1e9 / self.rows:.2f} ns a value)",
                    "",
                )

    def stream(self) -> None:
        """Many values through two buffers: each is a slice of one long column."""
        x, y = self.buffers
        stream = fn.Stream.from_key(bytes(32))
        for start in range(0, self.many, len(x)):
            self.mechanism.perturb(x, out=y, stream=stream.at(start))

    def repeat(self) -> None:
        """As many values again and again: what takes as long is disturbed as often."""
        for _ in range(self.many // self.rows):
            self.perturb()

    def add(self) -> None:
        np.add(self.x, 1.0, out=self.y)

    def recipe(self) -> None:
        noise = recipes.staircase(self.generator, self.mechanism, self.rows)
        np.add(self.x, noise, out=self.y)

    def doubles(self) -> None:
        self.generator.random(out=self.y)

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """(what, measured, wanted), one at a time because they take a while."""
        per_row = 1e9 / self.rows
        set_threads(1)
        stream, random = seconds(self.keystream, self.doubles)
        yield (
            "keystream against PCG64 doubles, 1 thread",
            f"{random / stream:.2f} x ({stream * per_row:.2f} ns for 8 bytes)",
            ">= 1.3 x",
        )
        one, add, recipe = seconds(self.perturb, self.add, self.recipe, runs=15)
        yield (
            "perturb against numpy's Algorithm 1, 1 thread",
            f"{recipe / one:.1f} x ({one * per_row:.2f} ns a row, numpy {recipe * per_row:.1f})",
            ">= 10 x",
        )
        yield (
            "time against np.add, 1 thread",
            f"{one / add:.2f} x ({add * per_row:.2f} ns a row)",
            "<= 3 x",
        )
        set_threads(2)
        two, add, recipe = seconds(self.perturb, self.add, self.recipe, runs=15)
        yield (
            "the same on 2 threads",
            f"{recipe / two:.1f} x ({two * per_row:.2f} ns a row)",
            ">= 20 x",
        )
        yield (
            "time against np.add, 2 threads",
            f"{two / add:.2f} x ({add * per_row:.2f} ns a row)",
            "<= 2 x",
        )
        yield "2 threads against 1", f"{one / two:.2f} x", ">= 1.5 x"
        stream, repeat = seconds(self.stream, self.repeat, runs=3)
        yield (
            f"{self.many:,} through 64 MB of buffers, a value, against {self.rows:,} at once",
            f"{stream / repeat:.2f} x ({stream * 1e9 / self.many:.2f} ns)",
            "<= 1.1 x",
        )
        yield from id_lines(self.rows)
        set_threads(2)
        one, short = seconds(self.perturb_one, self.perturb_small, runs=2_000)
        yield "perturb of 1 row", f"{one * 1e6:.1f} microseconds", "<= 6"
        yield f"perturb of {SMALL:,} rows", f"{short * 1e6:.1f} microseconds", "<= 10"
        yield from self.layout_lines()
        ratio, importing = import_ratio()
        yield (
            "import of Staircase against import numpy",
            f"{ratio:.2f} x ({importing * 1e3:.0f} ms)",
            "<= 1.5 x",
        )
        yield "first perturb, cached", f"{cached_start():.2f} s", "<= 0.7 s"
        yield "first perturb, cold", f"{cold_start():.1f} s", "<= 8 s"


def engine_table(rows: int = ROWS, many: int = BILLION, buffer: int = BUFFER) -> Table:
    caption = f"{rows:,} float64, `Staircase(epsilon=1)`, least times"
    return Table(caption, ("what", "measured", "wanted"), Engine(rows, many, buffer).lines())
