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
from bench.suite.mechanisms import CASES

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


@pytest.fixture
def one_run(threads, monkeypatch):
    """Clocks that run each call once and say it took a second."""
    monkeypatch.setattr(speed, "seconds", lambda *calls, runs=1: [call() or 1.0 for call in calls])
    monkeypatch.setattr(speed, "import_ratio", lambda: (1.0, 1.0))
    monkeypatch.setattr(speed, "cached_start", lambda: 1.0)
    monkeypatch.setattr(speed, "cold_start", lambda: 1.0)
    threads(2)


@pytest.mark.usefixtures("one_run")
def test_speed_tables():
    assert len(list(speed.engine_table(2_560))) == 4 + 9
    assert len(list(speed.mechanism_table(2_560, (64, 5)))) == 4 + len(CASES) + 1
    assert len(list(speed.flat_table((1_280, 2_560)))) == 4 + len(CASES)


def test_tables__are_in_the_readme():
    text = (ROOT / "README.md").read_text()
    for name in speed.TABLES:
        assert text.count(f"bench.speed {name} -->") == 2


def test_asv_configuration__names_what_is_there():
    configuration = json.loads((ROOT / "asv.conf.json").read_text())
    assert (ROOT / configuration["benchmark_dir"]).is_dir()


RECIPES = [
    (fn.Staircase(1.0, 2.0), recipes.staircase),
    (fn.Laplace(1.0, 2.0), recipes.laplace),
    (fn.DiscreteStaircase(1.0, 10), recipes.discrete_staircase_table),
    (fn.DiscreteStaircase(1.0, 10), recipes.discrete_staircase),
    (fn.DiscreteStaircase(1.0, 1000), recipes.discrete_staircase),
    (fn.Geometric(1.0), recipes.discrete_laplace),
    (fn.DiscreteLaplace(1.0, 10), recipes.discrete_laplace),
]


@pytest.mark.parametrize(("law", "recipe"), RECIPES, ids=str)
def test_recipe__draws_the_law(law, recipe):
    """The baseline must do the same work, or its time means nothing."""
    noise = recipe(np.random.default_rng(1), law, 200_000)
    assert abs(np.abs(noise).mean() / law.moment(1) - 1) < 0.02
    assert abs(noise.var() / law.var() - 1) < 0.03
    assert abs(noise.mean()) < 0.03 * law.std()


VECTOR_RECIPES = [
    (fn.L2Laplace(1.0, 2), recipes.l2_laplace),
    (fn.L2Laplace(1.0, 16, 3.0), recipes.l2_laplace),
    (fn.L1Staircase(1.0, 4, 2.0), recipes.l1_staircase),
    (fn.BoxStaircase(1.0, (1.0, 10.0)), recipes.box_staircase),
]


@pytest.mark.parametrize(("law", "recipe"), VECTOR_RECIPES, ids=str)
def test_recipe__draws_the_vectors(law, recipe):
    noise = recipe(np.random.default_rng(1), law, 200_000)
    assert abs((noise**2).sum(axis=1).mean() / law.mse() - 1) < 0.03
    assert abs(np.abs(noise).sum(axis=1).mean() / law.expected_cost("l1") - 1) < 0.02


def test_recipe__chooses():
    law, costs = fn.StaircaseChoice(1.0), np.array([0.0, 0.5, 2.5, 1.0])
    choices = recipes.staircase_choice(np.random.default_rng(1), law, np.tile(costs, (100_000, 1)))
    shares = np.bincount(choices, minlength=4) / 100_000
    assert np.abs(shares - law.probabilities(costs)).max() < 0.01
