"""How many processors this process may use: not how many the machine has.

A scheduler leaves it some (affinity), and a container may have a quota of time: threads beyond it
use up at once what was to last for a whole period, and then all of them stand still.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from math import ceil, inf
from pathlib import Path, PurePosixPath


def available() -> int:
    """At least 1. The quota is looked up once per process: 0.1 ms."""
    return max(1, min(_allowed(), rounded_up(quota())))


def _allowed() -> int:
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def rounded_up(processors: float) -> int:
    return sys.maxsize if processors == inf else ceil(processors)


@cache
def quota(process: Path = Path("/proc/self")) -> float:
    """What the process gets of processors' time: the least of its control groups, or inf."""
    try:
        mounts = list(_mounts((process / "mountinfo").read_text()))
        groups = (process / "cgroup").read_text()
    except (OSError, ValueError):  # not Linux, or hidden
        return inf
    quotas = [
        _quota_of(folder)
        for mount, unified, root in mounts
        for group in _groups(groups, unified)
        for folder in _folders(mount, root, group)
    ]
    return min(quotas, default=inf)


def _mounts(text: str) -> Iterator[tuple[Path, bool, PurePosixPath]]:
    """Where the hierarchies that may limit time are mounted, whether version 2, and their roots.

    proc_pid_mountinfo(5): ... root, mount point, options, any fields, "-", type, source, options.
    """
    for line in text.splitlines():
        mount, _, about = line.partition(" - ")
        kind, _, options = [*about.split(), "", "", ""][:3]
        if kind == "cgroup2" or (kind == "cgroup" and "cpu" in options.split(",")):
            root, point = map(_unescaped, mount.split()[3:5])
            yield Path(point), kind == "cgroup2", PurePosixPath(root)


def _unescaped(field: str) -> str:
    """Spaces and the like are written in octal."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def _groups(text: str, unified: bool) -> Iterator[PurePosixPath]:
    """The group of the process in a hierarchy. cgroups(7): number:controllers:path."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if (number == "0") if unified else ("cpu" in controllers.split(",")):
            yield PurePosixPath(path)


def _folders(mount: Path, root: PurePosixPath, group: PurePosixPath) -> Iterator[Path]:
    """Those of the group and of all that it is in, as far up as they can be seen.

    Where the mount shows another part than the group's, as in some containers, it is the group's.
    """
    inside = group.relative_to(root) if group.is_relative_to(root) else PurePosixPath()
    if ".." in inside.parts:
        inside = PurePosixPath()
    for part in (inside, *inside.parents):
        yield mount / part


def _quota_of(folder: Path) -> float:
    """cpu.max of version 2: "max 100000" or "150000 100000"; version 1 has a file for each."""
    try:
        if (folder / "cpu.max").exists():
            share, period = (folder / "cpu.max").read_text().split()
        else:
            share = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        limit = inf if share == "max" else int(share) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return inf
    return limit if limit > 0 else inf  # -1: none
