"""Every mechanism, in time and as ratios to what the machine can do.

A value is a row of a column; vectors have as many rows fewer as they have coordinates. By default
each mechanism is measured once, in a few minutes; BENCHMARKS=all asv run measures the whole matrix,
values x dtype x threads and peak memory, in half an hour.
"""

import os

import numpy as np

from .cases import FLOATS, INTEGERS, SUBJECTS, Case
from .limits import Pass, set_threads
from .measure import keep_memory, ratio, seconds

keep_memory()


PLACES = 5  # in memory: with some, caches serve a whole process a fifth worse
WHOLE = os.environ.get("BENCHMARKS") == "all"
SIZES = [1_000, 100_000, 10_000_000] if WHOLE else [100_000]
DTYPES = [*FLOATS, *INTEGERS] if WHOLE else [FLOATS[0], INTEGERS[0]]
THREADS = [1, 2] if WHOLE else [2]


def _runs(values):
    return max(9, min(200, 20_000_000 // values))


class Of:
    """A mechanism with so much data."""

    params = (list(SUBJECTS), SIZES, DTYPES, THREADS)
    param_names = ("mechanism", "values", "dtype", "threads")
    timeout = 300

    def setup(self, name, values, dtype, threads):
        if dtype not in SUBJECTS[name].dtypes:
            raise NotImplementedError("integers get discrete noise, floats get continuous noise")
        set_threads(threads)
        self.case = Case(name, values, dtype)
        self.case.ours()  # compiles, and touches every page


class Perturb(Of):
    def time_perturb(self, name, values, dtype, threads):
        self.case.ours()

    def track_ratio_to_numpy(self, name, values, dtype, threads):
        """How many times as long as numpy's recipe and addition, on one thread."""
        places = PLACES if values <= 100_000 else 1
        cases = [Case(name, values, dtype) for _ in range(places)]  # all kept: none is reused
        calls = [(case.ours, case.numpys) for case in cases]
        times = [seconds(*both, runs=max(9, _runs(values) // places)) for both in calls]
        ours, numpys = map(min, zip(*times, strict=True))
        return ours / numpys

    track_ratio_to_numpy.unit = "x"

    def track_ratio_to_memory(self, name, values, dtype, threads):
        """How many times as long as reading and writing as much, on as many threads."""
        y = np.zeros_like(self.case.x) if self.case.y is None else self.case.y
        return ratio(self.case.ours, Pass(self.case.x, y, threads), runs=_runs(values))

    track_ratio_to_memory.unit = "x"


if WHOLE:

    class Memory(Of):
        def peakmem_perturb(self, name, values, dtype, threads):
            self.case.ours()
