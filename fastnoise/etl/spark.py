"""Spark's schema of a Parquet file: JSON beside Arrow's, and all that Spark keeps of a column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastnoise.etl.receipt_fields import KEY

SPARK = b"org.apache.spark.sql.parquet.row.metadata"
MARK = KEY.decode()  # of the metadata of a field: a text, as Spark reads no lists of mixed numbers


def spark_schema(text: bytes) -> dict[str, Any]:
    """A struct of fields with names, types and metadata."""
    try:
        schema = json.loads(text)
        fields = [(f["name"], f["type"], f.setdefault("metadata", {})) for f in schema["fields"]]
    except (ValueError, RecursionError, TypeError, LookupError, AttributeError):
        fields = None
    if fields is None or not all(
        isinstance(name, str) and isinstance(metadata, dict) for name, _, metadata in fields
    ):
        raise ValueError("not a schema of Spark's")
    return dict(schema)


def spark_marks(metadata: Mapping[bytes, bytes]) -> dict[str, str]:
    """The marks of columns by their names."""
    try:
        fields = spark_schema(metadata.get(SPARK, b"{}"))["fields"]
    except ValueError:
        return {}
    return {f["name"]: str(f["metadata"][MARK]) for f in fields if MARK in f["metadata"]}


def with_marks(metadata: Mapping[bytes, bytes], marks: Mapping[str, str]) -> dict[bytes, bytes]:
    """The same with these marks, if it has a schema of Spark's."""
    if SPARK not in metadata:
        return dict(metadata)
    schema = spark_schema(metadata[SPARK])
    for found in schema["fields"]:
        if found["name"] in marks:
            found["metadata"][MARK] = marks[found["name"]]
    return {**metadata, SPARK: json.dumps(schema).encode()}
