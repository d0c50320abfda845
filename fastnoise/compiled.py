"""Kernels, loaded when the first of them is called: numba takes half a second.

When numba is told not to compile (NUMBA_DISABLE_JIT), so that the debugger of someone else's numba
code does not meet ours, plain Python draws all rows.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

READ = 1 / 16  # of the time that it takes to draw and add an element: it is only looked at


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view to read: kernels are compiled for those, which is what many containers hand out."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


@cache
def compiles() -> bool:
    """Whether numba compiles; it is imported when this is first asked, not before."""
    return not import_module("numba").config.DISABLE_JIT


@cache
def kernels(module: str) -> Any:
    """A module of kernels."""
    return import_module(f"fastnoise_kernels.{module}")


@cache
def filler(name: str) -> int:
    """The address of the compiled filler of that name, which is that of its module."""
    return int(getattr(kernels(name), f"fill_{name}").address)


def count_bad(x: npt.NDArray[Any], nan: bool) -> int:
    """How many values are infinite, or NaN unless those are allowed."""
    if not compiles():
        return int(np.count_nonzero(np.isinf(x) if nan else ~np.isfinite(x)))
    return int(kernels("release").count_bad(x.size, read_only(x), nan, grain=READ))
