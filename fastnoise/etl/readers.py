"""Who can read the output: nobody who could not read the input."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

ACL = "system.posix_acl_access"


def share(descriptor: int, source: Path, target: Path | None = None) -> None:
    """Give a new file or folder, until now its owner's alone, the source's permissions.

    The kernel's own lists (POSIX ACLs) are not copied: who has one shares with nobody. Those of
    NFSv4 and macOS are not looked at.

    target: where it will be; folders above the source alone keep people out, too.
    """
    if not hasattr(os, "fchown"):  # Windows has no such permissions
        return
    found = source.stat()
    with suppress(OSError):  # not of that group ourselves
        os.fchown(descriptor, -1, found.st_gid)
    if hasattr(os, "removexattr"):
        with suppress(OSError):  # of the folder that it is made in
            os.removexattr(descriptor, ACL)
    bits = _bits(source, found)
    for folder in [] if target is None else _above(source, target):
        bits &= _let_through(folder, found.st_gid)
    if os.fstat(descriptor).st_gid != found.st_gid:
        everyone = bits & 0o007 & bits >> 3
        bits = everyone << 3 | everyone
    owner = 0o700 if stat.S_ISDIR(found.st_mode) else 0o600
    os.fchmod(descriptor, (owner | bits) & ~_umask())


def _bits(source: Path, found: os.stat_result) -> int:
    """The permissions of the group and of others."""
    return 0 if _has_acl(source) else found.st_mode & (0o077 if source.is_dir() else 0o066)


def _let_through(folder: Path, group: int) -> int:
    """Who may pass through a folder, of that group and of others."""
    found = folder.stat()
    if _has_acl(folder) or not found.st_mode & 0o010:
        return 0
    if found.st_mode & 0o001:
        return 0o077
    return 0o070 if found.st_gid == group else 0


def _above(source: Path, target: Path) -> list[Path]:
    """The folders above the source that are not above the target as well."""
    shared = target.parent.resolve()
    return [p for p in source.resolve().parents if p != shared and p not in shared.parents]


def _has_acl(path: Path) -> bool:
    if not hasattr(os, "getxattr"):
        return False
    try:
        return bool(os.getxattr(path, ACL))
    except OSError:
        return False


def _umask() -> int:
    """Read by setting it, to a strict one for a moment."""
    found = os.umask(0o077)
    os.umask(found)
    return found
