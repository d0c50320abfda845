"""Damaged files through the command, in processes that may die of them: run by test_perturb_damage.

Reads a pickle of cases, by name what files there are, and prints as JSON what is wrong with each.
A child does one case after the other and says which, so that a crash names its case; another one is
forked for the rest.
"""

import contextlib
import csv
import io
import json
import os
import pickle
import resource
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from fastnoise import Plan, Stream
from fastnoise.cli import main

KEY = bytes(range(32))
MEMORY = 8 << 30  # a damaged length is an error, not the end of the machine
SECONDS = 60


def command(*arguments) -> tuple[int, str, str]:
    said, problem = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(problem):
        status = main([str(argument) for argument in arguments])
    return status, said.getvalue(), problem.getvalue()


def verdict(folder: Path) -> str:
    """What is wrong with what the command does there; nothing if all is well."""
    (source,) = [path for path in folder.iterdir() if path.stem == "in"]
    plan, target = folder / "plan.toml", folder / f"out{source.suffix}"
    before = {path.name for path in folder.iterdir()}
    status, said, problem = command("receipt", source)
    if status not in (0, 1) or bool(said) == bool(problem) or problem.count("\n") > 1:
        return f"receipt: {status}, {problem!r}"
    options = ("--key-file", folder / "key", "--threads", "1", "--quiet", "--again")
    status, _, problem = command("perturb", source, target, "--plan", plan, *options)
    made = {path.name for path in folder.iterdir()} - before
    if status == 1:
        if made:
            return f"left {made}: {problem}"
        named = str(source) in problem or str(plan) in problem
        return "" if problem.count("\n") == 1 and named else f"not one line: {problem!r}"
    warned = all("warning: metadata" in line for line in problem.splitlines())
    if status != 0 or not warned:
        return f"status {status}: {problem!r}"
    beside = {f"{target.name}.receipt.json"} if source.suffix == ".csv" else set()
    if made != {target.name} | beside:
        return f"made {made}"
    if command("receipt", target)[0] != 0:
        return "its receipt cannot be read"
    return differences(source, target, Plan.load(plan))


def differences(source: Path, target: Path, plan: Plan) -> str:
    """Whether the output is what was read, with the noise of the key."""
    read = texts if source.suffix == ".csv" else table
    old, new = read(source, plan), read(target, plan)
    expected = plan.perturb(old, stream=Stream.from_key(KEY))
    if new.num_rows != expected.num_rows or new.schema.names != expected.schema.names:
        return "other rows or columns"
    columns = [map(decoded, found.columns) for found in (expected, new)]
    for name, one, other in zip(new.schema.names, *columns, strict=True):
        if not (one.equals(other) or same_floats(one, other) or repr(one) == repr(other)):
            return f"column {name!r} differs"
    return ""


def decoded(column):
    """Values: the dictionary that they are written with is not data."""
    is_dictionary = pa.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_dictionary else column


def same_floats(one, other) -> bool:
    if not pa.types.is_floating(one.type) or one.type != other.type:
        return False
    return np.array_equal(one.to_numpy(), other.to_numpy(), equal_nan=True)


def table(path: Path, plan: Plan) -> pa.Table:
    """As PyArrow reads it; of whole files that are damaged, it may read a value more."""
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
        groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
        return pa.concat_tables(groups) if groups else file.read()
    opened = ipc.open_file if path.suffix == ".arrow" else ipc.open_stream
    with opened(path) as reader:
        return reader.read_all()


def texts(path: Path, plan: Plan) -> pa.Table:
    """A CSV file as Python reads it."""
    with path.open(newline="", encoding="utf-8-sig") as lines:
        head, *rows = [row for row in csv.reader(lines) if row]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(head)
    integers = {n for e in plan.entries if "discrete" in e.kind for n in e.columns}
    made = {}
    for name, cells in zip(head, columns, strict=True):
        kind = int if name in integers else float if name in plan.columns else str
        arrow = {int: pa.int64(), float: pa.float64(), str: pa.string()}[kind]
        made[name] = pa.array([kind(cell) if cell else None for cell in cells], arrow)
    return pa.table(made)


def verdicts(cases: list[tuple[str, dict[str, bytes]]]) -> dict[str, str]:
    """By name, what is wrong."""
    wrong, at = {}, 0
    while at < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            work(cases[at:], writing)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                wrong[cases[at][0]] = json.loads(line)
                at += 1
        if code := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            wrong[cases[at][0]] = f"the process ended with {code}"  # a signal, with a minus
            at += 1
    return {name: problem for name, problem in wrong.items() if problem}


def work(cases: list[tuple[str, dict[str, bytes]]], writing: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for _, files in cases:
        signal.alarm(SECONDS)
        folder = Path(tempfile.mkdtemp())
        try:
            for name, data in {**files, "key": KEY}.items():
                (folder / name).write_bytes(data)
                (folder / name).chmod(0o600)
            problem = verdict(folder)
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
        shutil.rmtree(folder)
        os.write(writing, f"{json.dumps(problem)}\n".encode())


if __name__ == "__main__":
    print(json.dumps(verdicts(pickle.loads(Path(sys.argv[1]).read_bytes()))))
