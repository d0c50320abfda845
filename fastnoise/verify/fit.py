"""One harness for goodness of fit: one alpha, exact critical values."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv
from scipy.stats import binom, chi2

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.integer[Any]]
Values = npt.NDArray[Any]

ALPHA = 1e-6  # a case; a few thousand cases in all
LEAST = 25  # draws that a cell expects

# Shares of the mass below the edges of cells: even ones, and some of the tails.
SHARES: Floats = np.concatenate([[1e-3, 4e-3], np.arange(1, 32) / 32, [1 - 4e-3, 1 - 1e-3]])


def rejected(counts: Counts, probabilities: Floats) -> bool:
    """Pearson's test at ALPHA; every cell expects 25 or more, where the chi-square law is good."""
    return _rejected(counts, probabilities * counts.sum(), counts.size - 1)


def _rejected(counts: Counts, expected: Floats, freedom: int) -> bool:
    if not (expected.min() >= LEAST and freedom):
        raise ValueError(f"too few draws: {counts.size} cells expect {expected.min()} or more")
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return bool(statistic > chi2.isf(ALPHA, freedom))


def misfits(values: Values, edges: Values, below: Floats) -> bool:
    """Pearson's test of values whose cdf is `below` at the edges, which are sorted.

    Cells hold their upper edge. Neighbours that expect too little count as one.
    """
    cells = np.searchsorted(edges, values, side="left")
    counts = np.bincount(cells, minlength=edges.size + 1)
    return rejected(*pooled(counts, np.diff(below, prepend=0.0, append=1.0)))


def pooled(counts: Counts, probabilities: Floats) -> tuple[Counts, Floats]:
    """Neighbouring cells together, until all expect enough."""
    starts, mass = [0], 0.0
    for i, probability in enumerate(probabilities):
        if mass * counts.sum() >= LEAST:
            starts.append(i)
            mass = 0.0
        mass += probability
    if mass * counts.sum() < LEAST and len(starts) > 1:
        starts.pop()
    return np.add.reduceat(counts, starts), np.add.reduceat(probabilities, starts)


def unlikely(count: Counts | int, draws: int, probability: Floats | float) -> bool:
    """The exact binomial test at ALPHA, shared among all the counts."""
    least, most = (np.min(count), np.max(count)) if np.ndim(probability) == 0 else (count, count)
    below, above = binom.cdf(least, draws, probability), binom.sf(most - 1, draws, probability)
    return bool((np.minimum(below, above) < ALPHA / 2 / np.size(count)).any())


def dependent(first: Counts, second: Counts) -> bool:
    """Pearson's test of independence of two columns of kinds, 0 .. n - 1, those that occur."""
    kinds, others = int(first.max()) + 1, int(second.max()) + 1
    table = np.bincount(first * others + second, minlength=kinds * others).reshape(kinds, others)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / first.size
    return _rejected(table, expected, (table.shape[0] - 1) * (table.shape[1] - 1))


def rows_depend(values: Values, sizes: Values) -> bool:
    """Sign and side of the median size, of neighbours 1, 16 and 128 rows apart: 16 cells."""
    kinds = 2 * (values >= 0) + (sizes >= np.median(sizes))
    return any(dependent(kinds[:-apart], kinds[apart:]) for apart in (1, 16, 128))


def signs_depend(vectors: Floats) -> bool:
    """Fair signs, every pair independent; of up to 5 coordinates, all orthants equally likely."""
    draws, dim = vectors.shape
    positive = (vectors >= 0).astype(np.float64)
    fair = positive.sum(axis=0)
    if unlikely(fair, draws, 0.5):
        return True
    if dim <= 5:
        orthants = (positive @ 2.0 ** np.arange(dim)).astype(np.int64)
        return rejected(np.bincount(orthants, minlength=2**dim), np.full(2**dim, 2.0**-dim))
    both = positive.T @ positive
    alike = draws - fair[:, None] - fair + 2 * both  # both positive or both negative
    return unlikely(alike[np.triu_indices(dim, 1)], draws, 0.5)


def sphere_misfits(vectors: Floats) -> bool:
    """Is the direction not uniform on the sphere, seen along and across several axes?"""
    dim = vectors.shape[1]
    size = np.sqrt((vectors**2).sum(axis=1))
    axes = [np.ones(dim), (-1.0) ** np.arange(dim), np.arange(1.0, dim + 1)]
    axes += [np.eye(dim)[i] for i in sorted({0, 1, dim // 2, dim - 1})]
    edges = 2 * betaincinv((dim - 1) / 2, (dim - 1) / 2, SHARES) - 1
    cosines = [vectors @ axis / np.linalg.norm(axis) / size for axis in axes]
    pairs = [(vectors[:, 0], vectors[:, 1]), (vectors[:, -1], vectors[:, 0])]
    turns = [np.arctan2(y, x) / (2 * np.pi) + 0.5 for y, x in pairs]
    return any(misfits(cosine, edges, SHARES) for cosine in cosines) or any(
        misfits(turn, SHARES, SHARES) for turn in turns
    )


def simplex_misfits(vectors: Floats) -> bool:
    """Are |coordinates| over their sum not uniform on the simplex, seen singly and summed?"""
    dim = vectors.shape[1]
    parts = np.abs(vectors) / np.abs(vectors).sum(axis=1)[:, None]
    sums = np.cumsum(parts, axis=1)
    single = betaincinv(1.0, dim - 1.0, SHARES)
    if any(misfits(parts[:, i], single, SHARES) for i in {0, dim // 2, dim - 1}):
        return True
    return any(
        misfits(sums[:, n - 1], betaincinv(float(n), float(dim - n), SHARES), SHARES)
        for n in {1, dim // 2, dim - 1}
    )
