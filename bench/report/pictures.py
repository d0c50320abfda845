"""Two pictures: who takes how long, and how throughput grows with rows and threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.report.runs import Runs

FOLDER = Path(__file__).parent
BLUE, GREY, LIGHT = "#0072b2", "#555555", "#c8c8c8"


def draw(runs: Runs) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    _peers(runs["peers"]["rows"])
    _scaling(runs["scaling"]["data"])


def _peers(rows: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    laws = list(dict.fromkeys(row["law"] for row in rows))
    heights = [sum(row["law"] == law for row in rows) for law in laws]
    figure, axes = plt.subplots(
        len(laws), 1, sharex=True, figsize=(8, 1.2 + 0.24 * sum(heights)), height_ratios=heights
    )
    for law, axis in zip(laws, axes, strict=True):
        some = sorted((row for row in rows if row["law"] == law), key=lambda row: row["ns"])
        names = [_label(row) for row in some]
        places = range(len(some), 0, -1)
        axis.barh(places, [row["ns"] for row in some], color=[_colour(row) for row in some])
        axis.set_yticks(places, names, fontsize=7)
        axis.set_xscale("log")
        axis.margins(x=0.1)
        axis.set_title(law, fontsize=9, loc="left")
        for place, row in zip(places, some, strict=True):
            text = f" {row['ns']:,.0f}" if row["ns"] >= 100 else f" {row['ns']:.3g}"
            axis.annotate(text, (row["ns"], place), va="center", fontsize=7)
    axes[-1].set_xlabel("ns a value (blue: fastnoise; dark: secure generator; light: neither)")
    _save(figure, "peers.png")


def _label(row: dict[str, Any]) -> str:
    threads = "1 thread" if row["threads"] == 1 else f"{row['threads']} threads"
    return f"{row['peer']}, {row['values']:,} rows, {threads}"


def _colour(row: dict[str, Any]) -> str:
    if row["peer"] == "fastnoise":
        return BLUE
    return GREY if str(row["secure"]).startswith("yes") else LIGHT


def _scaling(points: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4))
    styles = {"fastnoise": BLUE, "np.add": LIGHT, "numpy recipe": GREY}
    for what, colour in styles.items():
        for threads in (1, 2):
            some = [p for p in points if p["what"] == what and p["threads"] == threads]
            if some:
                axis.loglog(
                    [p["rows"] for p in some],
                    [p["per second"] for p in some],
                    "o-" if threads == 2 else "o--",
                    color=colour,
                    markersize=3,
                    label=f"{what}, {threads} thread{'s' * (threads > 1)}",
                )
    axis.set_xlabel("rows in a call")
    axis.set_ylabel("rows a second")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    _save(figure, "scaling.png")


def _save(figure: Any, name: str) -> None:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    figure.savefig(FOLDER / name, dpi=120, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
