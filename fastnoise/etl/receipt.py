"""Receipts: what was done to which column, kept with the data. Never a key or a seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from math import fsum
from typing import Any

from fastnoise.etl.fields import Entry
from fastnoise.etl.plan import Plan
from fastnoise.version import VERSION

KEY = b"fastnoise"  # of the metadata of a schema

Receipt = dict[str, Any]


def receipt_in(metadata: Mapping[bytes, bytes] | None) -> Receipt:
    """The receipt in the metadata of a schema; one of no releases if there is none."""
    found = (metadata or {}).get(KEY)
    return {"releases": []} if found is None else checked(json.loads(found))


def checked(receipt: Any) -> Receipt:
    fields = {"release", "epsilon", "delta", "columns"}
    releases = receipt.get("releases") if isinstance(receipt, dict) else None
    if not isinstance(releases, list) or not all(
        isinstance(release, dict) and fields <= set(release) for release in releases
    ):
        raise ValueError("its receipt is damaged")
    return dict(receipt)


def receipt_for(plan: Plan, old: Receipt, again: bool, keyed: bool) -> Receipt:
    """The old one and what the plan does; the same column twice only if `again`.

    keyed: whether noise repeats within a release; added twice, it could be subtracted.
    """
    same = [r for r in old["releases"] if r["release"] == plan.release]
    done = {name for release in same for name in perturbed(release)}
    if keyed and (twice := [name for name in plan.columns if name in done]):
        cure = "with a key its noise would repeat: name another release"
        raise ValueError(f"release {plan.release!r} has perturbed {twice[0]!r} before; {cure}")
    done = {name for release in old["releases"] for name in perturbed(release)}
    if not again and (twice := [name for name in plan.columns if name in done]):
        names = ", ".join(map(repr, twice))
        cost = "noise on noise, and their epsilons add up"
        raise ValueError(f"{names} has noise already, says its receipt: --again for {cost}")
    return {"releases": [*old["releases"], _release(plan)]}


def _release(plan: Plan) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": VERSION,
        "release": plan.release,
        "rows_per_person": plan.rows_per_person,
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "columns": [_entry(entry) for entry in plan.entries],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    mechanism = entry.mechanism
    return {
        "columns": list(entry.columns),
        "mechanism": entry.kind,
        "parameters": {name: _plain(value) for name, value in entry.parameters.items()},
        "clip": entry.clip and list(entry.clip),
        "epsilon": mechanism.privacy.epsilon,
        "delta": mechanism.privacy.delta,
        "adjacency": mechanism.privacy.adjacency,
        "grid": _plain(mechanism.grid),
    }


def _plain(value: Any) -> Any:
    """What JSON can hold."""
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str) or value is None else str(value)


def perturbed(release: Mapping[str, Any]) -> list[str]:
    return [name for entry in release["columns"] for name in entry["columns"]]


def totals(receipt: Receipt) -> tuple[float, float]:
    """Epsilon and delta that one person has spent."""
    releases = receipt["releases"]
    return fsum(r["epsilon"] for r in releases), fsum(r["delta"] for r in releases)


def page(receipt: Receipt) -> str:
    """For people."""
    if not receipt["releases"]:
        return "no receipt: nothing says that fastnoise perturbed this"
    epsilon, delta = totals(receipt)
    lines = [f"epsilon {epsilon:g}, delta {delta:g} for one person, in all"]
    for release in receipt["releases"]:
        name = f"release {release['release']}, " if release["release"] else ""
        rows = f"{release['rows_per_person']} row(s) a person"
        lines.append(f"{name}{release['date']}, fastnoise {release['version']}, {rows}")
        lines += [f"  {_line(entry)}" for entry in release["columns"]]
    return "\n".join(lines)


def _line(entry: Mapping[str, Any]) -> str:
    given = [f"{name} {value}" for name, value in entry["parameters"].items()]
    clip = [f"clip {entry['clip'][0]} .. {entry['clip'][1]}"] if entry["clip"] else []
    noise = [entry["mechanism"], *given, *clip, f"grid {entry['grid']}"]
    return f"{', '.join(entry['columns'])}: {', '.join(noise)}"
