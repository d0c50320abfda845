"""Is compiled code kept, never stale, and never in the way?"""

import os
import subprocess
import sys

import pytest
from interpreters import DRAW, output

pytestmark = pytest.mark.long


def test_edited_helper__changes_what_a_fresh_process_runs(installed, tmp_path):
    """aes.py is only a helper of the compiled fillers: numba alone would not notice."""
    cache = str(tmp_path / "cache")
    before = output(DRAW, installed, FASTNOISE_CACHE_DIR=cache)
    assert output(DRAW, installed, FASTNOISE_CACHE_DIR=cache) == before
    helper = installed / "fastnoise_kernels" / "aes.py"
    source = helper.read_text()
    helper.write_text(
        source.replace("for i in range(1, ROUNDS + 1)", "for i in range(2, ROUNDS + 1)")
    )
    assert helper.read_text() != source
    assert output(DRAW, installed, FASTNOISE_CACHE_DIR=cache) != before
    helper.write_text(source)
    assert output(DRAW, installed, FASTNOISE_CACHE_DIR=cache) == before


def test_kernels__are_loaded_not_compiled_the_second_time(tmp_path):
    cache = tmp_path / "cache"
    output(DRAW, FASTNOISE_CACHE_DIR=str(cache))
    files = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    assert files
    hits = DRAW + (
        "from fastnoise_kernels.release import perturb_floats\n"
        "print(sum(perturb_floats.serial.stats.cache_hits.values()))"
    )
    assert output(hits, FASTNOISE_CACHE_DIR=str(cache)).endswith("\n1")
    assert files == {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}


def test_nothing_is_written_beside_the_sources(installed, tmp_path):
    env = {"FASTNOISE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    before = sorted(installed.rglob("*"))
    output(DRAW, installed, **env)
    assert sorted(installed.rglob("*")) == before


@pytest.mark.parametrize(
    "folder", ["/dev/null/cache", "/proc/cache"], ids=["below a file", "not writable by root"]
)
def test_no_writable_cache__still_runs(folder, installed):
    expected = output(DRAW, installed)
    assert output(DRAW, installed, FASTNOISE_CACHE_DIR=folder) == expected


@pytest.mark.parametrize("home", ["/proc/home", "/dev/null/home"])
def test_unwritable_home_and_install(home, installed):
    """A home that nobody can write, not even root; sources and bytecode folders read-only."""
    tree = [installed, *installed.rglob("*")]
    for path in tree:
        path.chmod(0o555 if path.is_dir() else 0o444)
    env = {"HOME": home, "XDG_CACHE_HOME": "", "FASTNOISE_CACHE_DIR": ""}
    assert output(DRAW, installed, **env) == output(DRAW, installed)
    for path in tree:
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_read_only_cache__is_still_read(tmp_path):
    """A container image: warmed up when built, mounted read-only when run."""
    cache = tmp_path / "cache"
    expected = output(DRAW, FASTNOISE_CACHE_DIR=str(cache))
    for path in cache.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert output(DRAW, FASTNOISE_CACHE_DIR=str(cache)) == expected
    for path in cache.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_damaged_cache__is_compiled_again(tmp_path):
    cache = tmp_path / "cache"
    expected = output(DRAW, FASTNOISE_CACHE_DIR=str(cache))
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:100])
    assert output(DRAW, FASTNOISE_CACHE_DIR=str(cache)) == expected


def test_no_home__still_runs(installed):
    code = (
        "import os, pwd\npwd.getpwuid = lambda uid: (_ for _ in ()).throw(KeyError(uid))\n" + DRAW
    )
    env = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=240
    )
    assert done.stdout.strip() == output(DRAW), done.stderr
