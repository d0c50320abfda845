"""The box staircase law: what `BoxStaircase` would draw with real numbers.

Notation of docs/mathematics.md#box-staircase: s_i the widths, z_i the half-widths of the core, b =
e^-epsilon. The density is constant between nested boxes, box k of half-widths z_i + k s_i, and
falls by b at each. In units of the widths box k has the volume V(k) = (k + z_1/s_1) .. (k +
z_d/s_d), see `layers`.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.ideal.l1_staircase import vectors
from fastnoise.ideal.layers import Layers, layers
from fastnoise.ideal.steps import FloatArray, Floats
from fastnoise.validation import fraction, refusal, whole


class ConfidenceRegion(NamedTuple):
    """The box of half-widths z_i + beta s_i, which is the smallest region of its probability."""

    half_widths: FloatArray
    beta: float
    volume: float


class IdealBoxStaircase:
    """Density, variances and confidence regions of the law (epsilon, widths, core).

    A mixin: the class that inherits it has these three attributes. Functions of one coordinate
    propagate NaN and broadcast like SciPy's.

    >>> import fastnoise as fn
    >>> law = fn.BoxStaircase(epsilon=1.0, widths=(1.0, 10.0), core=(0.1, 1.0))
    >>> law.marginal_var().round(4)
    array([  4.0338, 403.3805])
    """

    epsilon: float
    widths: tuple[float, ...]
    core: tuple[float, ...]

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return len(self.widths)

    @np.errstate(all="ignore")
    def logpdf(self, v: npt.ArrayLike) -> Floats:
        """ln of the density at vectors `v`, which lie along the last axis.

        Constant between boxes, the faces of a box belong to the step outside; -inf at infinity.
        """
        points = vectors(v, self.dim)
        level = np.max(_level(points, np.array(self.widths), np.array(self.core)), axis=-1)
        peak = math.fsum(map(_log_double, self.widths)) + self._layers.log_volume
        return np.asarray(-self.epsilon * (level - self._empty) - peak)[()]

    @np.errstate(all="ignore")
    def marginal_pdf(self, i: int, x: npt.ArrayLike) -> Floats:
        """The density of coordinate i, counted from 0, at x: constant on steps like `logpdf`."""
        i = whole("i", i, 0, self.dim)
        others = layers(self.epsilon, self._offsets[:i] + self._offsets[i + 1 :])
        level = _level(np.asarray(x, dtype=np.float64), self.widths[i], self.core[i])
        reach = others.log_reach(np.maximum(level - self._empty, 0.0))
        share = others.log_volume - self._layers.log_volume - _log_double(self.widths[i])
        return np.where(np.isposinf(level), 0.0, np.exp(share + reach))[()]

    def marginal_var(self) -> FloatArray:
        """E Y_i^2 = E (z_i + K s_i)^2 / 3 of every coordinate, K the layer."""
        return np.array(self._marginal_moments(2))

    def mse(self) -> float:
        """E ||Y||_2^2, the sum of the variances."""
        return math.fsum(self._marginal_moments(2))

    def expected_cost(self, cost: str) -> float:
        """E ||Y||_1 for "l1", E ||Y||_2^2 for "l2".

        A box need not be the ball of a norm, so other costs are not defined.
        """
        if not isinstance(cost, str) or cost not in ("l1", "l2"):
            wrong = ValueError if isinstance(cost, str) else TypeError
            raise wrong(refusal("cost", cost, '"l1" or "l2" for a box'))
        return math.fsum(self._marginal_moments(int(cost[1])))

    @np.errstate(under="ignore", over="ignore")
    def confidence_region(self, confidence: float) -> ConfidenceRegion:
        """The smallest region of that probability: a box (half_widths, beta, volume).

        Its half-widths are z_i + beta s_i; beta is negative inside the core.

        >>> import fastnoise as fn
        >>> law = fn.BoxStaircase(epsilon=1.0, widths=(1.0, 10.0), core=(0.1, 1.0))
        >>> round(law.confidence_region(0.99).beta, 6)
        6.588548
        """
        inside = np.array(fraction("confidence", confidence))
        size = float(self._layers.quantile(1.0 - inside, inside))
        least = min(self._halves)
        half = np.array(self.widths) * (np.array(self._halves) - least + size)
        return ConfidenceRegion(half, size - least, math.prod((2.0 * half).tolist()))

    def layer_pmf(self, k: npt.ArrayLike) -> Floats:
        """The probability that a draw is uniform on box k; 0 where k is not an integer >= 0."""
        return self._layers.pmf(np.asarray(k, dtype=np.float64) - self._empty)[()]

    @property
    def _empty(self) -> int:
        """How many boxes, 0 or 1, have no volume; the law is that of the others."""
        return int(0.0 in self._halves)

    @property
    def _offsets(self) -> tuple[float, ...]:
        return tuple(half + self._empty for half in self._halves)

    @property
    def _halves(self) -> tuple[float, ...]:
        """The core in units of the widths."""
        return tuple(half / width for half, width in zip(self.core, self.widths, strict=True))

    @property
    def _layers(self) -> Layers:
        return layers(self.epsilon, self._offsets)

    def _marginal_moments(self, m: int) -> list[float]:
        """E |Y_i|^m = E (z_i + K s_i)^m / (m+1), K the layer: uniform on its box."""
        return [
            self._layers.moment(offset, m, width, Fraction(1, m + 1))
            for offset, width in zip(self._offsets, self.widths, strict=True)
        ]


def _log_double(width: float) -> float:
    """ln(2 width): twice the width may be no float."""
    return math.log(2.0) + math.log(width)


def _level(x: FloatArray, width: Any, core: Any) -> FloatArray:
    """How many boxes do not contain x in that coordinate: exact, because remainders are."""
    size = np.abs(x)
    (step, rest), (core_step, core_rest) = np.divmod(size, width), np.divmod(core, width)
    level = np.maximum(step - core_step + (rest >= core_rest), 0.0)
    return np.where(np.isinf(size), np.inf, level)
