"""A progress bar for people: on standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
WIDTH = 30


def progress(items: Sequence[tuple[str, Item]]) -> Iterator[Item]:
    """Yield the items, showing how many are done and the name of the one at work."""
    shown = _is_terminal()
    for done, (name, item) in enumerate(items):
        if shown:
            _redraw(f"{_bar(done, len(items))} {done}/{len(items)} {name}")
        yield item
    if shown:
        _redraw("")


def _bar(done: int, count: int) -> str:
    filled = WIDTH * done // count
    return "█" * filled + "░" * (WIDTH - filled)


def _redraw(line: str) -> None:
    print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()  # a daemon has none


class Rate:
    """Rows done, how fast, and how long it still takes; redrawn a few times a second."""

    def __init__(self, quiet: bool = False) -> None:
        self.shown = _is_terminal() and not quiet
        self.started, self.drawn = time.perf_counter(), 0.0

    def __enter__(self) -> Rate:
        return self

    def __exit__(self, *problem: object) -> None:
        if self.shown:
            _redraw("")

    def show(self, done: int, rows: int | None) -> None:
        now = time.perf_counter()
        if not self.shown or now - self.drawn < 0.1:
            return
        self.drawn = now
        _redraw(self.line(done, rows))

    def line(self, done: int, rows: int | None) -> str:
        rate = done / max(self.drawn - self.started, 1e-9)
        if not rows:
            return f"{done:,} rows, {rate:,.0f} a second"
        left = (rows - done) / max(rate, 1e-9)
        return (
            f"{_bar(done, rows)} {done:,} of {rows:,} rows, {rate:,.0f} a second, {left:.0f} s left"
        )
