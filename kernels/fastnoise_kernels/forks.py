"""Whether this process was forked from one whose numba threads had started, and so has none.

Imported with `fastnoise`, long before numba is: a fork can only be noticed by a hook set before.
"""

import os
import sys


def _numba_has_started_threads() -> bool:
    """Here, or in the process that this one was forked from; by our kernels or anyone's."""
    return bool(getattr(sys.modules.get("numba.np.ufunc.parallel"), "_is_initialized", False))


def _looks_forked() -> bool:
    """For a child that imports fastnoise only now: threads that should be there and are not."""
    if os.path.isdir("/proc/self/task"):
        return len(os.listdir("/proc/self/task")) == 1
    import multiprocessing  # 5 ms, and seldom needed

    return multiprocessing.parent_process() is not None


threads_are_gone = _numba_has_started_threads() and _looks_forked()


def _after_fork() -> None:
    global threads_are_gone
    threads_are_gone = threads_are_gone or _numba_has_started_threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
