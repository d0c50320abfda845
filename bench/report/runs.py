"""What was measured, and kept beside the pictures that it made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.table import FOLDER, Table

KEPT = Path(__file__).parent / "runs.json"
NAMES = (
    *("engine", "busy", "targets", "mechanisms", "flat", "roofline", "etl"),
    *("scaling", "peers"),
)

Runs = dict[str, Any]


def kept() -> Runs:
    runs: Runs = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return runs


def collected() -> Runs:
    """The latest runs of this machine; those that it has not made again, as they were kept."""
    runs = kept()
    for name in NAMES:
        if (latest := FOLDER / f"{name}.json").exists():
            runs[name] = json.loads(latest.read_text())
    return runs


def keep(runs: Runs) -> None:
    KEPT.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")


def table_of(run: Any) -> Table:
    data = run["data"]
    return Table(data["caption"], tuple(data["names"]), [tuple(row) for row in data["rows"]])


def origin(run: Any) -> str:
    """Where and when."""
    return f"{run['date']}, {run['machine']}; {run['versions']}"
