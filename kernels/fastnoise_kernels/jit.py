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

from fastnoise_kernels import forks
from fastnoise_kernels.cache import kernel_cache
from fastnoise_kernels.float_mode import usual_floats

# No fastmath anywhere: the same bits on every machine. numpy's error model: no hidden branches.
OPTIONS = {"nogil": True, "error_model": "numpy"}

inner = numba.njit(**OPTIONS)
# A body of a loop that is to be vectorised must be part of it, however long it is.
inlined = numba.njit(forceinline=True, **OPTIONS)


class Kernel:
    """A loop `function(start, stop, *arguments)` over rows, compiled twice from one source.

    Call it with the number of rows and the arguments; the sum of what the parts return comes back.
    """

    # Below this, waking threads costs more than it saves (measured: 10 to 30 microseconds).
    PARALLEL_ROWS = 16_384

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @cached_property
    def serial(self) -> Any:
        return _cached(numba.njit(**OPTIONS)(self.function))

    @cached_property
    def parallel(self) -> Any:
        return _cached(numba.njit(parallel=True, **OPTIONS)(_parallel_twin(self)))

    def __call__(self, rows: int, *arguments: Any, grain: int = 1) -> int:
        """`grain`: how many elements a row stands for when weighing threads against their cost."""
        if _warming.up:
            if threads_now():
                self.parallel(0, 1, *arguments)  # no rows: compiled, and nothing done
        elif rows * grain >= self.PARALLEL_ROWS and rows > 1 and (threads := threads_now()) > 1:
            return int(self.parallel(rows, min(rows, 4 * threads), *arguments))
        return int(self.serial(0, rows, *arguments))


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

    def twin(rows, tasks, *arguments):  # type: ignore[no-untyped-def]
        left = np.zeros(tasks, np.bool_)  # by threads that compute otherwise: for this one to do
        total = 0
        for task in prange(tasks):
            if usual_floats():
                total += serial(rows * task // tasks, rows * (task + 1) // tasks, *arguments)
            else:
                left[task] = True
        for task in range(tasks):
            if left[task]:
                total += serial(rows * task // tasks, rows * (task + 1) // tasks, *arguments)
        return total

    return named_after(of.function, "parallel", twin)


def named_after(
    function: Callable[..., Any], suffix: str, other: Callable[..., Any]
) -> Callable[..., Any]:
    """`other` under a name of its own: two kernels from the cache must not share a symbol."""
    other.__module__ = function.__module__
    other.__qualname__ = f"{function.__qualname__}.{suffix}"
    return other


def threads_now() -> int:
    """How many threads a parallel twin would use at this moment; 0 if it must not run at all.

    GNU OpenMP kills a forked child that enters a parallel region after its parent did. The
    workqueue layer aborts the process when two Python threads are inside, even in someone else's
    kernels: so it is used only where there is one thread.
    """
    if forks.threads_are_gone:
        return 0
    threads = int(numba.get_num_threads())  # starts them, which makes the layer known
    alone = threading.active_count() == 1
    return threads if alone or numba.threading_layer() != "workqueue" else 0
