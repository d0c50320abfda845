"""Do the benchmarks run? Each one once, at tiny size, so that none rots."""

import importlib
import inspect
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fastnoise as fn
from bench import busy, engine, etl, mechanisms, roofline, scaling, table, targets
from bench.report import runs as kept_runs
from bench.report.blocks import PAGES, blocks, pages
from bench.suite import recipes
from bench.suite.cases import SUBJECTS
from bench.suite.targets import environment

pytestmark = pytest.mark.long

ROOT = Path(table.__file__).parent.parent
WITH_BENCHMARKS = ["bench.suite.engine", "bench.suite.mechanisms"]


def benchmarks():
    """Of the whole matrix."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHMARKS", "all")
        modules = [importlib.reload(importlib.import_module(name)) for name in WITH_BENCHMARKS]
    for module in modules:
        for _, group in inspect.getmembers(module, inspect.isclass):
            for method in dir(group):
                if method.startswith(("time_", "track_", "peakmem_")):
                    yield group, method


@pytest.mark.parametrize(
    ("group", "method"), list(benchmarks()), ids=lambda p: getattr(p, "__name__", p)
)
def test_suite(group, method, threads, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    threads(2)
    names, lists = getattr(group, "param_names", ()), getattr(group, "params", ())
    # the least of the sizes and threads, all of the mechanisms and dtypes
    small = [
        values[:1] if name in ("values", "threads") else values
        for name, values in zip(names, lists, strict=True)
    ]
    ran = 0
    for parameters in itertools.product(*small):
        one = group()
        try:
            getattr(one, "setup", lambda *_: None)(*parameters)
        except NotImplementedError:
            continue
        result, ran = getattr(one, method)(*parameters), ran + 1
        assert not method.startswith("track_") or result > 0
    assert ran == (2 * len(SUBJECTS) if "mechanism" in names else 1)


def test_slow_down__that_asv_is_shown_with_still_applies():
    command = ["git", "apply", "--check", "bench/slower.patch"]
    subprocess.run(command, cwd=ROOT, check=True)


@pytest.fixture
def one_run(threads, monkeypatch):
    """Clocks that run each call once and say it took a second."""

    def once(*calls, runs=1, before=lambda: None):
        for call in calls:
            before()
            call()
        return [1.0] * len(calls)

    for module in (engine, etl, mechanisms, roofline, scaling):
        monkeypatch.setattr(module, "seconds", once)
    monkeypatch.setattr(engine, "import_ratio", lambda: (1.0, 1.0))
    monkeypatch.setattr(engine, "cached_start", lambda: 1.0)
    monkeypatch.setattr(engine, "cold_start", lambda: 1.0)
    threads(2)


@pytest.mark.usefixtures("one_run")
def test_tables(capsys):
    assert len(table.shown(engine.engine_table(2_560, 10_000, 1_000)).rows) == 30
    every = [mechanisms.mechanism_table(2_560), mechanisms.flat_table((1_280, 2_560))]
    for one in (*every, roofline.roofline_table(2_560)):
        rows = table.shown(one).rows
        assert [row[0] for row in rows] == list(SUBJECTS)
        assert {len(row) for row in rows} == {len(one.names)}
    assert "BoxStaircase" in capsys.readouterr().out
    assert len(table.shown(etl.etl_table(3_000, 1_000)).rows) == 6
    assert len(table.shown(busy.busy_table({1_000: 2})).rows) == 1
    assert len(scaling.scaling((100, 1_000))) == 2 * 5


@pytest.mark.usefixtures("one_run")
def test_targets__have_a_line_for_each_mechanism():
    assert list(targets.measure(2_560, 1)) == [targets.KEYSTREAM, *SUBJECTS]


def test_targets__are_those_of_make():
    """The same features, in the same order."""
    found = environment("AVX2, AES-NI")["NUMBA_CPU_FEATURES"]
    assert f"HASWELL := {found}\n" in (ROOT / "Makefile").read_text()


def test_roofline__counts_the_keystream():
    laws = {"Staircase": 8, "Laplace": 16, "BoxStaircase, dim 4": 12, "L2Laplace, dim 2": 16}
    for name, size in laws.items():
        assert roofline.keystream_bytes(SUBJECTS[name].build(1.0)) == size


def test_pages__have_what_the_report_makes_of_the_runs():
    """No number there was typed."""
    runs = json.loads(kept_runs.KEPT.read_text())
    assert set(runs) == set(kept_runs.NAMES)
    for page, text in pages(runs).items():
        assert page.read_text() == text, page.name
    assert sorted(itertools.chain(*PAGES.values())) == sorted(blocks(runs))
    shown = (ROOT / "docs/benchmarks.md").read_text()
    for picture in ("peers.png", "scaling.png"):
        assert (kept_runs.KEPT.parent / picture).stat().st_size > 10_000
        assert f"(../bench/report/{picture})" in shown


def test_asv_configuration__names_what_is_there():
    configuration = json.loads((ROOT / "asv.conf.json").read_text())
    assert (ROOT / configuration["benchmark_dir"]).is_dir()


RECIPES = [
    (fn.Staircase(1.0, 2.0), recipes.staircase),
    (fn.Laplace(1.0, 2.0), recipes.laplace),
    (fn.DiscreteStaircase(1.0, 10), recipes.inverse_cdf),
    (fn.TruncatedDiscreteLaplace(1.0, 1e-6, 3), recipes.inverse_cdf),
    (fn.DiscreteUniform(0.1, 3), recipes.discrete_uniform),
    (fn.DiscreteStaircase(1.0, 10), recipes.discrete_staircase),
    (fn.DiscreteStaircase(1.0, 1000), recipes.discrete_staircase),
    (fn.Geometric(1.0), recipes.discrete_laplace),
    (fn.DiscreteLaplace(1.0, 10), recipes.discrete_laplace),
]


@pytest.mark.parametrize(("law", "recipe"), RECIPES, ids=lambda p: getattr(p, "__name__", str(p)))
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


@pytest.mark.parametrize(
    ("law", "recipe"), VECTOR_RECIPES, ids=lambda p: getattr(p, "__name__", str(p))
)
def test_recipe__draws_the_vectors(law, recipe):
    noise = recipe(np.random.default_rng(1), law, 200_000)
    assert abs((noise**2).sum(axis=1).mean() / law.mse() - 1) < 0.03
    assert abs(np.abs(noise).sum(axis=1).mean() / law.expected_cost("l1") - 1) < 0.02


def test_recipe__chooses():
    law, costs = fn.StaircaseChoice(1.0), np.array([0.0, 0.5, 2.5, 1.0])
    choices = recipes.staircase_choice(np.random.default_rng(1), law, np.tile(costs, (100_000, 1)))
    shares = np.bincount(choices, minlength=4) / 100_000
    assert np.abs(shares - law.probabilities(costs)).max() < 0.01
