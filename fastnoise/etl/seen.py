"""Addresses that came before: no two rows of a release may have the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fastnoise.repeats import has_repeats
from fastnoise.rows import Rows


class Seen:
    """The addresses of all batches so far, in sorted runs that double in size.

    Runs are sorted by the lower 64 bits, of which two addresses may have the same.
    """

    def __init__(self, name: str) -> None:
        self.name, self.runs = name, list[Rows]()
        self.alone: Rows | None = None  # the first batch, sorted when there is another

    def add(self, rows: Rows) -> None:
        """Refuse an address that was there before: two rows would get the same noise."""
        if self.alone is None and not self.runs:
            self._refuse(has_repeats(rows.ids, rows.tops))
            self.alone = rows
            return
        if self.alone is not None:
            self.runs, self.alone = [_sorted([self.alone])], None
        run = _sorted([rows])
        self._refuse(_repeats(run) or any(_share(old, run) for old in self.runs))
        while self.runs and self.runs[-1].ids.size <= run.ids.size:
            run = _sorted([self.runs.pop(), run])
        self.runs.append(run)

    def _refuse(self, repeats: bool) -> None:
        if repeats:
            raise ValueError(f"key {self.name} repeats an id: each row needs an id of its own")


def _sorted(runs: Sequence[Rows]) -> Rows:
    """Of addresses, one or two runs, by their lower 64 bits."""
    ids = np.concatenate([run.ids for run in runs])
    if not any(run.tops.size for run in runs):
        return Rows(-1, np.sort(ids, kind=None if len(runs) == 1 else "stable"))
    tops = np.concatenate([_tops(run) for run in runs])
    order = np.argsort(ids, kind=None if len(runs) == 1 else "stable")
    return Rows(-1, ids[order], tops[order])


def _tops(rows: Rows) -> npt.NDArray[np.uint32]:
    return rows.tops if rows.tops.size else np.zeros(rows.ids.size, np.uint32)


def _repeats(run: Rows) -> bool:
    """Whether an address is twice in a sorted run."""
    same = np.flatnonzero(run.ids[1:] == run.ids[:-1])
    if not same.size or not run.tops.size:
        return bool(same.size)
    return _among(run.ids[same], run)


def _share(one: Rows, other: Rows) -> bool:
    """Whether two sorted runs, each without repeats, have an address in common."""
    if not one.ids.size or not other.ids.size:
        return False
    if one.ids[-1] < other.ids[0] or other.ids[-1] < one.ids[0]:  # as in a table in order
        return False
    places = np.minimum(np.searchsorted(one.ids, other.ids), one.ids.size - 1)
    same = other.ids[one.ids[places] == other.ids]
    return bool(same.size) and _among(same, one, other)


def _among(lows: npt.NDArray[np.int64], *runs: Rows) -> bool:
    """Whether of the addresses with these lower 64 bits two are the same: their tops tell."""
    chosen = [np.isin(run.ids, lows) for run in runs]
    ids = [run.ids[some] for run, some in zip(runs, chosen, strict=True)]
    tops = [_tops(run)[some] for run, some in zip(runs, chosen, strict=True)]
    return has_repeats(np.concatenate(ids), np.concatenate(tops))
