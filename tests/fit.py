"""One harness for goodness of fit: one alpha, exact critical values."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

ALPHA = 1e-6  # a case; a few thousand cases in all


def rejected(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Pearson's test at ALPHA; every cell expects 25 or more, where the chi-square law is good."""
    expected = probabilities * counts.sum()
    assert expected.min() >= 25
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return statistic > chi2.isf(ALPHA, len(counts) - 1)
