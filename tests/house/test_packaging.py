"""Is what is published whole: bounds, types, and a source distribution whose tests run?"""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path, PurePosixPath
from shutil import copytree, ignore_patterns

import pytest
from conftest import ROOT
from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
UNPUBLISHED = (".git", ".gitignore", ".venv*", ".*_cache", "__pycache__", "*.egg-info")
UNPUBLISHED += (".asv", ".bench", ".benchmarks", ".hypothesis", "build", "dist", "demo.png")


def run(*arguments, cwd):
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def test_lower_bounds__are_those_that_are_tested():
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    bounds = {}
    for one in map(Requirement, (text for some in lists for text in some)):
        if one.specifier:
            bounds.setdefault(one.name, set()).add(str(one.specifier).replace(">=", "=="))
    lines = (ROOT / ".ci/oldest.txt").read_text().splitlines()
    pins = [Requirement(line.partition("#")[0]) for line in lines if not line.startswith("#")]
    pinned = {one.name: {str(one.specifier)} for one in pins}
    assert bounds == pinned
    assert {Requirement(text).name for text in PROJECT["dependencies"]} <= set(pinned)


USE = """
import numpy as np

import fastnoise as fn

mechanism: fn.Staircase = fn.Staircase(1.0)
fn.Nothing
fn.Stream.nothing
mechanism.perturb(np.ones(3)).nothing
mechanism.perturb([1.0], clip=0.5)
mechanism.perturb(1.0).real
"""


def test_types__of_unknown_names_and_options_are_errors(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    options = ("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path))
    status, text = run(sys.executable, "-m", "mypy", *options, str(tmp_path / "use.py"), cwd=ROOT)
    assert status == 1
    assert 'Module has no attribute "Nothing"' in text
    assert '"type[Stream]" has no attribute "nothing"' in text
    assert re.search(r'"ndarray\[.*" has no attribute "nothing"', text)
    assert "No overload" in text
    assert "Found 4 errors" in text


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """A copy of the tree without what tools have left there, and its source distribution."""
    folder = tmp_path_factory.mktemp("sources")
    tree = copytree(ROOT, folder / "tree", ignore=ignore_patterns(*UNPUBLISHED))
    command = ("-m", "build", "--sdist", "--no-isolation", "--outdir", str(folder), str(tree))
    status, text = run(sys.executable, *command, cwd=folder)
    assert status == 0, text
    [archive] = folder.glob("*.tar.gz")
    return tree, archive


def test_source_distribution__has_every_file(sources):
    tree, archive = sources
    with tarfile.open(archive) as opened:
        packed = {str(PurePosixPath(*Path(name).parts[1:])) for name in opened.getnames()}
    made = {path for path in tree.rglob("*") if path.is_file() and "egg-info" not in str(path)}
    assert {str(path.relative_to(tree)) for path in made} <= packed
    needed = {"tests/conftest.py", "bench/report/runs.json", "docs/benchmarks.md", "CHANGELOG.md"}
    needed |= {"fastnoise/py.typed", "kernels/fastnoise_kernels/py.typed", "Makefile", ".ci/run"}
    assert needed <= packed


@pytest.mark.slow
def test_source_distribution__runs_its_tests(sources, tmp_path):
    _, archive = sources
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    [unpacked] = tmp_path.iterdir()
    chosen = (
        "tests/streams/test_stream.py",
        "tests/house/test_bench.py",
        "README.md",
        "fastnoise/stream.py",
    )
    status, text = run(sys.executable, "-m", "pytest", *chosen, cwd=unpacked)
    assert status == 0, text
    assert str(unpacked) in text
