"""The demo: a Parquet file of people through a plan, and what that did to them."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.columns import arrow
from fastnoise.etl.job import prepare, receipt_of, run
from fastnoise.etl.plan import Plan
from fastnoise.etl.receipt import page

PLAN = """
release = "demo"

[columns.income]
mechanism = "staircase"
epsilon = 0.5
clip = [0, 200000]

[columns.visits]
mechanism = "discrete-staircase"
epsilon = 0.5
sensitivity = 3

[columns.age]                  # a tenth of them are missing, and stay so
mechanism = "discrete-laplace"
epsilon = 0.5
sensitivity = 5

[vectors.position]
columns = ["x_km", "y_km"]
mechanism = "l2-laplace"
epsilon = 0.5
sensitivity = 1.0
"""
BLUE, DARK = "#9ecae1", "#08519c"

Noise = dict[str, npt.NDArray[np.float64]]


def people(rows: int) -> Any:
    """A table of them; every run makes the same."""
    from scipy.special import ndtri

    index = np.arange(rows)
    ranks, other = ((index * golden) % 1.0 for golden in (0.6180339887498949, 0.7548776662466927))
    size = ndtri(np.clip(ranks, 1e-9, 1 - 1e-9))
    pa = arrow()
    return pa.table(
        {
            "person_id": index,
            "income": np.round(40_000.0 * np.exp(0.6 * size), 2),
            "visits": np.floor(-8.0 * np.log1p(-other)).astype(np.int32),
            "age": pa.array((18 + 60 * other).astype(np.int16), mask=index % 10 == 3),
            "x_km": 10.0 * np.cos(6.283185307179586 * ranks) * other,
            "y_km": 10.0 * np.sin(6.283185307179586 * ranks) * other,
        }
    )


def command(options: argparse.Namespace) -> int:
    print(demo(options.rows, options.png))
    return 0


def demo(rows: int, png: str | None = None) -> str:
    """Perturb a file of this many people; the receipt, the errors, the throughput."""
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    arrow()
    from pyarrow import parquet

    with TemporaryDirectory() as folder:
        source, target, plan_file = (
            Path(folder) / n for n in ("people.parquet", "noisy.parquet", "plan.toml")
        )
        data = people(rows)
        parquet.write_table(data, source)
        plan_file.write_text(PLAN)
        plan = Plan.load(plan_file)
        plan.perturb(data.slice(0, 20_000))  # compiles, or loads what was compiled
        started = time.perf_counter()
        job = prepare(source, target, plan)
        run(job, None)
        seconds = time.perf_counter() - started
        released, receipt = parquet.read_table(target), page(receipt_of(target))
    noise = {name: _noise(data[name], released[name], plan, name) for name in plan.columns}
    lines = [
        f"{rows:,} people, read, perturbed and written in {seconds:.2f} s: "
        f"{rows / seconds:,.0f} rows a second",
        "",
        receipt,
        "",
        f"{'E|noise|':10} {'measured':>12} {'in theory':>12} {'missing':>9}",
        *(_line(name, noise[name], plan, data[name].null_count) for name in plan.columns),
    ]
    if png is not None:
        save_picture(plan, noise, png)
        lines += ["", f"picture saved as {png}"]
    return "\n".join(lines)


def _noise(before: Any, after: Any, plan: Plan, name: str) -> npt.NDArray[np.float64]:
    """What was added to the values that are there, after the clip."""
    clip = next(entry.clip for entry in plan.entries if name in entry.columns)
    there = before.is_valid().to_numpy()
    old, new = (c.to_numpy()[there].astype(np.float64) for c in (before, after))
    return np.asarray(new - (old if clip is None else np.clip(old, *clip)))


def _line(name: str, noise: npt.NDArray[np.float64], plan: Plan, missing: int) -> str:
    mechanism = next(entry.mechanism for entry in plan.entries if name in entry.columns)
    dim = getattr(mechanism, "dim", 0)
    theory = mechanism.expected_cost("l1") / dim if dim else mechanism.moment(1)
    return f"{name:10} {np.abs(noise).mean():12,.3f} {theory:12,.3f} {missing:9,}"


def save_picture(plan: Plan, noise: Noise, path: str) -> None:
    """The noise of each column, measured and in theory."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a PNG needs matplotlib: pip install 'fastnoise[plot]'") from None
    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplots(2, 2).reshape(-1)
    for axes, entry in zip(panels, plan.entries, strict=True):
        axes.set_title(f"{', '.join(entry.columns)}: {entry.kind}")
        first = noise[entry.columns[0]]
        if len(entry.columns) == 2:
            reach = np.quantile(np.abs(first), 0.99)
            axes.hexbin(
                *(noise[name] for name in entry.columns),
                gridsize=60,
                extent=(-reach, reach, -reach, reach),
                cmap="Blues",
            )
            continue
        _, high = entry.mechanism.interval(0.98)
        if hasattr(entry.mechanism, "pdf"):
            edges = np.linspace(-high, high, 300)
            share = np.full(first.size, 1.0 / (first.size * (edges[1] - edges[0])))
            axes.hist(first, edges, weights=share, color=BLUE, label="measured")
            axes.plot(edges, entry.mechanism.pdf(edges), color=DARK, label="theory")
        else:
            steps = np.arange(-int(high), int(high) + 1)
            shares = [np.mean(first == step) for step in steps]
            axes.bar(steps, shares, color=BLUE, label="measured")
            axes.plot(steps, entry.mechanism.pmf(steps), ".", color=DARK, label="theory")
        axes.legend()
    figure.savefig(path, dpi=110)
