"""The parts of pages, between marks, that are measured or taken from the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from bench.peers.table import table as peer_lines
from bench.report.runs import Runs, origin, table_of
from fastnoise.registry import REGISTRY, Registered

ROOT = Path(__file__).parents[2]
TABLES = ("engine", "busy", "targets", "mechanisms", "flat", "roofline", "etl")
PAGES = {"README.md": ("classes", "headline"), "docs/benchmarks.md": (*TABLES, "peers")}
COVERED = {  # by adjacency
    "element": "one {value} changes by at most {bound}",
    "l1": "{whole} changes by at most {bound} in l1",
    "l2": "{whole} changes by at most {bound} in l2",
    "sum-l2": "the l2 changes of all users add up to at most {bound}",
    "box": "{whole} changes by at most {bound}",
    "cost": "no cost changes by more than {bound}",
}
HEADLINE = ("staircase", 10_000_000, 2)  # law, values, threads


def blocks(runs: Runs) -> dict[str, list[str]]:
    """Name: lines."""
    made: dict[str, Callable[[Runs], Iterator[str]]] = {"headline": headline, "peers": peers}
    made["classes"] = lambda _: classes()
    made |= {name: partial(_table, name) for name in TABLES}
    return {name: list(lines(runs)) for name, lines in made.items()}


def pages(runs: Runs) -> dict[Path, str]:
    """Page: its text with the blocks of these runs."""
    made = blocks(runs)
    texts = {}
    for page, names in PAGES.items():
        text = (ROOT / page).read_text()
        for name in names:
            text = put(text, name, made[name])
        texts[ROOT / page] = text
    return texts


def put(text: str, name: str, lines: list[str]) -> str:
    """The text with the block of that name replaced."""
    begin, end = f"<!-- bench.report {name} -->", f"<!-- /bench.report {name} -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    return "\n".join([f"{before}{begin}", *lines, f"{end}{after}"])


def _table(name: str, runs: Runs) -> Iterator[str]:
    return table_of(runs[name]).lines()


def classes() -> Iterator[str]:
    """Every mechanism of the registry, its noise, and what its guarantee covers."""
    yield "| class | noise | private when |"
    yield "|---|---|---|"
    for entry in REGISTRY.values():
        yield f"| `{entry.name}` | {entry.noise} | {_covered(entry)} |"


def _covered(entry: Registered) -> str:
    parameters = signature(entry.cls).parameters
    bounds = [f"`{name}`" for name in ("sensitivity", "widths") if name in parameters]
    return COVERED[entry.build()[0].privacy.adjacency].format(
        value=entry.takes.removesuffix("s").replace("float", "number"),
        whole="one vector" if entry.takes == "vectors" else "the array",
        bound="".join(bounds) or 1,
    )


def headline(runs: Runs) -> Iterator[str]:
    """Times fastnoise, all of it measured in turns."""
    yield f"{origin(runs['engine'])}."
    yield "Adding noise to data takes this many times as long as with fastnoise:"
    yield ""
    rows = runs["peers"]["rows"]
    for row in rows:
        large = (row["law"], row["values"], row["threads"]) == HEADLINE
        if large and row["peer"] != "fastnoise":
            yield f"- {_times(row)} with {row['peer']} (2 threads, ten million rows{_note(row)})"
    for row in rows:
        if row["peer"].split()[0] in ("opendp", "diffprivlib"):
            yield f"- {_times(row)} with {row['peer']} ({row['law']}, {row['values']:,} rows)"


def _times(row: dict[str, Any]) -> str:
    ratio = row["ns"] / row["fastnoise_ns"]
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.1f}"


def _note(row: dict[str, Any]) -> str:
    return f"; {row['unfair']}" if row["unfair"] else ""


def peers(runs: Runs) -> Iterator[str]:
    run = runs["peers"]
    yield f"{run['date'][:10]}, {run['machine']}, Python {run['python']}; epsilon 1, sensitivity 1:"
    yield ""
    yield from peer_lines(run["rows"], run["missing"])
