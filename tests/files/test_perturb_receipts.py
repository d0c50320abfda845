"""Do receipts survive in files of every writer, in metadata and in marks of columns?"""

import json

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import NOISY, PLAN, flat, laplace_of, load, save, write

from fastnoise.cli import main

SPARK = "org.apache.spark.sql.parquet.row.metadata"


def receipt(path, capsys):
    assert main(["receipt", str(path), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def by_duckdb(path):
    connection = duckdb.connect()
    connection.register("data", flat(50))
    options = "format parquet, kv_metadata {author: 'a test'}"
    connection.execute(f"copy (select * from data) to '{path}' ({options})")


def by_others(path):
    write(flat(50), path, author="a test")


def by_geo_tools(path):
    """Arrow's schema, and keys that are not in it."""
    write(flat(50), path, stored=True, author="a test")


@pytest.mark.parametrize("make", [by_duckdb, by_others, by_geo_tools])
def test_metadata__of_every_writer_is_kept_and_gets_a_receipt(make, job, capsys):
    make(job.source)
    job.perturbed()
    kept = pq.ParquetFile(job.target).metadata.metadata
    assert kept[b"author"] == b"a test"
    assert len(receipt(job.target, capsys)["releases"]) == 1
    assert pq.read_schema(job.target).equals(pq.read_schema(job.source))
    assert "has noise already" in job.refused(job.target, job.folder / "again.parquet")


def test_metadata__of_pandas_without_arrows_keeps_the_index(job):
    columns = {name: np.arange(5) if name == "visits" else np.arange(5.0) for name in NOISY}
    frame = pd.DataFrame(columns, index=pd.Index(list("abcde"), name="who"))
    table = pa.Table.from_pandas(frame)
    write(table, job.source, pandas=table.schema.metadata[b"pandas"])
    job.perturbed()
    assert pd.read_parquet(job.target).index.equals(frame.index)


# --- format 2 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "unique"), [(None, None), ("id", "check")])
def test_format__has_all_that_an_auditor_asks_for(key, unique, job, capsys):
    from fastnoise import Plan, identity

    job.plan.write_text((f'key = "{key}"\n' if key else "") + "rows_per_person = 2\n" + PLAN)
    write(flat(50), job.source)
    job.perturbed()
    found = receipt(job.target, capsys)
    assert found["format"] == 2
    (release,) = found["releases"]
    assert release["identity"] == identity.VERSION
    assert (release["release"], release["rows_per_person"]) == ("2026-11", 2)
    assert (release["unique"], release["delta"]) == (unique, 0)
    assert release["epsilon"] == pytest.approx(1.7)
    plan = Plan.load(job.plan)
    for entry, said in zip(plan.entries, release["columns"], strict=True):
        mechanism = entry.mechanism
        law = said["law"]
        assert law["digest"] == mechanism._law(mechanism.grid).digest.hex()
        assert law["grid"] == mechanism.grid
        assert law["released_sensitivity"] == mechanism.released_sensitivity
        assert said["adjacency"] == mechanism.privacy.adjacency
    income, visits, place = (said["law"] for said in release["columns"])
    assert income["gamma"] == plan.entries[0].mechanism.gamma
    assert visits["r"] == plan.entries[1].mechanism.r
    assert place["scale"] == plan.entries[2].mechanism.scale


GOOD = {
    "format": 2,
    "releases": [
        {
            "identity": 2,
            "version": "0.1.0",
            "date": "2026-11-18T11:00:00.123456+00:00",
            "release": None,
            "rows_per_person": 1,
            "unique": None,
            "epsilon": 1.0,
            "delta": 0.0,
            "columns": [
                {
                    "columns": ["other"],
                    "mechanism": "laplace",
                    "parameters": {"epsilon": 1, "sensitivity": 1},
                    "law": {"grid": 0.5, "released_sensitivity": 1.0, "digest": "00" * 32},
                    "clip": None,
                    "epsilon": 1.0,
                    "delta": 0.0,
                    "adjacency": "l1",
                }
            ],
        }
    ],
}


def edited(*path_and_value):
    *path, last, value = path_and_value
    made = json.loads(json.dumps(GOOD))
    place = made
    for step in path:
        place = place[step]
    place[last] = value
    return json.dumps(made)


RELEASE, ENTRY = ("releases", 0), ("releases", 0, "columns", 0)
BAD = {
    "no format": json.dumps({"releases": GOOD["releases"]}),
    "format 1": edited("format", 1),
    "format 3": edited("format", 3),
    "format true": edited("format", True),
    "identity 1": edited(*RELEASE, "identity", 1),
    "identity 3": edited(*RELEASE, "identity", 3),
    "no JSON": "{",
    "not UTF-8": b"\xff\xfe",
    "empty": "",
    "too deep": "[" * 100_000,
    "deep parameter": edited(*ENTRY, "parameters", {"cost": json.loads("[" * 50 + "]" * 50)}),
    "a list": "[]",
    "a number": "1",
    "no releases": '{"format": 2}',
    "releases of a text": '{"format": 2, "releases": "no"}',
    "twice the same": '{"format": 2, "releases": [], "releases": []}',
    "epsilon of a text": edited(*RELEASE, "epsilon", "1"),
    "epsilon NaN": edited(*RELEASE, "epsilon", float("nan")),
    "epsilon infinite": edited(*RELEASE, "epsilon", float("inf")),
    "epsilon 1e999": json.dumps(GOOD).replace('"epsilon": 1.0', '"epsilon": 1e999'),
    "epsilon of 400 digits": edited(*RELEASE, "epsilon", 10**400),
    "epsilon of 5000 digits": json.dumps(GOOD).replace(
        '"epsilon": 1.0', '"epsilon": ' + "1" * 5000
    ),
    "epsilons too large to add": edited(
        "releases", [{**GOOD["releases"][0], "epsilon": 1.7e308}] * 2
    ),
    "epsilon negative": edited(*RELEASE, "epsilon", -1.0),
    "epsilon true": edited(*RELEASE, "epsilon", True),
    "delta of 2": edited(*RELEASE, "delta", 2),
    "date of a number": edited(*RELEASE, "date", 5),
    "date of words": edited(*RELEASE, "date", "yesterday"),
    "rows of 0": edited(*RELEASE, "rows_per_person", 0),
    "unique of a number": edited(*RELEASE, "unique", 1),
    "release of a list": edited(*RELEASE, "release", []),
    "release is none": edited("releases", 0, None),
    "one field more": edited(*RELEASE, "more", 1),
    "columns of a text": edited(*ENTRY, "columns", "income"),
    "columns of numbers": edited(*ENTRY, "columns", [1]),
    "no columns": edited(*RELEASE, "columns", []),
    "entry of a text": edited(*RELEASE, "columns", ["income"]),
    "clip of one": edited(*ENTRY, "clip", [1]),
    "clip of texts": edited(*ENTRY, "clip", ["1", "2"]),
    "parameters of a list": edited(*ENTRY, "parameters", []),
    "law of a text": edited(*ENTRY, "law", "x"),
    "law without a digest": edited(*ENTRY, "law", {"grid": 1}),
    "law with more": edited(*ENTRY, "law", {**GOOD["releases"][0]["columns"][0]["law"], "x": 1}),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("kind", ["parquet", "csv", "mark"])
def test_receipts__that_are_odd_are_refused_whole_before_anything_is_written(kind, name, job):
    suffix = "csv" if kind == "csv" else "parquet"
    source, target = job.folder / f"in.{suffix}", job.folder / f"out.{suffix}"
    bad = BAD[name].encode() if isinstance(BAD[name], str) else BAD[name]
    if kind == "csv":
        flat(3).select(NOISY).to_pandas().to_csv(source, index=False)
        (job.folder / "in.csv.receipt.json").write_bytes(bad)
    elif kind == "parquet":
        write(flat(3), source, fastnoise=bad)
    else:
        table = flat(3)
        field = table.schema.field(0).with_metadata({"fastnoise": bad})
        pq.write_table(pa.table(table.columns, schema=table.schema.set(0, field)), source)
    before = sorted(path.name for path in job.folder.iterdir())
    if name != "epsilons too large to add":
        assert main(["receipt", str(source)]) == 1
        said = job.capsys.readouterr()
        assert (said.out, said.err.count("\n"), f"in.{suffix}" in said.err) == ("", 1, True)
    problem = job.refused(source, target, "--again")
    assert f"in.{suffix}" in problem
    assert "receipt" in problem
    assert sorted(path.name for path in job.folder.iterdir()) == before


def test_receipts__that_are_good_are_kept(job, capsys):
    write(flat(3), job.source, fastnoise=json.dumps(GOOD))
    job.perturbed()
    assert receipt(job.target, capsys)["releases"][0] == GOOD["releases"][0]


def test_receipts__of_every_mechanism_can_be_read(job, capsys):
    usual = {"epsilon": 1, "sensitivity": 2}
    kinds = {
        "staircase": usual,
        "laplace": usual,
        "discrete-staircase": usual,
        "geometric": {"epsilon": 1},
        "discrete-laplace": usual,
        "discrete-uniform": {"delta": 0.125, "sensitivity": 2},
        "truncated-discrete-laplace": {**usual, "delta": 0.001},
        "l2-laplace": usual,
        "multi-user-laplace": usual,
        "l1-staircase": {**usual, "cost": ["interval", 0.95]},
        "box-staircase": {"epsilon": 1, "widths": [1, 2]},
    }
    plan = []
    for i, (kind, parameters) in enumerate(kinds.items()):
        vector = i > 6
        plan += [f"[{'vectors' if vector else 'columns'}.c{i}]", f'mechanism = "{kind}"']
        plan += [f'columns = ["a{i}", "b{i}"]'] if vector else []
        plan += [f"{name} = {json.dumps(value)}" for name, value in parameters.items()]
    job.plan.write_text("\n".join(plan))
    names = [f"c{i}" for i in range(7)] + [f"{c}{i}" for i in range(7, len(kinds)) for c in "ab"]
    table = pa.table({name: pa.array([1, 2], pa.int64()) for name in names})
    pq.write_table(table, job.source)
    assert job(job.source, job.target, "--quiet") == (0, "", "")
    (release,) = receipt(job.target, capsys)["releases"]
    assert [entry["mechanism"] for entry in release["columns"]] == list(kinds)
    assert main(["receipt", str(job.target)]) == 0


def test_receipts__are_shown_without_what_a_terminal_obeys(job, capsys):
    write(flat(3), job.source, fastnoise=edited(*RELEASE, "release", "\x1b[2J\nfake"))
    assert main(["receipt", str(job.source)]) == 0
    said = capsys.readouterr().out
    assert ("\x1b" in said, said.count("\n")) == (False, 3)


def test_receipts__beside_a_csv_file_are_regular_files(job):
    source = job.folder / "in.csv"
    flat(3).select(NOISY).to_pandas().to_csv(source, index=False)
    (job.folder / "in.csv.receipt.json").mkdir()
    assert "in.csv.receipt.json" in job.refused(source, job.folder / "out.csv")


# --- marks of columns -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
def test_marks__outlive_the_metadata_of_the_schema_and_names(suffix, job, capsys):
    source, target, moved = (job.folder / f"{name}.{suffix}" for name in ("in", "out", "moved"))
    names = ["pay" if name == "income" else name for name in flat(0).schema.names]

    save(flat(20), source)
    job.perturbed(source, target)
    whole = receipt(target, capsys)
    save(load(target).rename_columns(names).replace_schema_metadata(None), moved)
    assert receipt(moved, capsys) == whole
    job.plan.write_text(laplace_of("pay"))
    assert "'pay' has noise already" in job.refused(moved, target)
    assert job(moved, target, "--again", "--quiet") == (0, "", "")
    assert len(receipt(target, capsys)["releases"]) == 2
    save(load(target).select(["pay", "id"]).replace_schema_metadata(None), moved)
    first, second = receipt(moved, capsys)["releases"]
    assert [entry["columns"] for entry in first["columns"]] == [["income"]]
    assert [entry["columns"] for entry in second["columns"]] == [["pay"]]


def spark_schema(**types):
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {"comment": "é"}}
        for name, kind in types.items()
    ]
    return {"type": "struct", "fields": fields}


def test_marks__are_in_what_spark_reads(job, capsys):
    table = pa.table({"id": [1, 2], "n": pa.array([3, 4], pa.int32()), "m": [5, 6]})
    schema = spark_schema(id="long", n="integer", m="long")
    schema["fields"][2]["metadata"]["ml_attr"] = {"type": "numeric", "min": 5, "max": 6}
    write(table, job.source, **{SPARK: json.dumps(schema)})
    job.plan.write_text(laplace_of("n") + '[columns.m]\nmechanism = "geometric"\nepsilon = 1\n')
    status, _, problem = job(job.source, job.target)
    assert (status, problem.count("\n")) == (0, 1)
    assert "m.ml_attr" in problem
    said = json.loads(pq.ParquetFile(job.target).metadata.metadata[SPARK.encode()])
    one, two, three = said["fields"]
    assert one == schema["fields"][0]
    assert (two["type"], three["type"]) == ("double", "long")
    assert (two["metadata"]["comment"], "ml_attr" in three["metadata"]) == ("é", False)
    moved = job.folder / "moved.parquet"  # as Spark writes what it has read
    two["name"] = "renamed"
    table = pq.read_table(job.target).rename_columns(["id", "renamed", "m"])
    bare = pa.schema([pa.field(f.name, f.type) for f in table.schema])
    write(pa.table(table.columns, schema=bare), moved, **{SPARK: json.dumps(said)})
    (release,) = receipt(moved, capsys)["releases"]
    assert [entry["columns"] for entry in release["columns"]] == [["n"], ["m"]]
    job.plan.write_text(laplace_of("renamed"))
    assert "'renamed' has noise already" in job.refused(moved, job.target)


ODD = {
    "no JSON": "{",
    "not UTF-8": b"\xff",
    "a list": "[]",
    "too deep": "[" * 100_000,
    "no fields": '{"type": "struct"}',
    "fields of numbers": '{"type": "struct", "fields": [1]}',
    "columns of a text": '{"columns": "no"}',
    "columns of numbers": '{"columns": [1]}',
    "no types": '{"columns": [{"field_name": "n"}]}',
    "no columns": "{}",
    "geo of a list": '{"columns": [], "index_columns": []}',
    "geo of texts": '{"columns": {"n": "x"}}',
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("key", ["pandas", "geo", SPARK])
def test_metadata__that_is_odd_is_kept_or_dropped_and_named(key, name, job):
    write(pa.table({"n": [1, 2]}), job.source, **{key: ODD[name]})
    job.plan.write_text(laplace_of("n"))
    status, said, problem = job(job.source, job.target, "--json")
    assert status == 0
    assert problem.count("\n") == len(json.loads(said)["dropped"]) <= 1
    kept = pq.ParquetFile(job.target).metadata.metadata
    assert (key.encode() in kept) == (problem == "")
    assert pd.read_parquet(job.target)["n"].dtype == np.float64
