"""What waiting for other threads may cost: asleep, and on a busy machine next to never.

Nobody can tell beforehand whether the machine is busy: what `/proc/loadavg` counts may be another
container's. But a thread that is ready and waits for another, which got no processor, knows it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from time import perf_counter

import numba

# Turns of a loop, after which a waiting thread of GNU OpenMP sleeps; of itself after 300,000.
SPINS = "2000"
SPIN_SETTINGS = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def load_openmp() -> None:
    """Load numba's OpenMP layer so that its threads soon sleep, unless the user has chosen.

    GNU OpenMP reads the variable when it is loaded and never again: it is set for that long alone.
    Where something else had loaded it before, that has decided.
    """
    chosen = any(name in os.environ for name in SPIN_SETTINGS)
    if chosen or sys.platform != "linux" or numba.config.THREADING_LAYER in ("tbb", "workqueue"):
        return
    os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        with suppress(ImportError):  # a system without it
            import_module("numba.np.ufunc.omppool")
    finally:
        del os.environ["GOMP_SPINCOUNT"]


class Waiting:
    """What calls have lost by waiting is paid back by calls on one thread.

    So waiting adds a sixteenth at most to the time of all calls together, however busy the machine
    is; and a machine that is busy no longer is noticed after sixteen times what was lost.
    """

    TIMES = 16
    FREE = 1 / 4  # of a call: pieces are a sixteenth of a thread's share, and waking takes a while
    MOST = 1.0  # seconds: a process that was stopped has waited for an hour

    def __init__(self) -> None:
        self.owed = 0.0  # seconds of calls; threads may race for it, which matters to nobody

    @property
    def owes(self) -> bool:
        return self.owed > 0

    def add(self, waited: float, call: float) -> None:
        """Seconds of a call, and those in which a thread had nothing to do."""
        lost = waited - self.FREE * call
        if lost > 0:
            self.owed = min(self.MOST, self.owed + self.TIMES * lost)

    @contextmanager
    def paid(self) -> Iterator[None]:
        """By what is computed inside, on one thread."""
        started = perf_counter()
        try:
            yield
        finally:
            self.owed -= perf_counter() - started
