"""Is there one clear line, without a cell of the data, whatever is wrong with a text?"""

import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from jobs import people

from fastnoise.cli import main

pytestmark = pytest.mark.long

PERTURB = [sys.executable, "-m", "fastnoise", "perturb"]
HEAD = b"income,visits,x,y,note\n"
ROW = b"1.5,2,0.5,0.25,secret\n"
BAD = {
    "ragged": (HEAD + ROW + b"1.5,2,secret\n", "expected 5 fields, found 3"),
    "ragged, long": (HEAD + ROW + b"1.5,2,3,4,5,6,secret\n", "expected 5 fields, found 7"),
    "latin": (HEAD + ROW + b"1.5,2,0.5,0.25,secret caf\xe9\n", "not UTF-8"),
    "latin head": (b"caf\xe9,secret" + HEAD + ROW, "not UTF-8"),
}


@pytest.mark.parametrize("name", BAD)
def test_csv__that_is_damaged(name, job):
    text, message = BAD[name]
    job.take("in.csv", text)
    problem = job.refused()
    assert ("secret" in problem, "in.csv" in problem) == (False, True)
    assert message in problem
    assert not job.target.exists()


QUOTES = {
    "never closed": b'1.5,2,0.5,0.25,"note\n' + ROW + ROW,
    "closed in a later row": b'1.5,2,0.5,0.25,"note\n1.5,2,0.5,0.25,"secret\n' + ROW,
    "closed before the end of the field": b'1.5,2,0.5,0.25,"note"secret\n' + ROW,
    "of the first field": b'"1.5"secret,2,0.5,0.25,note\n',
}


@pytest.mark.parametrize("name", QUOTES)
@pytest.mark.parametrize("block", [None, 7])
def test_csv__quotes_that_take_in_other_rows_are_refused(block, name, job, monkeypatch):
    if block is not None:
        monkeypatch.setattr("fastnoise.etl.quotes.BLOCK", block)
    job.take("in.csv", HEAD + ROW + QUOTES[name])
    problem = job.refused()
    assert ("secret" in problem, "in.csv" in problem) == (False, True)
    assert "closing quote" in problem
    assert not job.target.exists()


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 13, 1 << 20])
def test_csv__quotes_that_are_right_are_taken(block, tmp_path, monkeypatch):
    from fastnoise.etl import quotes

    monkeypatch.setattr(quotes, "BLOCK", block)
    for text in (b"", b'"', b'""', b'"a"', b'a,"b"\r\n"c","d ""e"", f\n"\n', b'5" x 6",7"\r8\r"9"'):
        (tmp_path / "in.csv").write_bytes(text)
        if text == b'"':
            with pytest.raises(ValueError, match="closing quote"):
                quotes.refuse_stray_quotes(tmp_path / "in.csv", ",")
        else:
            quotes.refuse_stray_quotes(tmp_path / "in.csv", ",")


@pytest.mark.parametrize("suffix", ["csv", "arrows", "parquet"])
def test_sources__that_are_no_files(suffix, job):
    """A pipe does not keep us waiting."""
    job.take(f"in.{suffix}")
    assert job.source.name in job.refused()
    job.source.unlink()
    os.mkfifo(job.source)
    assert "regular file" in job.refused()


PLANS = {
    "binary": bytes(range(256)),
    "too deep": b"a = " + b"[" * 100_000,
    "too many digits": b"rows_per_person = " + b"1" * 5000,
    "twice": b"release = 'a'\nrelease = 'b'\n",
    "too long": b"#" * (1 << 24),
}


@pytest.mark.parametrize("name", PLANS)
def test_plans__that_cannot_be_read(name, job):
    job.take("in.csv", HEAD + ROW)
    job.plan.write_bytes(PLANS[name])
    assert str(job.plan) in job.refused()
    assert not job.target.exists()


@pytest.mark.parametrize("option", ["--plan", "--key-file"])
@pytest.mark.parametrize("place", ["missing", ".", "/dev/zero"])
def test_plans_and_keys__that_are_elsewhere(option, place, job):
    """Neither is ever as long as a device."""
    job.take("in.csv", HEAD + ROW)
    options = {"--plan": str(job.plan), option: str(job.folder / place)}
    run = [*PERTURB, job.source, job.target, *(text for pair in options.items() for text in pair)]
    done = subprocess.run(list(map(str, run)), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert options[option] in done.stderr
    assert not job.target.exists()


@pytest.mark.parametrize("threads", ["0", "-1"])
def test_threads__that_are_none(threads, job):
    job.take("in.csv", HEAD + ROW)
    assert "--threads" in job.refused(None, None, "--threads", threads)


def test_threads__that_are_many(job):
    job.take("in.csv", HEAD + ROW)
    assert job(job.source, job.target, "--threads", "9" * 30)[0] == 0


def test_names__that_are_empty(job, tmp_path, monkeypatch):
    """An unset variable is not the folder one is in."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    pq.write_table(people(3), folder / "a.parquet")
    for source, target, name in (("", tmp_path / "out", "IN"), (folder, "", "OUT")):
        assert name in job.refused(source, target)
    assert main(["receipt", ""]) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("output", ["/dev/full", "gone", "closed"])
def test_summary__that_nobody_can_read_is_no_failure(output, job):
    """The output is there by then: a job that repeats failed runs must not repeat this one."""
    job.take("in.csv", HEAD + ROW)
    run = [*PERTURB, job.source, job.target, "--plan", job.plan]
    if output == "gone":
        reading, stdout = os.pipe()
        os.close(reading)
    else:
        stdout = os.open("/dev/full", os.O_WRONLY)
    close = "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])"
    before = [sys.executable, "-c", close] if output == "closed" else []
    done = subprocess.run(
        [*before, *map(str, run)], stdout=stdout, stderr=subprocess.PIPE, text=True
    )
    os.close(stdout)
    assert (done.returncode, done.stderr.count("\n")) == (0, 0 if output == "closed" else 1)
    assert job.target.exists()


def test_summary__of_names_that_the_terminal_cannot_show(job):
    job.take("é.csv", HEAD + ROW)
    run = [*PERTURB, job.source, job.folder / "né.csv", "--plan", job.plan]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(list(map(str, run)), capture_output=True, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"n\\xe9.csv: 1 rows" in done.stdout


def test_errors__that_nobody_can_read(job):
    """As under a daemon, which has neither output."""
    job.take("in.csv", HEAD + ROW)
    close = "import os, sys; os.close(1); os.close(2); os.execv(sys.argv[1], sys.argv[1:])"
    run = [*PERTURB, job.source, job.target, "--plan", job.plan]
    done = subprocess.run([sys.executable, "-c", close, *map(str, run)])
    assert (done.returncode, job.target.exists()) == (0, True)
