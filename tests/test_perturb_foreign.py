"""Are files that other people made perturbed, or refused with one line?"""

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

FOREIGN = Path(__file__).parent / "data" / "foreign"
READABLE = ["hadoop_lz4_compressed.parquet", "non_hadoop_lz4_compressed.parquet"]
NAMES = sorted(path.name for path in FOREIGN.iterdir() if path.suffix != ".md")
PLAN = '[columns.COLUMN]\nmechanism = "laplace"\nepsilon = 1\nsensitivity = 1\n'


@pytest.mark.parametrize("name", NAMES)
def test_foreign__is_perturbed_or_refused_with_one_line(name, tmp_path):
    """In a process of its own: some aborted it."""
    suffix = ".arrows" if "ipc" in name else ".parquet"
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    source.write_bytes((FOREIGN / name).read_bytes())
    column = "double_field" if "encrypt" in name else "v11"
    (tmp_path / "plan.toml").write_text(PLAN.replace("COLUMN", column))
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
