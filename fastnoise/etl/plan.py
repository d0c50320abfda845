"""`Plan`: which column gets which noise."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from os import PathLike, fspath
from typing import Any

from fastnoise.etl.fields import Entry, column_entry, mapping, refuse_unknown, vector_entry
from fastnoise.stream import Stream
from fastnoise.validation import refusal, whole

LONGEST = 1 << 23  # bytes: tens of thousands of columns
FIELDS = ("rows_per_person", "release", "key", "columns", "vectors")


class Plan:
    """Columns to mechanisms: what a table is perturbed with, and what that costs one person.

    Each column, and each vector of columns, has noise of its own. Missing values stay missing.
    A column's `clip` sets its sensitivity unless that is given.

    >>> import fastnoise as fn
    >>> plan = fn.Plan(
    ...     {
    ...         "release": "2026-11",
    ...         "columns": {
    ...             "income": {"mechanism": "staircase", "epsilon": 0.5, "clip": [0, 200_000]},
    ...             "visits": {"mechanism": "geometric", "epsilon": 0.25},
    ...         },
    ...     }
    ... )
    >>> print(plan)
    release 2026-11: epsilon 0.75, delta 0 for one person (1 row)
      income  staircase, epsilon 0.5, sensitivity 200000, clip 0 .. 200000
      visits  geometric, epsilon 0.25
    """

    def __init__(self, fields: Mapping[str, Any], *, source: str = "plan") -> None:
        found = mapping(source, fields)
        refuse_unknown(source, found, FIELDS)
        self.source = source
        self.rows_per_person = whole(
            f"{source}: rows_per_person", found.get("rows_per_person", 1), 1, 1 << 53
        )
        self.release = _text(f"{source}: release", found.get("release"))
        self.key_columns = _key_columns(f"{source}: key", found.get("key"))
        self.entries = tuple(_entries(source, found))
        _refuse_twice(source, self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Plan:
        """From a TOML file."""
        import tomllib

        with open(path, "rb") as file:
            text = file.read(LONGEST + 1)
        if len(text) > LONGEST:
            raise ValueError(f"{fspath(path)} is not a plan: it has more than {LONGEST:,} bytes")
        try:
            fields = tomllib.loads(text.decode())
        except (ValueError, RecursionError) as problem:
            raise ValueError(f"{fspath(path)} is not TOML: {problem}") from None
        return cls(fields, source=fspath(path))

    @property
    def epsilon(self) -> float:
        """What one person spends, by basic composition, times `rows_per_person`."""
        return self.rows_per_person * fsum(e.mechanism.privacy.epsilon for e in self.entries)

    @property
    def delta(self) -> float:
        return min(
            1.0, self.rows_per_person * fsum(e.mechanism.privacy.delta for e in self.entries)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """All that are perturbed."""
        return tuple(column for entry in self.entries for column in entry.columns)

    def perturb(self, table: Any, *, stream: Stream | None = None) -> Any:
        """The table with noise in the plan's columns: same kind, same order, all else untouched.

        table: a pandas or Polars frame, a PyArrow table, record batch or record-batch reader. A
            lazy frame is collected once, so that its noise is never drawn twice.
        stream: repeatable noise, from its next rows on, or at the rows that `key` names.
        """
        from fastnoise.etl.tables import perturb_table

        return perturb_table(self, table, stream)

    def __str__(self) -> str:
        width = max(len(_label(entry)) for entry in self.entries)
        lines = [f"  {_label(entry):{width}}  {_noise(entry)}" for entry in self.entries]
        rows = f"{self.rows_per_person} row{'s' * (self.rows_per_person > 1)}"
        head = f"release {self.release}: " if self.release else ""
        total = f"epsilon {self.epsilon:g}, delta {self.delta:g} for one person ({rows})"
        names = " and ".join(self.key_columns)
        keyed = [f"  noise addressed by {names}"] if names else []
        return "\n".join([f"{head}{total}", *keyed, *lines])

    def __repr__(self) -> str:
        return f"<fastnoise.Plan {self.source}: {', '.join(self.columns)}>"


def _entries(source: str, fields: Mapping[str, Any]) -> list[Entry]:
    columns = mapping(f"{source}: columns", fields.get("columns", {}))
    vectors = mapping(f"{source}: vectors", fields.get("vectors", {}))
    entries = [column_entry(f"{source}: columns.{name}", name, columns[name]) for name in columns]
    entries += [vector_entry(f"{source}: vectors.{name}", name, vectors[name]) for name in vectors]
    if not entries:
        raise ValueError(f"{source} names no columns: it needs [columns.NAME] or [vectors.NAME]")
    return entries


def _refuse_twice(source: str, plan: Plan) -> None:
    for i, column in enumerate(plan.columns):
        if column in plan.columns[:i]:
            raise ValueError(f"{source} perturbs {column!r} twice")
        if column in plan.key_columns:
            raise ValueError(f"{source}: key {column!r} is a column that is perturbed")


def _text(place: str, value: Any) -> str | None:
    if value is not None and (not isinstance(value, str) or not value):
        raise TypeError(refusal(place, value, "a text"))
    return value


def _key_columns(place: str, value: Any) -> tuple[str, ...]:
    """The columns whose values address the noise; none for the rows' positions."""
    names = () if value is None else (value,) if isinstance(value, str) else value
    allowed = "the name of a column, or a list of different ones"
    if not isinstance(names, tuple | list) or not all(isinstance(n, str) and n for n in names):
        raise TypeError(refusal(place, value, allowed))
    if len(set(names)) < len(names) or (value is not None and not names):
        raise ValueError(refusal(place, value, allowed))
    return tuple(names)


def _label(entry: Entry) -> str:
    name = entry.name.partition(":")[2]
    return name if entry.columns == (name,) else f"{name} ({', '.join(entry.columns)})"


def _noise(entry: Entry) -> str:
    clip = [] if entry.clip is None else [f"clip {entry.clip[0]} .. {entry.clip[1]}"]
    given = [f"{name} {value}" for name, value in entry.parameters.items()]
    return ", ".join([entry.kind, *given, *clip])
