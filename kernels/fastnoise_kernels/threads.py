"""How many threads a large call may use; imported without numba.

The least of: the processors of this process, what numba was told, FASTNOISE_NUM_THREADS, and
`set_threads`. Where neither of the last two says otherwise, a worker of multiprocessing has one
thread, and OMP_NUM_THREADS is a limit: that is what Spark, Dask, joblib and torchrun set in theirs.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fastnoise_kernels import processors

VARIABLE = "FASTNOISE_NUM_THREADS"


def count_in(environment: Mapping[str, str]) -> int | None:
    """What FASTNOISE_NUM_THREADS says; a ValueError if that is no count."""
    text = environment.get(VARIABLE, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(f"{VARIABLE} must be an integer from 1 up, not {text[:80]!r}")
    return int(text)


def openmp_limit(text: str) -> int:
    """A count, or several for nested regions; what OpenMP would not understand is no limit."""
    first = text.partition(",")[0].strip()
    return int(first) if first.isascii() and first.isdigit() and int(first) else sys.maxsize


# Once, and before any noise is drawn.
_from_environment = count_in(os.environ)
_of_openmp = openmp_limit(os.environ.get("OMP_NUM_THREADS", ""))
_told = _from_environment


class _Here(threading.local):
    """What holds in one Python thread."""

    most: int | None = None
    exactly: int | None = None


_here = _Here()


def set_count(count: int | None) -> None:
    """For the whole process; None is what holds without it."""
    global _told
    told = [limit for limit in (count, _from_environment) if limit is not None]
    _told = min(told, default=None)


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Inside, calls of this Python thread use no more."""
    before = _here.most
    _here.most = count if before is None else min(count, before)
    try:
        yield
    finally:
        _here.most = before


@contextmanager
def exactly(count: int) -> Iterator[None]:
    """Inside, calls of this Python thread use so many, as far as numba has them, however few rows.

    For tests and `fastnoise verify`, which ask whether threads change anything.
    """
    before, _here.exactly = _here.exactly, count
    try:
        yield
    finally:
        _here.exactly = before


def forced() -> int | None:
    """The count of `exactly`, inside it."""
    return _here.exactly


def wanted() -> int:
    """How many threads a large call of this Python thread uses if numba has as many."""
    limit = _told
    if limit is None:
        limit = 1 if _is_worker() else _of_openmp
    if _here.most is not None:
        limit = min(limit, _here.most)
    return 1 if limit == 1 else min(limit, processors.available())


def _is_worker() -> bool:
    """Started by multiprocessing, or by what is built on it: loky, Dask's nanny, executors."""
    started = sys.modules.get("multiprocessing.process")
    return started is not None and started.parent_process() is not None
