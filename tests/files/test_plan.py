"""Does a plan do what it says, to every kind of table, and refuse what it cannot mean?"""

import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastnoise as fn
from fastnoise.etl.tables import Run

INCOME = {"mechanism": "staircase", "epsilon": 0.5, "clip": [0, 200_000]}
VISITS = {"mechanism": "discrete-staircase", "epsilon": 0.25, "sensitivity": 3}
PLACE = {"mechanism": "l2-laplace", "epsilon": 0.1, "sensitivity": 1.0, "columns": ["x", "y"]}
FIELDS = {
    "release": "2026-11",
    "columns": {"income": INCOME, "visits": VISITS},
    "vectors": {"place": PLACE},
}
ROWS = 40


def table() -> pa.Table:
    visits = [None if i % 7 == 3 else i for i in range(ROWS)]
    return pa.table(
        {
            "id": pa.array(range(100, 100 + ROWS)),
            "name": [f"person {i}" for i in range(ROWS)],
            "income": pa.array(np.linspace(0, 250_000, ROWS)),
            "visits": pa.array(visits, pa.int16()),
            "x": pa.array(np.linspace(-1, 1, ROWS)),
            "y": pa.array(np.linspace(-1, 1, ROWS).astype(np.float32)),
        }
    )


@pytest.fixture
def plan():
    return fn.Plan(FIELDS)


def test_plan__does_to_columns_what_mechanisms_do(plan, stream):
    noisy, before = plan.perturb(table(), stream=stream.at(0)), table()
    assert noisy.schema.equals(before.schema)
    assert noisy["name"].equals(before["name"])
    streams = Run(plan, stream).streams
    income = fn.Staircase(0.5, 200_000).perturb(
        before["income"].to_numpy(), clip=(0, 200_000), stream=streams["column:income"]
    )
    assert noisy["income"].to_pylist() == income.tolist()
    visits = fn.DiscreteStaircase(0.25, 3).perturb(
        before["visits"], nan="keep", stream=streams["column:visits"]
    )
    assert noisy["visits"].to_pylist() == visits.to_pylist()
    points = np.stack([before["x"].to_numpy(), before["y"].to_numpy()], axis=1)
    points = fn.L2Laplace(0.1, 2).perturb(points, stream=streams["vector:place"])
    assert noisy["x"].to_pylist() == points[:, 0].tolist()
    assert noisy["y"].to_pylist() == points[:, 1].astype(np.float32).tolist()


def test_tables__of_all_kinds_get_the_same_noise(plan, stream):
    expected = plan.perturb(table(), stream=stream.at(0))
    nullable = {pa.int64(): pd.Int64Dtype(), pa.int16(): pd.Int16Dtype()}
    frame = table().to_pandas(types_mapper=nullable.get).set_index("id", drop=False)
    noisy = plan.perturb(frame, stream=stream.at(0))
    assert noisy.index.equals(frame.index)
    assert noisy.dtypes.equals(frame.dtypes)
    assert noisy["income"].tolist() == expected["income"].to_pylist()
    assert noisy["visits"].isna().tolist() == frame["visits"].isna().tolist()
    polars = pl.from_arrow(table())
    assert plan.perturb(polars, stream=stream.at(0)).equals(pl.from_arrow(expected))
    lazy = plan.perturb(polars.lazy(), stream=stream.at(0))
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(lazy.collect())
    reader = plan.perturb(table().to_reader(7), stream=stream.at(0))
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema.equals(expected.schema)
    assert reader.read_all().equals(expected)
    (batch,) = table().to_batches()
    assert pa.Table.from_batches([plan.perturb(batch, stream=stream.at(0))]).equals(expected)


def test_streams__go_on_and_releases_differ(plan, stream):
    first, second = plan.perturb(table(), stream=stream), plan.perturb(table(), stream=stream)
    assert stream.position == 2 * ROWS
    assert not first["income"].equals(second["income"])
    other = fn.Plan({**FIELDS, "release": "2026-12"})
    assert not other.perturb(table(), stream=stream.at(0))["income"].equals(first["income"])
    fresh = [plan.perturb(table())["income"] for _ in range(2)]
    assert not fresh[0].equals(fresh[1])


KEYS = {
    "integers": lambda n: pa.array(range(n)),
    "small": lambda n: pa.array(range(n), pa.uint8()),
    "texts": lambda n: pa.array([f"id {i}" for i in range(n)]),
    "large texts": lambda n: pa.array([f"id {i}" for i in range(n)], pa.large_string()),
    "dictionary": lambda n: pa.array([f"id {i}" for i in range(n)]).dictionary_encode(),
    "UUIDs": lambda n: pa.array([uuid.UUID(int=i).bytes for i in range(n)], pa.uuid()),
    "negative": lambda n: pa.array(range(-n, 0)),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys__address_the_noise(kind, stream):
    """Shuffled, cut up or alone, an id has the same noise."""
    plan = fn.Plan({**FIELDS, "key": "person"})
    data = table().append_column("person", KEYS[kind](ROWS))
    whole = plan.perturb(data, stream=stream)
    assert stream.position == 0
    order = np.random.default_rng(1).permutation(ROWS)
    assert plan.perturb(data.take(order), stream=stream).equals(whole.take(order))
    assert plan.perturb(data.slice(9, 5), stream=stream).equals(whole.slice(9, 5))
    batches = plan.perturb(data.to_reader(3), stream=stream).read_all()
    assert batches.equals(whole)
    assert whole["income"].to_pylist() != plan.perturb(data)["income"].to_pylist()


@pytest.mark.parametrize("kind", ["integers", "texts"])
def test_keys__that_repeat_are_refused(kind, stream):
    plan = fn.Plan({**FIELDS, "key": "person"})
    data = table().append_column("person", KEYS[kind](ROWS))
    twice = pa.concat_tables([data, data.slice(20, 1)])
    for batch in (1, 3, 64):
        with pytest.raises(ValueError, match="key 'person' repeats an id"):
            plan.perturb(twice.to_reader(batch)).read_all()
    with pytest.raises(ValueError, match="repeats an id"):
        plan.perturb(twice)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (pa.array([None, *range(1, ROWS)]), "1 missing"),
        (pa.array(np.arange(ROWS) / 2), "not double"),
    ],
)
def test_keys__of_other_kinds_are_refused(key, message):
    plan = fn.Plan({**FIELDS, "key": "person"})
    with pytest.raises((TypeError, ValueError), match=message):
        plan.perturb(table().append_column("person", key))


def test_totals__are_those_of_one_person():
    delta = {"mechanism": "discrete-uniform", "delta": 0.01, "sensitivity": 1}
    plan = fn.Plan({"columns": {"a": INCOME, "b": VISITS, "c": delta}, "rows_per_person": 3})
    assert plan.epsilon == 3 * 0.75
    assert plan.delta == pytest.approx(0.03, rel=1e-12)
    assert "epsilon 2.25, delta 0.03 for one person (3 rows)" in str(plan)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity"),
    [
        ("staircase", 3.5),
        ("laplace", 3.5),
        ("l2-laplace", 3.5 * 2**0.5),
        ("multi-user-laplace", 3.5 * 2**0.5),
        ("l1-staircase", 7.0),
    ],
)
def test_clip__sets_the_sensitivity(mechanism, sensitivity):
    fields = {"mechanism": mechanism, "epsilon": 1.0, "clip": [-1, 2.5]}
    if mechanism in ("staircase", "laplace"):
        plan = fn.Plan({"columns": {"a": fields}})
    else:
        plan = fn.Plan({"vectors": {"a": {**fields, "columns": ["x", "y"]}}})
    (entry,) = plan.entries
    assert sensitivity <= entry.mechanism.sensitivity < sensitivity * (1 + 1e-14)


def test_clip__sets_widths_and_integers():
    box = {"mechanism": "box-staircase", "epsilon": 1.0, "clip": [0, 2], "columns": ["x", "y"]}
    visits = {"mechanism": "discrete-laplace", "epsilon": 1.0, "clip": [0, 12]}
    plan = fn.Plan({"columns": {"a": visits}, "vectors": {"v": box}})
    assert plan.entries[0].mechanism == fn.DiscreteLaplace(1.0, 12)
    assert plan.entries[1].mechanism.widths == (2.0, 2.0)


BAD = [
    ({}, "names no columns"),
    ({"colums": {}}, "no field 'colums': did you mean 'columns'"),
    (
        {"columns": {"a": {**INCOME, "mechanism": "starcase"}}},
        "columns.a.mechanism 'starcase'.*'staircase'",
    ),
    ({"columns": {"a": {"epsilon": 1}}}, "columns.a.mechanism is missing; there are"),
    ({"columns": {"a": {**INCOME, "mechanism": "l2-laplace"}}}, "'l2-laplace' is unknown here"),
    ({"columns": {"a": {**INCOME, "epsilon": 0}}}, "columns.a: epsilon must be .*not 0"),
    (
        {"columns": {"a": {"mechanism": "staircase", "epsilon": 1}}},
        "columns.a needs sensitivity, or clip",
    ),
    ({"columns": {"a": {**INCOME, "clip": [1, 1]}}}, "columns.a.clip must be .*low < high"),
    ({"columns": {"a": {**INCOME, "clip": [0, float("inf")]}}}, "columns.a.clip must be"),
    ({"columns": {"a": {**VISITS, "clip": [0.5, 2]}}}, "columns.a.clip must be .*integers"),
    ({"columns": {"a": {**INCOME, "sensitivty": 1}}}, "'sensitivty': did you mean 'sensitivity'"),
    ({"columns": {"a": 3}}, "columns.a must be a table of fields"),
    ({"columns": [1]}, "columns must be a table of fields"),
    ({"vectors": {"a": {**PLACE, "columns": ["x"]}}}, "vectors.a.columns must be two or more"),
    ({"vectors": {"a": {**PLACE, "columns": "xy"}}}, "vectors.a.columns must be a list"),
    ({"columns": {"x": INCOME}, "vectors": {"a": PLACE}}, "perturbs 'x' twice"),
    ({"columns": {"x": INCOME}, "key": "x"}, "key 'x' is a column that is perturbed"),
    ({"columns": {"x": INCOME}, "rows_per_person": 0}, "rows_per_person must be"),
    ({"columns": {"x": INCOME}, "release": 11}, "release must be a text"),
    ({"columns": {"a": {**INCOME, "clip": [0, 10**400]}}}, "columns.a.clip must be"),
    (
        {"columns": {"a": {"mechanism": "geometric", "epsilon": 1, "clip": [0, 9]}}},
        "geometric noise covers a change by 1",
    ),
]


@pytest.mark.parametrize("name", [1, None, b"a", ("a",)])
def test_names__are_texts(name):
    for entries in ({"columns": {name: INCOME}}, {"vectors": {name: PLACE, "1": PLACE}}):
        with pytest.raises(TypeError, match=r"^plan: (columns|vectors).*name.*text"):
            fn.Plan(entries)


@pytest.mark.parametrize(("fields", "message"), BAD, ids=lambda p: p if isinstance(p, str) else "")
def test_plans__that_cannot_be_meant(fields, message):
    with pytest.raises((TypeError, ValueError), match=f"^plan.*{message}"):
        fn.Plan(fields)


def test_files__name_themselves(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('[columns.income]\nmechanism = "staircase"\nepsilon = 0.5\nclip = [0, 9]\n')
    plan = fn.Plan.load(path)
    assert plan.columns == ("income",)
    assert "income" in repr(plan)
    path.write_text("[columns.income\n")
    with pytest.raises(ValueError, match=r"plan\.toml is not TOML"):
        fn.Plan.load(path)
    path.write_text('[columns.income]\nmechanism = "gauss"\n')
    with pytest.raises(ValueError, match=r"plan.toml: columns.income.mechanism 'gauss'"):
        fn.Plan.load(path)


def test_tables__without_the_columns_are_refused(plan):
    with pytest.raises(ValueError, match="no column 'income', which plan names"):
        plan.perturb(table().drop_columns("income"))
    with pytest.raises(TypeError, match="table must be a pandas or Polars frame"):
        plan.perturb([1, 2, 3])
    data = table().set_column(2, "income", pa.array(["much"] * ROWS))
    with pytest.raises(TypeError, match="column 'income': x must be a column of float64"):
        plan.perturb(data)


def test_vectors__of_one_name_over_other_columns_differ(stream):
    one, other = (
        fn.Plan({"vectors": {"v": {**PLACE, "columns": names}}})
        for names in (["x", "y"], ["y", "x"])
    )
    noisy = [plan.perturb(table(), stream=stream.at(0)) for plan in (one, other)]
    assert noisy[0]["x"].to_pylist() != noisy[1]["x"].to_pylist()


def test_vectors__of_large_integers_are_clamped(stream):
    plan = fn.Plan({"vectors": {"v": PLACE}})
    noisy = plan.perturb(pa.table({"x": [2**62, -(2**62)], "y": [0, 1]}), stream=stream)
    assert abs(abs(noisy["x"].to_numpy()) - 2.0**53).max() < 1000


def test_costs__may_be_lists_in_toml():
    fields = {**INCOME, "cost": ["interval", 0.95]}
    assert fn.Plan({"columns": {"a": fields}}).entries[0].mechanism.gamma > 0


def test_keys__of_polars_categories(stream):
    plan = fn.Plan({"columns": {"income": INCOME}, "key": "who"})
    frame = pl.DataFrame({"income": [1.0, 2.0], "who": ["a", "b"]})
    expected = plan.perturb(frame, stream=stream)["income"]
    categories = frame.with_columns(pl.col("who").cast(pl.Categorical))
    assert plan.perturb(categories, stream=stream)["income"].equals(expected)
