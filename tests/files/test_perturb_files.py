"""Does `fastnoise perturb` keep all that it does not perturb, in every format?"""

import json
from datetime import datetime
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from jobs import NOISY, PLAN, flat, laplace_of, people
from pyarrow import ipc

pytestmark = pytest.mark.long


def check(before: pa.Table, after: pa.Table) -> None:
    """All as it was but the noise; missing values are missing still."""
    assert after.schema.equals(before.schema)
    assert after.num_rows == before.num_rows
    for name in before.schema.names:
        if name in NOISY:
            here, there = (t[name].is_null().combine_chunks() for t in (before, after))
            assert there.equals(here)
            assert before.num_rows < 5 or not after[name].equals(before[name])
        else:
            assert decoded(after[name]).equals(decoded(before[name])), name


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without a dictionary, whose order is the writer's."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet__keeps_all_else(job):
    codecs = dict.fromkeys(people(0).schema.names, "snappy")
    codecs |= {"id": "zstd", "income": "gzip", "name": "none"}
    noisy = job.of(people(1000), row_group_size=300, compression=codecs)
    check(pq.read_table(job.source), noisy)
    old, new = pq.ParquetFile(job.source), pq.ParquetFile(job.target)
    assert new.schema_arrow.metadata[b"made by"] == b"a test"
    for file in (old, new):
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        assert sizes == [300, 300, 300, 100]
    for i in range(old.metadata.num_columns):
        one, other = (f.metadata.row_group(0).column(i) for f in (old, new))
        assert one.path_in_schema == other.path_in_schema
        assert one.compression == other.compression
        if one.path_in_schema not in NOISY:
            assert one.has_dictionary_page == other.has_dictionary_page


def polars_file(path: Path) -> None:
    pl.from_arrow(people(500)).write_parquet(path, row_group_size=200)


def duckdb_file(path: Path) -> None:
    data = flat(500)
    connection = duckdb.connect()
    connection.register("data", data)
    connection.execute(f"copy (select * from data) to '{path}' (format parquet, codec zstd)")


@pytest.mark.parametrize("write", [polars_file, duckdb_file])
def test_parquet__of_other_writers(write, job):
    write(job.source)
    job.perturbed()
    check(pq.read_table(job.source), pq.read_table(job.target))
    assert pl.read_parquet(job.target).height == 500
    assert duckdb.connect().execute(f"select count(*) from '{job.target}'").fetchone() == (500,)


def test_parquet__of_nothing(job):
    for table in (people(0), None):
        with pq.ParquetWriter(job.source, people(0).schema) as writer:
            if table is not None:
                writer.write_table(table)
        job.perturbed()
        check(pq.read_table(job.source), pq.read_table(job.target))
        old, new = pq.ParquetFile(job.source), pq.ParquetFile(job.target)
        assert new.num_row_groups == old.num_row_groups


def test_parquet__of_ten_thousand_row_groups(job):
    table = people(20_000).select(["id", *NOISY])
    check(table, job.of(table, row_group_size=2))
    assert pq.ParquetFile(job.target).num_row_groups == 10_000


def test_parquet__of_three_hundred_columns_and_nothing_but_nulls(job):
    table = people(50)
    for i in range(300):
        table = table.append_column(f"more {i}", pa.array(np.arange(50) * i))
    for name in NOISY:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.nulls(50, table.schema.field(at).type))
    assert job.of(table).equals(table)


def test_parquet__of_spark_keeps_far_dates(job):
    """INT96, and a year that nanoseconds cannot hold."""
    when = pa.array([datetime(9999, 12, 31), datetime(1, 1, 1)], pa.timestamp("us"))
    table = people(2).select(NOISY).append_column("when", when)
    job.of(table, use_deprecated_int96_timestamps=True)
    found = pq.ParquetFile(job.target, coerce_int96_timestamp_unit="us").read()
    assert found["when"].to_pylist() == when.to_pylist()
    assert pq.ParquetFile(job.target).metadata.row_group(0).column(4).physical_type == "INT96"


def test_parquet__of_polars_keeps_small_types(job):
    frame = pl.from_arrow(people(50).select(NOISY)).with_columns(
        pl.lit(7, pl.UInt32).alias("u"),
        pl.lit(datetime(2026, 1, 1)).cast(pl.Datetime("ns")).alias("t"),
    )
    frame.write_parquet(job.source)
    job.perturbed()
    assert pl.read_parquet(job.target).schema == frame.schema


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "int64"])
def test_parquet__of_pandas_can_be_read_back(kind, job):
    """Integers that became floats, and what pandas says of them in the metadata."""
    pd.DataFrame({"a": pd.Series([1, 2, 3], dtype=kind)}).to_parquet(job.source)
    job.plan.write_text(laplace_of("a"))
    assert job(job.source, job.target)[0] == 0
    dtype = {"Int64": "Float64", "int64[pyarrow]": "double[pyarrow]", "int64": "float64"}[kind]
    assert str(pd.read_parquet(job.target)["a"].dtype) == dtype


def test_folders__are_whole_or_refused(job, tmp_path):
    folder, target = tmp_path / "in", tmp_path / "out"
    for name in ("_a=1", "b=2"):
        (folder / name).mkdir(parents=True)
        pq.write_table(people(3), folder / name / "x.parquet")
    job.perturbed(folder, target)
    assert len(list(target.rglob("*.parquet"))) == 2
    (folder / "c=3").symlink_to(folder / "b=2")
    assert "link to a folder" in job.refused(folder, tmp_path / "other")


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
    job.plan.write_text(laplace_of("a"))
    rows = ["a,b,c", "1.5,x,", '2,"p,q",""', ',"say ""hi""",007']
    source.write_bytes(end.join([*rows, ""]).encode())
    assert job(source, target)[0] == 0
    lines = target.read_bytes().decode().split(end)
    kept = ["b,c", "x,", '"p,q",""', '"say ""hi""",007', ""]
    assert [line.partition(",")[2] for line in lines] == kept
    assert lines[3].startswith(",")
    float(lines[1].partition(",")[0])


def test_csv__of_one_column_keeps_missing_rows(job, tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    job.plan.write_text('[columns.a]\nmechanism = "geometric"\nepsilon = 1\n')
    source.write_text("a\n1\n\n3\n")
    assert job(source, target)[0] == 0
    empty = [line == "" for line in target.read_text().split("\n")]
    assert empty == [False, False, True, False, True]
    source.write_text("a")
    assert job(source, target)[0] == 0
    assert target.read_text() == "a\n"
    source.write_text("a\nsecret\n")
    problem = job.refused(source, target)
    assert ("secret" in problem, "in.csv" in problem) == (False, True)


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
