"""What every mechanism stands on: the keystream, importing, the first call of a process."""

import numpy as np

from .limits import Keystream as Fill
from .limits import set_threads
from .measure import cached_start, cold_start, import_ratio, ratio


class Keystream:
    params = ([1, 2],)
    param_names = ("threads",)

    def setup(self, threads):
        set_threads(threads)
        self.fill = Fill(20_000_000)
        self.generator = np.random.default_rng(1)
        self.fill()

    def time_keystream(self, threads):
        self.fill()

    def track_ratio_to_pcg64(self, threads):
        """How many times as long as numpy's doubles on one thread."""
        doubles = self.fill.words.view(np.float64)
        return ratio(self.fill, lambda: self.generator.random(out=doubles))

    track_ratio_to_pcg64.unit = "x"


class Start:
    timeout = 120

    def track_import_ratio_to_numpy(self):
        return import_ratio()[0]

    track_import_ratio_to_numpy.unit = "x"

    def track_first_call_cached(self):
        return cached_start()

    track_first_call_cached.unit = "s"

    def track_first_call_cold(self):
        return cold_start()

    track_first_call_cold.unit = "s"
