"""Where output is written before it is whole: a claimed name beside it, synced, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def partial_of(target: Path) -> Path:
    """What a killed run may leave, and the next one removes."""
    return target.with_name(f".{target.name}.fastnoise-partial")


@contextmanager
def claimed(partial: Path, folder: bool) -> Iterator[None]:
    """An empty place to write to, for this run alone; removed if the run fails."""
    if folder:
        partial.mkdir(exist_ok=True)
    elif partial.is_dir():
        remove(partial)
    descriptor = os.open(partial, os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT, 0o666)
    try:
        _lock(descriptor, partial)
        if folder:
            for path in partial.iterdir():
                remove(path)
        try:
            yield
        except BaseException:
            remove(partial)
            raise
    finally:
        os.close(descriptor)


def _lock(descriptor: int, partial: Path) -> None:
    """Refuse a second run to the same target; a killed run holds no lock."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = os.path.samestat(os.fstat(descriptor), os.stat(partial))
    except (BlockingIOError, FileNotFoundError):
        same = False
    if not same:
        raise FileExistsError(f"{partial} is being written by another run")


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
