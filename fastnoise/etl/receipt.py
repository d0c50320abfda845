"""Receipts: what was done to which column, kept with the data. Never a key or a seed.

The metadata of the schema has the whole receipt, and each perturbed column, in the metadata of its
field, its part of it: that outlives renaming and programs that rewrite a file. A CSV file has its
receipt beside it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import fsum, isfinite
from typing import Any

from fastnoise import identity
from fastnoise.columns import arrow
from fastnoise.etl.fields import Entry
from fastnoise.etl.plan import Plan
from fastnoise.etl.receipt_fields import FORMAT, KEY, LAW, Receipt, parsed
from fastnoise.etl.spark import spark_marks, with_marks
from fastnoise.version import VERSION


@dataclass(frozen=True)
class Found:
    """What a file says of noise in it.

    releases: all of them
    marks: of each column that has one, by its name of today, the receipt that it carries
    """

    releases: list[dict[str, Any]] = field(default_factory=list)
    marks: dict[str, Receipt] = field(default_factory=dict)

    @property
    def receipt(self) -> Receipt:
        return {"format": FORMAT, "releases": self.releases}

    def columns(self, release: str | None = None) -> set[str]:
        """Those with noise, of that release or of any."""
        named = {c for r in self.releases if release in (None, r["release"]) for c in perturbed(r)}
        marked = {
            name
            for name, mark in self.marks.items()
            if any(release in (None, r["release"]) for r in mark["releases"])
        }
        return named | marked


def found_in(schema: Any) -> Found:
    """In the metadata of an Arrow schema and of its fields, and in what Spark has of them."""
    metadata = schema.metadata or {}
    marks = {
        column.name: parsed(column.metadata[KEY], f"the receipt of column {column.name!r}")
        for column in schema
        if KEY in (column.metadata or {})
    }
    for name, text in spark_marks(metadata).items():
        marks.setdefault(name, parsed(text, f"the receipt of column {name!r}"))
    releases = parsed(metadata[KEY])["releases"] if KEY in metadata else []
    for mark in marks.values():
        _add(releases, mark["releases"])
    return Found(releases, marks)


def _add(releases: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """What is not there yet. Two runs differ in their dates, which have microseconds."""
    left = list(releases)
    for release in more:
        same = next((old for old in left if _head(old) == _head(release)), None)
        if same is None:
            releases.append({**release, "columns": list(release["columns"])})
        else:
            left = [old for old in left if old is not same]
            same["columns"] += [e for e in release["columns"] if e not in same["columns"]]


def _head(release: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in release.items() if name != "columns"}


def found_after(plan: Plan, old: Found, again: bool, keyed: bool) -> Found:
    """The old and what the plan does; the same column twice only if `again`.

    keyed: whether noise repeats within a release; added twice, it could be subtracted.
    """
    same = old.columns(plan.release) if plan.release is not None else set()
    if keyed and (twice := [name for name in plan.columns if name in same]):
        cure = "with a key its noise would repeat: name another release"
        raise ValueError(f"release {plan.release!r} has perturbed {twice[0]!r} before; {cure}")
    done = old.columns()
    if not again and (twice := [name for name in plan.columns if name in done]):
        names = ", ".join(map(repr, twice))
        cost = "noise on noise, and their epsilons add up"
        raise ValueError(f"{names} has noise already, says its receipt: --again for {cost}")
    release = _release(plan)
    made = Found([*old.releases, release], dict(old.marks))
    if not all(map(isfinite, totals(made.receipt))):
        raise ValueError("its receipt has so large an epsilon that none can be added")
    for entry in release["columns"]:
        for name in entry["columns"]:
            before = old.marks[name]["releases"] if name in old.marks else []
            own = [*before, {**release, "columns": [entry]}]
            made.marks[name] = {"format": FORMAT, "releases": own}
    parsed(as_json(made.receipt))  # what is written can be read
    return made


def with_receipt(schema: Any, found: Found) -> Any:
    """An Arrow schema whose metadata, and that of its columns, says so."""
    marks = {name: as_json(mark) for name, mark in found.marks.items()}
    metadata = with_marks(schema.metadata or {}, marks)
    fields = [
        f.with_metadata({**(f.metadata or {}), KEY: marks[f.name]}) if f.name in marks else f
        for f in schema
    ]
    return arrow().schema(fields, {**metadata, KEY: as_json(found.receipt)})


def _release(plan: Plan) -> dict[str, Any]:
    return {
        "identity": identity.VERSION,
        "version": VERSION,
        "date": datetime.now(UTC).isoformat(timespec="microseconds"),
        "release": plan.release,
        "rows_per_person": plan.rows_per_person,
        "unique": "check" if plan.key_columns else None,  # the ids of all batches are compared
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "columns": [_entry(entry) for entry in plan.entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    mechanism = entry.mechanism
    law = {name: _plain(getattr(mechanism, name)) for name in LAW if hasattr(mechanism, name)}
    return {
        "columns": list(entry.columns),
        "mechanism": entry.kind,
        "parameters": {name: _plain(value) for name, value in entry.parameters.items()},
        "law": {**law, "digest": mechanism._law(mechanism.grid).digest.hex()},
        "clip": entry.clip and list(entry.clip),
        "epsilon": mechanism.privacy.epsilon,
        "delta": mechanism.privacy.delta,
        "adjacency": mechanism.privacy.adjacency,
    }


def _plain(value: Any) -> Any:
    """What JSON can hold."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str) or value is None else str(value)


def perturbed(release: Mapping[str, Any]) -> list[str]:
    return [name for entry in release["columns"] for name in entry["columns"]]


def totals(receipt: Receipt) -> tuple[float, float]:
    """Epsilon and delta that one person has spent; infinite if no float is as large."""
    releases = receipt["releases"]
    try:
        return fsum(r["epsilon"] for r in releases), fsum(r["delta"] for r in releases)
    except OverflowError:
        return float("inf"), 1.0


def as_json(receipt: Receipt, indent: int | None = None) -> str:
    """For programs."""
    return json.dumps(receipt, allow_nan=False, indent=indent)


def page(receipt: Receipt) -> str:
    """For people."""
    if not receipt["releases"]:
        return "no receipt: nothing says that fastnoise perturbed this"
    lines = [in_all(receipt)]
    for release in receipt["releases"]:
        name = f"release {release['release']}, " if release["release"] else ""
        rows = f"{release['rows_per_person']} row(s) per person"
        lines.append(f"{name}{release['date']}, fastnoise {release['version']}, {rows}")
        lines += [f"  {_line(entry)}" for entry in release["columns"]]
    return "\n".join(map(_printable, lines))


def in_all(receipt: Receipt) -> str:
    epsilon, delta = totals(receipt)
    return f"epsilon {epsilon:g}, delta {delta:g} for one person, in all"


def _printable(line: str) -> str:
    """Texts of a file may be meant for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


def _line(entry: Mapping[str, Any]) -> str:
    given = [f"{name} {value}" for name, value in entry["parameters"].items()]
    clip = [f"clip {entry['clip'][0]} .. {entry['clip'][1]}"] if entry["clip"] else []
    noise = [entry["mechanism"], *given, *clip, f"grid {entry['law']['grid']}"]
    return f"{', '.join(entry['columns'])}: {', '.join(noise)}"
