"""What a check is and what comes of it: rows of a table, each a question put to many subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

SHOWN = 3  # failures that a row spells out


class Tally:
    """Counts what was tried and keeps what did not hold, in words."""

    def __init__(self) -> None:
        self.tried, self.wrong, self.note = 0, list[str](), ""
        self._subject = ""

    def expect(self, holds: object, what: str) -> None:
        """One thing tried; `what` is said if it does not hold."""
        self.add(1, () if holds else [what])

    def add(self, tried: int, wrong: Iterable[str]) -> None:
        self.tried += tried
        self.wrong += [f"{self._subject}{what}" for what in wrong]

    @contextmanager
    def about(self, subject: object) -> Iterator[None]:
        """Inside, failures begin with the subject; an exception is one of them."""
        self._subject = f"{subject!r}: "
        try:
            yield
        except Exception as problem:
            self.add(1, [f"{type(problem).__name__}: {problem}"])
        finally:
            self._subject = ""


class Row(NamedTuple):
    """One line of the table: `question(subject, tally)` for every subject."""

    check: str
    family: str
    question: Callable[[Any, Tally], None]
    subjects: Sequence[Any]

    def ask(self) -> Outcome:
        tally, started = Tally(), perf_counter()
        for subject in self.subjects:
            with tally.about(subject):
                self.question(subject, tally)
        if not tally.tried:
            tally.wrong.append("nothing was tried")
        detail = "; ".join(tally.wrong[:SHOWN]) or tally.note
        if len(tally.wrong) > SHOWN:
            detail += f"; and {len(tally.wrong) - SHOWN:,} more"
        seconds = perf_counter() - started
        return Outcome(self.check, self.family, tally.tried, not tally.wrong, detail, seconds)


class Outcome(NamedTuple):
    """What a row came to. `detail`: what failed, with parameters; or what there is to say."""

    check: str
    family: str
    tried: int
    passed: bool
    detail: str
    seconds: float


def by_family(
    check: str, question: Callable[[Any, Tally], None], families: dict[str, list[Any]]
) -> list[Row]:
    """A row for each family of mechanisms."""
    return [Row(check, family, question, subjects) for family, subjects in families.items()]
