"""A table that is printed line by line as it is measured, and kept as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy

FOLDER = Path(__file__).parent.parent / ".bench"  # what this machine has measured


class Table(NamedTuple):
    caption: str
    names: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]

    def lines(self) -> Iterator[str]:
        yield f"{self.caption}:"
        yield ""
        yield f"| {' | '.join(self.names)} |"
        yield f"|{'|'.join('---' for _ in self.names)}|"
        for row in self.rows:
            yield f"| {' | '.join(row)} |"


def shown(table: Table) -> Table:
    """Print a table as it is made; the same, made."""
    rows: list[tuple[str, ...]] = []

    def kept() -> Iterator[tuple[str, ...]]:
        for row in table.rows:
            rows.append(row)
            yield row

    for line in table._replace(rows=kept()).lines():
        print(line, flush=True)
    print()
    return table._replace(rows=rows)


def machine() -> dict[str, str]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}, scipy {scipy.__version__}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def record(name: str, data: Any) -> None:
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps({**machine(), "data": data}, indent=1)
    (FOLDER / f"{name}.json").write_text(text + "\n")
