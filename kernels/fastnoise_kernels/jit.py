"""The one module that owns numba's options: how kernels compile, and which twin of one runs.

`inner` marks a helper that is compiled into its callers, `kernel` a loop over rows, which is
compiled twice: once for one thread, once for all.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numba
from numba import prange
from numba.np.ufunc import parallel as _threading

from fastnoise_kernels.cache import kernel_cache

# No fastmath anywhere: the same bits on every machine. numpy's error model: no hidden branches.
OPTIONS = {"nogil": True, "error_model": "numpy"}

inner = numba.njit(**OPTIONS)


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
        if _every_twin:
            self.parallel(rows, 1, *arguments)
            return int(self.serial(0, rows, *arguments))
        if rows * grain >= self.PARALLEL_ROWS and rows > 1:
            with _Threads() as threads:
                if threads > 1:
                    return int(self.parallel(rows, min(rows, 4 * threads), *arguments))
        return int(self.serial(0, rows, *arguments))


kernel = Kernel

_every_twin = False


@contextmanager
def every_twin() -> Iterator[None]:
    """Inside, a kernel runs both of its twins, to have compiled them."""
    global _every_twin
    _every_twin = True
    try:
        yield
    finally:
        _every_twin = False


def _cached(dispatcher: Any) -> Any:
    dispatcher._cache = kernel_cache(dispatcher.py_func)
    return dispatcher


def _parallel_twin(of: Kernel) -> Callable[..., Any]:
    serial = of.serial

    def twin(rows, tasks, *arguments):  # type: ignore[no-untyped-def]
        total = 0
        for task in prange(tasks):
            total += serial(rows * task // tasks, rows * (task + 1) // tasks, *arguments)
        return total

    twin.__module__ = of.function.__module__
    twin.__qualname__ = f"{of.function.__qualname__}.parallel"
    return twin


_workqueue = threading.Lock()
# True in a forked child whose parent had started threads, if only for kernels of its own.
_forked_from_threads = _threading._is_initialized and multiprocessing.parent_process() is not None


class _Threads:
    """How many threads a parallel twin may use now; 1 means: take the serial one.

    GNU OpenMP kills a forked child that enters a parallel region, so a child of a process whose
    threads had started stays serial. The workqueue layer aborts when two Python threads are inside,
    so it is entered by one at a time and the others stay serial.
    """

    def __enter__(self) -> int:
        self.holds_workqueue = False
        if _forked_from_threads:
            return 1
        threads = int(numba.get_num_threads())
        if threads > 1 and numba.threading_layer() == "workqueue":
            self.holds_workqueue = _workqueue.acquire(blocking=False)
            return threads if self.holds_workqueue else 1
        return threads

    def __exit__(self, *_: object) -> None:
        if self.holds_workqueue:
            _workqueue.release()


def _after_fork() -> None:
    global _forked_from_threads, _workqueue
    _workqueue = threading.Lock()
    _forked_from_threads = _forked_from_threads or bool(_threading._is_initialized)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
