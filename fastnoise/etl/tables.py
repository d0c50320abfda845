"""Tables through a plan, whole or batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.arithmetic.floats import nearest_float
from fastnoise.columns import Column, arrow, column_of
from fastnoise.etl.fields import Entry
from fastnoise.etl.ids import addresses
from fastnoise.etl.metadata import after_noise
from fastnoise.etl.plan import Plan
from fastnoise.etl.seen import Seen
from fastnoise.identity import entry_identity, ids_identity, noise_identity
from fastnoise.pieces import Part, whole
from fastnoise.rows import Rows, by_the_first, check_stream
from fastnoise.stream import KEY_BYTES, Stream

# By column and row: grid points, in steps, that are not floats. The column has the nearest ones.
Between = Mapping[str, dict[int, int]]
NO_MORE: Between = MappingProxyType({})


class Run:
    """One release: rows are numbered as batches come, ids are seen once."""

    def __init__(self, plan: Plan, stream: Stream | None) -> None:
        check_stream(stream)
        self.plan = plan
        self.rows = Stream.from_key(os.urandom(KEY_BYTES)) if stream is None else stream
        release, key_columns = plan.release, plan.key_columns
        self.streams = {
            entry.name: self.rows._derived(
                entry_identity(release, key_columns, entry.name, entry.columns)
            )
            for entry in plan.entries
        }
        self.secret = self.rows._noise_key(ids_identity(release, key_columns))
        self.seen = Seen(" and ".join(map(repr, key_columns)))
        if not key_columns:
            self.rows._refuse_travelled()  # views, too: they serve one call, and batches are many

    def perturb(
        self, column: Callable[[str], Any], count: int, between: Between = NO_MORE
    ) -> dict[str, Any]:
        """The plan's columns of a batch of `count` rows, perturbed; `column` finds one by name."""
        if self.plan.key_columns:
            people = addresses(column, self.plan.key_columns, self.secret)
            self.seen.add(people)
            rows = by_the_first(people)
        else:
            rows = Rows(self.rows._reserve(count))
        made: dict[str, Any] = {}
        for entry in self.plan.entries:
            found = [column(name) for name in entry.columns]
            try:
                results = _perturbed(entry, found, self.streams[entry.name], rows)
                for i, name in enumerate(entry.columns):
                    if steps := between.get(name):
                        results[i] = self._exactly(entry, i, results[i], rows, steps)
            except (TypeError, ValueError) as problem:
                where = " and ".join(repr(name) for name in entry.columns)
                raise type(problem)(f"column {where}: {problem}") from None
            made.update(zip(entry.columns, results, strict=True))
        return made

    def _exactly(self, entry: Entry, i: int, noisy: Any, rows: Rows, steps: dict[int, int]) -> Any:
        """A noisy column, number i of its entry, with the sums of these rows made in integers."""
        from pyarrow import compute

        mechanism, places = entry.mechanism, list(steps)
        law = mechanism._law(mechanism.grid)
        key = self.streams[entry.name]._noise_key(noise_identity(mechanism, law, entry.clip))
        noise = law.exact_noise(key, Rows.of([rows.address(place) for place in places]))
        grid = Fraction(float(np.broadcast_to(mechanism.grid, len(entry.columns))[i]))
        totals = [steps[place] + drawn[i] for place, drawn in zip(places, noise, strict=True)]
        mask = np.zeros(len(noisy), bool)
        mask[places] = True
        sums = arrow().array([nearest_float(total * grid) for total in totals], noisy.type)
        return compute.replace_with_mask(noisy, mask, sums)


def _perturbed(entry: Entry, columns: Sequence[Any], stream: Stream, rows: Rows) -> list[Any]:
    options: dict[str, Any] = {"stream": stream, "rows": rows, "clip": entry.clip, "nan": "keep"}
    if len(columns) == 1:
        return [entry.mechanism.perturb(columns[0], **options)]
    views = [column_of(column, "keep") for column in columns]
    vectors = np.empty((sum(part.values.size for part in views[0].parts), len(views)))
    for i, view in enumerate(views):
        np.concatenate([_clamped(part) for part in view.parts], out=vectors[:, i])
    entry.mechanism.perturb(vectors, out=vectors, **options)
    return [_split(view, vectors[:, i]) for i, view in enumerate(views)]


def _clamped(part: Part) -> Any:
    """As floats; integers are those that floats hold exactly, as in a column of their own."""
    kind = part.values.dtype if part.values.dtype.kind == "f" else np.dtype(np.float64)
    values = part.read(whole(part.values), kind)
    return values if part.values.dtype == kind else values.clip(-EXACT_FLOAT, EXACT_FLOAT, values)


def _split(view: Column, values: Any) -> Any:
    """A column like `view`, of these values."""
    kind = view.parts[0].values.dtype
    ends = np.cumsum([part.values.size for part in view.parts])[:-1]
    results = np.split(values.astype(kind if kind.kind == "f" else np.float64), ends)
    for part, result in zip(view.parts, results, strict=True):
        part.blank(whole(result), result)
    return view.with_values(results)


def perturb_table(plan: Plan, table: Any, stream: Stream | None) -> Any:
    """See `Plan.perturb`."""
    check_stream(stream)
    pyarrow = arrow()
    if isinstance(table, pyarrow.RecordBatchReader):
        check_columns(plan, table.schema.names)
        return _reader(plan, table, stream)
    if isinstance(table, pyarrow.Table | pyarrow.RecordBatch):
        check_columns(plan, table.schema.names)
        return with_columns(table, Run(plan, stream))
    narwhals = _narwhals()
    try:
        frame = narwhals.from_native(table)
    except TypeError:
        allowed = "a pandas or Polars frame, or a PyArrow table, batch or reader"
        raise TypeError(f"table must be {allowed}, not {type(table)}") from None
    if isinstance(frame, narwhals.LazyFrame):
        noisy = perturb_table(plan, frame.collect().to_native(), stream)
        return noisy.lazy() if hasattr(noisy, "lazy") else noisy
    check_columns(plan, frame.columns)
    made = Run(plan, stream).perturb(lambda name: frame[name].to_native(), len(frame))
    series = [narwhals.from_native(c, series_only=True).alias(name) for name, c in made.items()]
    return frame.with_columns(*series).to_native()


def check_columns(plan: Plan, names: Sequence[str]) -> None:
    wanted = [*plan.columns, *plan.key_columns]
    for name in wanted:
        if list(names).count(name) != 1:
            what = "has no column" if name not in names else "has more than one column"
            raise ValueError(f"the table {what} {name!r}, which {plan.source} names")


def with_columns(table: Any, run: Run, between: Between = NO_MORE) -> Any:
    """A PyArrow table or record batch, perturbed; its metadata tells nothing that it does not."""
    made = run.perturb(table.column, table.num_rows, between)
    schema, _ = after_noise(table.schema, {name: column.type for name, column in made.items()})
    names = table.schema.names
    columns = [made.get(name, table.column(i)) for i, name in enumerate(names)]
    return type(table).from_arrays(columns, schema=schema)


def _reader(plan: Plan, reader: Any, stream: Stream | None) -> Any:
    pyarrow, run = arrow(), Run(plan, stream)

    def batches() -> Iterator[Any]:
        for batch in reader:
            yield with_columns(batch, run)

    return pyarrow.RecordBatchReader.from_batches(perturbed_schema(plan, reader.schema), batches())


def perturbed_schema(plan: Plan, schema: Any) -> Any:
    """The schema of what comes out: as it was, but for integers that get continuous noise."""
    check_columns(plan, schema.names)
    empty = arrow().Table.from_batches([], schema)  # empty_table() would import pandas
    return with_columns(empty, Run(plan, None)).schema


def _narwhals() -> Any:
    try:
        import narwhals.stable.v2 as narwhals
    except ImportError:
        raise ImportError("tables need narwhals: pip install 'fastnoise[frames]'") from None
    return narwhals
