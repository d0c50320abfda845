"""Integrals of a user's cost over the steps of a staircase.

Every expectation under a staircase law of epsilon and sensitivity D, whatever its gamma, comes
from one function on [0, 1]: the cost folded onto one step,

    l(t) = (1-b) sum_{j>=0} b^j L((j+t) D),        b = e^-epsilon.

With q = b/(1-b), E L(X) = (int_0^gamma l + q int_0^1 l) / (gamma+q), so gamma only decides where
the first integral ends. (This is V(gamma) of Geng's dissertation, section 2.5, summed by columns.)
"""

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fastnoise.validation import refusal

FloatArray = npt.NDArray[np.float64]

LEAST_EPSILON = 1e-3  # 60/epsilon steps are summed, and gamma loses 1e-13/epsilon to rounding
LARGEST_CALLABLE_EPSILON = 700.0  # of a best gamma: e^-epsilon underflows beyond
_MOST_NUMBERS = 10**7  # at which a cost of one number is asked: 2 seconds of a simple one
_TOLERANCE = 1e-13  # of the first estimate of the integral over a piece
_BLOCK = 1 << 11  # pieces that are measured at once: their nodes fit a first cache
ENOUGH = 40.0  # e^-40 < 2**-53: steps that are always summed reach to 40/epsilon
TOO_FAR = 700.0  # e^-745 is the least double: a series that is alive there does not converge

# The 15-point Kronrod rule and the 7-point Gauss rule inside it (QUADPACK, qk15).
_HALF_NODES = (
    0.991455371120812639206854697526329,
    0.949107912342758524526189684047851,
    0.864864423359769072789712788640926,
    0.741531185599394439863864773280788,
    0.586087235467691130294144691693013,
    0.405845151377397166906606412076961,
    0.207784955007898467600689403773245,
)
_HALF_KRONROD = (
    0.022935322010529224963732008058970,
    0.063092092629978553290700663189204,
    0.104790010322250183839876322541518,
    0.140653259715525918745189590510238,
    0.169004726639267902826583426598550,
    0.190350578064785409913256402421014,
    0.204432940075298892414161999234649,
)
_HALF_GAUSS = (
    0.129484966168869693270611432679082,
    0.279705391489276667901467771423780,
    0.381830050505118944950369775488975,
)
_NODES = np.array([*(-x for x in _HALF_NODES), 0.0, *reversed(_HALF_NODES)])
_KRONROD = np.array([*_HALF_KRONROD, 0.209482141084727828012999174891714, *reversed(_HALF_KRONROD)])
_GAUSS = np.array([*_HALF_GAUSS, 0.417959183673469387755102040816327, *reversed(_HALF_GAUSS)])


class _Pieces(NamedTuple):
    """Parts [low, high] of steps, in units of a step, with the mean of the cost over each."""

    step: FloatArray
    low: FloatArray
    high: FloatArray
    mean: FloatArray

    def where(self, mask: npt.NDArray[np.bool_]) -> "_Pieces":
        return _Pieces(*(column[mask] for column in self))


# A third rule, exact to degree 11, with nodes at both ends and no symmetry: it sees a jump in the
# last 0.2% of a piece, and symmetric jumps on which the other two agree.
_END_NODES = np.cos(np.linspace(-np.pi, 0.0, 12))
_END_NODES += 0.1 * (1.0 - _END_NODES**2)
_END_SHARES = np.linalg.inv(np.polynomial.legendre.legvander(_END_NODES, 11))[0]


class FoldedCost:
    """l(t), its mean over [0, t], and `total`, its mean over [0, 1], of cost - cost(0).

    The cost is looked at on x >= 0 only, one array or one number at a time, whichever it takes.
    Pieces of a step are bisected until the 15- and the 7-point rule agree, so kinks and jumps are
    located rather than smeared. A break makes `mean` there as accurate as `total`. A cost that is
    not finite, decreases, or outgrows e^(epsilon x / D) is a ValueError.
    """

    def __init__(
        self,
        cost: Callable[[Any], Any],
        epsilon: float,
        sensitivity: float,
        breaks: tuple[float, ...] = (0.0, 1.0),
    ) -> None:
        self._given = cost
        self._cost = array_cost(cost)
        self._epsilon = epsilon
        self._growth = f"growing slower than exp({epsilon} |x| / {sensitivity})"
        self._width = sensitivity
        self._breaks = np.array(breaks)
        self.at_zero = float(finite_values(self._cost, np.zeros(1), self._growth)[0])
        self.total = 0.0
        blocks = list(self._blocks())
        self._pieces = _Pieces(*map(np.concatenate, zip(*blocks, strict=True)))
        self._weighted = self._weights(self._pieces.step) * self._pieces.mean
        self._steps = np.arange(self._pieces.step.max() + 1.0)

    def value(self, t: float) -> float:
        """l(t), 0 <= t <= 1."""
        return float(np.sum(self._weights(self._steps) * self._excess(self._steps + t)))

    def mean(self, t: float) -> float:
        """The mean of l over [0, t], 0 < t <= 1, as a mean: it stays right where t^2 underflows."""
        pieces = self._pieces
        whole = pieces.high <= t
        shares = (pieces.high[whole] - pieces.low[whole]) / t
        cut = pieces.where((pieces.low < t) & (t < pieces.high))
        parts = self._weights(cut.step) * self._gauss(cut.step, cut.low, t) * ((t - cut.low) / t)
        return float(np.sum(self._weighted[whole] * shares) + np.sum(parts))

    def _weights(self, step: FloatArray) -> FloatArray:
        return -math.expm1(-self._epsilon) * np.exp(-self._epsilon * step)

    def _excess(self, x: FloatArray) -> FloatArray:
        """cost - cost(0) at x steps from zero."""
        return finite_values(self._cost, self._width * x, self._growth) - self.at_zero

    def _blocks(self) -> Iterator[_Pieces]:
        """Pieces of consecutive steps, until a whole block no longer counts."""
        start, stop = 0, math.ceil(ENOUGH / self._epsilon) + 2
        while True:
            block = self._refined(start, stop)
            area = float(np.sum(self._weights(block.step) * block.mean * (block.high - block.low)))
            self.total += area
            yield block
            far = stop * self._epsilon > TOO_FAR
            if start > 0 and area <= 2.0**-54 * self.total and (self.total > 0.0 or far):
                return
            if start > 0 and far:
                raise ValueError(refusal("cost", self._given, self._growth))
            start, stop = stop, stop + math.ceil(0.25 * ENOUGH / self._epsilon)

    def _refined(self, start: int, stop: int) -> _Pieces:
        """The steps start..stop-1, cut at the breaks and then wherever the two rules disagree."""
        inner = len(self._breaks) - 1
        step = np.repeat(np.arange(start, stop, dtype=np.float64), inner)
        low = np.tile(self._breaks[:-1], stop - start)
        high = np.tile(self._breaks[1:], stop - start)
        pieces, error = self._measured(step, low, high, ordered=True)
        weights = self._weights(step)
        whole = self.total + np.sum(weights * pieces.mean * (high - low))
        # A far step is measured against the whole, and rounding of cost(0) cannot be beaten.
        floor = np.where(step > 0.0, 1e-3 * whole / np.maximum(weights, 1e-300), 0.0)
        tolerance = _TOLERANCE * np.maximum(pieces.mean, floor + abs(self.at_zero))
        tolerance = np.maximum(tolerance, sys.float_info.min)  # smaller numbers lose digits
        done = []
        for _ in range(60):  # 2**-60 of a step is below the resolution of x
            rough = error > tolerance
            done.append(pieces.where(~rough))
            if not rough.any():
                break
            if np.count_nonzero(rough) > 100_000 + 8 * len(step):
                allowed = "smooth up to isolated kinks and jumps, and accurate to 1e-13"
                raise ValueError(refusal("cost", self._given, allowed))
            tolerance = np.repeat(2.0 * tolerance[rough], 2)  # half as wide, so it counts half
            pieces, error = self._measured(*_halves(pieces.where(rough)))
        else:
            done.append(pieces)
        return _Pieces(*map(np.concatenate, zip(*done, strict=True)))

    def _measured(
        self, step: FloatArray, low: FloatArray, high: FloatArray, ordered: bool = False
    ) -> tuple[_Pieces, FloatArray]:
        """The pieces with their means, and how far the other two rules are from them."""
        half = 0.5 * (high - low)
        inside = (0.5 * (low + high))[:, None] + half[:, None] * _NODES
        values = self._excess(step[:, None] + inside)
        if ordered:
            flat = np.concatenate(([0.0], values.ravel()))
            refuse_fall(self._given, flat, self.at_zero)
        mean = 0.5 * (values @ _KRONROD)
        error = abs(mean - 0.5 * (values[:, 1::2] @ _GAUSS))
        at_ends = 0.5 * ((low + high)[:, None] + (high - low)[:, None] * _END_NODES)
        again = self._excess(step[:, None] + at_ends) @ _END_SHARES
        error = np.maximum(error, abs(again - mean))
        # the tolerance is a share of this mean, which must have seen a jump to be right
        return _Pieces(step, low, high, np.where(again > 2.0 * mean, again, mean)), error

    def _gauss(self, step: FloatArray, low: FloatArray, high: float) -> FloatArray:
        """The mean over [low, high], which lies inside a piece where the Gauss rule was good."""
        means = np.empty(len(step))
        for start in range(0, len(step), _BLOCK):
            part = slice(start, start + _BLOCK)
            half, middle = 0.5 * (high - low[part]), 0.5 * (low[part] + high)
            inside = middle[:, None] + half[:, None] * _NODES[1::2]
            means[part] = 0.5 * (self._excess(step[part, None] + inside) @ _GAUSS)
        return means


def _halves(pieces: _Pieces) -> tuple[FloatArray, FloatArray, FloatArray]:
    middle = 0.5 * (pieces.low + pieces.high)
    low = np.column_stack((pieces.low, middle)).ravel()
    high = np.column_stack((middle, pieces.high)).ravel()
    return np.repeat(pieces.step, 2), low, high


def refuse_fall(cost: Any, values: FloatArray, at_zero: float) -> None:
    """Refuse a cost with these values in order, if they fall by more than rounding may do."""
    if np.any(np.diff(values) < -1e-9 * (np.abs(values[:-1]) + abs(at_zero))):
        raise ValueError(refusal("cost", cost, "non-decreasing on x >= 0"))


class WrappedCost:
    """A cost made of a user's, by whose name it goes in messages."""

    _given: Callable[[Any], Any]

    def __repr__(self) -> str:
        return repr(self._given)


def refuse_epsilon(epsilon: float, instead: str, largest: float = math.inf) -> None:
    """Refuse an epsilon at which no callable cost is summed."""
    if not epsilon >= LEAST_EPSILON:
        allowed = f"at least {LEAST_EPSILON} for a callable cost"
        raise ValueError(refusal("epsilon", epsilon, allowed, f"{instead} below that"))
    if not epsilon <= largest:
        allowed = f"at most {largest} for a callable cost"
        raise ValueError(refusal("epsilon", epsilon, allowed, f"{instead} above that"))


def finite_values(
    cost: Callable[[FloatArray], FloatArray], x: FloatArray, growth: str
) -> FloatArray:
    """cost(x), refused where it is infinite or NaN; `growth` says how fast it may grow."""
    values = cost(x)
    refuse_infinite(x, values, growth)
    return values


def refuse_infinite(x: FloatArray, values: FloatArray, growth: str) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        where = f"cost({float(x[bad][0])!r})"
        raise ValueError(refusal(where, float(values[bad][0]), f"finite, and {growth}"))


def array_cost(cost: Callable[[Any], Any]) -> Callable[[FloatArray], FloatArray]:
    """The cost on arrays: as it is if it takes them, else number by number."""
    left = _MOST_NUMBERS

    def by_array(x: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.asarray(cost(x), dtype=np.float64)

    def by_number(x: FloatArray) -> FloatArray:
        nonlocal left
        left -= x.size
        if left < 0:
            allowed = f"a function of arrays where more than {_MOST_NUMBERS:,} numbers are needed"
            raise ValueError(refusal("cost", cost, allowed))
        return np.array([_number(cost, v) for v in x.ravel().tolist()]).reshape(x.shape)

    probe = np.array([[0.0, 0.5], [1.0, 2.0]])
    try:
        vectorised = by_array(probe).shape == probe.shape
    except Exception:  # whatever a scalar-only function raises; a real bug shows up again below
        vectorised = False
    return by_array if vectorised else by_number


def _number(cost: Callable[[Any], Any], x: float) -> float:
    try:
        value = cost(x)
    except OverflowError:
        return math.inf
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(refusal(f"cost({x!r})", value, "a real number")) from None
