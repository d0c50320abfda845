"""What does the command say and leave behind, when all goes well and when nothing does?"""

import fcntl
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import numba
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from jobs import NOISY, PLAN, people

from fastnoise.cli import main
from fastnoise.etl import place

pytestmark = pytest.mark.long


@pytest.fixture
def job(job):
    pq.write_table(people(200), job.source, row_group_size=50)
    return job


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# --- receipts -------------------------------------------------------------------------------------


def test_receipt__says_what_was_done_and_never_the_key(job, capsys):
    job.perturbed()
    assert main(["receipt", str(job.target), "--json"]) == 0
    text = capsys.readouterr().out
    (release,) = json.loads(text)["releases"]
    assert release["release"] == "2026-11"
    assert release["epsilon"] == pytest.approx(0.85)
    income, visits, place = release["columns"]
    assert [e["columns"] for e in (income, visits, place)] == [["income"], ["visits"], ["x", "y"]]
    assert income["mechanism"] == "staircase"
    assert income["clip"] == [0, 200_000]
    assert income["parameters"] == {"epsilon": 0.5, "sensitivity": 200_000}
    assert income["law"]["grid"] > 0
    assert job.key.read_bytes().hex() not in text
    assert main(["receipt", str(job.target)]) == 0
    assert "epsilon 0.85, delta 0 for one person, in all" in capsys.readouterr().out
    assert main(["receipt", str(job.source)]) == 1
    assert "no receipt" in capsys.readouterr().out


def test_receipt__of_other_columns_adds_up_and_the_same_is_refused(job):
    job.perturbed()
    more, again = job.folder / "more.toml", job.folder / "again.parquet"
    more.write_text('[columns.id]\nmechanism = "geometric"\nepsilon = 0.15\n')
    status, said, _ = job(job.target, again, plan=more)
    assert status == 0
    assert "epsilon 1, delta 0 for one person, in all" in said
    schema = pq.read_schema(again)
    assert len(json.loads(schema.metadata[b"fastnoise"])["releases"]) == 2
    problem = job.refused(again, job.folder / "third.parquet")
    assert "'income', 'visits', 'x', 'y' has noise already" in problem
    assert "--again" in problem
    assert job(again, job.folder / "third.parquet", "--again")[0] == 0


def test_receipt__the_same_release_of_a_key_is_never_added_twice(job):
    """Its noise would be the same, and could be subtracted."""
    job.perturbed()
    options = ("--key-file", str(job.key), "--again")
    assert "name another release" in job.refused(job.target, job.folder / "twice.parquet", *options)
    job.plan.write_text(PLAN.replace("2026-11", "2026-12"))
    assert job(job.target, job.folder / "twice.parquet", *options)[0] == 0


def test_receipt__that_is_damaged(job):
    table = people(3).replace_schema_metadata({"fastnoise": '{"format": 2}'})
    pq.write_table(table, job.source)
    assert "receipt is damaged" in job.refused()


# --- what it says ---------------------------------------------------------------------------------


def test_dry_run__writes_nothing(job):
    status, said, _ = job(job.source, job.target, "--dry-run")
    assert status == 0
    assert "would write" in said
    assert "200 rows" in said
    assert "staircase, epsilon 0.5" in said
    assert "epsilon 0.85" in said
    assert not job.target.exists()


def test_summary__quiet_and_json(job):
    assert job(job.source, job.target, "--quiet") == (0, "", "")
    _, said, _ = job(job.source, job.target, "--json")
    summary = json.loads(said)
    assert (summary["rows"], summary["epsilon"]) == (200, pytest.approx(0.85))
    _, said, problem = job(job.source, job.target)
    assert "200 rows in" in said
    assert problem == ""  # no progress where there is no terminal


def test_progress__on_a_terminal(job):
    """Rows, rate and time left, on a pseudo-terminal."""
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "fastnoise", "perturb", str(job.source), str(job.target)]
    done = subprocess.run([*command, "--plan", str(job.plan)], stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 10_000).decode()
    os.close(leader)
    assert done.returncode == 0
    assert "of 200 rows" in shown
    assert "a second" in shown
    assert "s left" in shown


# --- refusals -------------------------------------------------------------------------------------

REFUSED = [
    ('[columns.none]\nmechanism = "geometric"\nepsilon = 1\n', "no column 'none'"),
    ('[columns.name]\nmechanism = "geometric"\nepsilon = 1\n', "column 'name': .*string"),
    ('[columns.tags]\nmechanism = "geometric"\nepsilon = 1\n', "column 'tags': .*list"),
    ('[columns.income]\nmechanism = "geometric"\nepsilon = 1\n', "column 'income': .*integers"),
    ('[columns.income]\nmechanism = "gauss"\n', "columns.income.mechanism 'gauss'"),
    ("release = \n", "is not TOML"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_plans__are_refused_before_anything_is_written(text, message, job, tmp_path):
    job.plan.write_text(text)
    before = names(tmp_path)
    assert re.search(message, job.refused())
    assert names(tmp_path) == before


def test_places__that_cannot_be_written_are_refused(job, tmp_path):
    (tmp_path / "folder").mkdir()
    pq.write_table(people(3), tmp_path / "folder" / "a.parquet")
    (tmp_path / "there").mkdir()
    for source, target, message in [
        (job.source, job.source, "is, or is in, what is read"),
        (tmp_path / "folder", tmp_path / "folder" / "out", "is, or is in, what is read"),
        (tmp_path / "folder", tmp_path / "there", "exists"),
        (job.source, tmp_path / "there", "is a folder"),
        (job.source, tmp_path / "no" / "out.parquet", "is not a folder"),
        (tmp_path / "no.parquet", job.target, "does not exist"),
        (job.plan, job.target, "must end with one of"),
        (job.source, tmp_path / "out.csv", "must end with .parquet or .pq"),
    ]:
        assert message in job.refused(source, target)
    assert not job.target.exists()


def test_key_files__need_a_release_and_32_bytes(job):
    job.plan.write_text(PLAN.replace('release = "2026-11"', ""))
    assert "release is needed" in job.refused(job.source, job.target, "--key-file", str(job.key))
    job.plan.write_text(PLAN)
    job.key.write_text("00" * 31)
    problem = job.refused(job.source, job.target, "--key-file", str(job.key))
    assert ("32 secret bytes" in problem, "00" in problem) == (True, False)
    job.key.write_text("00" * 32 + "\n")
    assert job(job.source, job.target, "--key-file", str(job.key))[0] == 0


def test_bad_values__leave_nothing_behind(job, tmp_path):
    table = people(200)
    column = table["income"].to_pylist()
    column[150] = float("inf")
    pq.write_table(table.set_column(2, "income", pa.array(column)), job.source, row_group_size=50)
    before = names(tmp_path)
    problem = job.refused()
    assert "in the rows from 150 on: column 'income': x has 1 infinite value" in problem
    assert "index 0:" in problem
    assert names(tmp_path) == before


def test_threads__that_the_writer_was_given_come_back(job):
    before = numba.get_num_threads(), pa.cpu_count()
    assert job(job.source, job.target)[0] == 0
    assert (numba.get_num_threads(), pa.cpu_count()) == before
    pq.write_table(people(3).set_column(2, "income", pa.array([1.0, 2.0, math.inf])), job.source)
    assert job(job.source, job.target)[0] == 1
    assert (numba.get_num_threads(), pa.cpu_count()) == before


# --- disks, signals, power ------------------------------------------------------------------------


def run(*arguments, **options):
    command = [sys.executable, "-m", "fastnoise", "perturb", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **options)


def test_disk__that_is_full(job, tmp_path):
    """A small file system where one can be mounted, else a limit on the size of files."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True
    )
    pq.write_table(people(20_000), job.source)
    limit = textwrap.dedent("""
        import resource, sys
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        from fastnoise.cli import main
        sys.exit(main(sys.argv[1:]))
    """)
    arguments = ["perturb", str(job.source), str(small / "out.parquet"), "--plan", str(job.plan)]
    try:
        if mounted.returncode == 0:
            done = run(*arguments[1:])
        else:
            done = subprocess.run(
                [sys.executable, "-c", limit, *arguments], capture_output=True, text=True
            )
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "fastnoise perturb: " in done.stderr
        assert names(small) == []
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(small)], check=True)
    assert pq.read_table(job.source).num_rows == 20_000


def test_runs__to_one_target_take_turns(job, tmp_path):
    partial = tmp_path / ".out.parquet.fastnoise-partial"
    with partial.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another run" in job.refused()
        assert partial.exists()
    assert job(job.source, job.target)[0] == 0
    assert not partial.exists()


def test_folder__that_is_read_only(job, tmp_path):
    """Root may write anywhere, but not to a file system of the kernel's own."""
    target = tmp_path / "locked"
    target.mkdir()
    target.chmod(0o500)
    folder = target if os.geteuid() else "/proc"
    done = run(job.source, f"{folder}/out.parquet", "--plan", job.plan)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert pq.read_table(job.source).equals(people(200))


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("step", ["_made", "_locked"])
def test_interrupt__right_after_a_place_is_made(step, folder, tmp_path, monkeypatch):
    """Before it is known which one it is, or that no other run writes there."""
    right, interrupted = getattr(place, step), []

    def interrupted_once(*arguments):
        found = right(*arguments)
        if not interrupted:
            interrupted.append(True)
            if step == "_locked":
                place.fcntl.flock(arguments[0], place.fcntl.LOCK_UN)
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(place, step, interrupted_once)
    source = tmp_path / "in"
    source.mkdir() if folder else source.touch()
    with pytest.raises(KeyboardInterrupt), place.claimed(tmp_path / "out", source):
        pass
    assert names(tmp_path) == ["in"]


def test_interrupt__leaves_the_place_of_another_run(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    source = tmp_path / "in"
    source.touch()
    with place.claimed(tmp_path / "out", source):
        monkeypatch.setattr(place, "_clear", interrupted)
        with pytest.raises(KeyboardInterrupt), place.claimed(tmp_path / "out", source):
            pass
        assert names(tmp_path) == [".out.fastnoise-partial", "in"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals__clean_up(number, job, tmp_path):
    pq.write_table(people(4000).select(NOISY), job.source, row_group_size=1)
    before = names(tmp_path)
    command = [sys.executable, "-m", "fastnoise", "perturb", str(job.source), str(job.target)]
    process = subprocess.Popen([*command, "--plan", str(job.plan)], stderr=subprocess.PIPE)
    partial = tmp_path / ".out.parquet.fastnoise-partial"
    started = time.monotonic()
    while not partial.exists() and time.monotonic() - started < 60:
        time.sleep(0.002)
    process.send_signal(number)
    process.communicate()
    assert process.returncode not in (0, -number)
    assert names(tmp_path) == before


CHILDREN = """
    import os, sys, time
    import pyarrow.parquet, fastnoise.etl.command
    from fastnoise.cli import main
    print("ready", flush=True)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(main(["perturb", *line.split(), "--quiet"]))
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
"""


def test_kill__at_any_moment_leaves_the_old_file_or_the_new(job, tmp_path):
    """50 times kill -9, at moments spread over a run; the next run removes what was left."""
    pq.write_table(people(3000).select(NOISY), job.source, row_group_size=10)
    job.target.write_bytes(b"the old file")
    line = f"{job.source} {job.target} --plan {job.plan}\n"
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILDREN)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def start() -> int:
        parent.stdin.write(line)
        parent.stdin.flush()
        return int(parent.stdout.readline())

    def ended() -> int:
        return int(parent.stdout.readline())

    assert parent.stdout.readline() == "ready\n"
    started = time.monotonic()
    start()
    assert ended() == 0
    whole_run = time.monotonic() - started
    chance, killed, finished, left = random.Random(1), 0, 0, 0
    for _ in range(50):
        job.target.write_bytes(b"the old file")
        child = start()
        time.sleep(chance.uniform(0, 1.1 * whole_run))
        with suppress(ProcessLookupError):  # it was done before
            os.kill(child, signal.SIGKILL)
        status = ended()
        killed, finished = killed + (status == signal.SIGKILL), finished + (status == 0)
        if job.target.read_bytes() != b"the old file":
            assert pq.read_table(job.target).num_rows == 3000
        extra = set(names(tmp_path)) - {"in.parquet", "out.parquet", "plan.toml", "key"}
        assert extra <= {".out.parquet.fastnoise-partial"}
        left += bool(extra)
    assert killed + finished == 50
    assert killed > 25
    assert left > 5
    start()
    assert ended() == 0
    parent.stdin.close()
    parent.stdout.close()
    parent.wait()
    assert names(tmp_path) == ["in.parquet", "key", "out.parquet", "plan.toml"]
    assert pq.read_table(job.target).num_rows == 3000
