"""Is there one clear line, without a cell of the data, whatever is wrong with a text?"""

import os

import pytest
from test_perturb_files import Job

HEAD = b"income,visits,x,y,note\n"
ROW = b"1.5,2,0.5,0.25,secret\n"
BAD = {
    "ragged": (HEAD + ROW + b"1.5,2,secret\n", "expected 5 fields, found 3"),
    "ragged, long": (HEAD + ROW + b"1.5,2,3,4,5,6,secret\n", "expected 5 fields, found 7"),
    "latin": (HEAD + ROW + b"1.5,2,0.5,0.25,secret caf\xe9\n", "not UTF-8"),
    "latin head": (b"caf\xe9,secret" + HEAD + ROW, "not UTF-8"),
}


@pytest.fixture
def job(tmp_path, capsys):
    return Job(tmp_path, capsys)


@pytest.mark.parametrize("name", BAD)
def test_csv__that_is_damaged(name, job, tmp_path):
    text, message = BAD[name]
    (tmp_path / "in.csv").write_bytes(text)
    status, _, problem = job(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (status, problem.count("\n"), "secret" in problem) == (1, 1, False)
    assert "in.csv" in problem
    assert message in problem
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("suffix", ["csv", "arrows", "parquet"])
def test_sources__that_are_no_files(suffix, job, tmp_path):
    """A pipe does not keep us waiting."""
    source, target = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    os.mkfifo(source)
    status, _, problem = job(source, target)
    assert (status, problem.count("\n"), "regular file" in problem) == (1, 1, True)
    source.unlink()
    source.touch()
    status, _, problem = job(source, target)
    assert (status, problem.count("\n"), source.name in problem) == (1, 1, True)
