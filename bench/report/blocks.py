"""The parts of the README that are measured, between marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bench.report.runs import Runs, origin, table_of
from bench.table import Table

README = Path(__file__).parents[2] / "README.md"
SAFE = {True: "yes", False: "no"}


def blocks(runs: Runs) -> dict[str, list[str]]:
    """Name: lines."""
    made: dict[str, Callable[[Runs], Iterator[str]]] = {"headline": headline, "peers": peers}
    for name in ("engine", "mechanisms", "flat", "roofline"):
        made[name] = lambda runs, name=name: table_of(runs[name]).lines()
    return {name: list(lines(runs)) for name, lines in made.items()}


def put(text: str, name: str, lines: list[str]) -> str:
    """The text with the block of that name replaced."""
    begin, end = f"<!-- bench.report {name} -->", f"<!-- /bench.report {name} -->"
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    return "\n".join([f"{before}{begin}", *lines, f"{end}{after}"])


def headline(runs: Runs) -> Iterator[str]:
    measured = {what: value for what, value, _ in runs["engine"]["data"]["rows"]}
    yield f"Measured {origin(runs['engine'])}."
    yield ""
    yield "- Staircase noise on ten million rows, 2 threads:"
    yield f"  {measured['the same on 2 threads']} as fast as numpy's recipe,"
    yield f"  {measured['time against np.add, 2 threads']} the time of `np.add`."
    yield from _against_peers(runs["peers"]["rows"])


def _against_peers(rows: list[dict[str, object]]) -> Iterator[str]:
    fastest = {}
    for row in rows:
        key = (str(row["peer"]), str(row["law"]))
        if key not in fastest or float(str(row["ns"])) < float(str(fastest[key]["ns"])):
            fastest[key] = row
    for (peer, law), row in fastest.items():
        if peer in ("OpenDP", "diffprivlib"):
            ratio = float(str(row["ns"])) / float(str(row["fastnoise_ns"]))
            yield f"- {peer}, {law}: {ratio:,.0f} times as long, {row['values']:,} values each."


def peers(runs: Runs) -> Iterator[str]:
    run = runs["peers"]
    names = (
        "law",
        "peer",
        "values",
        "threads",
        "ns a value",
        "fastnoise",
        "secure",
        "attack-proof",
    )
    rows = [
        (
            str(row["law"]),
            f"{row['peer']} {row['version']}",
            f"{row['values']:,}",
            str(row["threads"]),
            f"{row['ns']:,.2f}",
            f"{row['fastnoise_ns']:,.2f}" if row["fastnoise_ns"] else "",
            str(row["secure"]),
            str(row["attack_proof"]),
            str(row["unfair"]),
        )
        for row in run["rows"]
    ]
    caption = "Data plus noise, ns a value, beside fastnoise at the same size in the same process"
    yield from Table(caption, (*names, "what is unfair"), rows).lines()
    for one in run["missing"]:
        yield f"\n{one['peer']} is missing: {one['reason']}"
