"""Parquet files, row group by row group, written as they were."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from fastnoise.columns import arrow
from fastnoise.etl.receipt_fields import KEY
from fastnoise.etl.validity import refuse_invalid

# A page ends after a batch: texts of any length need small ones, numbers are written 7% faster.
NUMBERS_AT_ONCE = 1 << 16
# Hadoop's LZ4, which PyArrow calls unknown, can be read only: it is written as the standard one.
CODECS = {"UNCOMPRESSED": "NONE", "LZ4_RAW": "LZ4", "UNKNOWN": "LZ4"}


class ParquetSource:
    """A file to read: its Arrow schema, its number of rows, its row groups as tables."""

    def __init__(self, path: Path) -> None:
        arrow()
        from pyarrow import parquet

        # INT96 is what Spark writes, in microseconds; as nanoseconds, the year 9999 would not fit
        options = {"coerce_int96_timestamp_unit": "us", "page_checksum_verification": True}
        try:
            self.file = parquet.ParquetFile(path, **options)
        except Exception as problem:
            raise ValueError(f"not a readable Parquet file: {_clear(problem)}") from None
        self.schema, self.rows = self._schema(), self.file.metadata.num_rows

    def _schema(self) -> Any:
        """With the metadata of the file, which PyArrow ignores if its own schema is there."""
        schema = self.file.schema_arrow
        metadata = {**(schema.metadata or {}), **(self.file.metadata.metadata or {})}
        metadata.pop(b"ARROW:schema", None)
        if schema.metadata and schema.metadata.get(KEY, metadata.get(KEY)) != metadata.get(KEY):
            raise ValueError("it has two receipts, which differ")
        return schema.with_metadata(metadata)

    def batches(self) -> Iterator[Any]:
        for group in range(self.file.num_row_groups):
            yield self._group(group)

    def _group(self, group: int) -> Any:
        try:
            table = self.file.read_row_group(group)
        except Exception as problem:
            raise self._located(group, problem) from None
        refuse_invalid(table, _has_dictionary)  # all else is made of values, one by one
        return table

    def _located(self, group: int, whole: Exception) -> Exception:
        """The problem with its column, which PyArrow does not tell."""
        for name in self.schema.names:
            try:
                self.file.read_row_group(group, columns=[name])
            except Exception as problem:
                return ValueError(f"column {name!r}: {_clear(problem)}")
        return whole

    def writer(self, sink: BinaryIO, schema: Any, perturbed: Sequence[str]) -> ParquetTarget:
        settings = self._settings(perturbed)
        if self.file.metadata.format_version != "1.0":  # older readers may not know it
            floats = [
                name for name in perturbed if arrow().types.is_floating(schema.field(name).type)
            ]
            settings["use_byte_stream_split"] = floats
        return ParquetTarget(sink, schema, settings)

    def close(self) -> None:
        self.file.close()

    def _settings(self, perturbed: Sequence[str]) -> dict[str, Any]:
        """Those of the first row group; dictionaries of noise would be in vain.

        Noise on a grid ends in zeros: split by bytes, it is written twice as fast, and smaller.
        """
        metadata = self.file.metadata
        # With an older version, uint32 and nanoseconds would be lost. Arrow's own schema is stored
        # whether it was there or not: it has the receipts of columns.
        settings: dict[str, Any] = {"version": "2.6"}
        if metadata.num_row_groups == 0:
            return settings
        group = metadata.row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        if not any(c.physical_type.endswith("BYTE_ARRAY") for c in columns):
            settings["write_batch_size"] = NUMBERS_AT_ONCE
        settings["compression"] = {
            c.path_in_schema: CODECS.get(c.compression, c.compression) for c in columns
        }
        settings["use_dictionary"] = [
            c.path_in_schema
            for c in columns
            if c.has_dictionary_page and c.path_in_schema not in perturbed
        ]
        settings["write_statistics"] = [c.path_in_schema for c in columns if c.is_stats_set]
        settings["use_deprecated_int96_timestamps"] = any(
            c.physical_type == "INT96" for c in columns
        )
        return settings


class ParquetTarget:
    def __init__(self, sink: BinaryIO, schema: Any, settings: dict[str, Any]) -> None:
        from pyarrow import parquet

        self.writer = parquet.ParquetWriter(sink, schema, **settings)

    def write(self, table: Any) -> None:
        self.writer.write_table(table, row_group_size=max(1, table.num_rows))

    def close(self) -> None:
        self.writer.close()


def _has_dictionary(kind: Any) -> bool:
    return "dictionary<" in str(kind)  # or in a type within


def _clear(problem: Exception) -> str:
    """What encrypted files end with is a riddle."""
    if re.search("(?i)decrypt", str(problem)):
        return "it is encrypted, and no keys can be given: decrypt a copy first"
    return str(problem) or type(problem).__name__
