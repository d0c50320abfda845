"""Runs of `fastnoise perturb`, and what they read."""

import decimal
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from fastnoise.cli import main

PLAN = """
release = "2026-11"

[columns.income]
mechanism = "staircase"
epsilon = 0.5
clip = [0, 200000]

[columns.visits]
mechanism = "discrete-staircase"
epsilon = 0.25
sensitivity = 3

[vectors.place]
columns = ["x", "y"]
mechanism = "l2-laplace"
epsilon = 0.1
sensitivity = 1.0
"""
NOISY = ["income", "visits", "x", "y"]


def laplace_of(*columns: str) -> str:
    """A plan of the same noise for each of these columns."""
    fields = 'mechanism = "laplace"\nepsilon = 1\nsensitivity = 1\n'
    return "".join(f'[columns."{name}"]\n{fields}' for name in columns)


class Job:
    """Runs the command; `plan` and `key` are its files, `source` and `target` what most tests take.

    The fixture `job` makes one.
    """

    def __init__(self, folder: Path, capsys) -> None:
        self.folder, self.capsys = folder, capsys
        self.plan, self.key = folder / "plan.toml", folder / "key"
        self.source, self.target = folder / "in.parquet", folder / "out.parquet"
        self.plan.write_text(PLAN)
        self.key.write_bytes(bytes(range(32)))
        self.key.chmod(0o600)

    def __call__(self, source, target, *options, plan=None) -> tuple[int, str, str]:
        status = main(
            ["perturb", str(source), str(target), "--plan", str(plan or self.plan), *options]
        )
        said = self.capsys.readouterr()
        return status, said.out, said.err

    def perturbed(self, source=None, target=None, *options) -> None:
        source, target = source or self.source, target or self.target
        status, _, problem = self(source, target, "--key-file", str(self.key), *options)
        assert (status, problem) == (0, "")

    def refused(self, source=None, target=None, *options) -> str:
        """The one line that says why."""
        source = self.source if source is None else source
        target = self.target if target is None else target
        status, said, problem = self(source, target, *options)
        assert (status, said, problem.count("\n")) == (1, "", 1), problem
        return problem

    def of(self, table: pa.Table, **how) -> pa.Table:
        """What becomes of a table in a Parquet file, which is written as `how` says."""
        pq.write_table(table, self.source, **how)
        self.perturbed()
        return pq.read_table(self.target)

    def take(self, name: str, content: bytes = b"") -> None:
        """Another source, and a target of its kind."""
        self.source, self.target = self.folder / name, self.folder / f"out{Path(name).suffix}"
        self.source.write_bytes(content)


def people(rows: int) -> pa.Table:
    """The plan's columns, and others of every kind."""
    index = np.arange(rows)
    when = [datetime(2026, 1, 1 + i % 28, tzinfo=UTC) for i in range(rows)]
    cents = [decimal.Decimal(i) / 100 for i in range(rows)]
    visits = [None if i % 5 == 0 else i % 100 for i in range(rows)]
    return pa.table(
        {
            "id": pa.array(index),
            "name": pa.array([f'"{i}", né' for i in range(rows)]),
            "income": pa.array(index * 10.0),
            "town": pa.array([f"town {i % 3}" for i in range(rows)]).dictionary_encode(),
            "visits": pa.array(visits, pa.int32()),
            "tags": pa.array([[i, None] for i in range(rows)], pa.list_(pa.int64())),
            "who": pa.array([{"a": i, "b": {"c": str(i)}} for i in range(rows)]),
            "cents": pa.array(cents, pa.decimal128(12, 2)),
            "when": pa.array(when, pa.timestamp("us", "UTC")),
            "x": pa.array(index / 7),
            "y": pa.array(index / 9, pa.float32()),
        }
    ).replace_schema_metadata({"made by": "a test"})


def flat(rows: int) -> pa.Table:
    return people(rows).drop_columns(["tags", "who", "town"])


def save(table: pa.Table, path: Path) -> None:
    """As the suffix says."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        opened = ipc.new_file if path.suffix == ".arrow" else ipc.new_stream
        with opened(path, table.schema) as writer:
            writer.write_table(table, 5)


def load(path: Path) -> pa.Table:
    opened = ipc.open_file if path.suffix == ".arrow" else ipc.open_stream
    return pq.read_table(path) if path.suffix == ".parquet" else opened(path).read_all()


def write(table, path, stored=False, **metadata):
    """As other writers do: key-value metadata, but no schema of Arrow's own."""
    with pq.ParquetWriter(path, table.schema, store_schema=stored) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata)
