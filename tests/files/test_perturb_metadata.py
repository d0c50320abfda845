"""Does metadata survive, but for what was computed from a column that is perturbed?"""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import NOISY, flat, laplace_of, load, save, write

TELLING = {
    "stats": '{"minValues": {"income": 1.5}}',
    "income": "3.5",
    "income_max": "190",
    "summary": "income: 3 .. 190",
    "mean": "17.25",
    "colMax": "190",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015",
    "sketch of income": b"\xff\x00\xfe",
    "describe": '{"n\\u00e9": {"50%": 3}}',
    "iceberg.schema": '{"type": "struct", "fields": [{"id": 1, "name": "n\\u00e9"}]}',
}
SILENT = {
    "author": "a test of 2026",
    "version": "1.2.3",
    "description": '{"income": "euros per year"}',
    "writer.model.name": "example",
    "parquet.avro.schema": '{"type": "record", "fields": [{"name": "income", "type": "double"}]}',
}


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_metadata__that_may_be_computed_is_dropped_and_named(suffix, job):
    source, target = job.folder / f"in.{suffix}", job.folder / f"out.{suffix}"
    table = pa.table({"income": [1.5, 2.0], "né": [1, 2], "id": [1, 2]})
    fields = [
        table.schema.field(0).with_metadata({"max": "190", "unit": "euro"}),
        table.schema.field(1),
        table.schema.field(2).with_metadata({"max": "2"}),
    ]
    table = pa.table(table.columns, schema=pa.schema(fields, {**TELLING, **SILENT}))
    save(table, source)
    job.plan.write_text(laplace_of("income", "né"))
    status, said, problem = job(source, target, "--json")
    assert (status, problem.count("\n")) == (0, 1)
    schema = load(target).schema
    assert set(schema.metadata) == {key.encode() for key in [*SILENT, "fastnoise"]}
    assert set(schema.field("income").metadata) - {b"PARQUET:field_id"} == {b"unit", b"fastnoise"}
    assert schema.field("id").metadata[b"max"] == b"2"
    dropped = json.loads(said)["dropped"]
    assert set(dropped) == {*TELLING, "income.max"}
    assert all(name in problem for name in dropped)
    assert b"190" not in target.read_bytes()


BOX = {"encoding": "WKB", "geometry_types": [], "bbox": [1.0, 2.0, 3.0, 4.0]}
COVERING = {"bbox": {"xmin": ["x"], "ymin": ["y"], "xmax": ["x"], "ymax": ["y"]}}


@pytest.mark.parametrize(
    ("columns", "dropped"),
    [
        ({"shape": BOX}, []),
        ({"x": BOX}, ["geo.x.bbox"]),
        ({"gone": BOX}, ["geo.gone.bbox"]),
        ({"shape": {**BOX, "covering": COVERING}}, ["geo.shape.bbox", "geo.shape.covering"]),
    ],
)
def test_geo__boxes_of_perturbed_columns_are_dropped(columns, dropped, job):
    table = flat(5).append_column("shape", pa.array([b"x"] * 5))
    geo = {"version": "1.1.0", "primary_column": next(iter(columns)), "columns": columns}
    write(table, job.source, geo=json.dumps(geo))
    status, said, problem = job(job.source, job.target, "--json")
    assert (status, json.loads(said)["dropped"]) == (0, dropped)
    assert problem.count("\n") == bool(dropped)
    kept = json.loads(pq.ParquetFile(job.target).metadata.metadata[b"geo"])
    (found,) = kept["columns"].values()
    assert ("bbox" in found, "covering" in found) == (not dropped, False)
    assert found["encoding"] == "WKB"
    assert kept["version"] == "1.1.0"


def test_statistics__are_those_of_the_noise(job):
    table = flat(2000)
    sorted_by = pq.SortingColumn(table.schema.get_field_index("income"))
    options = {"write_page_index": True, "sorting_columns": [sorted_by], "data_page_size": 512}
    pq.write_table(table, job.source, row_group_size=700, **options)
    job.perturbed()
    opened = pq.ParquetFile(job.target)
    for group in range(opened.num_row_groups):
        rows = opened.read_row_group(group)
        metadata = opened.metadata.row_group(group)
        assert metadata.sorting_columns == ()
        for at in range(metadata.num_columns):
            column = metadata.column(at)
            if column.path_in_schema in NOISY:
                values = rows[column.path_in_schema].drop_null().to_numpy()
                found = column.statistics
                assert (found.min, found.max) == (values.min(), values.max())
                assert not column.has_column_index
                assert not column.has_offset_index
