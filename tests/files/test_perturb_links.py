"""Does the command write into anything that was there before it, or through a link?"""

import os
from pathlib import PurePath

import pyarrow.parquet as pq
import pytest
from jobs import people

from fastnoise.etl.place import claimed

CSV = "income,visits,x,y\n1.5,2,0.5,0.25\n"


@pytest.fixture
def job(job):
    job.victim = job.folder / "victim"
    job.victim.write_bytes(b"precious")
    return job


def source_of(kind, folder):
    """Something to read, and what to write."""
    if kind == "csv":
        (folder / "in.csv").write_text(CSV)
        return folder / "in.csv", folder / "out.csv"
    if kind == "file":
        pq.write_table(people(20), folder / "in.parquet")
        return folder / "in.parquet", folder / "out.parquet"
    (folder / "in" / "part=1").mkdir(parents=True)
    pq.write_table(people(20), folder / "in" / "part=1" / "a.parquet")
    return folder / "in", folder / "out"


def contents(path):
    """All that can be destroyed: of a file, or of every file of a folder."""
    if path.is_dir():
        return {p.relative_to(path): contents(p) for p in path.rglob("*") if p.is_file()}
    return path.read_bytes()


def plant(how, name, victim):
    if how == "hard link":
        os.link(victim, name)
    elif how == "pipe":
        os.mkfifo(name)
    elif how == "folder of links":
        name.mkdir()
        (name / "in").symlink_to(victim.parent)
        (name / "part=1").symlink_to(victim.parent)
        (name / "victim").symlink_to(victim)
    else:
        name.symlink_to(victim)


PLANTED = ["link", "hard link", "pipe", "folder of links"]


@pytest.mark.parametrize("how", PLANTED)
@pytest.mark.parametrize("kind", ["file", "folder", "csv", "receipt"])
@pytest.mark.parametrize("victim", ["file", "folder", "source"])
def test_planted__at_the_partial_name(victim, kind, how, job, tmp_path):
    """What it points to is as it was; the planted name is gone, and the output is there."""
    source, target = source_of("csv" if kind == "receipt" else kind, tmp_path)
    if victim == "folder":
        job.victim = tmp_path / "full" / "folder"
        job.victim.mkdir(parents=True)
        (job.victim / "a file").write_bytes(b"precious")
    if victim == "source":
        job.victim = source
    if how == "hard link" and job.victim.is_dir():
        how = "link"
    planted = target.with_name(target.name + ".receipt.json") if kind == "receipt" else target
    planted = planted.with_name(f".{planted.name}.fastnoise-partial")
    plant(how, planted, job.victim)
    before = contents(job.victim), contents(source)
    job.perturbed(source, target)
    assert (contents(job.victim), contents(source)) == before
    assert target.exists()
    assert not target.is_symlink()
    assert not os.path.lexists(planted)


@pytest.mark.parametrize("how", ["link", "hard link"])
@pytest.mark.parametrize("kind", ["file", "csv", "receipt"])
def test_planted__at_the_target(kind, how, job, tmp_path):
    """The name is replaced, not what it points to."""
    source, target = source_of("csv" if kind == "receipt" else kind, tmp_path)
    planted = target.with_name(target.name + ".receipt.json") if kind == "receipt" else target
    plant(how, planted, job.victim)
    job.perturbed(source, target)
    assert job.victim.read_bytes() == b"precious"
    assert not planted.is_symlink()
    assert planted.read_bytes() != b"precious"


def test_planted__a_link_that_leads_nowhere_is_no_place_for_a_folder(job, tmp_path):
    source, target = source_of("folder", tmp_path)
    target.symlink_to(tmp_path / "nowhere")
    assert "exists" in job.refused(source, target, "--dry-run")


@pytest.mark.parametrize("folder", [False, True])
def test_planted__while_the_run_writes(folder, job, tmp_path):
    """The name of the partial output leads elsewhere all of a sudden: nothing goes there."""
    source, target = source_of("folder" if folder else "file", tmp_path)
    full = tmp_path / "full"
    full.mkdir()
    (full / "a").write_bytes(b"precious")
    partial = tmp_path / f".{target.name}.fastnoise-partial"
    with claimed(target, source) as place:
        partial.rename(tmp_path / "aside")
        partial.symlink_to(full if folder else full / "a")
        with place.file(PurePath("part=1/a.parquet" if folder else "")) as sink:
            sink.write(b"noise")
        with pytest.raises(FileExistsError, match="another run"):
            place.finish()
    assert contents(full) == {(full / "a").relative_to(full): b"precious"}
    assert not target.exists()
