"""The job beside a plain copy, columns beside arrays: `python -m bench.speed etl`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import fastnoise as fn
from bench.suite.limits import set_threads
from bench.suite.measure import seconds
from bench.table import Table

ROWS = 20_000_000
COLUMN = 10_000_000
GROUP = 1 << 20
NAMES = "abcdefgh"
PLAN = "\n".join(
    f'[columns.{name}]\nmechanism = "staircase"\nepsilon = 0.5\nclip = [0, 200000]\n'
    for name in NAMES[:4]
)
COPY = """
import sys, pyarrow.parquet as pq
source = pq.ParquetFile(sys.argv[1])
with pq.ParquetWriter(sys.argv[2], source.schema_arrow, use_dictionary=False) as target:
    for group in range(source.num_row_groups):
        target.write_table(source.read_row_group(group))
"""
# What getrusage tells may be the peak of the process that started this one.
MEMORY = """
import re, sys
from pathlib import Path
from fastnoise.cli import main
assert main(sys.argv[1:]) == 0
print(re.search("VmHWM:\\s*([0-9]+) kB", Path("/proc/self/status").read_text())[1])
"""


def etl_table(rows: int = ROWS, column: int = COLUMN) -> Table:
    caption = f"Files of 8 float64 columns, 4 of them perturbed; columns of {column:,}; 2 threads"
    return Table(caption, ("what", "measured", "wanted"), _lines(rows, column))


def _lines(rows: int, column: int) -> Iterator[tuple[str, str, str]]:
    set_threads(2)
    with tempfile.TemporaryDirectory() as folder:
        yield from _files(Path(folder), rows)
    yield from _columns(column)


def _files(folder: Path, rows: int) -> Iterator[tuple[str, str, str]]:
    large, small, plan = folder / "large.parquet", folder / "small.parquet", folder / "plan.toml"
    plan.write_text(PLAN)
    write(small, rows // 10, incomes)
    noisy, copied = folder / "out.parquet", folder / "copy.parquet"
    command = ["perturb", str(large), str(noisy), "--plan", str(plan), "--quiet"]

    def perturb() -> None:
        subprocess.run([sys.executable, "-m", "fastnoise", *command], check=True)

    def copy() -> None:
        subprocess.run([sys.executable, "-c", COPY, str(large), str(copied)], check=True)

    def clear() -> None:
        """Neither writes over a file whose pages are at hand, nor while the other's are synced."""
        noisy.unlink(missing_ok=True)
        copied.unlink(missing_ok=True)
        os.sync()

    for draw, what in ((mantissas, "random mantissas"), (incomes, "incomes in cents")):
        write(large, rows, draw)
        ours, plain = seconds(perturb, copy, runs=9, before=clear)
        yield (
            f"fastnoise perturb of {rows:,} rows of {what} against a plain PyArrow copy",
            f"{ours / plain:.2f} x ({ours:.1f} s, {rows / ours:,.0f} rows a second)",
            "<= 1.3 x",
        )
    peaks = [_peak([command[0], str(path), *command[2:]]) for path in (small, large)]
    yield (
        f"resident memory, {rows:,} rows against {rows // 10:,}",
        f"{peaks[1] / peaks[0]:.2f} x ({peaks[1] / 1024:.0f} MB)",
        "<= 1.1 x, 600 MB",
    )


def incomes(generator: np.random.Generator, size: int) -> Any:
    return np.round(generator.lognormal(10, 0.6, size), 2)


def mantissas(generator: np.random.Generator, size: int) -> Any:
    """What no codec can make smaller: the cheapest to copy, and noise on a grid is not."""
    return generator.random(size)


def write(path: Path, rows: int, draw: Any) -> None:
    """Row group by row group."""
    generator = np.random.default_rng(1)
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for first in range(0, rows, GROUP):
            size = min(GROUP, rows - first)
            writer.write_table(pa.table({name: draw(generator, size) for name in NAMES}))


def _peak(command: list[str]) -> int:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, *command], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def _columns(rows: int) -> Iterator[tuple[str, str, str]]:
    mechanism, x = fn.Staircase(epsilon=1.0), np.random.default_rng(1).random(rows)
    for name, column in (
        ("pandas", pd.Series(x)),
        ("Polars", pl.Series(x)),
        ("Arrow", pa.array(x)),
    ):
        ours, bare = seconds(
            lambda column=column: mechanism.perturb(column), lambda: mechanism.perturb(x), runs=9
        )
        yield f"{name} column against the bare array", f"{ours / bare:.2f} x", "<= 1.1 x"
