"""Is there one clear line, without a cell of the data, whatever is wrong with a text?"""

import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from test_perturb_files import PLAN, Job, people

from fastnoise.cli import main

pytestmark = pytest.mark.long

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


QUOTES = {
    "never closed": b'1.5,2,0.5,0.25,"note\n' + ROW + ROW,
    "closed in a later row": b'1.5,2,0.5,0.25,"note\n1.5,2,0.5,0.25,"secret\n' + ROW,
    "closed before the end of the field": b'1.5,2,0.5,0.25,"note"secret\n' + ROW,
    "of the first field": b'"1.5"secret,2,0.5,0.25,note\n',
}


@pytest.mark.parametrize("name", QUOTES)
@pytest.mark.parametrize("block", [None, 7])
def test_csv__quotes_that_take_in_other_rows_are_refused(block, name, job, tmp_path, monkeypatch):
    if block is not None:
        monkeypatch.setattr("fastnoise.etl.quotes.BLOCK", block)
    (tmp_path / "in.csv").write_bytes(HEAD + ROW + QUOTES[name])
    status, _, problem = job(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (status, problem.count("\n"), "secret" in problem) == (1, 1, False)
    assert "in.csv" in problem
    assert "closing quote" in problem
    assert not (tmp_path / "out.csv").exists()


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


PLANS = {
    "binary": bytes(range(256)),
    "too deep": b"a = " + b"[" * 100_000,
    "too many digits": b"rows_per_person = " + b"1" * 5000,
    "twice": b"release = 'a'\nrelease = 'b'\n",
    "too long": b"#" * (1 << 24),
}


@pytest.mark.parametrize("name", PLANS)
def test_plans__that_cannot_be_read(name, job, tmp_path):
    (tmp_path / "in.csv").write_bytes(HEAD + ROW)
    job.plan.write_bytes(PLANS[name])
    status, _, problem = job(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (status, problem.count("\n"), str(job.plan) in problem) == (1, 1, True)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("option", ["--plan", "--key-file"])
@pytest.mark.parametrize("place", ["missing", ".", "/dev/zero"])
def test_plans_and_keys__that_are_elsewhere(option, place, tmp_path):
    """Neither is ever as long as a device."""
    job = [str(tmp_path / "in.csv"), str(tmp_path / "out.csv")]
    (tmp_path / "in.csv").write_bytes(HEAD + ROW)
    (tmp_path / "plan.toml").write_text(PLAN)
    options = {"--plan": str(tmp_path / "plan.toml"), option: str(tmp_path / place)}
    run = [sys.executable, "-m", "fastnoise", "perturb", *job]
    run += [text for pair in options.items() for text in pair]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert options[option] in done.stderr
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("threads", ["0", "-1"])
def test_threads__that_are_none(threads, job, tmp_path):
    (tmp_path / "in.csv").write_bytes(HEAD + ROW)
    status, _, problem = job(tmp_path / "in.csv", tmp_path / "out.csv", "--threads", threads)
    assert (status, problem.count("\n"), "--threads" in problem) == (1, 1, True)


def test_threads__that_are_many(job, tmp_path):
    (tmp_path / "in.csv").write_bytes(HEAD + ROW)
    assert job(tmp_path / "in.csv", tmp_path / "out.csv", "--threads", "9" * 30)[0] == 0


def test_names__that_are_empty(job, tmp_path, monkeypatch):
    """An unset variable is not the folder one is in."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    pq.write_table(people(3), folder / "a.parquet")
    for source, target, name in (("", tmp_path / "out", "IN"), (folder, "", "OUT")):
        status, _, problem = job(source, target)
        assert (status, problem.count("\n"), name in problem) == (1, 1, True)
    assert main(["receipt", ""]) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("output", ["/dev/full", "gone", "closed"])
def test_summary__that_nobody_can_read_is_no_failure(output, tmp_path):
    """The output is there by then: a job that repeats failed runs must not repeat this one."""
    source, target, plan = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "plan.toml"
    source.write_bytes(HEAD + ROW)
    plan.write_text(PLAN)
    run = [sys.executable, "-m", "fastnoise", "perturb", source, target, "--plan", plan]
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
    assert target.exists()


def test_summary__of_names_that_the_terminal_cannot_show(tmp_path):
    source, target, plan = tmp_path / "é.csv", tmp_path / "né.csv", tmp_path / "plan.toml"
    source.write_bytes(HEAD + ROW)
    plan.write_text(PLAN)
    run = [sys.executable, "-m", "fastnoise", "perturb", source, target, "--plan", plan]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(list(map(str, run)), capture_output=True, env=ascii_only)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"n\\xe9.csv: 1 rows" in done.stdout


def test_errors__that_nobody_can_read(tmp_path):
    """As under a daemon, which has neither output."""
    source, target, plan = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "plan.toml"
    source.write_bytes(HEAD + ROW)
    plan.write_text(PLAN)
    close = "import os, sys; os.close(1); os.close(2); os.execv(sys.argv[1], sys.argv[1:])"
    run = [sys.executable, "-m", "fastnoise", "perturb", source, target, "--plan", plan]
    done = subprocess.run([sys.executable, "-c", close, *map(str, run)])
    assert (done.returncode, target.exists()) == (0, True)
