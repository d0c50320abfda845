"""Metadata of a schema after noise: as it was, but for what may tell of values without noise.

What pandas, Spark and GeoParquet write is known, and changed or dropped part by part. Of any other
key it can only be guessed what it was computed from. It is dropped if it has digits, as all that is
computed from numbers has, and names a perturbed column or speaks of statistics or checksums; and if
it is the schema of another program, or JSON, that names a column whose type has changed. Whatever
is dropped is named to the user, who can add it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from fastnoise.columns import arrow
from fastnoise.etl.receipt_fields import KEY
from fastnoise.etl.spark import MARK, SPARK, spark_schema

# Their digits are numbers of fields, never values.
SCHEMAS = (b"iceberg.schema", b"parquet.avro.schema", b"avro.schema")
STATISTICS = re.compile(
    "min|max|minimum|maximum|minmax|mean|avg|average|median|(quant|percent|quart)iles?|sum|stds?|"
    "stddev|var|variance|hist|histograms?|distinct|ndv|cardinality|stats?|statistics?|bbox|bounds?|"
    "extents?|ranges?|lower|upper|low|high|lo|hi|top|freq|skew|skewness|kurtosis|outliers?|sketch|"
    "bloom|checksum|crc|md|sha|digest|hash|fingerprint|signature",
    re.IGNORECASE,
)

Types = Mapping[str, Any]  # of the perturbed columns, afterwards


class Noise(NamedTuple):
    """What is noisy in a schema: of its columns those of these names, some of another type now."""

    columns: list[str]
    names: set[str]
    retyped: set[str]
    dropped: list[str]  # what else it says that may tell of values, added to by all below


def after_noise(schema: Any, types: Types) -> tuple[Any, list[str]]:
    """The schema of what comes out, and the names of what was dropped."""
    dropped: list[str] = []
    fields = [
        _field(field, types[field.name], dropped) if field.name in types else field
        for field in schema
    ]
    retyped = {name for name in types if types[name] != schema.field(name).type}
    noise = Noise(schema.names, set(types), retyped, dropped)
    handlers = {b"pandas": _pandas, b"geo": _geo, SPARK: _spark}
    metadata = {}
    for key, value in (schema.metadata or {}).items():
        name = key.decode(errors="replace")
        if key in handlers:
            try:
                metadata[key] = handlers[key](value, noise)
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                dropped.append(name)  # it is not what it should be
        elif key != KEY and _may_tell(key, value, noise):
            dropped.append(name)
        else:
            metadata[key] = value
    return arrow().schema(fields, metadata or None), dropped


def _field(field: Any, kind: Any, dropped: list[str]) -> Any:
    metadata = {}
    for key, value in (field.metadata or {}).items():
        known = key.startswith((b"PARQUET:", b"ARROW:")) or key == KEY
        if not known and _is_statistic(*_texts(key, value)):
            dropped.append(f"{field.name}.{key.decode(errors='replace')}")
        else:
            metadata[key] = value
    return arrow().field(field.name, kind, field.nullable, metadata or None)


def _may_tell(key: bytes, value: bytes, noise: Noise) -> bool:
    name, text = _texts(key, value)
    if key in SCHEMAS:
        return _mentions(text, noise.retyped)
    if text[:1] in "{[" and _mentions(text, noise.retyped):
        return True
    has_digits = re.search(r"\d", text) is not None or not _is_text(value)
    return _is_statistic(name, text) or (has_digits and _mentions(f"{name} {text}", noise.names))


def _is_statistic(name: str, text: str) -> bool:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", f"{name} {text}")  # of colMax, max
    return re.search(r"\d", text) is not None and any(map(STATISTICS.fullmatch, words))


def _mentions(text: str, names: set[str]) -> bool:
    """As a word: income_max speaks of income, incomes does not."""
    return any(re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text) for name in names)


def _texts(key: bytes, value: bytes) -> tuple[str, str]:
    """Key and value as texts; JSON without escapes, which would hide a name."""
    text = value.decode(errors="replace").strip()
    with suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return key.decode(errors="replace"), text


def _is_text(value: bytes) -> bool:
    try:
        return value.decode() is not None
    except UnicodeDecodeError:
        return False


def _pandas(value: bytes, noise: Noise) -> bytes:
    """Types of columns that became float64; what it has of a column beside, and of the frame."""
    said = json.loads(value)
    for column in said["columns"]:
        name = column.get("field_name", column.get("name"))  # before pandas 0.21, one was enough
        if name in noise.retyped:
            column |= {"pandas_type": "float64", "numpy_type": _float_of(column["numpy_type"])}
        if name in noise.names and column.get("metadata"):
            column["metadata"] = None
            noise.dropped.append(f"pandas.{name}.metadata")
    attributes = said.get("attributes")  # of a frame, whatever a user put there
    if attributes and _may_tell(b"", json.dumps(attributes).encode(), noise):
        said["attributes"] = {}
        noise.dropped.append("pandas.attributes")
    return json.dumps(said).encode()


def _float_of(old: str) -> str:
    if "[pyarrow]" in old:
        return "double[pyarrow]"
    return "float64" if old.islower() else "Float64"


def _geo(value: bytes, noise: Noise) -> bytes:
    """GeoParquet: a box around a column that has noise now, or that is not there to be seen."""
    said = json.loads(value)
    for name, column in said["columns"].items():
        covering = column.get("covering", {})
        sources = {path[0] for box in covering.values() for path in box.values()} | {name}
        if sources & noise.names or name not in noise.columns:
            for part in ("bbox", "covering"):
                if column.pop(part, None) is not None:
                    noise.dropped.append(f"geo.{name}.{part}")
    return json.dumps(said).encode()


def _spark(value: bytes, noise: Noise) -> bytes:
    said = spark_schema(value)
    if not noise.names <= {field["name"] for field in said["fields"]}:
        raise ValueError("Spark knows these columns by other names")
    for field in said["fields"]:
        if field["name"] in noise.retyped:
            field["type"] = "double"
        if field["name"] in noise.names:
            for key in list(field["metadata"]):
                if key != MARK and _is_statistic(key, json.dumps(field["metadata"][key])):
                    del field["metadata"][key]
                    noise.dropped.append(f"{field['name']}.{key}")
    return json.dumps(said).encode()
