"""Nested sets that grow by one step each: the staircases of a norm and of a box.

Notation of docs/mathematics.md#layers: b = e^-epsilon, x = 1-b, q = b/x. Layer k is a set K_k whose
volume is V(k), V(t) = (t + o_1) .. (t + o_d) with offsets o_i > 0, up to a factor. The density is
proportional to b^k on K_k \\ K_{k-1}: a mixture of the uniform laws on K_k with weights w_k = x b^k
V(k) / E V(G), G geometric. All offsets equal to gamma: the staircase of a norm.

Newton's form V(t) = sum_j n_j C(t, j) has n_j > 0 and b^k C(k, j) q^j = P(B_k = j), B_k binomial
(k, x). With p_j = n_j q^j / E V(G), which sum to 1 over j = 0..d, that leaves positive terms only:

    b^k V(k) / E V(G) = E p(B_k),                  the mass of the layers from k on, inside K_k;
    mass outside K_k  = E (p_{B+1} + .. + p_d),    B = B_k;
    mass of K_0 .. K_{k-1} as layers = E (p_0 + .. + p_{B-1}).
"""

import functools
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, count

import numpy as np
import numpy.typing as npt

from fastnoise.design.moments import geometric_mean, precise

FloatArray = npt.NDArray[np.float64]


class Layers:
    """The law of (epsilon, offsets): which layer, how much mass within a size, and back.

    A size is that of K_k where it is least + k, least the smallest offset, and continuous in
    between; for a norm it is the norm over the sensitivity. Functions of a size take it with the
    first layer k >= 0 that is not smaller, which may be infinite, and the gap up to it.
    """

    def __init__(self, epsilon: float, offsets: tuple[float, ...]) -> None:
        self.epsilon, self.least = epsilon, min(offsets, default=0.0)
        self._share = -math.expm1(-epsilon)
        beyond, counts = np.unique(np.array(offsets) - self.least, return_counts=True)
        self._extra, self._counts = beyond, counts.astype(np.float64)
        with precise(epsilon) as eps:
            self._q = geometric_mean(eps)
            weights = [Decimal(1)]
            for offset in offsets:
                weights = self._times(weights, Decimal(offset))
            total = sum(weights, Decimal(0))
            self._weights = weights
            self.log_volume = float(total.ln())  # ln E V(G)
            up = [float((part / total).ln()) for part in accumulate(weights)]
            down = [float((part / total).ln()) for part in accumulate(reversed(weights))]
            self._log_part = np.array([float((weight / total).ln()) for weight in weights])
        dim = len(offsets)
        self._log_from = np.array(down[::-1])  # p_j + .. + p_d
        # P(B > d + this many) is below 1e-17 of P(B > d) wherever less than half the mass is within
        certain = np.zeros(64 + 10 * math.isqrt(dim))
        self._log_before = np.concatenate([[-math.inf], up, certain])  # p_0 + .. + p_{j-1}

    @np.errstate(all="ignore")
    def pmf(self, k: FloatArray) -> FloatArray:
        """w_k, the probability of layer k; 0 where k is not a layer."""
        layer = np.where((k >= 0.0) & (k == np.floor(k)) & np.isfinite(k), k, np.nan)
        weight = self._share * np.exp(self._mean(layer, self._log_part))
        return np.where(np.isnan(layer) & ~np.isnan(k), 0.0, weight)

    @np.errstate(all="ignore")
    def log_reach(self, k: FloatArray) -> FloatArray:
        """ln P(layer >= k)."""
        return self._mean(k, self._log_from)

    @np.errstate(all="ignore")
    def tail(self, size: FloatArray, k: FloatArray, gap: FloatArray) -> FloatArray:
        """The probability of a larger size."""
        within = self._log_within(size, k, gap)
        on_step = self._mean(k, self._log_part) + np.log(-np.expm1(within))
        tail = np.exp(np.logaddexp(on_step, self._mean(k, self._log_from[1:])))
        return np.where(np.isposinf(k), 0.0, np.minimum(tail, 1.0))

    @np.errstate(all="ignore")
    def mass(self, size: FloatArray, k: FloatArray, gap: FloatArray) -> FloatArray:
        """The probability of a size that is not larger, relatively accurate where it is small."""
        tail = self.tail(size, k, gap)
        inner = self._mean(k, self._log_part) + self._log_within(size, k, gap)
        mass = np.exp(np.logaddexp(inner, self._mean(k, self._log_before)))
        return np.where(tail < 0.5, 1.0 - tail, mass)

    @np.errstate(all="ignore")
    def quantile(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The size with that tail = 1 - mass; both are given, each is exact where small.

        nan unless both are in [0, 1].
        """
        inside = (tail > 0.0) & (mass > 0.0)
        ends = np.where(tail == 0.0, math.inf, np.where(mass == 0.0, 0.0, math.nan))
        tail, mass = np.where(inside, tail, 0.5), np.where(inside, mass, 0.5)
        k = self._first(tail, mass)
        height = self._mean(k, self._log_part)
        outside = np.exp(self._mean(k, self._log_from[1:]) - height)
        before = np.exp(self._mean(k, self._log_before) - height)
        small = np.log(np.maximum(np.exp(np.log(mass) - height) - before, 0.0))
        large = np.log1p(np.maximum(outside - np.exp(np.log(tail) - height), -1.0))
        edge = self.least + k
        one_step = np.where(k > 0.0, self._log_within(edge - 1.0, k, np.ones(k.shape)), -math.inf)
        # a layer that rounding made one too many or too few, at an edge, is clipped away
        within = np.clip(np.where(mass < 0.5, small, large), one_step, 0.0)
        size = edge * np.exp(self._log_shrink(k, within))
        return np.where(inside, size, ends)

    def moment(self, offset: float, m: int, width: float, factor: Fraction) -> float:
        """factor * width^m * E (K + offset)^m, K the layer, correctly rounded; inf on overflow."""
        with precise(self.epsilon):
            weights, exact = self._weights, Decimal(offset)
            for _ in range(m):
                weights = self._times(weights, exact)
            mean = sum(weights, Decimal(0)) / sum(self._weights, Decimal(0))
            return float(Decimal(width) ** m * mean * factor.numerator / factor.denominator)

    def _times(self, weights: list[Decimal], offset: Decimal) -> list[Decimal]:
        """n_j q^j of V(t) (t + offset): (t + o) C(t, j) = (o + j) C(t, j) + (j+1) C(t, j+1)."""
        raised = [Decimal(0), *(self._q * (j + 1) * n for j, n in enumerate(weights))]
        kept = [*((offset + j) * n for j, n in enumerate(weights)), Decimal(0)]
        return [a + b for a, b in zip(raised, kept, strict=True)]

    def _mean(self, k: FloatArray, logs: FloatArray) -> FloatArray:
        """ln E e^logs[B_k]; logs is -inf beyond its end."""
        total = np.full(k.shape, -math.inf)
        for log, chance in zip(logs.tolist(), self._log_binomial(k), strict=False):
            total = np.logaddexp(total, chance + log)
        return total

    def _log_binomial(self, k: FloatArray) -> Iterator[FloatArray]:
        """ln P(B_k = j) for j = 0, 1, ...: C(k, j) x^j b^(k-j), the first two as one product."""
        log = np.zeros(k.shape)
        for j in count():
            yield log - self.epsilon * (k - j)
            log = log + np.log(np.maximum(k - j, 0.0) * (self._share / (j + 1)))

    def _log_within(self, size: FloatArray, k: FloatArray, gap: FloatArray) -> FloatArray:
        """ln of V at that size, over V(k); by the gap where that is small."""
        edges = self._extra + self.least + k[..., None]
        part = gap[..., None] / edges
        log = np.log((self._extra + size[..., None]) / edges)
        return np.asarray(np.where(part < 0.5, np.log1p(-part), log) @ self._counts)

    def _log_shrink(self, k: FloatArray, within: FloatArray) -> FloatArray:
        """The s at which V at size e^s times that of K_k is e^within V(k).

        Newton on sum_i ln(1 + c_i (e^s - 1)), convex with slopes from 1 to d: from the right, where
        the tangent at 0 leads to, it comes down monotonically. One step if the offsets are equal.
        """
        size = self.least + k[..., None]
        c, rest = size / (self._extra + size), self._extra / (self._extra + size)
        s = within / (c @ self._counts)
        for _ in range(60 if len(self._counts) > 1 else 0):
            rise = c * np.exp(s[..., None])
            near = np.log1p(c * np.expm1(s[..., None]))
            log = np.where(s[..., None] > -0.5, near, np.log(rest + rise))
            step = (log @ self._counts - within) / ((rise / (rest + rise)) @ self._counts)
            s = s - step
            if not np.any(np.abs(step) > 1e-16 * np.abs(s)):
                break
        return np.asarray(s)

    def _first(self, tail: FloatArray, mass: FloatArray) -> FloatArray:
        """The first layer that holds that mass, by bisection.

        P(K > k) <= 2^(d+1) e^(-epsilon (k-d) / 2), from E e^(epsilon K / 2), bounds it.
        """
        log_tail, log_mass = np.log(tail), np.log(mass)
        dim = len(self._log_part) - 1
        low = np.full(tail.shape, -1.0)
        high = np.ceil(dim + 2.0 * ((dim + 1) * math.log(2.0) - log_tail) / self.epsilon)
        for _ in range(64):
            middle = np.floor(low + 0.5 * (high - low))
            reached = self._mean(middle, self._log_from[1:]) <= log_tail
            if np.any(mass < 0.5):
                # the mass within K_k: that of the layers before, and the share of the others
                within = self._mean(middle, self._log_before[1:])
                reached = np.where(mass < 0.5, within >= log_mass, reached)
            reached &= middle > low
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
            if np.all(high - low <= 1.0):
                break
        return high


layers = functools.lru_cache(maxsize=256)(Layers)
