"""What every mechanism stands on: the keystream, importing, the first call of a process."""

import os
import subprocess
import sys
import tempfile
import time

import numba
import numpy as np
from fastnoise_kernels.chacha import BATCH, keystream

FIRST = "import fastnoise as fn; fn.Staircase(epsilon=1.0).perturb([1.0, 2.0, 3.0])"


def process_seconds(code, **environment):
    started = time.perf_counter()
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    return time.perf_counter() - started


class Keystream:
    params = ([1, 2],)
    param_names = ("threads",)

    def setup(self, threads):
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        self.words = np.zeros(20_000_000, np.uint32)
        self.generator = np.random.default_rng(1)
        self.fill()

    def fill(self):
        batches = self.words.size // BATCH
        keystream(batches, np.zeros(8, np.uint32), np.uint64(0), self.words, grain=BATCH)

    def time_keystream(self, threads):
        self.fill()

    def track_ratio_to_pcg64(self, threads):
        """How many times as fast as numpy's doubles, one thread."""
        doubles = self.words.view(np.float64)
        numpy_seconds, ours = [], []
        for _ in range(7):
            started = time.perf_counter()
            self.generator.random(out=doubles)
            between = time.perf_counter()
            self.fill()
            ours.append(time.perf_counter() - between)
            numpy_seconds.append(between - started)
        return float(np.median(numpy_seconds) / np.median(ours))

    track_ratio_to_pcg64.unit = "x"


class Start:
    timeout = 120

    def setup(self):
        self.folder = tempfile.TemporaryDirectory()
        process_seconds(FIRST, FASTNOISE_CACHE_DIR=self.folder.name)

    def teardown(self):
        self.folder.cleanup()

    def track_import_ratio_to_numpy(self):
        ours = np.median([process_seconds("import fastnoise") for _ in range(5)])
        return float(ours / np.median([process_seconds("import numpy") for _ in range(5)]))

    track_import_ratio_to_numpy.unit = "x"

    def track_first_call_cached(self):
        runs = [process_seconds(FIRST, FASTNOISE_CACHE_DIR=self.folder.name) for _ in range(3)]
        return float(np.median(runs))

    track_first_call_cached.unit = "s"

    def track_first_call_cold(self):
        with tempfile.TemporaryDirectory() as empty:
            return process_seconds(FIRST, FASTNOISE_CACHE_DIR=empty)

    track_first_call_cold.unit = "s"
