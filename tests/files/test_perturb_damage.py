"""Do damaged files, receipts and plans end in equal data or one line, with nothing left behind?"""

import csv
import io
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import PLAN, Job, people
from pyarrow import ipc

pytestmark = pytest.mark.long

ROWS, CUT = 12, 5  # in batches or row groups of so many
KINDS = ["income", "visits", "x", "y", "name", "town", "tags", "cents"]
TEXTS = ["income", "visits", "x", "y", "name"]


def table() -> pa.Table:
    return people(ROWS).select(KINDS)


def parquet(metadata=None, **options) -> bytes:
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, table().schema, **options) as writer:
        writer.write_table(table(), row_group_size=CUT)
        writer.add_key_value_metadata(metadata or {})
    return sink.getvalue()


def arrow(opened) -> bytes:
    sink = io.BytesIO()
    with opened(sink, table().schema) as writer:
        for batch in table().to_batches(CUT):
            writer.write_batch(batch)
    return sink.getvalue()


def text() -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(TEXTS)
    for row in table().select(TEXTS).to_pylist():
        writer.writerow("" if cell is None else cell for cell in row.values())
    return sink.getvalue().encode()


def receipt() -> bytes:
    from fastnoise import Plan
    from fastnoise.etl.receipt import Found, found_after

    plan = Plan({"columns": {"x": {"mechanism": "laplace", "epsilon": 1, "sensitivity": 1}}})
    return json.dumps(found_after(plan, Found(), False, False).receipt).encode()


PLAIN = {"compression": "none", "write_page_checksum": True}
SPARK = {"compression": "zstd", "data_page_version": "2.0", "store_schema": False}
MADE = {  # what is damaged, and the files that there are then
    "parquet": (lambda: parquet(), lambda data: {"in.parquet": data}),
    "parquet, plain": (lambda: parquet(**PLAIN), lambda data: {"in.parquet": data}),
    "parquet, others'": (lambda: parquet(**SPARK), lambda data: {"in.parquet": data}),
    "arrow": (lambda: arrow(ipc.new_file), lambda data: {"in.arrow": data}),
    "arrows": (lambda: arrow(ipc.new_stream), lambda data: {"in.arrows": data}),
    "csv": (text, lambda data: {"in.csv": data}),
    "receipt beside": (receipt, lambda data: {"in.csv": text(), "in.csv.receipt.json": data}),
    "receipt within": (receipt, lambda data: {"in.parquet": parquet({"fastnoise": data})}),
    "plan": (PLAN.encode, lambda data: {"in.csv": text(), "plan.toml": data}),
}


def damaged(name: str, cuts: int, changes: int) -> list[tuple[str, dict[str, bytes]]]:
    """So many of all truncations, spread evenly, and so many changes of one byte."""
    make, files = MADE[name]
    data, chance = make(), random.Random(name)
    made = {f"{name}, first {end} bytes": data[:end] for end in range(0, len(data) + 1, cuts)}
    for _ in range(changes):
        at, change = chance.randrange(len(data)), chance.randrange(1, 256)
        found = bytearray(data)
        found[at] ^= change
        made[f"{name}, byte {at} ^ {change}"] = bytes(found)
    return [(key, {"plan.toml": PLAN.encode(), **files(value)}) for key, value in made.items()]


def wrong(cases, folder) -> dict[str, str]:
    (folder / "cases").write_bytes(pickle.dumps(cases))
    script = Path(__file__).with_name("damaged.py")
    run = [sys.executable, str(script), str(folder / "cases")]
    environment = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    assert sorted(path.name for path in folder.iterdir()) == ["cases"]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", MADE)
def test_damage__ends_in_equal_data_or_in_one_line(name, tmp_path):
    assert wrong(damaged(name, 61, 80), tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_damage__everywhere(name, tmp_path):
    assert wrong(damaged(name, 1, 1000), tmp_path) == {}


def invalid(data: bytes, read, change: int) -> list[bytes]:
    """Some changes of a byte that PyArrow reads, though they are not what Arrow allows."""
    found = []
    for at in range(len(data)):
        made = bytearray(data)
        made[at] ^= change
        try:
            table = read(pa.BufferReader(bytes(made)))
        except Exception:
            continue
        try:
            table.validate(full=True)
        except ValueError:
            found.append(bytes(made))
    return found[:: max(1, len(found) // 30)]


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
def test_arrays__that_arrow_does_not_allow_are_refused(suffix, tmp_path, capsys):
    """PyArrow writes what is beside them in memory, or dies."""
    job, opened = Job(tmp_path, capsys), {"arrow": ipc.open_file, "arrows": ipc.open_stream}
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    if suffix == "parquet":
        data = parquet(data_page_version="2.0")
        cases = [case for case in invalid(data, pq.read_table, 3) if is_dictionary(case)]
    else:
        data = arrow(ipc.new_file if suffix == "arrow" else ipc.new_stream)
        cases = invalid(data, lambda source: opened[suffix](source).read_all(), 64)
    assert cases
    for case in cases:
        source.write_bytes(case)
        problem = job.refused(source, target)
        assert str(source) in problem
        assert "column " in problem
        assert "ecimal value" not in problem  # which PyArrow shows
        assert not target.exists()


def is_dictionary(data: bytes) -> bool:
    """Whether it is that column: of others, nothing is believed."""
    try:
        pq.read_table(pa.BufferReader(data)).drop_columns("town").validate(full=True)
    except ValueError:
        return False
    return True
