"""One harness for goodness of fit: one alpha, exact critical values."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, chi2

ALPHA = 1e-6  # a case; a few thousand cases in all
LEAST = 25  # draws that a cell expects

# Shares of the mass below the edges of cells: even ones, and some of the tails.
SHARES = np.concatenate([[1e-3, 4e-3], np.arange(1, 32) / 32, [1 - 4e-3, 1 - 1e-3]])


def rejected(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Pearson's test at ALPHA; every cell expects 25 or more, where the chi-square law is good."""
    expected = probabilities * counts.sum()
    assert expected.min() >= LEAST
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return statistic > chi2.isf(ALPHA, len(counts) - 1)


def misfits(values: np.ndarray, edges: np.ndarray, below: np.ndarray) -> bool:
    """Pearson's test of values whose cdf is `below` at the edges, which are sorted.

    Cells hold their upper edge. Neighbours that expect too little count as one.
    """
    cells = np.searchsorted(edges, values, side="left")
    counts = np.bincount(cells, minlength=edges.size + 1)
    counts, probabilities = pooled(counts, np.diff(below, prepend=0.0, append=1.0))
    assert counts.size > 1
    return rejected(counts, probabilities)


def pooled(counts: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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


def unlikely(count: np.ndarray | int, draws: int, probability: np.ndarray | float) -> bool:
    """The exact binomial test at ALPHA, shared among all the counts."""
    least, most = (np.min(count), np.max(count)) if np.ndim(probability) == 0 else (count, count)
    below, above = binom.cdf(least, draws, probability), binom.sf(most - 1, draws, probability)
    return bool((np.minimum(below, above) < ALPHA / 2 / np.size(count)).any())


def dependent(first: np.ndarray, second: np.ndarray) -> bool:
    """Pearson's test of independence of two columns of kinds, 0 .. n - 1."""
    kinds, others = int(first.max()) + 1, int(second.max()) + 1
    table = np.bincount(first * others + second, minlength=kinds * others).reshape(kinds, others)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / first.size
    assert expected.min() >= LEAST
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic > chi2.isf(ALPHA, (kinds - 1) * (others - 1))


def kinds_of(values: np.ndarray, kinds: int = 8) -> np.ndarray:
    """Which of so many equal shares of the sample each value is in."""
    return np.searchsorted(np.quantile(values, np.arange(1, kinds) / kinds), values)


def rows_depend(values: np.ndarray, sizes: np.ndarray) -> bool:
    """Sign and side of the median size, of neighbours 1, 16 and 128 rows apart: 16 cells."""
    kinds = 2 * (values >= 0) + (sizes >= np.median(sizes))
    return any(dependent(kinds[:-apart], kinds[apart:]) for apart in (1, 16, 128))


def signs_depend(vectors: np.ndarray) -> bool:
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
