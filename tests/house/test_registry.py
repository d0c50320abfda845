"""Has every registered mechanism all that it needs, in every place that lists mechanisms?"""

import inspect

import pytest
from conftest import ROOT

import fastnoise as fn
from bench.suite.cases import SUBJECTS
from fastnoise import registry
from fastnoise.etl import fields
from fastnoise.laws.law import Law
from fastnoise.mechanisms.mechanism import Additive, Channel, Mechanism
from fastnoise.registry import REGISTRY
from fastnoise.verify import subjects

SCALAR = ("cdf", "sf", "ppf", "isf", "mean", "var", "std", "moment", "expected_cost", "interval")
ADDITIVE = ("perturb", "sample", "expected_cost")


def lacks(entry: registry.Registered) -> list[str]:
    """What is missing, and where."""
    kind = {"additive": Additive, "channel": Channel}[entry.kind]
    found = {
        "a public name in fastnoise/__init__.py": entry.name in fn.__all__,
        f"a class of the kind {entry.kind} in {entry.home}": issubclass(entry.cls, kind),
        "a docstring with an example": ">>> " in (inspect.getdoc(entry.cls) or ""),
        "an example in fastnoise/registry.py": bool(entry.examples),
        "a row in README.md": f"`{entry.name}`" in (ROOT / "README.md").read_text(),
        "a baseline in bench/suite/recipes.py": any(s.entry is entry for s in SUBJECTS.values()),
    }
    if entry.kind == "additive":
        planned = {**fields.SCALARS, **fields.VECTORS}
        found["a name in plans"] = planned.get(entry.plan_name) is entry
        found["a subject of verify"] = any(type(m) is entry.cls for m in subjects.USUAL)
        needed = ADDITIVE + (SCALAR if entry.takes in ("floats", "integers") else ("logpdf", "mse"))
        found |= {f"a method {name}": hasattr(entry.cls, name) for name in needed}
    else:
        found["a subject of verify"] = any(type(m) is entry.cls for m in subjects.CHOICES)
    return [what for what, there in found.items() if not there]


@pytest.mark.parametrize("name", REGISTRY)
def test_registered__has_all_it_needs(name):
    assert not lacks(REGISTRY[name])


@pytest.mark.parametrize("name", REGISTRY)
def test_examples__draw_prove_and_cover(name):
    for mechanism in REGISTRY[name].build():
        certificate = mechanism.certificate()
        assert certificate.epsilon <= mechanism.privacy.epsilon
        law = mechanism._law(mechanism.grid)
        assert law.covered == mechanism.released_sensitivity
        assert (REGISTRY[name].kind == "additive") == isinstance(law, Law)


def test_lacks__names_the_place(monkeypatch):
    """What the test before would say of a mechanism that is in the registry alone."""

    class Gauss(Additive):
        pass

    entry = registry.Registered("Gauss", "nowhere", "floats", "", ())
    monkeypatch.setattr(registry.Registered, "cls", property(lambda self: Gauss))
    missing = " ".join(lacks(entry))
    for place in ("__init__.py", "README.md", "recipes.py", "plans", "verify", "method cdf"):
        assert place in missing


def test_mechanisms__that_lack_something_are_not_built():
    """The abstract class asks for everything that `perturb` and `certificate` need."""

    class Half(Additive):
        grid = 1.0
        privacy = None

    with pytest.raises(TypeError, match=r"abstract method.*_adjacency.*_law"):
        Half()
    assert Mechanism.__abstractmethods__ == {
        *("grid", "_adjacency", "_law", "_chosen_grid"),
    }
