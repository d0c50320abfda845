"""Integer mechanisms beside the best numpy recipe for the same law."""

import numba
import numpy as np

import fastnoise as fn

from . import recipes
from .measure import seconds

ROWS = 8_000_000
EPSILON = 1.0


def numpy_recipe(mechanism, generator):
    """A call that draws ROWS values of the mechanism's law with numpy alone."""
    if mechanism.sensitivity == 1:
        return lambda: recipes.geometric(generator, ROWS, EPSILON)
    if mechanism.sensitivity > 100:
        law = EPSILON, mechanism.sensitivity, mechanism.r
        return lambda: recipes.discrete_staircase(generator, ROWS, *law)
    most = 40 * mechanism.sensitivity
    cumulative = np.cumsum(mechanism.pmf(np.arange(-most, most + 1)))
    return lambda: recipes.discrete_staircase_table(generator, ROWS, cumulative, most)


class Perturb:
    params = ([1, 10, 1_000_000],)
    param_names = ("sensitivity",)
    timeout = 300

    def setup(self, sensitivity):
        numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
        self.mechanism = fn.DiscreteStaircase(EPSILON, sensitivity)
        self.x, self.y = np.ones(ROWS, np.int64), np.zeros(ROWS, np.int64)
        self.perturb()

    def perturb(self):
        self.mechanism.perturb(self.x, out=self.y)

    def time_perturb(self, sensitivity):
        self.perturb()

    def track_ratio_to_numpy(self, sensitivity):
        """How many times as fast as numpy, which has one thread, with the addition."""
        draw = numpy_recipe(self.mechanism, np.random.default_rng(1))
        ours, numpys = seconds(self.perturb, lambda: np.add(self.x, draw(), out=self.y), runs=3)
        return numpys / ours

    track_ratio_to_numpy.unit = "x"
