"""Folders and files that nobody but this user and root can have written.

Root may do what it likes to any process, so what root owns is trusted: an image whose cache was
warmed up by root is used by whoever runs in it. Windows has no such permissions to look at; there
the folder for local application data is the user's own.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40  # as in Linux; they may lead in a circle
# Never through a link; never waiting for the other end of a pipe.
READ_ONLY = os.O_RDONLY | sum(getattr(os, f, 0) for f in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def checked_folder(folder: Path, create: bool = False) -> Path:
    """Where it really is, without links; an OSError if others might write or replace it.

    create: make what is missing, for this user alone.
    """
    return _checked(folder.absolute(), create, inside=False, links=MOST_LINKS)


def _checked(folder: Path, create: bool, inside: bool, links: int) -> Path:
    """From the root down, link by link: who owns a folder or a link can put another in its place.

    inside: something below it is meant. Then others may write into it if it is sticky, as /tmp is:
    they can neither rename nor remove what is ours.
    """
    if folder != folder.parent:
        folder = _checked(folder.parent, create, True, links) / folder.name
    if create and not os.path.lexists(folder):
        folder.mkdir(0o700, exist_ok=True)  # another process may just have done it
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        _refuse_other_owners(found, folder)
        if links == 0:
            raise OSError(f"{folder} leads through too many links")
        return _checked(folder.parent / folder.readlink(), create, inside, links - 1)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{folder} is not a folder")
    _refuse_other_owners(found, folder)
    if not (inside and found.st_mode & stat.S_ISVTX):
        _refuse_other_writers(found, folder)
    return folder


def _refuse_other_owners(found: os.stat_result, path: Path) -> None:
    if hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{path} belongs to someone else")


def _refuse_other_writers(found: os.stat_result, path: Path) -> None:
    if hasattr(os, "geteuid") and found.st_mode & OTHERS_WRITE:
        raise PermissionError(f"{path} can be written by others")


def read_checked(path: Path) -> bytes:
    """What is in a plain file that is ours, or root's, and that others cannot write."""
    with open(os.open(path, READ_ONLY), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(f"{path} is not a plain file")
        _refuse_other_owners(found, path)
        _refuse_other_writers(found, path)
        return file.read()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that nobody ever sees half of, and that is this user's alone."""
    handle, partial = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise
