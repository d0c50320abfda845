"""What a plan says: every field checked, every error with its place and what is allowed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from typing import Any

from fastnoise.arithmetic.elementary import root_bounds
from fastnoise.arithmetic.floats import float_above
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.registry import REGISTRY, Registered
from fastnoise.validation import refusal

ADDITIVE = [entry for entry in REGISTRY.values() if entry.kind == "additive"]
VECTORS = {entry.plan_name: entry for entry in ADDITIVE if entry.takes == "vectors"}
SCALARS = {entry.plan_name: entry for entry in ADDITIVE if entry.takes != "vectors"}


@dataclass(frozen=True)
class Entry:
    """One mechanism and the column, or the columns of the vector, that it perturbs."""

    name: str  # column:income, vector:position
    columns: tuple[str, ...]
    kind: str  # staircase
    parameters: dict[str, Any]  # of the mechanism, as given or as the clip says
    mechanism: Any
    clip: tuple[float, float] | None


def column_entry(place: str, name: str, fields: Any) -> Entry:
    _refuse_no_text(place, name)
    return Entry(f"column:{name}", (name,), *_mechanism(place, fields, SCALARS, 0))


def vector_entry(place: str, name: str, fields: Any) -> Entry:
    _refuse_no_text(place, name)
    columns = mapping(place, fields).get("columns")
    if not isinstance(columns, list | tuple) or not all(isinstance(c, str) for c in columns):
        raise ValueError(refusal(f"{place}.columns", columns, "a list of names of columns"))
    if len(columns) < 2 or len(set(columns)) < len(columns):
        raise ValueError(refusal(f"{place}.columns", columns, "two or more different columns"))
    rest = {key: value for key, value in fields.items() if key != "columns"}
    found = _mechanism(place, rest, VECTORS, len(columns))
    return Entry(f"vector:{name}", tuple(columns), *found)


def _refuse_no_text(place: str, name: Any) -> None:
    """1 and "1" would be one entry to whatever names it, its noise included."""
    if not isinstance(name, str):
        raise TypeError(refusal(f"{place}: its name", name, "a text"))


def mapping(place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(refusal(place, value, "a table of fields"))
    return value


def refuse_unknown(place: str, fields: Mapping[str, Any], allowed: Sequence[str]) -> None:
    for name in fields:
        if name not in allowed:
            raise ValueError(f"{place} has no field {name!r}{_nearest(name, allowed)}")


def _nearest(name: object, allowed: Sequence[str]) -> str:
    """What was meant, or all there is."""
    near = get_close_matches(str(name), allowed, 1)
    return f": did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(allowed))}"


def _mechanism(
    place: str, fields: Any, names: Mapping[str, Registered], dim: int
) -> tuple[str, dict[str, Any], Any, tuple[float, float] | None]:
    """Its name, parameters, itself, and what to clip to."""
    found = mapping(place, fields)
    name = found.get("mechanism")
    if not isinstance(name, str) or name not in names:
        what = "is missing" if name is None else f"{name!r} is unknown here"
        raise ValueError(f"{place}.mechanism {what}{_nearest(name, list(names))}")
    kind = names[name].cls
    parameters = [p for p in inspect.signature(kind).parameters if p != "dim"]
    refuse_unknown(place, found, ["mechanism", "clip", *parameters])
    clip = _clip(f"{place}.clip", found.get("clip"), issubclass(kind, IntegerMechanism))
    if name == "geometric" and clip is not None and clip[1] - clip[0] > 1:
        cure = "use discrete-staircase or discrete-laplace"
        raise ValueError(f"{place}: geometric noise covers a change by 1, not by its clip: {cure}")
    given = {key: found[key] for key in parameters if key in found}
    if isinstance(given.get("cost"), list):  # TOML has no tuples
        given["cost"] = tuple(given["cost"])
    if dim and "widths" not in parameters:
        given["dim"] = dim
    for field in {"sensitivity", "widths"} & set(parameters) - set(given):
        if clip is None:
            raise ValueError(f"{place} needs {field}, or clip to set it")
        given[field] = _from_clip(name, field, clip, dim)
    try:
        return name, given, kind(**given), clip
    except (TypeError, ValueError) as problem:
        raise type(problem)(f"{place}: {problem}") from None


def _clip(place: str, value: Any, integers: bool) -> tuple[float, float] | None:
    if value is None:
        return None
    kinds, what = (int, "integers") if integers else ((int, float), "numbers")
    allowed = f"[low, high], two finite {what} with low < high"
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise TypeError(refusal(place, value, allowed))
    for bound in value:
        if isinstance(bound, bool) or not isinstance(bound, kinds) or not _is_finite(bound):
            raise TypeError(refusal(place, value, allowed))
    if not value[0] < value[1]:
        raise ValueError(refusal(place, value, allowed))
    return value[0], value[1]


def _is_finite(bound: float) -> bool:
    try:
        return isfinite(bound)
    except OverflowError:  # an integer of hundreds of digits
        return False


def _from_clip(name: str, field: str, clip: tuple[float, float], dim: int) -> Any:
    """How far apart two values, or vectors, within the clip can be, rounded up."""
    width = Fraction(clip[1]) - Fraction(clip[0])
    if field == "widths":
        return [float_above(width)] * dim
    if name in SCALARS:
        return int(width) if width == int(width) else float_above(width)
    root = root_bounds(dim, 50)[1]
    return float_above(width * (dim if name == "l1-staircase" else root))
