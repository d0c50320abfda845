"""Every mechanism beside the best numpy recipe for the same law: 8 million values, 2 threads."""

from functools import partial

import numba
import numpy as np

import fastnoise as fn

from . import recipes
from .measure import seconds

VALUES = 8_000_000
CHOICES = 100_000, 32
EPSILON = 1.0
WIDTHS = (1.0, 2.0, 3.0, 10.0)

# name: the mechanism at an epsilon, numpy's recipe, how many times as fast it has to be
CASES = {
    "Laplace": (fn.Laplace, recipes.laplace, 5),
    "L2Laplace, dim 2": (lambda e: fn.L2Laplace(e, 2), recipes.l2_laplace, 10),
    "MultiUserLaplace, dim 16": (lambda e: fn.MultiUserLaplace(e, 16), recipes.l2_laplace, 6),
    "MultiUserLaplace, dim 128": (lambda e: fn.MultiUserLaplace(e, 128), recipes.l2_laplace, 6),
    "DiscreteStaircase, sensitivity 10": (
        lambda e: fn.DiscreteStaircase(e, 10),
        recipes.discrete_staircase_table,
        20,
    ),
    "DiscreteStaircase, sensitivity 10**6": (
        lambda e: fn.DiscreteStaircase(e, 1_000_000),
        recipes.discrete_staircase,
        10,
    ),
    "Geometric": (fn.Geometric, recipes.discrete_laplace, 8),
    "DiscreteLaplace, sensitivity 10": (
        lambda e: fn.DiscreteLaplace(e, 10),
        recipes.discrete_laplace,
        8,
    ),
    "L1Staircase, dim 4": (lambda e: fn.L1Staircase(e, 4), recipes.l1_staircase, 8),
    "BoxStaircase, dim 4": (lambda e: fn.BoxStaircase(e, WIDTHS), recipes.box_staircase, 8),
}


class Case:
    """Our perturb and numpy's recipe with the addition, as calls to time."""

    def __init__(self, name, values=VALUES, epsilon=EPSILON):
        build, recipe, self.wanted = CASES[name]
        self.mechanism = build(epsilon)
        dim = getattr(self.mechanism, "dim", 0)
        shape = (values // dim, dim) if dim else (values,)
        kind = np.float64 if hasattr(self.mechanism, "pdf") or dim else np.int64
        self.x, self.y = np.ones(shape, kind), np.zeros(shape, kind)
        self.draw = partial(recipe, np.random.default_rng(1), self.mechanism, len(self.x))

    def ours(self):
        self.mechanism.perturb(self.x, out=self.y)

    def numpys(self):
        np.add(self.x, self.draw(), out=self.y)


class ChoiceCase:
    """Our choices and numpy's."""

    wanted = 5

    def __init__(self, shape=CHOICES, epsilon=EPSILON):
        self.mechanism = fn.StaircaseChoice(epsilon)
        self.generator = np.random.default_rng(1)
        self.x = 10.0 * self.generator.random(shape)

    def ours(self):
        self.mechanism.choose(self.x)

    def numpys(self):
        recipes.staircase_choice(self.generator, self.mechanism, self.x)


CHOICE = "StaircaseChoice, 32 candidates"


def all_cases(values=VALUES, choices=CHOICES):
    """(name, case), one at a time: they hold arrays."""
    for name in CASES:
        yield name, Case(name, values)
    yield CHOICE, ChoiceCase(choices)


class Perturb:
    params = ([*CASES, CHOICE],)
    param_names = ("mechanism",)
    timeout = 300

    def setup(self, name):
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        self.case = ChoiceCase() if name == CHOICE else Case(name)
        self.case.ours()

    def time_perturb(self, name):
        self.case.ours()

    def track_ratio_to_numpy(self, name):
        """How many times as fast as numpy, which has one thread, with the addition."""
        ours, numpys = seconds(self.case.ours, self.case.numpys, runs=3)
        return numpys / ours

    track_ratio_to_numpy.unit = "x"
