"""The side-by-side with other packages, as far as it needs none of them."""

import json
import os
import subprocess
import sys

import numba
import pytest

from bench.peers import __main__ as program
from bench.peers import catalogue, environments
from bench.peers.calls import call, data
from bench.peers.side_by_side import Turns, check_law, name
from bench.peers.table import COLUMNS, rows_of, table, unmeasured

HERE = [
    (line, threads)
    for line in catalogue.LINES
    for threads in line.threads
    if catalogue.package(line.peer) in ("fastnoise", "numpy", "scipy")
]
ROW = {"peer", "version", "environment", "law", "values", "threads", "ns", "fastnoise_ns"}
ROW |= {"secure", "attack_proof", "unfair"}


@pytest.mark.parametrize(("line", "threads"), HERE, ids=name)
def test_call__draws_the_law(line, threads, request):
    request.getfixturevalue("threads")  # restores numba's
    if line.peer == "fastnoise" and threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip(f"numba has fewer than {threads} threads")
    x = data(line.law, 20_000)
    noisy = call(line, x, threads)()
    assert noisy.dtype == x.dtype
    check_law(line, noisy, x)


def test_catalogue__says_yes_or_no():
    for line in catalogue.LINES:
        assert line.secure.startswith(("yes", "no"))
        assert line.attack_proof.startswith(("yes", "no"))
        assert line.law in catalogue.LAWS
        assert catalogue.package(line.peer) in {"fastnoise", *catalogue.REQUIREMENTS}


def test_catalogue__has_ours_beside_every_line():
    ours = {(o.law, o.values) for o in catalogue.LINES if o.peer == "fastnoise"}
    assert {(line.law, line.values) for line in catalogue.LINES} == ours


def test_turns__treat_both_alike():
    calls = []
    turns = Turns(lambda: calls.append("ours"), lambda: calls.append("theirs"))
    turns()
    calls.append("theirs")  # the timed one
    assert calls == ["ours", "ours", "theirs", "theirs"]
    assert len(turns.times) == 1


def idle_cost():
    """Seconds of processor that a process spends asleep, right after a call on two threads."""
    code = (
        "import time, numpy as np, numba; from bench.peers.calls import ours\n"
        "if numba.config.NUMBA_NUM_THREADS > 1:\n"
        "    run = ours('staircase', np.zeros(1_000_000), 2); run(); run()\n"
        "before = time.process_time(); time.sleep(0.2); print(time.process_time() - before)"
    )
    environment = {**os.environ, **program.SETTINGS, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def test_settings__leave_no_thread_spinning():
    """Else ours would take a core from a peer that is measured next."""
    assert idle_cost() < 0.05


class Here(environments.Environment):
    python = sys.executable


def test_measure__tiny_run(tmp_path, monkeypatch):
    """The real pytest-benchmark, on what is here; opendp is not, and that is reported."""
    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # which switches benchmarks off
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k '20000 and (fastnoise or opendp)'")
    rows, missing = program.measure(Here("here", ["opendp"]))
    assert {(row["law"], row["environment"]) for row in rows} == {
        (law, "here") for law in catalogue.LAWS
    }
    for row in rows:
        assert set(row) == ROW
        assert row["ns"] > 0
        assert row["fastnoise_ns"] > 0
    reasons = {one["peer"]: one["reason"] for one in missing}
    assert reasons["opendp, laplace, 20000-1"] == "ModuleNotFoundError: No module named 'opendp'"


RECORDED = {
    "benchmarks": [
        {
            "stats": {"median": 0.05},
            "extra_info": {
                "peer": "numpy",
                "version": "2.0",
                "law": "laplace",
                "values": 10_000_000,
                "threads": 1,
                "fastnoise_ns": 2.5,
                "secure": "no: PCG64",
                "attack_proof": "no",
                "unfair": "",
                "draws": "",
            },
        }
    ]
}


def test_table():
    rows = list(rows_of(RECORDED, "shared"))
    assert rows[0]["ns"] == pytest.approx(5.0)
    missing = [{"peer": "python-dp", "reason": "ERROR: no wheel"}]
    lines = list(table(rows, missing))
    assert lines[0].count("|") == lines[2].count("|") == len(COLUMNS) + 1
    assert "| 10,000,000 | 1 | 5.00 | 2.00 | no: PCG64 |" in lines[2]
    assert lines[3] == "Not measured: python-dp: ERROR: no wheel"


def test_unmeasured__is_given_a_reason():
    output = "FAILED side_by_side.py::test_line[numpy, laplace, 10000000-2] - MemoryError\nbad end"
    missing = unmeasured(list(rows_of(RECORDED, "shared")), ["numpy"], output)
    reasons = {one["peer"]: one["reason"] for one in missing}
    assert reasons["numpy, laplace, 10000000-2"] == "MemoryError"
    assert reasons["numpy, staircase, 10000000-1"] == "bad end"
    assert "numpy, laplace, 10000000-1" not in reasons


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Commands that do nothing; opendp needs its own environment, python-dp installs nowhere."""
    (tmp_path / "env").mkdir()
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(environments, "MADE", tmp_path / "env/made.json")

    def run(command, **options):
        fails = "python-dp" in command or ("opendp" in command and "env/shared" in command[0])
        errors = "a word\nERROR: No matching distribution\nanother" if fails else ""
        return subprocess.CompletedProcess(command, int(fails), "", errors)

    return run


def test_prepare__goes_on_without_a_peer(pip):
    made, missing = environments.prepare(pip)
    assert [one.name for one in made] == ["shared", "opendp"]
    assert made[1].peers == ["opendp"]
    assert {"numpy", "scipy", "diffprivlib"} < set(made[0].peers)
    assert missing == [{"peer": "python-dp", "reason": "ERROR: No matching distribution"}]
    assert not environments.MADE.exists()


def test_prepare__remembers(pip, monkeypatch):
    monkeypatch.delitem(catalogue.REQUIREMENTS, "python-dp")
    made, _ = environments.prepare(pip)

    def refuse(command, **options):
        raise AssertionError(command)

    again, missing = environments.prepare(refuse)
    assert [(one.name, one.peers) for one in again] == [(one.name, one.peers) for one in made]
    assert missing == []


def test_main__writes_what_it_prints(tmp_path, monkeypatch, capsys):
    rows = list(rows_of(RECORDED, "here"))
    monkeypatch.setattr(program, "FOLDER", tmp_path)
    monkeypatch.setattr(program, "prepare", lambda: ([Here("here", ["numpy"])], []))
    monkeypatch.setattr(program, "measure", lambda environment: (rows, []))
    program.main()
    written = json.loads((tmp_path / "peers.json").read_text())
    assert written["rows"] == rows
    assert set(written) == {"date", "machine", "python", "rows", "missing"}
    assert "numpy 2.0" in capsys.readouterr().out
