"""Do the benchmarks run? Each one once, at tiny size, so that none rots."""

import importlib
import inspect
import itertools
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import fastnoise as fn
from bench import speed
from bench.suite import recipes

ROOT = Path(speed.__file__).parent.parent
MODULES = [f"bench.suite.{path.stem}" for path in sorted((ROOT / "bench/suite").glob("[a-z]*.py"))]


def benchmarks():
    for name in MODULES:
        for _, group in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            for method in dir(group):
                if method.startswith(("time_", "track_", "peakmem_")):
                    yield group, method


@pytest.mark.parametrize(
    ("group", "method"), list(benchmarks()), ids=lambda p: getattr(p, "__name__", p)
)
def test_suite(group, method, threads, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    threads(2)
    small = [values[:1] for values in getattr(group, "params", ())]
    for parameters in itertools.product(*small):
        one = group()
        if hasattr(one, "setup"):
            one.setup(*parameters)
        result = getattr(one, method)(*parameters)
        assert not method.startswith("track_") or result > 0


def test_speed_table(threads, monkeypatch):
    """Every line, with clocks that run each call once and say it took a second."""
    monkeypatch.setattr(speed, "seconds", lambda *calls, runs=1: [call() or 1.0 for call in calls])
    monkeypatch.setattr(speed, "import_ratio", lambda: (1.0, 1.0))
    monkeypatch.setattr(speed, "cached_start", lambda: 1.0)
    monkeypatch.setattr(speed, "cold_start", lambda: 1.0)
    threads(2)
    assert len(list(speed.table(2_560))) == 4 + 9


def test_asv_configuration__names_what_is_there():
    configuration = json.loads((ROOT / "asv.conf.json").read_text())
    assert (ROOT / configuration["benchmark_dir"]).is_dir()


def test_recipe__draws_the_staircase():
    """The baseline must do the same work, or its time means nothing."""
    law = fn.Staircase(epsilon=1.0, sensitivity=2.0)
    noise = recipes.staircase(np.random.default_rng(1), 200_000, 1.0, 2.0, law.gamma)
    assert abs(np.abs(noise).mean() / law.moment(1) - 1) < 0.02
    assert abs(noise.var() / law.var() - 1) < 0.03
    assert abs(noise.mean()) < 0.03


@pytest.mark.parametrize("law", [fn.DiscreteStaircase(1.0, 10), fn.DiscreteStaircase(1.0, 1000)])
def test_recipe__draws_the_discrete_staircase(law):
    noise = recipes.discrete_staircase(
        np.random.default_rng(1), 200_000, law.epsilon, law.sensitivity, law.r
    )
    assert abs(np.abs(noise).mean() / law.moment(1) - 1) < 0.02
    assert abs(noise.var() / law.var() - 1) < 0.03


def test_recipe__tables_and_differences():
    law = fn.DiscreteStaircase(1.0, 10)
    cumulative = np.cumsum(law.pmf(np.arange(-400, 401)))
    noise = recipes.discrete_staircase_table(np.random.default_rng(1), 200_000, cumulative, 400)
    assert abs(np.abs(noise).mean() / law.moment(1) - 1) < 0.02
    noise = recipes.geometric(np.random.default_rng(1), 200_000, 1.0)
    assert abs(np.abs(noise).mean() / fn.Geometric(1.0).moment(1) - 1) < 0.02
