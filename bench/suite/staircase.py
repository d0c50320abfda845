"""Staircase perturb: rows x dtype x threads, in time and as ratios to what the machine can do."""

import numba
import numpy as np

import fastnoise as fn

from .measure import seconds


class Perturb:
    params = ([1_000, 100_000, 10_000_000], ["float64", "float32"], [1, 2])
    param_names = ("rows", "dtype", "threads")

    def setup(self, rows, dtype, threads):
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        self.mechanism = fn.Staircase(epsilon=1.0)
        self.x, self.y = np.ones(rows, dtype), np.zeros(rows, dtype)
        self.perturb()

    def perturb(self):
        self.mechanism.perturb(self.x, out=self.y)

    def time_perturb(self, rows, dtype, threads):
        self.perturb()

    def track_rows_per_second(self, rows, dtype, threads):
        return rows / seconds(self.perturb)[0]

    track_rows_per_second.unit = "rows/s"

    def track_ratio_to_add(self, rows, dtype, threads):
        """The memory limit: np.add of a constant into an existing array."""
        ours, add = seconds(self.perturb, lambda: np.add(self.x, 1.0, out=self.y))
        return ours / add

    track_ratio_to_add.unit = "x"

    def peakmem_perturb(self, rows, dtype, threads):
        self.perturb()
