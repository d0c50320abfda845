"""Every mechanism beside the best numpy recipe for the same law, as calls to time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import fastnoise as fn

from . import recipes

WIDTHS = (1.0, 2.0, 3.0, 10.0)
CANDIDATES = 32
FLOATS, INTEGERS = ("float64", "float32"), ("int64", "int32")


class Subject(NamedTuple):
    build: Callable[[float], Any]  # the mechanism at an epsilon
    recipe: Callable[..., Any]
    wanted: int  # how many times as fast as numpy it has to be on 2 threads
    dtypes: tuple[str, str] = FLOATS


SUBJECTS = {
    "Staircase": Subject(fn.Staircase, recipes.staircase, 20),
    "Laplace": Subject(fn.Laplace, recipes.laplace, 5),
    "L2Laplace, dim 2": Subject(lambda e: fn.L2Laplace(e, 2), recipes.l2_laplace, 10),
    "MultiUserLaplace, dim 16": Subject(
        lambda e: fn.MultiUserLaplace(e, 16), recipes.l2_laplace, 6
    ),
    "MultiUserLaplace, dim 128": Subject(
        lambda e: fn.MultiUserLaplace(e, 128), recipes.l2_laplace, 6
    ),
    "DiscreteStaircase, sensitivity 10": Subject(
        lambda e: fn.DiscreteStaircase(e, 10), recipes.inverse_cdf, 20, INTEGERS
    ),
    "DiscreteStaircase, sensitivity 10**6": Subject(
        lambda e: fn.DiscreteStaircase(e, 1_000_000), recipes.discrete_staircase, 10, INTEGERS
    ),
    "Geometric": Subject(fn.Geometric, recipes.discrete_laplace, 8, INTEGERS),
    "DiscreteLaplace, sensitivity 10": Subject(
        lambda e: fn.DiscreteLaplace(e, 10), recipes.discrete_laplace, 8, INTEGERS
    ),
    "DiscreteUniform, delta 0.01": Subject(
        lambda e: fn.DiscreteUniform(0.01), recipes.discrete_uniform, 4, INTEGERS
    ),
    "TruncatedDiscreteLaplace, delta 10**-6": Subject(
        lambda e: fn.TruncatedDiscreteLaplace(e, 1e-6), recipes.inverse_cdf, 10, INTEGERS
    ),
    "L1Staircase, dim 4": Subject(lambda e: fn.L1Staircase(e, 4), recipes.l1_staircase, 8),
    "BoxStaircase, dim 4": Subject(lambda e: fn.BoxStaircase(e, WIDTHS), recipes.box_staircase, 8),
    "StaircaseChoice, 32 candidates": Subject(fn.StaircaseChoice, recipes.staircase_choice, 5),
}


class Case:
    """So many values of a mechanism: our perturb, and numpy's recipe with the addition."""

    def __init__(self, name: str, values: int, dtype: str = "", epsilon: float = 1.0) -> None:
        subject = SUBJECTS[name]
        self.mechanism, self.wanted = subject.build(epsilon), subject.wanted
        self.generator = np.random.default_rng(1)
        self.chooses = hasattr(self.mechanism, "choose")
        columns = CANDIDATES if self.chooses else getattr(self.mechanism, "dim", 0)
        shape = (max(1, values // columns), columns) if columns else (values,)
        self.x, self.y = np.ones(shape, dtype or subject.dtypes[0]), None
        if self.chooses:
            self.x[:] = 10.0 * self.generator.random(shape)
            self.draw = partial(subject.recipe, self.generator, self.mechanism, self.x)
        else:
            self.y = np.zeros_like(self.x)
            self.draw = partial(subject.recipe, self.generator, self.mechanism, len(self.x))

    def ours(self) -> None:
        if self.chooses:
            self.mechanism.choose(self.x)
        else:
            self.mechanism.perturb(self.x, out=self.y)

    def numpys(self) -> None:
        noise = self.draw()
        if not self.chooses:
            np.add(self.x, noise, out=self.y, casting="unsafe")
