"""Where output is written before it is whole: a claimed name beside it, synced, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]


def partial_of(target: Path) -> Path:
    """What a killed run may leave, and the next one removes."""
    return target.with_name(f".{target.name}.fastnoise-partial")


@contextmanager
def claimed(partial: Path, folder: bool) -> Iterator[None]:
    """An empty place to write to, for this run alone; removed if the run fails."""
    descriptor = None
    try:
        descriptor = _made(partial, folder)
        if not _locked(descriptor, partial):
            raise FileExistsError(f"{partial} is being written by another run")
        if folder:
            for path in partial.iterdir():
                remove(path)
        yield
    except BaseException as error:
        if descriptor is None and partial.exists() and not isinstance(error, OSError):
            descriptor = os.open(partial, os.O_RDONLY)  # interrupted as soon as it was made
        # Not where another run writes: interrupts may come before that is known.
        if descriptor is not None and _locked(descriptor, partial):
            remove(partial)
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _made(partial: Path, folder: bool) -> int:
    if folder:
        partial.mkdir(exist_ok=True)
    elif partial.is_dir():
        remove(partial)
    return os.open(partial, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT, 0o666)


def _locked(descriptor: int, partial: Path) -> bool:
    """Whether this run has the place to itself; a killed run holds no lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), os.stat(partial))
    except (BlockingIOError, FileNotFoundError):
        return False


def sync(path: Path) -> None:
    """To the disk itself: a rename must not survive a power cut that its data did not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
