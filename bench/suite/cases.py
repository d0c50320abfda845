"""Every mechanism beside the best numpy recipe for the same law, as calls to time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from fastnoise.registry import REGISTRY, Registered

from .recipes import BASELINES, FOR_INTEGERS, Baseline

CANDIDATES = 32
FLOATS, INTEGERS = ("float64", "float32"), ("int64", "int32")


class Subject(NamedTuple):
    """A mechanism with some of its parameters, as the registry has it, and what it is beside."""

    entry: Registered
    parameters: Mapping[str, Any]
    baseline: Baseline

    @property
    def dtypes(self) -> tuple[str, str]:
        return INTEGERS if self.entry.takes == "integers" else FLOATS

    def build(self, epsilon: float) -> Any:
        """At that epsilon, if it has one."""
        given = {"epsilon": epsilon} if "epsilon" in signature(self.entry.cls).parameters else {}
        return self.entry.cls(**given, **self.parameters)


def _subjects(entry: Registered) -> Iterator[tuple[str, Subject]]:
    for label, parameters in entry.benchmarked.items():
        shown = f"{CANDIDATES} candidates" if entry.takes == "costs" else label
        name = f"{entry.name}, {shown}" if shown else entry.name
        baseline = BASELINES.get(name) or BASELINES.get(entry.name)
        if baseline is None and entry.takes == "integers":
            baseline = FOR_INTEGERS
        if baseline is not None:  # tests/test_registry.py says what has none
            yield name, Subject(entry, parameters, baseline)


SUBJECTS = {name: subject for entry in REGISTRY.values() for name, subject in _subjects(entry)}


class Case:
    """So many values of a mechanism: our perturb, and numpy's recipe with the addition."""

    def __init__(self, name: str, values: int, dtype: str = "", epsilon: float = 1.0) -> None:
        subject = SUBJECTS[name]
        self.mechanism, self.wanted = subject.build(epsilon), subject.baseline.wanted
        recipe = subject.baseline.recipe
        self.generator = np.random.default_rng(1)
        self.chooses = hasattr(self.mechanism, "choose")
        columns = CANDIDATES if self.chooses else getattr(self.mechanism, "dim", 0)
        shape = (max(1, values // columns), columns) if columns else (values,)
        self.x, self.y = np.ones(shape, dtype or subject.dtypes[0]), None
        if self.chooses:
            self.x[:] = 10.0 * self.generator.random(shape)
            self.draw = partial(recipe, self.generator, self.mechanism, self.x)
        else:
            self.y = np.zeros_like(self.x)
            self.draw = partial(recipe, self.generator, self.mechanism, len(self.x))

    def ours(self) -> None:
        if self.chooses:
            self.mechanism.choose(self.x)
        else:
            self.mechanism.perturb(self.x, out=self.y)

    def numpys(self) -> None:
        noise = self.draw()
        if not self.chooses:
            np.add(self.x, noise, out=self.y, casting="unsafe")
