"""Where output is written before it is whole: a new name beside it, synced, then renamed.

Nothing is written that this run has not made itself, and nothing is opened through a link: files
are made anew (O_EXCL) and reached by descriptors, never by their names again.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import BinaryIO

from fastnoise.etl.readers import share

try:
    import fcntl
except ImportError:  # on Windows, where nothing is locked
    fcntl = None  # type: ignore[assignment]

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK | getattr(os, "O_BINARY", 0)
FOLDER = os.O_RDONLY | NO_LINK | getattr(os, "O_DIRECTORY", 0)


def partial_of(target: Path) -> Path:
    """What a killed run may leave, and the next one removes."""
    return target.with_name(f".{target.name}.fastnoise-partial")


class Place:
    """A new file, or a new folder to make files in, which becomes the target when it is whole."""

    def __init__(self, target: Path, source: Path, descriptor: int) -> None:
        self.target, self.source, self.descriptor = target, source, descriptor

    def file(self, inside: PurePath) -> BinaryIO:
        """The file itself, or a new one beneath the folder, which as few people can read."""
        if not inside.parts:
            return os.fdopen(os.dup(self.descriptor), "wb")
        folder = os.dup(self.descriptor)
        try:
            for depth, part in enumerate(inside.parts[:-1], 1):
                above, folder = folder, _subfolder(folder, part, self.source, inside.parts[:depth])
                os.close(above)
            made = os.open(inside.name, NEW, 0o600, dir_fd=folder)
        finally:
            os.close(folder)
        source = self.source / inside
        share(made, source, self.target / inside if source.is_symlink() else None)
        return os.fdopen(made, "wb")

    def finish(self) -> None:
        """Rename it, if the name still is that of what was written."""
        os.fsync(self.descriptor)
        if not _is_at(self.descriptor, partial_of(self.target)):
            raise _taken(partial_of(self.target))
        os.replace(partial_of(self.target), self.target)


def _subfolder(above: int, name: str, source: Path, parts: tuple[str, ...]) -> int:
    try:
        os.mkdir(name, 0o700, dir_fd=above)
    except FileExistsError:
        return os.open(name, FOLDER, dir_fd=above)
    made = os.open(name, FOLDER, dir_fd=above)
    share(made, source.joinpath(*parts))
    return made


@contextmanager
def claimed(target: Path, source: Path) -> Iterator[Place]:
    """A place for this run alone, that no one can read who cannot read the source.

    Removed if the run fails, unless another run writes there.
    """
    partial, folder = partial_of(target), source.is_dir()
    descriptor = None
    try:
        _clear(partial)
        descriptor = _made(partial, folder)
        if not _locked(descriptor, partial):
            raise _taken(partial)
        share(descriptor, source, target)
        yield Place(target, source, descriptor)
    except BaseException as error:
        if descriptor is None and not isinstance(error, OSError):
            with suppress(OSError):
                descriptor = _opened(partial)  # interrupted as soon as it was made
        # Not where another run writes: interrupts may come before that is known.
        if descriptor is not None and _locked(descriptor, partial):
            remove(partial)
        raise
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _taken(partial: Path) -> FileExistsError:
    return FileExistsError(f"{partial} is being written by another run")


def _clear(partial: Path) -> None:
    """Remove what a killed run left, or someone else planted: the name, not what it leads to."""
    try:
        found = partial.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        descriptor = _opened(partial)
        try:
            if not _locked(descriptor, partial):
                raise _taken(partial)
            remove(partial)
        finally:
            os.close(descriptor)
    else:
        remove(partial)


def _opened(partial: Path) -> int:
    """To look whether it is locked; a pipe does not keep us waiting."""
    return os.open(partial, os.O_RDONLY | NO_LINK | getattr(os, "O_NONBLOCK", 0))


def _made(partial: Path, folder: bool) -> int:
    if folder:
        partial.mkdir(0o700)
        return os.open(partial, FOLDER)
    return os.open(partial, NEW, 0o600)


def _locked(descriptor: int, partial: Path) -> bool:
    """Whether this run has the place to itself; a killed run holds no lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return _is_at(descriptor, partial)


def _is_at(descriptor: int, partial: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), partial.lstat())
    except FileNotFoundError:
        return False


def sync(path: Path) -> None:
    """To the disk itself: a rename must not survive a power cut that its data did not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove(path: Path) -> None:
    """A link is removed itself; `rmtree` follows none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
