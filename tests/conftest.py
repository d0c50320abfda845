"""Fixtures, marks and places for all tests."""

import shutil
from contextlib import ExitStack
from pathlib import Path

import fastnoise_kernels
import numpy as np
import pytest
from fastnoise_kernels import lanes
from fastnoise_kernels.threads import exactly
from numba.core.registry import cpu_target

import fastnoise as fn

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
KEY = bytes(range(32))
needs_avx512 = pytest.mark.skipif(
    not lanes.has_avx512(cpu_target.target_context), reason="kernels use it with AVX-512 alone"
)
needs_avx2 = pytest.mark.skipif(
    not all(lanes.has(cpu_target.target_context, name) for name in ("avx2", "fma", "bmi2")),
    reason="runs code that is compiled for AVX2 and FMA",
)


@pytest.fixture
def stream() -> fn.Stream:
    return fn.Stream.from_key(KEY)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261116)


@pytest.fixture
def threads():
    """Set the number of threads, as far as there are so many, also for calls with few rows."""
    import numba

    before = numba.get_num_threads()
    with ExitStack() as until_the_end:
        yield lambda count: until_the_end.enter_context(exactly(count))
    numba.set_num_threads(before)  # benchmarks set it


@pytest.fixture
def job(tmp_path, capsys):
    """`fastnoise perturb`, its plan and its key."""
    from jobs import Job

    return Job(tmp_path, capsys)


@pytest.fixture
def broken(monkeypatch, capsys):
    """What a test breaks, to see whether `fastnoise verify` notices."""
    from breakage import Broken

    with Broken(monkeypatch, capsys) as breaking:
        yield breaking


@pytest.fixture
def installed(tmp_path):
    """A copy of both packages, as an install would lay them side by side."""
    root = tmp_path / "site"
    for package in (fn, fastnoise_kernels):
        source = Path(package.__file__).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, root / source.name, ignore=ignored)
    return root
