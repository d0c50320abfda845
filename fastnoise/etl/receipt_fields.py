"""Receipts of format 2 as they are read: every field checked, all of them or none.

Format 1, which had no number, was never released: it is refused like any other that is unknown.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping
from datetime import datetime
from sys import float_info
from typing import Any

from fastnoise import identity

FORMAT = 2
KEY = b"fastnoise"  # of the metadata of a schema, and of a field
LAW = ("gamma", "r", "scale", "core", "grid", "released_sensitivity")  # where they mean something
UNIQUE = ("check", "partition", "batch", "trusted")
DEEPEST = 4  # lists in a parameter

Receipt = dict[str, Any]


def parsed(text: str | bytes, what: str = "its receipt") -> Receipt:
    """One that is right in every field."""
    try:
        found = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):  # bytes that are not UTF-8, too
        raise ValueError(f"{what} is damaged: it is not JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("releases"), list):
        raise ValueError(f"{what} is damaged: it has no releases")
    if type(found.get("format")) is not int or found["format"] != FORMAT:
        raise ValueError(f"{what} has an unknown format: this version reads {FORMAT}")
    _check(what, "receipt", found, dict.fromkeys(("format", "releases"), lambda value: True))
    for i, release in enumerate(found["releases"]):
        place = f"releases[{i}]"
        if isinstance(release, dict) and release.get("identity") != identity.VERSION:
            known = f"this version knows {identity.VERSION}"
            raise ValueError(f"{what} has noise of an unknown identity in {place}: {known}")
        _check(what, place, release, RELEASE)
        for j, entry in enumerate(release["columns"]):
            _check(what, f"{place}.columns[{j}]", entry, ENTRY)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field appears twice")
    return dict(pairs)


def _check(what: str, place: str, found: Any, fields: Mapping[str, Callable[[Any], bool]]) -> None:
    if not isinstance(found, dict) or set(found) != set(fields):
        raise ValueError(f"{what} is damaged: {place} does not have the fields it should")
    for name, is_right in fields.items():
        if not is_right(found[name]):
            raise ValueError(f"{what} is damaged: {place}.{name}")


def _is_number(value: Any, least: float = -float_info.max, most: float = float_info.max) -> bool:
    """Finite, whatever JSON can write."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and least <= value <= most


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 1 << 53


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _is_clip(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and len(value) == 2 and all(map(_is_number, value))
    )


def _is_plain(value: Any, depth: int = DEEPEST) -> bool:
    if isinstance(value, list):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    return value is None or isinstance(value, bool | str) or _is_number(value)


def _are_parameters(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_plain, value.values()))


def _is_law(value: Any) -> bool:
    if not isinstance(value, dict) or not {"grid", "digest"} <= set(value) <= {*LAW, "digest"}:
        return False
    digest = value["digest"]
    is_hex = isinstance(digest, str) and len(digest) == 64 and set(digest) <= set(string.hexdigits)
    return is_hex and all(_are_numbers(value[name]) for name in LAW if name in value)


def _are_numbers(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, list) and all(map(_is_number, value)))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(n, str) for n in value)


RELEASE: Mapping[str, Callable[[Any], bool]] = {
    "identity": _is_count,
    "version": _is_text,
    "date": _is_date,
    "release": lambda value: value is None or _is_text(value),
    "rows_per_person": _is_count,
    "unique": lambda value: value is None or value in UNIQUE,
    "epsilon": lambda value: _is_number(value, 0),
    "delta": lambda value: _is_number(value, 0, 1),
    "columns": lambda value: isinstance(value, list) and bool(value),
}
ENTRY: Mapping[str, Callable[[Any], bool]] = {
    "columns": _are_names,
    "mechanism": _is_text,
    "parameters": _are_parameters,
    "law": _is_law,
    "clip": _is_clip,
    "epsilon": lambda value: _is_number(value, 0),
    "delta": lambda value: _is_number(value, 0, 1),
    "adjacency": _is_text,
}
