"""Can more people read the output than could read the input, or the rows that it holds?"""

import os

import pyarrow.parquet as pq
import pytest
from jobs import NOISY, people, save


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o644, 0o664])
def test_modes__are_no_wider_than_the_input(bits, job, tmp_path):
    before = os.umask(0o002)
    try:
        folder = tmp_path / "in"
        folder.mkdir()
        folder.chmod(0o700)
        pq.write_table(people(5), folder / "a.parquet")
        (tmp_path / "in.csv").write_text("income,visits,x,y\n1.5,2,0.5,0.25\n")
        for source in (folder / "a.parquet", tmp_path / "in.csv"):
            source.chmod(bits)
        job.perturbed(folder, tmp_path / "out")
        job.perturbed(tmp_path / "in.csv", tmp_path / "out.csv")
        job.perturbed(folder / "a.parquet", tmp_path / "b.parquet")
    finally:
        os.umask(before)
    assert mode(tmp_path / "out") == 0o700
    for name in ("out/a.parquet", "out.csv", "out.csv.receipt.json"):
        assert mode(tmp_path / name) == bits
    assert mode(tmp_path / "b.parquet") == 0o600  # the folder let nobody in


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_groups__that_differ_get_nothing(job, tmp_path, monkeypatch):
    source = tmp_path / "in.parquet"
    pq.write_table(people(5), source)
    os.chown(source, -1, 12345)
    source.chmod(0o640)
    job.perturbed(source, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_gid == 12345

    def refused(*arguments):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refused)  # as for a member of other groups
    job.perturbed(source, tmp_path / "b.parquet")
    assert mode(tmp_path / "a.parquet") == 0o640
    assert mode(tmp_path / "b.parquet") == 0o600


def test_key_files__that_others_can_read_get_a_warning(job):
    pq.write_table(people(5), job.source)
    for bits, warned in ((0o644, 1), (0o640, 1), (0o600, 0), (0o400, 0)):
        job.key.chmod(bits)
        status, _, problem = job(job.source, job.target, "--key-file", str(job.key))
        said = problem.count("\n"), problem.count("others can read")
        assert (status, *said) == (0, warned, warned)


LOGS = [
    "_delta_log/00000000000000000000.json",
    "metadata/v1.metadata.json",
    "metadata/snap-1.avro",
    ".hoodie/hoodie.properties",
    "snapshot/snapshot-1",
]


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("source", ["table", "table/day=1", "table/day=1/a.parquet", "."])
def test_tables__whose_log_says_which_rows_live_are_refused(source, log, job, tmp_path):
    table = tmp_path / "lake" / "table"
    (table / "day=1").mkdir(parents=True)
    pq.write_table(people(5), table / "day=1" / "a.parquet")
    (table / log).parent.mkdir()
    (table / log).write_text("{}")
    target = tmp_path / ("out.parquet" if source.endswith("parquet") else "out")
    problem = job.refused(tmp_path / "lake" / source, target)
    assert "log" in problem
    assert "plain copy" in problem
    assert not target.exists()


def test_links__in_a_folder_are_where_they_lead(job, tmp_path):
    source, private, log = tmp_path / "in", tmp_path / "private", tmp_path / "lake" / "_delta_log"
    for folder in (source, private, log.parent, log):
        folder.mkdir()
    private.chmod(0o700)
    (source / "a.parquet").symlink_to(private / "a.parquet")
    pq.write_table(people(5), private / "a.parquet")
    (private / "a.parquet").chmod(0o644)
    job.perturbed(source, tmp_path / "out")
    assert mode(tmp_path / "out" / "a.parquet") == 0o600
    pq.write_table(people(5), log.parent / "b.parquet")
    (source / "b.parquet").symlink_to(log.parent / "b.parquet")
    assert "Delta Lake" in job.refused(source, tmp_path / "other")


def test_streams__that_are_cut_off_are_refused(job, tmp_path):
    save(people(20), tmp_path / "in.arrows")
    whole = (tmp_path / "in.arrows").read_bytes()
    for cut in (8, 4):
        job.take("in.arrows", whole[:-cut])
        assert "in.arrows" in job.refused()
    job.take("in.arrows", whole)
    job.perturbed()


def test_pages__that_do_not_match_their_checksum_are_refused(job):
    table = people(50).select(["id", *NOISY])
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, job.source, **options)
    data = bytearray(job.source.read_bytes())
    at = data.index((7).to_bytes(8, "little"))
    data[at] ^= 1
    job.source.write_bytes(data)
    assert "in.parquet" in job.refused()
    assert not job.target.exists()
