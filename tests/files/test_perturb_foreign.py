"""Are files that other people made perturbed, or refused with one line?"""

import re
import subprocess
import sys
from base64 import b64decode, b64encode
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import DATA
from jobs import laplace_of
from pyarrow.parquet import encryption

FOREIGN = DATA / "foreign"
READABLE = ["hadoop_lz4_compressed.parquet", "non_hadoop_lz4_compressed.parquet"]
NAMES = sorted(path.name for path in FOREIGN.iterdir() if path.suffix != ".md")
CODECS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]


@pytest.mark.parametrize("name", NAMES)
def test_foreign__is_perturbed_or_refused_with_one_line(name, tmp_path):
    """In a process of its own: some aborted it."""
    suffix = ".arrows" if "ipc" in name else ".parquet"
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    source.write_bytes((FOREIGN / name).read_bytes())
    column = "double_field" if "encrypt" in name else "v11"
    (tmp_path / "plan.toml").write_text(laplace_of(column))
    command = [sys.executable, "-m", "fastnoise", "perturb", source, target, "--quiet"]
    done = subprocess.run(
        [*map(str, command), "--plan", str(tmp_path / "plan.toml")], capture_output=True, text=True
    )
    if name in READABLE:
        assert (done.returncode, done.stderr) == (0, "")
        old, new = (pq.read_table(path).drop_columns(["v11"]) for path in (source, target))
        assert new.equals(old)
    else:
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert str(source) in done.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == [source.name, "plan.toml"]
        assert ("is encrypted" in done.stderr) == ("encrypt" in name)


# --- made here ------------------------------------------------------------------------------------

TABLE = pa.table({"n": [1.0, 2.0, 3.0], "m": [1, 2, 3], "s": ["a", "b", "c"]})


class Keys(encryption.KmsClient):
    """Keys that are wrapped in nothing."""

    def wrap_key(self, key, name):
        return b64encode(key)

    def unwrap_key(self, wrapped, name):
        return b64decode(wrapped)


@pytest.mark.parametrize(
    "options",
    [
        {"column_keys": {"k": ["n"]}, "plaintext_footer": True},
        {"column_keys": {"k": ["m"]}, "plaintext_footer": True},
        {"column_keys": {"k": ["m"]}},
        {"uniform_encryption": True},
        {"uniform_encryption": True, "plaintext_footer": True},
    ],
)
def test_encrypted__files_and_columns_are_refused_with_one_line(options, job):
    factory, footer = encryption.CryptoFactory(lambda _: Keys()), {"footer_key": "f"}
    properties = factory.file_encryption_properties(
        encryption.KmsConnectionConfig(), encryption.EncryptionConfiguration(**footer, **options)
    )
    with pq.ParquetWriter(job.source, TABLE.schema, encryption_properties=properties) as writer:
        writer.write_table(TABLE)
    job.plan.write_text(laplace_of("n"))
    problem = job.refused()
    assert str(job.source) in problem
    assert "is encrypted" in problem
    if "column_keys" in options and "plaintext_footer" in options:
        assert f"column {options['column_keys']['k'][0]!r}" in problem
    assert not job.target.exists()


def more(**columns) -> pa.Table:
    return pa.table({"n": TABLE["n"], **columns})


def renamed(*names) -> pa.Table:
    return TABLE.rename_columns(names)


DAYS = [date(2026, 1, 1)] * 3
UUIDS = pa.ExtensionArray.from_storage(
    pa.uuid(), pa.array([b"0123456789abcdef"] * 3, pa.binary(16))
)
INT96 = {"use_deprecated_int96_timestamps": True}
DELTAS = {"n": "BYTE_STREAM_SPLIT", "m": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"}
MADE = {
    **{codec: (TABLE, {"compression": codec}) for codec in CODECS},
    "nested": (more(q=pa.array([[{"a": [1]}], None, []])), {}),
    "map": (more(q=pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64()))), {}),
    "nulls": (more(z=pa.nulls(3)).set_column(0, "n", pa.nulls(3, pa.float64())), {}),
    "no rows": (TABLE.slice(0, 0), {}),
    "a name twice": (renamed("n", "d", "d"), {}),
    "no name": (renamed("n", "", "x.y"), {}),
    "INT96": (more(t=pa.array(DAYS).cast("timestamp[us]")), INT96),
    "decimals": (more(q=pa.array([Decimal("1.25")] * 3)), {}),
    "dictionary": (more(q=TABLE["s"].dictionary_encode()), {}),
    "numbers in a dictionary": (pa.table({"n": TABLE["n"].dictionary_encode()}), {}),
    "times": (more(a=pa.array([1, 2, 3], pa.duration("s")), b=pa.array(DAYS, pa.date64())), {}),
    "views": (more(a=TABLE["s"].cast(pa.string_view()), b=TABLE["s"].cast(pa.large_string())), {}),
    "uuid": (more(u=UUIDS), {}),
    "halves": (more(h=pa.array([1, 2, 3], pa.float16())), {}),
    "wide": (more(**{f"c{i}": TABLE["m"] for i in range(1000)}), {}),
    "deltas": (TABLE, {"use_dictionary": False, "column_encoding": DELTAS}),
}


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("name", MADE)
def test_made__files_are_read_as_pyarrow_reads_them(name, stored, job):
    table, options = MADE[name]
    pq.write_table(table, job.source, store_schema=stored, **options)
    job.plan.write_text(laplace_of("n"))
    assert job(job.source, job.target, "--quiet") == (0, "", "")
    old, new = (pq.ParquetFile(path).read() for path in (job.source, job.target))
    assert new.schema.equals(old.schema)
    for one, other in zip(old.columns[1:], new.columns[1:], strict=True):
        assert other.equals(one)
    assert new["n"].null_count == old["n"].null_count


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({}), "no column 'n'"),
        (renamed("n", "n", "d"), "more than one column 'n'"),
        (pa.table({"n": pa.nulls(3)}), "column 'n': .*null"),
        (pa.table({"n": [True, False]}), "column 'n': .*bool"),
        (pa.table({"n": [Decimal("1.5")]}), "column 'n': .*decimal"),
    ],
)
def test_made__files_of_other_columns_are_refused_with_one_line(table, message, job):
    pq.write_table(table, job.source)
    job.plan.write_text(laplace_of("n"))
    problem = job.refused()
    assert str(job.source) in problem
    assert re.search(message, problem)
