"""Every mechanism: values x dtype x threads, in time and as ratios to what the machine can do.

A value is a row of a column; vectors have as many rows fewer as they have coordinates.
"""

import numpy as np

from .cases import FLOATS, INTEGERS, SUBJECTS, Case
from .limits import Pass, set_threads
from .measure import keep_memory, ratio, seconds

keep_memory()


PLACES = 5  # in memory: with some, caches serve a whole process a fifth worse


def _runs(values):
    return max(9, min(200, 20_000_000 // values))


class Perturb:
    params = (list(SUBJECTS), [1_000, 100_000, 10_000_000], [*FLOATS, *INTEGERS], [1, 2])
    param_names = ("mechanism", "values", "dtype", "threads")
    timeout = 300

    def setup(self, name, values, dtype, threads):
        if dtype not in SUBJECTS[name].dtypes:
            raise NotImplementedError("integers get discrete noise, floats get continuous noise")
        set_threads(threads)
        self.case = Case(name, values, dtype)
        self.case.ours()  # compiles, and touches every page

    def time_perturb(self, name, values, dtype, threads):
        self.case.ours()

    def peakmem_perturb(self, name, values, dtype, threads):
        self.case.ours()

    def track_values_per_second(self, name, values, dtype, threads):
        return self.case.x.size / seconds(self.case.ours)[0]

    track_values_per_second.unit = "values/s"

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
