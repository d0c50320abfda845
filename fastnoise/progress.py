"""A progress bar for people: on standard error, and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
WIDTH = 30


def progress(items: Sequence[tuple[str, Item]]) -> Iterator[Item]:
    """Yield the items, showing how many are done and the name of the one at work."""
    shown = sys.stderr.isatty()
    for done, (name, item) in enumerate(items):
        if shown:
            filled = WIDTH * done // len(items)
            bar = "█" * filled + "░" * (WIDTH - filled)
            print(f"\r\033[K{bar} {done}/{len(items)} {name}", end="", file=sys.stderr, flush=True)
        yield item
    if shown:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
