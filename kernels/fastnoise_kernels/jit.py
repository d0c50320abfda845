"""The one module that owns numba's options: how kernels compile, and which twin of one runs.

`inner` marks a helper that is compiled into its callers (`inlined` insists), `kernel` a loop over
rows, which is compiled twice: once for one thread, once for all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numba import prange

from fastnoise_kernels import forks, threads
from fastnoise_kernels.cache import kernel_cache
from fastnoise_kernels.float_mode import usual_floats
from fastnoise_kernels.turns import NANOSECONDS, nanoseconds, take
from fastnoise_kernels.waiting import Waiting, load_openmp

# No fastmath anywhere: the same bits on every machine. numpy's error model: no hidden branches.
OPTIONS = {"nogil": True, "error_model": "numpy"}

inner = numba.njit(**OPTIONS)
# A body of a loop that is to be vectorised must be part of it, however long it is.
inlined = numba.njit(forceinline=True, **OPTIONS)

load_openmp()
waiting = Waiting()


class Kernel:
    """A loop `function(start, stop, *arguments)` over rows, compiled twice from one source.

    Call it with the number of rows and the arguments; the sum of what the parts return comes back.
    """

    # Below this, waking threads costs what it saves: 30 to 50 microseconds, of 100 for the fastest.
    PARALLEL_ELEMENTS = 131_072
    PIECE_ELEMENTS = 8_192  # a piece takes a few microseconds or more, and what starts it 0.3
    PIECES = 16  # per thread: the last ones are short beside the call

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @cached_property
    def serial(self) -> Any:
        return _cached(numba.njit(**OPTIONS)(self.function))

    @cached_property
    def parallel(self) -> Any:
        return _cached(numba.njit(parallel=True, **OPTIONS)(_parallel_twin(self)))

    def __call__(self, rows: int, *arguments: Any, grain: float = 1) -> int:
        """`grain`: how many drawn elements a row takes as long as."""
        forced = threads.forced()
        if _warming.up:
            if threads_may_run():
                self._shared(0, 1, 1, arguments)  # no rows: compiled, and nothing done
        elif rows > 1 and (forced or rows * grain >= self.PARALLEL_ELEMENTS):
            if waiting.owes and not forced:
                with waiting.paid():
                    return int(self.serial(0, rows, *arguments))
            if (count := threads_now()) > 1:
                least = max(1, int(self.PIECE_ELEMENTS / grain))
                piece = min(max(least, rows // (self.PIECES * count)), -(-rows // count))
                return self._shared(rows, piece, count, arguments)
        return int(self.serial(0, rows, *arguments))

    def _shared(self, rows: int, piece: int, count: int, arguments: tuple[Any, ...]) -> int:
        taken = np.zeros(1, np.int64)
        began, ready = np.zeros((2, count + 1), np.int64)  # the last is the caller's
        with _numba_threads(count):
            total = int(self.parallel(taken, began, ready, rows, piece, *arguments))
        waited = began[:-1].min() - began[-1] + ready[-1] - ready[:-1].min()
        waiting.add(waited / NANOSECONDS, (ready[-1] - began[-1]) / NANOSECONDS)
        return total


kernel = Kernel


class _Warming(threading.local):
    up = False


_warming = _Warming()


@contextmanager
def every_twin() -> Iterator[None]:
    """Inside, in this thread, calls are serial and compile their parallel twin as well."""
    _warming.up = True
    try:
        yield
    finally:
        _warming.up = False


def _cached(dispatcher: Any) -> Any:
    dispatcher._cache = kernel_cache(dispatcher.py_func)
    return dispatcher


def _parallel_twin(of: Kernel) -> Callable[..., Any]:
    serial = of.serial

    def twin(taken, began, ready, rows, piece, *arguments):  # type: ignore[no-untyped-def]
        total, workers = 0, len(began) - 1
        began[workers] = nanoseconds()  # when this thread called, and when the last one was ready
        for worker in prange(workers):
            began[worker] = nanoseconds()
            if usual_floats():  # what others would compute is left for this thread
                start = take(taken, piece)
                while start < rows:
                    total += serial(start, min(start + piece, rows), *arguments)
                    start = take(taken, piece)
            ready[worker] = nanoseconds()
        ready[workers] = nanoseconds()
        start = take(taken, piece)
        if start < rows:
            total += serial(start, rows, *arguments)
        return total

    return named_after(of.function, "parallel", twin)


def named_after(
    function: Callable[..., Any], suffix: str, other: Callable[..., Any]
) -> Callable[..., Any]:
    """`other` under a name of its own: two kernels from the cache must not share a symbol."""
    other.__module__ = function.__module__
    other.__qualname__ = f"{function.__qualname__}.{suffix}"
    return other


@contextmanager
def _numba_threads(count: int) -> Iterator[None]:
    """Else all that numba has would be woken, for nothing."""
    before = numba.get_num_threads()
    if count == before:
        yield
        return
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def threads_now() -> int:
    """How many threads a large call uses at this moment."""
    forced = threads.forced()
    count = forced or threads.wanted()
    if count == 1 or not threads_may_run():
        return 1
    most = numba.config.NUMBA_NUM_THREADS if forced else numba.get_num_threads()
    return min(count, int(most))


def threads_may_run() -> bool:
    """Whether a parallel twin may run at all; starts numba's threads if so.

    GNU OpenMP kills a forked child that enters a parallel region after its parent did. The
    workqueue layer aborts the process when two Python threads are inside, even in someone else's
    kernels: so it is used only where there is one thread.
    """
    if forks.threads_are_gone:
        return False
    numba.get_num_threads()  # starts them, which makes the layer known
    return threading.active_count() == 1 or numba.threading_layer() != "workqueue"
