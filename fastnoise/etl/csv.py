"""CSV: columns that are not perturbed keep their text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fastnoise.columns import arrow
from fastnoise.etl.plan import Plan
from fastnoise.mechanisms.mechanism import IntegerMechanism

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 24


class CsvSource:
    """Texts, but for the plan's columns, which are numbers; an empty one is missing."""

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.delimiter = path, "\t" if path.suffix == ".tsv" else ","
        with path.open("rb") as file:
            self.bom = file.read(len(BOM)) == BOM
        with path.open(newline="", encoding="utf-8-sig") as lines:
            self.names = next(csv.reader(lines, delimiter=self.delimiter), [])
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"{path} has two columns of the same name")
        self.kinds = _kinds(plan)
        fields = [(name, self.kinds.get(name, arrow().string())) for name in self.names]
        self.schema, self.rows = arrow().schema(fields), None

    def batches(self) -> Iterator[Any]:
        pyarrow = arrow()
        from pyarrow import csv as tables

        if not self.names:
            return
        reader = tables.open_csv(
            self.path,
            tables.ReadOptions(block_size=BLOCK),
            tables.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            tables.ConvertOptions(
                column_types=dict.fromkeys(self.names, pyarrow.string()), strings_can_be_null=False
            ),
        )
        for batch in reader:
            table = pyarrow.Table.from_batches([batch])
            for name, kind in self.kinds.items():
                at = table.schema.get_field_index(name)
                table = table.set_column(at, name, _numbers(table[name], kind, name))
            yield table

    def writer(self, path: Path, schema: Any, perturbed: Sequence[str]) -> CsvTarget:
        return CsvTarget(path, self.names, self.delimiter, self.bom)

    def close(self) -> None:
        pass


class CsvTarget:
    def __init__(self, path: Path, names: Sequence[str], delimiter: str, bom: bool) -> None:
        self.delimiter, self.sink = delimiter, path.open("wb")
        self.sink.write(BOM if bom else b"")
        if names:
            with path.open("a", newline="", encoding="utf-8") as header:
                self.sink.flush()
                csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(names)
            self.sink.seek(0, 2)

    def write(self, table: Any) -> None:
        pyarrow = arrow()
        from pyarrow import csv as tables

        texts = pyarrow.schema([(name, pyarrow.string()) for name in table.schema.names])
        options = tables.WriteOptions(
            include_header=False, delimiter=self.delimiter, quoting_style="needed"
        )
        tables.write_csv(table.cast(texts), self.sink, options)

    def close(self) -> None:
        self.sink.close()


def _kinds(plan: Plan) -> dict[str, Any]:
    kinds = {}
    for entry in plan.entries:
        integers = isinstance(entry.mechanism, IntegerMechanism)
        for name in entry.columns:
            kinds[name] = arrow().int64() if integers else arrow().float64()
    return kinds


def _numbers(texts: Any, kind: Any, name: str) -> Any:
    pyarrow = arrow()
    from pyarrow import compute

    missing = compute.equal(texts, "")
    try:
        return compute.if_else(missing, pyarrow.scalar(None, texts.type), texts).cast(kind)
    except pyarrow.ArrowInvalid as problem:
        raise ValueError(f"column {name!r}: {problem}") from None
