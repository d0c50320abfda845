"""CSV: columns that are not perturbed keep their text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

from fastnoise.columns import arrow
from fastnoise.etl.fields import Entry
from fastnoise.etl.plan import Plan
from fastnoise.etl.quotes import BOM, LONGEST_ROW, refuse_stray_quotes
from fastnoise.etl.texts import float_column
from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.validation import bounds


class CsvSource:
    """Texts, but for the plan's columns, which are numbers; an empty one is missing."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.delimiter = path, "\t" if path.suffix.lower() == ".tsv" else ","
        with path.open("rb") as file:
            self.bom = file.read(len(BOM)) == BOM
            self.end = "\r\n" if file.readline(LONGEST_ROW).endswith(b"\r\n") else "\n"
        try:
            with path.open(newline="", encoding="utf-8-sig") as lines:
                self.names = next(csv.reader(lines, delimiter=self.delimiter), [])
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not UTF-8") from None
        except csv.Error as problem:
            raise ValueError(f"{path}: {problem}") from None
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"{path} has two columns of the same name")
        self.entries = {name: entry for entry in plan.entries for name in entry.columns}
        fields = [(name, self._kind(name)) for name in self.names]
        self.schema, self.rows = arrow().schema(fields), None
        self.between: dict[str, dict[int, int]] = {}  # floats, of the batch that was read last

    def batches(self) -> Iterator[Any]:
        pyarrow = arrow()
        from pyarrow import csv as tables

        if not self.names:
            return
        refuse_stray_quotes(self.path, self.delimiter)
        parsing = tables.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=len(self.names) > 1,  # of one column, they are missing values
        )
        conversion = tables.ConvertOptions(
            column_types=dict.fromkeys(self.names, pyarrow.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,  # "" is a text
        )
        try:
            reading = tables.ReadOptions(block_size=LONGEST_ROW)
            reader = tables.open_csv(self.path, reading, parsing, conversion)
        except pyarrow.ArrowInvalid as problem:
            if "Empty CSV" in str(problem):  # a header without a line's end
                return
            raise _without_cells(problem) from None
        for batch in _batches(reader):
            table = pyarrow.Table.from_batches([batch])
            for name, entry in self.entries.items():
                at = table.schema.get_field_index(name)
                numbers, self.between[name] = _numbers(table[name], entry, name)
                table = table.set_column(at, name, numbers)
            yield table

    def _kind(self, name: str) -> Any:
        if name not in self.entries:
            return arrow().string()
        integers = isinstance(self.entries[name].mechanism, IntegerMechanism)
        return arrow().int64() if integers else arrow().float64()

    def writer(self, sink: BinaryIO, schema: Any, perturbed: Sequence[str]) -> CsvTarget:
        return CsvTarget(sink, self.names, self.delimiter, self.end, self.bom)

    def close(self) -> None:
        pass


class CsvTarget:
    def __init__(
        self, sink: BinaryIO, names: Sequence[str], delimiter: str, end: str, bom: bool
    ) -> None:
        self.delimiter, self.end = delimiter, end
        self.sink = TextIOWrapper(sink, "utf-8-sig" if bom else "utf-8", newline="")
        if names:
            csv.writer(self.sink, delimiter=delimiter, lineterminator=end).writerow(names)

    def write(self, table: Any) -> None:
        from pyarrow import compute

        columns = [_quoted(column, self.delimiter) for column in table.columns]
        options = {"null_handling": "replace", "null_replacement": ""}
        lines = compute.binary_join_element_wise(*columns, self.delimiter, **options)
        self.sink.writelines(line + self.end for line in lines.to_pylist())

    def close(self) -> None:
        self.sink.detach()  # which flushes; the file is closed by who opened it


def _batches(reader: Any) -> Iterator[Any]:
    try:
        yield from reader
    except arrow().ArrowInvalid as problem:
        raise _without_cells(problem) from None


def _without_cells(problem: Exception) -> ValueError:
    """PyArrow's messages show the row."""
    if found := re.search(r"Expected (\d+) columns, got (\d+)", str(problem)):
        return ValueError(f"a row is ragged: expected {found[1]} fields, found {found[2]}")
    utf8 = "UTF8" in str(problem)
    return ValueError("the text is not UTF-8" if utf8 else "the text is not readable CSV")


def _quoted(column: Any, delimiter: str) -> Any:
    """As texts, in quotes where they need them; an empty text does, or it would be missing."""
    from pyarrow import compute

    texts = column.cast(arrow().string())
    if not arrow().types.is_string(column.type):
        return texts
    special = compute.match_substring_regex(texts, f'[{delimiter}"\\r\\n]|^$')
    doubled = compute.replace_substring(texts, '"', '""')
    quoted = compute.binary_join_element_wise('"', doubled, '"', "")
    return compute.if_else(special, quoted, texts)


def _numbers(texts: Any, entry: Entry, name: str) -> tuple[Any, dict[int, int]]:
    """See `float_column`."""
    pyarrow = arrow()
    from pyarrow import compute

    missing = compute.equal(texts, "")
    texts = compute.if_else(missing, pyarrow.scalar(None, texts.type), texts)
    try:
        if isinstance(entry.mechanism, IntegerMechanism):
            return texts.cast(pyarrow.int64()), {}
        return float_column(texts, _grid(entry, name), *bounds("clip", entry.clip))
    except pyarrow.ArrowInvalid:  # whose message shows the text
        raise ValueError(f"column {name!r} holds a text that is not a number") from None


def _grid(entry: Entry, name: str) -> float:
    """The grid of one column: mechanisms of boxes have one for each."""
    grid = entry.mechanism.grid
    return float(grid[entry.columns.index(name)] if isinstance(grid, tuple) else grid)
