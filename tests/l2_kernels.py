"""Kernels of l2 noise with a part changed, and words for them."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
from fastnoise_kernels import l2_lanes, l2_laplace, layout

ALL = 2**layout.UNIFORM_BITS


def kernel_with(*changes: tuple[str, str], monkeypatch, module=l2_lanes):
    """The module of the kernel, with some text of one that it imports changed."""
    source = Path(module.__file__).read_text()
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    with monkeypatch.context() as patch:
        patch.setattr("fastnoise_kernels.filler.kernel_cache", lambda function: _no_cache())
        changed = _module(module.__name__, source, module.__file__)
        patch.setitem(sys.modules, changed.__name__, changed)
        kernel = _module("changed_l2", Path(l2_laplace.__file__).read_text(), l2_laplace.__file__)
        assert kernel.fill_l2_laplace.address
    return kernel


def _module(name: str, source: str, path: str):
    module = ModuleType(name)
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)
    return module


def _no_cache():
    from numba.core.caching import NullCache

    return NullCache()


def lanes_of(words: np.ndarray) -> np.ndarray:
    """64-bit words of sixteen rows as kernels have them: low halves, then high halves."""
    halves = words.view(np.uint32).reshape(16, -1, 2)
    return np.ascontiguousarray(halves.transpose(1, 2, 0)).reshape(-1)
