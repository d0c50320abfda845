"""Does `fastnoise perturb` keep all that it does not perturb, in every format?"""

import decimal
import json
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from fastnoise.cli import main

pytestmark = pytest.mark.long

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


@pytest.fixture
def job(tmp_path, capsys):
    """Runs the command; `job.plan` and `job.key` are its files."""
    return Job(tmp_path, capsys)


class Job:
    def __init__(self, folder: Path, capsys) -> None:
        self.folder, self.capsys = folder, capsys
        self.plan, self.key = folder / "plan.toml", folder / "key"
        self.plan.write_text(PLAN)
        self.key.write_bytes(bytes(range(32)))
        self.key.chmod(0o600)

    def __call__(self, source, target, *options, plan=None) -> tuple[int, str, str]:
        status = main(
            ["perturb", str(source), str(target), "--plan", str(plan or self.plan), *options]
        )
        said = self.capsys.readouterr()
        return status, said.out, said.err

    def perturbed(self, source, target, *options) -> None:
        status, _, problem = self(source, target, "--key-file", str(self.key), *options)
        assert (status, problem) == (0, "")


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


def check(before: pa.Table, after: pa.Table) -> None:
    """All as it was but the noise; missing values are missing still."""
    assert after.schema.equals(before.schema)
    assert after.num_rows == before.num_rows
    for name in before.schema.names:
        if name in NOISY:
            assert (
                after[name]
                .is_null()
                .combine_chunks()
                .equals(before[name].is_null().combine_chunks())
            )
            assert before.num_rows < 5 or not after[name].equals(before[name])
        else:
            assert decoded(after[name]).equals(decoded(before[name])), name


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without a dictionary, whose order is the writer's."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet__keeps_all_else(job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    codecs = {"id": "zstd", "income": "gzip", "name": "none"}
    kinds = people(0).schema.names
    codecs = {name: codecs.get(name, "snappy") for name in kinds}
    pq.write_table(people(1000), source, row_group_size=300, compression=codecs)
    job.perturbed(source, target)
    check(pq.read_table(source), pq.read_table(target))
    old, new = pq.ParquetFile(source), pq.ParquetFile(target)
    assert new.schema_arrow.metadata[b"made by"] == b"a test"
    sizes = [
        [f.metadata.row_group(i).num_rows for i in range(f.num_row_groups)] for f in (old, new)
    ]
    assert sizes[0] == sizes[1] == [300, 300, 300, 100]
    for i in range(old.metadata.num_columns):
        one, other = (f.metadata.row_group(0).column(i) for f in (old, new))
        assert one.path_in_schema == other.path_in_schema
        assert one.compression == other.compression
        if one.path_in_schema not in NOISY:
            assert one.has_dictionary_page == other.has_dictionary_page


def flat(rows: int) -> pa.Table:
    return people(rows).drop_columns(["tags", "who", "town"])


def polars_file(path: Path) -> None:
    pl.from_arrow(people(500)).write_parquet(path, row_group_size=200)


def duckdb_file(path: Path) -> None:
    data = flat(500)
    connection = duckdb.connect()
    connection.register("data", data)
    connection.execute(f"copy (select * from data) to '{path}' (format parquet, codec zstd)")


@pytest.mark.parametrize("write", [polars_file, duckdb_file])
def test_parquet__of_other_writers(write, job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    write(source)
    job.perturbed(source, target)
    check(pq.read_table(source), pq.read_table(target))
    assert pl.read_parquet(target).height == 500
    assert duckdb.connect().execute(f"select count(*) from '{target}'").fetchone() == (500,)


def test_parquet__of_nothing(job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    for table in (people(0), None):
        with pq.ParquetWriter(source, people(0).schema) as writer:
            if table is not None:
                writer.write_table(table)
        job.perturbed(source, target)
        check(pq.read_table(source), pq.read_table(target))
        assert pq.ParquetFile(target).num_row_groups == pq.ParquetFile(source).num_row_groups


def test_parquet__of_ten_thousand_row_groups(job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = people(20_000).select(["id", *NOISY])
    pq.write_table(table, source, row_group_size=2)
    job.perturbed(source, target)
    assert pq.ParquetFile(target).num_row_groups == 10_000
    check(table, pq.read_table(target))


def test_parquet__of_three_hundred_columns_and_nothing_but_nulls(job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = people(50)
    for i in range(300):
        table = table.append_column(f"more {i}", pa.array(np.arange(50) * i))
    for name in NOISY:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.nulls(50, table.schema.field(at).type))
    pq.write_table(table, source)
    job.perturbed(source, target)
    assert pq.read_table(target).equals(table)


def test_parquet__of_spark_keeps_far_dates(job, tmp_path):
    """INT96, and a year that nanoseconds cannot hold."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    when = pa.array([datetime(9999, 12, 31), datetime(1, 1, 1)], pa.timestamp("us"))
    table = people(2).select(NOISY).append_column("when", when)
    pq.write_table(table, source, use_deprecated_int96_timestamps=True)
    job.perturbed(source, target)
    found = pq.ParquetFile(target, coerce_int96_timestamp_unit="us").read()
    assert found["when"].to_pylist() == when.to_pylist()
    assert pq.ParquetFile(target).metadata.row_group(0).column(4).physical_type == "INT96"


def test_parquet__of_polars_keeps_small_types(job, tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    frame = pl.from_arrow(people(50).select(NOISY)).with_columns(
        pl.lit(7, pl.UInt32).alias("u"),
        pl.lit(datetime(2026, 1, 1)).cast(pl.Datetime("ns")).alias("t"),
    )
    frame.write_parquet(source)
    job.perturbed(source, target)
    assert pl.read_parquet(target).schema == frame.schema


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "int64"])
def test_parquet__of_pandas_can_be_read_back(kind, job, tmp_path):
    """Integers that became floats, and what pandas says of them in the metadata."""
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pd.DataFrame({"a": pd.Series([1, 2, 3], dtype=kind)}).to_parquet(source)
    job.plan.write_text('[columns.a]\nmechanism = "laplace"\nepsilon = 1\nsensitivity = 1\n')
    assert job(source, target)[0] == 0
    dtype = {"Int64": "Float64", "int64[pyarrow]": "double[pyarrow]", "int64": "float64"}[kind]
    assert str(pd.read_parquet(target)["a"].dtype) == dtype


def test_folders__are_whole_or_refused(job, tmp_path):
    folder, target = tmp_path / "in", tmp_path / "out"
    for name in ("_a=1", "b=2"):
        (folder / name).mkdir(parents=True)
        pq.write_table(people(3), folder / name / "x.parquet")
    job.perturbed(folder, target)
    assert len(list(target.rglob("*.parquet"))) == 2
    (folder / "c=3").symlink_to(folder / "b=2")
    status, _, problem = job(folder, tmp_path / "other")
    assert (status, "link to a folder" in problem) == (1, True)


# --- the same noise -------------------------------------------------------------------------------


def test_noise__does_not_depend_on_how_rows_are_cut(job, tmp_path):
    table, whole = people(3000), tmp_path / "whole.parquet"
    pq.write_table(table, whole)
    job.perturbed(whole, tmp_path / "expected.parquet")
    expected = pq.read_table(tmp_path / "expected.parquet")
    groups = tmp_path / "groups.parquet"
    pq.write_table(table, groups, row_group_size=3)
    folder = tmp_path / "folder"
    for i, size in enumerate([1000, 1, 999, 1000]):
        part = folder / f"part={i}"
        part.mkdir(parents=True)
        first = [0, 1000, 1001, 2000][i]
        pq.write_table(table.slice(first, size), part / "data.parquet")
    (folder / "_SUCCESS").touch()
    for source, threads in ((whole, "1"), (groups, "2"), (groups, "1"), (folder, "2")):
        target = tmp_path / f"noisy {source.name} {threads}"
        target = target if source.is_dir() else target.with_suffix(".parquet")
        job.perturbed(source, target, "--threads", threads)
        if source.is_dir():
            parts = [pq.ParquetFile(path).read() for path in sorted(target.rglob("*.parquet"))]
            assert [part.num_rows for part in parts] == [1000, 1, 999, 1000]
            assert pa.concat_tables(parts).equals(expected)
        else:
            assert pq.read_table(target).equals(expected)


def test_noise__of_another_release_is_other_noise(job, tmp_path):
    source = tmp_path / "in.parquet"
    pq.write_table(people(100), source)
    job.perturbed(source, tmp_path / "a.parquet")
    job.plan.write_text(PLAN.replace("2026-11", "2026-12"))
    job.perturbed(source, tmp_path / "b.parquet")
    a, b = (pq.read_table(tmp_path / f"{name}.parquet") for name in "ab")
    for name in NOISY:
        same = pc.sum(pc.equal(a[name], b[name])).as_py()
        assert same < 60 if name == "visits" else same < 5


def test_noise__without_a_key_is_fresh(job, tmp_path):
    source = tmp_path / "in.parquet"
    pq.write_table(people(100), source)
    for name in "ab":
        assert job(source, tmp_path / f"{name}.parquet")[0] == 0
    a, b = (pq.read_table(tmp_path / f"{name}.parquet") for name in "ab")
    assert not a["income"].equals(b["income"])


# --- Arrow IPC and CSV ----------------------------------------------------------------------------


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize(
    ("suffix", "write"), [(".arrow", ipc.new_file), (".arrows", ipc.new_stream)]
)
def test_ipc__keeps_all_else(suffix, write, codec, job, tmp_path):
    from fastnoise.etl.ipc import compression

    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    table = people(500)
    with write(source, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        for batch in table.to_batches(100):
            writer.write_batch(batch)
    job.perturbed(source, target)
    opened = ipc.open_file if suffix == ".arrow" else ipc.open_stream
    with opened(source) as old, opened(target) as new:
        check(old.read_all(), new.read_all())
        assert new.schema.metadata[b"made by"] == b"a test"
    for path in (source, target):
        assert compression(path, suffix == ".arrow") == codec


def test_csv__keeps_the_text_of_other_columns(job, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [
        'id,income,"a, b",visits,x,y,code',
        '1,100.5,"say ""hi""",3,0.5,0.25,007',
        '2,,"two\nlines",,1.0,2.0,',
        "3,50,plain,4,,1.5,1e5",
    ]
    source.write_bytes(b"\xef\xbb\xbf" + "\n".join(rows).encode())  # BOM; no last newline
    job.perturbed(source, target)
    import csv

    assert target.read_bytes().startswith(b"\xef\xbb\xbf")
    with target.open(newline="", encoding="utf-8-sig") as lines:
        header, *noisy = csv.reader(lines)
    assert header == ["id", "income", "a, b", "visits", "x", "y", "code"]
    assert [row[0] for row in noisy] == ["1", "2", "3"]
    assert [row[2] for row in noisy] == ['say "hi"', "two\nlines", "plain"]
    assert [row[6] for row in noisy] == ["007", "", "1e5"]
    assert [row[1] == "" for row in noisy] == [False, True, False]
    assert [row[3] == "" for row in noisy] == [False, True, False]
    assert [row[4] == "" for row in noisy] == [False, False, True]
    assert float(noisy[0][1]) != 100.5
    int(noisy[0][3])
    receipt = json.loads((tmp_path / "out.csv.receipt.json").read_text())
    assert receipt["releases"][0]["release"] == "2026-11"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv__quotes_no_more_than_before(end, job, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    job.plan.write_text('[columns.a]\nmechanism = "laplace"\nepsilon = 1\nsensitivity = 1\n')
    rows = ["a,b,c", "1.5,x,", '2,"p,q",""', ',"say ""hi""",007']
    source.write_bytes(end.join([*rows, ""]).encode())
    assert job(source, target)[0] == 0
    lines = target.read_bytes().decode().split(end)
    assert [line.partition(",")[2] for line in lines] == [
        "b,c",
        "x,",
        '"p,q",""',
        '"say ""hi""",007',
        "",
    ]
    assert lines[3].startswith(",")
    float(lines[1].partition(",")[0])


def test_csv__of_one_column_keeps_missing_rows(job, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    job.plan.write_text('[columns.a]\nmechanism = "geometric"\nepsilon = 1\n')
    source.write_text("a\n1\n\n3\n")
    assert job(source, target)[0] == 0
    assert [line == "" for line in target.read_text().split("\n")] == [
        False,
        False,
        True,
        False,
        True,
    ]
    source.write_text("a")
    assert job(source, target)[0] == 0
    assert target.read_text() == "a\n"
    source.write_text("a\nsecret\n")
    status, _, problem = job(source, target)
    assert (status, "secret" in problem, "in.csv" in problem) == (1, False, True)


def test_csv__has_the_noise_of_parquet(job, tmp_path):
    from pyarrow import csv

    table = people(200).select(["id", *NOISY])
    pq.write_table(table, tmp_path / "in.parquet")
    csv.write_csv(table, tmp_path / "in.csv")
    for suffix in ("parquet", "csv"):
        job.perturbed(tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}")
    text, binary = csv.read_csv(tmp_path / "out.csv"), pq.read_table(tmp_path / "out.parquet")
    for name in ("income", "visits", "x"):
        assert text[name].to_pylist() == binary[name].to_pylist()
