"""Is cached code used only if nobody else can have written it, and never if it is damaged?"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from interpreters import DRAW, output

pytestmark = pytest.mark.long

# A kernel that compiles in no time: what it gives, and how often it came out of the cache.
TINY = """
from fastnoise_kernels.jit import Kernel

def product(start, stop, factor):
    return (stop - start) * factor

kernel = Kernel(product)
{before}
print(kernel(6, 7), sum(kernel.serial.stats.cache_hits.values()))
"""
COMPILED, LOADED = "42 0", "42 1"

needs_posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
SOMEONE = 12_345


def tiny(cache: Path, before: str = "") -> str:
    return output(TINY.format(before=before), FASTNOISE_CACHE_DIR=str(cache))


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled") / "cache"
    assert tiny(folder) == COMPILED
    assert tiny(folder) == LOADED
    return folder


@pytest.fixture
def cache(filled, tmp_path):
    """A cache of the tiny kernel, in folders of our own."""
    return Path(shutil.copytree(filled, tmp_path / "parent" / "cache"))


# --- damage ---------------------------------------------------------------------------------------

DAMAGE = """
import os, random
from pathlib import Path
from fastnoise_kernels.cache import kernel_cache
from numba.core.registry import cpu_target

def loaded():
    found = kernel_cache(product).load_overload(signature, cpu_target.target_context)
    return found is not None

def changed(whole, place, by):
    return whole[:place] + bytes([whole[place] ^ by]) + whole[place + 1 :]

kernel(6, 7)
signature = kernel.serial.signatures[0]
files = [path for path in Path(os.environ["FASTNOISE_CACHE_DIR"]).rglob("*") if path.is_file()]
random = random.Random(1)
tried = 0
assert loaded()
for path in files:
    whole = path.read_bytes()
    places = [*range(300), *random.sample(range(len(whole)), 1000)]
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [changed(whole, place, 1 << random.randrange(8)) for place in places]
    damaged += [whole + b"x", whole[1:], b"x" + whole, bytes(len(whole)), whole + whole]
    for content in damaged:
        path.write_bytes(content)
        assert not loaded(), (path.name, len(content))
        tried += 1
    path.write_bytes(whole)
    assert loaded()
assert tried > 2000
"""


def test_damage__every_truncation_and_many_changed_bytes_are_noticed(cache):
    assert tiny(cache, before=DAMAGE) == LOADED


def damaged(content: bytes) -> dict[str, bytes]:
    half = len(content) // 2
    return {
        "empty": b"",
        "cut": content[:half],
        "one bit": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
        "zeros": bytes(len(content)),
    }


@pytest.mark.parametrize("how", damaged(b"any"))
def test_damage__compiles_anew_and_keeps_that(how, cache):
    for path, content in files_in(cache).items():
        Path(path).write_bytes(damaged(content)[how])
    assert tiny(cache) == COMPILED
    assert tiny(cache) == LOADED


def test_code_of_another_kernel__is_not_run(cache):
    """An index, or a name, may lead to a file that is whole and holds something else."""
    other = TINY.replace("product", "total").replace("* factor", "+ factor").format(before="")
    assert output(other, FASTNOISE_CACHE_DIR=str(cache)) == "13 0"
    code = {
        name: max(cache.rglob(f"*{name}*"), key=lambda path: path.stat().st_size)
        for name in ("product", "total")
    }
    shutil.copy(code["product"], code["total"])
    assert output(other, FASTNOISE_CACHE_DIR=str(cache)) == "13 0"


def test_planted_pickle__is_never_opened(cache, tmp_path):
    """Not even one in our own folder: what has no checksum is not unpickled."""
    seen = tmp_path / "seen"
    planted = b"cposix\nsystem\n(S'touch " + os.fsencode(seen) + b"'\ntR."
    for path in files_in(cache):
        Path(path).write_bytes(planted)
    assert tiny(cache) == COMPILED
    assert not seen.exists()


# --- other hands ----------------------------------------------------------------------------------

PLACES = {
    "the files": lambda cache: [path for path in cache.rglob("*") if path.is_file()],
    "the folder": lambda cache: [path for path in cache.iterdir() if path.is_dir()],
    "its parent": lambda cache: [cache],
    "the parent of that": lambda cache: [cache.parent],
}


def is_left_alone(cache: Path) -> bool:
    before = files_in(cache)
    return tiny(cache) == COMPILED and files_in(cache) == before


@needs_posix
@pytest.mark.parametrize("mode", [0o020, 0o002], ids=["a group", "all"])
@pytest.mark.parametrize("place", PLACES)
def test_writable_by_others__is_not_used(place, mode, cache):
    for path in PLACES[place](cache):
        path.chmod(path.stat().st_mode | mode)
    if place == "the files":  # in a folder of our own: replaced by one that is
        assert tiny(cache) == COMPILED
        assert tiny(cache) == LOADED
    else:
        assert is_left_alone(cache)


@needs_posix
def test_sticky_parent__is_fine_but_not_a_sticky_folder(cache):
    """In /tmp everyone can write, and nobody can rename what is ours."""
    cache.parent.chmod(0o1777)
    assert tiny(cache) == LOADED
    for folder in PLACES["the folder"](cache):
        folder.chmod(0o1777)
    assert is_left_alone(cache)


@needs_posix
@needs_root
@pytest.mark.parametrize("place", PLACES)
def test_owned_by_someone_else__is_not_used(place, cache):
    for path in PLACES[place](cache):
        os.chown(path, SOMEONE, SOMEONE)
    if place == "the files":
        assert tiny(cache) == COMPILED
        assert tiny(cache) == LOADED
    else:
        assert is_left_alone(cache)


@needs_posix
def test_link_of_our_own__is_followed(cache, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(cache.parent)
    assert tiny(link / cache.name) == LOADED
    link.unlink()
    link.symlink_to("link")
    assert tiny(link) == COMPILED  # a loop leads nowhere


@needs_posix
@needs_root
def test_link_of_someone_else__is_not_followed(cache, tmp_path):
    """Not even to a folder of ours: they could have it point elsewhere at any time."""
    first, link = tmp_path / "first", tmp_path / "link"
    first.symlink_to(cache.parent)
    link.symlink_to(first)
    assert tiny(link / cache.name) == LOADED
    os.lchown(first, SOMEONE, SOMEONE)
    assert tiny(link / cache.name) == COMPILED
    os.lchown(first, 0, 0)
    os.lchown(link, SOMEONE, SOMEONE)
    assert tiny(link / cache.name) == COMPILED


@needs_posix
def test_files_that_are_links_or_pipes__are_not_read(cache, tmp_path):
    for number, path in enumerate(files_in(cache)):
        moved = tmp_path / str(number)
        os.rename(path, moved)
        os.symlink(moved, path)
    assert tiny(cache) == COMPILED
    assert tiny(cache) == LOADED
    for path in files_in(cache):
        os.unlink(path)
        os.mkfifo(path)
    assert tiny(cache) == COMPILED


@needs_posix
def test_created_folders__are_ours_alone(tmp_path):
    cache = tmp_path / "new" / "cache"
    assert tiny(cache, "import os\nos.umask(0)") == COMPILED
    made = [tmp_path / "new", *(tmp_path / "new").rglob("*")]
    assert len(made) >= 4
    assert [stat.S_IMODE(path.stat().st_mode) & 0o077 for path in made] == [0] * len(made)


@needs_posix
@needs_root
def test_image__warmed_by_root_is_used_by_anyone():
    """Root could change any program anyway; and nobody else can write there."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        assert tiny(cache) == COMPILED
        for path in (Path(folder), cache, *cache.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        as_someone = f"""
import os, numba
numba.njit(lambda: 1)()  # imports what it takes, wherever that is
os.setegid({SOMEONE})
os.seteuid({SOMEONE})
"""
        assert tiny(cache, as_someone) == LOADED
        for path in cache.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)
        assert tiny(cache, as_someone) == COMPILED


def test_processes_at_once__all_end_well(tmp_path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    env["FASTNOISE_CACHE_DIR"] = str(tmp_path)
    command = [sys.executable, "-W", "error", "-c", TINY.format(before="")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, env=env) for _ in range(4)]
    answers = [process.communicate(timeout=240)[0].decode().strip() for process in processes]
    assert set(answers) <= {COMPILED, LOADED}
    assert tiny(tmp_path) == LOADED
    assert [path for path in tmp_path.rglob("*tmp*") if path.is_file()] == []


@needs_posix
def test_warmup__says_why_nothing_is_kept(tmp_path):
    tmp_path.chmod(0o777)
    code = "from fastnoise_kernels.cache import where_kept\nprint(where_kept())"
    said = output(code, FASTNOISE_CACHE_DIR=str(tmp_path / "cache"))
    assert said == f"nothing is kept: {tmp_path} can be written by others"


# --- the digest -----------------------------------------------------------------------------------

FOLDER = "from fastnoise_kernels.cache import cache_folder\nprint(cache_folder())"


def test_digest__sees_folders_below(installed):
    before = output(FOLDER, installed)
    below = installed / "fastnoise_kernels" / "below" / "further"
    below.mkdir(parents=True)
    (below / "helper.py").write_text("ONE = 1\n")
    once = output(FOLDER, installed)
    (below / "helper.py").write_text("ONE = 2\n")
    assert len({before, once, output(FOLDER, installed)}) == 3


def test_digest__of_a_zip_is_that_of_its_sources(installed, tmp_path):
    zipped = Path(shutil.make_archive(str(tmp_path / "site"), "zip", installed))
    assert output(FOLDER, zipped) == output(FOLDER, installed)
    assert output(DRAW, zipped) == output(DRAW, installed)
