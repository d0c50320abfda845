"""From the files of pytest-benchmark to rows, and from rows to the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .catalogue import LAWS, LINES, package

Row = dict[str, Any]

COPIED = ("peer", "version", "law", "values", "threads", "fastnoise_ns")
FACTS = ("secure", "attack_proof", "unfair")
COLUMNS = (
    *("peer", "law", "values", "threads", "ns a value", "times fastnoise"),
    *("secure", "attack-proof", "what is unfair"),
)


def rows_of(recorded: dict[str, Any], environment: str) -> Iterator[Row]:
    """The rows in what pytest-benchmark recorded."""
    for benchmark in recorded["benchmarks"]:
        info = benchmark["extra_info"]
        row = {name: info[name] for name in COPIED}
        row |= {
            "environment": environment,
            "ns": 1e9 * benchmark["stats"]["median"] / row["values"],
        }
        yield row | {name: info[name] for name in FACTS}


def unmeasured(rows: list[Row], peers: list[str], output: str) -> Iterator[dict[str, str]]:
    """Lines that an environment with these peers should hold and does not; pytest said why."""
    done = {(row["peer"], row["law"], row["values"], row["threads"]) for row in rows}
    for line in LINES:
        for threads in line.threads if package(line.peer) in ("fastnoise", *peers) else ():
            if (line.peer, line.law, line.values, threads) not in done:
                name = f"{line.peer}, {line.law}, {line.values}-{threads}"
                yield {"peer": name, "reason": _reason(name, output)}


def _reason(name: str, output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith("FAILED") and f"[{name}]" in line]
    return (failed or lines[-1:] or ["no output"])[0].split("] - ")[-1][:200]


def in_order(rows: list[Row]) -> list[Row]:
    """By law and size, fastest first."""
    return sorted(rows, key=lambda row: (LAWS.index(row["law"]), -row["values"], row["ns"]))


def table(rows: list[Row], missing: list[dict[str, str]]) -> Iterator[str]:
    """Markdown, and a line for each peer that is missing."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|{'|'.join('---' for _ in COLUMNS)}|"
    for row in in_order(rows):
        yield f"| {' | '.join(_cells(row))} |"
    for one in missing:
        yield f"Not measured: {one['peer']}: {one['reason']}"


def _cells(row: Row) -> Iterator[str]:
    yield f"{row['peer']} {row['version']}"
    yield row["law"]
    yield f"{row['values']:,}"
    yield str(row["threads"])
    yield f"{row['ns']:,.2f}" if row["ns"] < 100 else f"{row['ns']:,.0f}"
    yield f"{row['ns'] / row['fastnoise_ns']:,.2f}"
    yield from (row[name] for name in FACTS)
