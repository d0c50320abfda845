"""Files through a plan: read, perturbed and written at once; the output is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from fastnoise_kernels.threads import at_most, wanted

from fastnoise.columns import arrow
from fastnoise.etl.csv import CsvSource
from fastnoise.etl.ipc import IpcSource
from fastnoise.etl.metadata import after_noise
from fastnoise.etl.parquet import ParquetSource
from fastnoise.etl.place import claimed, sync
from fastnoise.etl.plan import Plan
from fastnoise.etl.receipt import Found, as_json, found_after, found_in, totals, with_receipt
from fastnoise.etl.receipt_fields import Receipt, parsed
from fastnoise.etl.tables import NO_MORE, Between, Run, perturbed_schema, with_columns
from fastnoise.stream import Stream

PARQUET, IPC, CSV = (".parquet", ".pq"), (".arrow", ".feather", ".ipc", ".arrows"), (".csv", ".tsv")
RECEIPT = ".receipt.json"  # of a CSV file, beside it
LOGS = {  # of tables, which say what of their files is deleted
    "_delta_log": "Delta Lake",
    ".hoodie": "Hudi",
    "metadata/*.metadata.json*": "Iceberg",
    "metadata/*.avro": "Iceberg",
    "snapshot/snapshot-*": "Paimon",
}

Source = Any
Progress = Callable[[int, int | None], None]  # rows done, and how many there are if that is known


@dataclass
class Job:
    """What is to be done, checked: nothing has been written."""

    source: Path
    target: Path
    plan: Plan
    files: list[tuple[Path, Path]]  # from, and to beneath the target
    found: Found  # what the receipts of the output will say
    dropped: list[str]  # metadata that may tell of values without noise
    rows: int | None = None
    done: int = field(default=0, init=False)

    @property
    def totals(self) -> tuple[float, float]:
        """Epsilon and delta of one person, earlier releases included."""
        return totals(self.found.receipt)


def prepare(
    source: Path, target: Path, plan: Plan, again: bool = False, keyed: bool = False
) -> Job:
    """Check the plan, every schema, the receipts and the target."""
    _refuse_logs(source)
    files = [(path, path.relative_to(source)) for path in _files(source)]
    _refuse_target(source, target)
    counts: list[int | None] = []
    found: Found | None = None
    dropped: dict[str, None] = {}  # in order, each once
    for path, _ in files:
        try:
            with _opened(path, plan) as opened:
                made = perturbed_schema(plan, opened.schema)
                types = {name: made.field(name).type for name in plan.columns}
                dropped |= dict.fromkeys(after_noise(opened.schema, types)[1])
                counts.append(opened.rows)
                old = _found(path, opened.schema)
            _refuse_other(found, old)
            if found is None:
                found, after = old, found_after(plan, old, again, keyed)
        except Exception as problem:
            raise located(path, problem) from None
    rows = None if None in counts else sum(count or 0 for count in counts)
    return Job(source, target, plan, files, after, list(dropped), rows)


def located(path: Path, problem: Exception) -> Exception:
    """The problem with its file; classes that are built otherwise (Unicode, Arrow) become plain."""
    kind = OSError if isinstance(problem, OSError) else ValueError
    text = str(problem) or type(problem).__name__
    return kind(text if str(path) in text else f"{path}: {text}")


def _files(source: Path) -> list[Path]:
    """The file itself, or those of a folder in the order of their names."""
    if not source.exists():
        raise FileNotFoundError(f"{source} does not exist")
    if not source.is_dir():
        if not source.is_file():
            raise ValueError(f"{source} is not a regular file")
        return [source]
    every = sorted(source.rglob("*"))
    if links := [path for path in every if path.is_symlink() and path.is_dir()]:
        raise ValueError(f"{links[0]} is a link to a folder, which would be left out")
    found = [path for path in every if path.is_file()]
    data = [p for p in found if not _is_hidden(p.relative_to(source))]
    for path in data:
        if path.suffix.lower() not in PARQUET:
            raise ValueError(f"{path} is not a Parquet file: a folder holds nothing else")
    if not data:
        raise ValueError(f"{source} holds no Parquet files")
    return data


def _refuse_logs(source: Path) -> None:
    """Rows that a table's log has deleted are in its files still."""
    whole = source.resolve()
    inside = list(whole.rglob("*")) if whole.is_dir() else []
    below = [path for path in inside if path.is_dir()]
    elsewhere = {p for path in inside if path.is_symlink() for p in path.resolve().parents}
    for folder in [whole, *whole.parents, *below, *sorted(elsewhere)]:
        for log, name in LOGS.items():
            if next(folder.glob(log), None) is not None:
                cure = "deleted rows would be released: export a plain copy of it first"
                raise ValueError(f"{source}: {folder} has the log of a {name} table; {cure}")


def _is_hidden(path: Path) -> bool:
    """Summaries and marks of other programs, which would no longer be right."""
    return any(part.startswith(("_", ".")) and "=" not in part for part in path.parts)


def _refuse_target(source: Path, target: Path) -> None:
    if target.resolve() == source.resolve() or source.resolve() in target.resolve().parents:
        raise ValueError(f"{target} is, or is in, what is read: choose another place")
    if source.is_dir() and os.path.lexists(target):
        raise FileExistsError(f"{target} exists: a folder is only made where there is none")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent} is not a folder")
    if not source.is_dir() and _format(target) != _format(source):
        allowed = " or ".join(_format(source))
        raise ValueError(
            f"{target} must end with {allowed}: it is written in the format of {source}"
        )


@contextmanager
def _opened(path: Path, plan: Any = None) -> Iterator[Source]:
    """A CSV file has columns of a plan."""
    sources: Any = {PARQUET: ParquetSource, IPC: IpcSource, CSV: partial(CsvSource, plan=plan)}
    with closing(sources[_format(path)](path)) as source:
        yield source


def _format(path: Path) -> tuple[str, ...]:
    """What names of its format end with."""
    for suffixes in (PARQUET, IPC, CSV):
        if path.suffix.lower() in suffixes:
            return suffixes
    allowed = ", ".join([*PARQUET, *IPC, *CSV])
    raise ValueError(f"{path}: the name must end with one of {allowed}")


def receipt_of(path: Path) -> Receipt:
    """What a file says of noise in it; all files of a folder must say the same."""
    found: Found | None = None
    for one in _files(path):
        try:
            now = _found(one, _schema_of(one))
            _refuse_other(found, now)
        except Exception as problem:
            raise located(one, problem) from None
        found = now
    return (found or Found()).receipt


def _refuse_other(before: Found | None, now: Found) -> None:
    if before not in (None, now):
        raise ValueError("its receipt is not that of the files before")


def _schema_of(path: Path) -> Any:
    if _format(path) is CSV:
        return None
    with _opened(path) as opened:
        return opened.schema


def _found(path: Path, schema: Any) -> Found:
    if _format(path) is not CSV:
        return found_in(schema)
    beside = path.with_name(path.name + RECEIPT)
    if not os.path.lexists(beside):
        return Found()
    if not beside.is_file():
        raise ValueError(f"its receipt {beside.name} is not a regular file")
    return Found(parsed(beside.read_bytes(), f"its receipt {beside.name}")["releases"])


def run(job: Job, stream: Stream | None, progress: Progress = lambda done, rows: None) -> None:
    """Do it. On any failure, and on an interrupt, the partial output is removed."""
    with claimed(job.target, job.source) as place:
        release = Run(job.plan, stream)
        for path, inside in job.files:
            with place.file(inside) as sink:
                try:
                    with _opened(path, job.plan) as source, _a_thread_for_the_writer():
                        _copy(job, source, sink, release, progress)
                except Exception as problem:
                    raise located(path, problem) from None
                sink.flush()
                os.fsync(sink.fileno())
        if not job.source.is_dir() and _format(job.target) is CSV:
            _put_receipt(job)
        place.finish()
    sync(job.target.parent)


def _put_receipt(job: Job) -> None:
    """Beside a CSV file, before it: a receipt without its noise is the lesser evil."""
    beside = job.target.with_name(job.target.name + RECEIPT)
    with claimed(beside, job.source) as place:
        with place.file(PurePath()) as sink:
            sink.write(f"{as_json(job.found.receipt, indent=1)}\n".encode())
        place.finish()


@contextmanager
def _a_thread_for_the_writer() -> Iterator[None]:
    """Encoding is the slowest part and has one thread: reading and noise leave it a core.

    A file of four noisy columns in eight takes three quarters of the time on two cores.
    """
    pyarrow = arrow()
    threads, readers = wanted(), pyarrow.cpu_count()
    pyarrow.set_cpu_count(max(1, min(threads, readers) - 1))
    try:
        with at_most(max(1, threads - 1)):
            yield
    finally:
        pyarrow.set_cpu_count(readers)


def _copy(job: Job, source: Source, sink: BinaryIO, release: Run, progress: Progress) -> None:
    """Write a batch while the next one is read and gets its noise: two are in memory at a time."""
    schema = with_receipt(perturbed_schema(job.plan, source.schema), job.found)
    target: Any = (
        None  # made when a batch was read: PyArrow aborts on settings of encrypted columns
    )
    written: Future[None] | None = None
    done = 0  # of this file
    with ThreadPoolExecutor(1) as writing:
        try:
            for batch in source.batches():
                between = source.between if isinstance(source, CsvSource) else NO_MORE
                noisy = _perturbed(batch.replace_schema_metadata(None), release, done, between)
                done += batch.num_rows
                job.done += batch.num_rows
                del batch
                if written is not None:
                    written.result()
                target = target or source.writer(sink, schema, job.plan.columns)
                written = writing.submit(target.write, noisy)
                del noisy
                progress(job.done, job.rows)
            if written is not None:
                written.result()
            target = target or source.writer(sink, schema, job.plan.columns)
        except BaseException:
            _close_quietly(target, written)
            raise
    target.close()


def _perturbed(batch: Any, release: Run, first: int, between: Between) -> Any:
    """The batch that begins with that row of its file, with noise."""
    try:
        return with_columns(batch, release, between)
    except (TypeError, ValueError) as problem:
        where = f"in the rows from {first} on: " if first else ""
        raise ValueError(f"{where}{problem}") from None


def _close_quietly(target: Any, written: Future[None] | None) -> None:
    """After a failure: the first problem is the one to tell."""
    try:
        if written is not None:
            written.exception()
        target.close()
    except Exception:
        pass
