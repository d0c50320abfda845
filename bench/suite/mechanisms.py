"""Every mechanism beside the best numpy recipe for the same law: 8 million values, 2 threads."""

from functools import partial

import numba
import numpy as np

import fastnoise as fn

from . import recipes
from .measure import seconds

VALUES = 8_000_000
CHOICES = 32
EPSILON = 1.0
WIDTHS = (1.0, 2.0, 3.0, 10.0)

# name: mechanism, recipe, how many times as fast it has to be
CASES = {
    "Laplace": (fn.Laplace(EPSILON), recipes.laplace, 5),
    "L2Laplace, dim 2": (fn.L2Laplace(EPSILON, 2), recipes.l2_laplace, 10),
    "MultiUserLaplace, dim 16": (fn.MultiUserLaplace(EPSILON, 16), recipes.l2_laplace, 6),
    "MultiUserLaplace, dim 128": (fn.MultiUserLaplace(EPSILON, 128), recipes.l2_laplace, 6),
    "DiscreteStaircase, sensitivity 10": (
        fn.DiscreteStaircase(EPSILON, 10),
        recipes.discrete_staircase_table,
        20,
    ),
    "DiscreteStaircase, sensitivity 10**6": (
        fn.DiscreteStaircase(EPSILON, 1_000_000),
        recipes.discrete_staircase,
        10,
    ),
    "Geometric": (fn.Geometric(EPSILON), recipes.discrete_laplace, 8),
    "DiscreteLaplace": (fn.DiscreteLaplace(EPSILON, 10), recipes.discrete_laplace, 8),
    "L1Staircase, dim 4": (fn.L1Staircase(EPSILON, 4), recipes.l1_staircase, 8),
    "BoxStaircase, dim 4": (fn.BoxStaircase(EPSILON, WIDTHS), recipes.box_staircase, 8),
}


def data_for(mechanism, values):
    """Data of the mechanism's kind, and room for the result."""
    shape = (values // mechanism.dim, mechanism.dim) if hasattr(mechanism, "dim") else (values,)
    kind = np.int64 if isinstance(mechanism.grid, float) and mechanism.grid == 1.0 else np.float64
    return np.ones(shape, kind), np.zeros(shape, kind)


class Case:
    """Our perturb and numpy's, as calls to time."""

    def __init__(self, name, values=VALUES):
        self.mechanism, recipe, self.wanted = CASES[name]
        self.x, self.y = data_for(self.mechanism, values)
        self.draw = partial(recipe, np.random.default_rng(1), self.mechanism, len(self.x))

    def perturb(self):
        self.mechanism.perturb(self.x, out=self.y)

    def numpys(self):
        np.add(self.x, self.draw(), out=self.y)


class Perturb:
    params = (list(CASES),)
    param_names = ("mechanism",)
    timeout = 300

    def setup(self, name):
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        self.case = Case(name)
        self.case.perturb()

    def time_perturb(self, name):
        self.case.perturb()

    def track_ratio_to_numpy(self, name):
        """How many times as fast as numpy, which has one thread, with the addition."""
        ours, numpys = seconds(self.case.perturb, self.case.numpys, runs=3)
        return numpys / ours

    track_ratio_to_numpy.unit = "x"
