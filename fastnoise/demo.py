"""The demo: people with incomes, one call, and what it did to them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from fastnoise.mechanisms.staircase import Staircase

CLIP = (0.0, 200_000.0)
BARS = 41
HEIGHT = 44


def incomes(rows: int) -> npt.NDArray[np.float64]:
    """Log-normal incomes, median 40,000: the quantiles of evenly spread ranks, shuffled."""
    from scipy.special import ndtri

    ranks = (np.arange(rows) * 0.6180339887498949) % 1.0
    return np.asarray(40_000.0 * np.exp(0.6 * ndtri(np.clip(ranks, 1e-9, 1 - 1e-9))))


def demo(rows: int, epsilon: float, png: str | None = None) -> str:
    """Perturb `rows` incomes and report throughput, error and the shape of the noise."""
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows}")
    mechanism = Staircase(epsilon=epsilon, sensitivity=CLIP[1] - CLIP[0])
    data = np.clip(incomes(rows), *CLIP)
    released = np.empty_like(data)
    mechanism.perturb(data, out=released)  # compiles, or loads what was compiled
    seconds = _median_seconds(lambda: mechanism.perturb(data, out=released))
    adding = _median_seconds(lambda: np.add(data, 1.0, out=np.empty_like(data)))
    noise = released - data
    lines = [
        f"{rows:,} incomes between {CLIP[0]:,.0f} and {CLIP[1]:,.0f}, each with noise of its own",
        f"  {mechanism!r}",
        f"  grid {mechanism.grid}, epsilon-DP when one income changes in any way",
        "",
        f"throughput   {rows / seconds:14,.0f} rows a second, {1e9 * seconds / rows:.1f} ns a row"
        f" (numpy's addition alone: {1e9 * adding / rows:.1f})",
        _compared("E|noise|", np.abs(noise).mean(), "measured", mechanism.moment(1), "in theory"),
        _compared("std of noise", noise.std(), "measured", mechanism.std(), "in theory"),
        _compared("mean income", data.mean(), "true", released.mean(), "released"),
        "",
        picture(mechanism, noise),
    ]
    if png is not None:
        save_picture(mechanism, noise, png)
        lines.append(f"picture saved as {png}")
    return "\n".join(lines)


def _compared(name: str, one: float, kind: str, other: float, other_kind: str) -> str:
    return f"{name:12} {one:14,.1f} {kind:8} {other:14,.1f} {other_kind}"


def _median_seconds(call: Any, times: int = 5) -> float:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds))


def _edges(mechanism: Staircase) -> npt.NDArray[np.float64]:
    """Bins out to the 99% interval."""
    _, high = mechanism.interval(0.99)
    return np.linspace(-high, high, BARS + 1)


def picture(mechanism: Staircase, noise: npt.NDArray[np.float64]) -> str:
    """The histogram of the noise in characters, theory marked beside it."""
    edges = _edges(mechanism)
    measured = np.histogram(noise, edges)[0] / noise.size
    theory = np.diff(mechanism.cdf(edges))
    scale = HEIGHT / max(measured.max(), theory.max())
    lines = ["noise / sensitivity        █ measured   │ theory"]
    for i, (share, expected) in enumerate(zip(measured, theory, strict=True)):
        bar = list("█" * round(share * scale) + " " * (HEIGHT + 1))
        bar[round(expected * scale)] = "│"
        middle = (edges[i] + edges[i + 1]) / 2 / mechanism.sensitivity
        lines.append(f"{middle:+8.2f} {''.join(bar).rstrip()}")
    return "\n".join(lines)


def save_picture(mechanism: Staircase, noise: npt.NDArray[np.float64], path: str) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a PNG needs matplotlib: pip install 'fastnoise[plot]'") from None
    low, high = mechanism.interval(0.99)
    edges = np.linspace(low, high, 400)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.hist(noise, edges, density=True, color="#9ecae1", label="measured")
    axes.plot(edges, mechanism.pdf(edges), color="#08519c", linewidth=1.2, label="theory")
    axes.set(xlabel="noise", ylabel="density", title=repr(mechanism))
    axes.legend()
    figure.savefig(path, dpi=120)
