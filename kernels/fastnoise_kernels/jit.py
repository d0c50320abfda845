"""The one module that owns numba's options: how kernels compile, and which twin of one runs.

`inner` marks a helper that is compiled into its callers. `filler` marks a function that fills a
tile with integer noise and is called through its address, so that mechanisms and dtypes compile
separately: their sum, not their product. `kernel` marks a loop over rows and gives it a parallel
twin.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
from llvmlite import ir
from numba import prange, types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numba.np.ufunc import parallel as _threading

from fastnoise_kernels.cache import kernel_cache

# No fastmath anywhere: the same bits on every machine. numpy's error model: no hidden branches.
OPTIONS = {"nogil": True, "error_model": "numpy"}

inner = numba.njit(**OPTIONS)

FILLER = types.int64(  # how many rows before the first one asked for it wrote, too
    types.CPointer(types.uint32),  # key: 8 words
    types.CPointer(types.uint64),  # law
    types.int64,  # words in the law
    types.int64,  # the first row, or -1: the rows are `ids`
    types.CPointer(types.int64),  # ids
    types.int64,  # how many rows
    types.CPointer(types.int64),  # noise, written
)


class Filler:
    """A compiled tile filler; `address` compiles it, or loads it from the cache."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @cached_property
    def address(self) -> int:
        compiled = CFunc(
            self.function, (FILLER.args, FILLER.return_type), {}, {"error_model": "numpy"}
        )
        compiled._cache = kernel_cache(self.function)
        compiled.compile()
        self._keep_alive = compiled
        return int(compiled.address)


filler = Filler


@intrinsic
def call_filler(typing, address, key, law, first, ids, n, noise):  # type: ignore[no-untyped-def]
    """Call the filler at `address` on arrays."""

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        def array(i):  # type: ignore[no-untyped-def]
            return context.make_array(signature.args[i])(context, builder, arguments[i])

        passed = [array(1).data, array(2).data, array(2).nitems, arguments[3], array(4).data]
        passed += [arguments[5], array(6).data]
        kind = ir.FunctionType(ir.IntType(64), [value.type for value in passed])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), passed)

    return types.int64(types.intp, key, law, types.int64, ids, types.int64, noise), codegen


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
        if rows * grain >= self.PARALLEL_ROWS and rows > 1:
            with _Threads() as threads:
                if threads > 1:
                    return int(self.parallel(rows, min(rows, 4 * threads), *arguments))
        return int(self.serial(0, rows, *arguments))


kernel = Kernel


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
_forked_from_threads = False


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
