"""Are radii of l2 noise known as well as they are said to be, and drawn again where they must?"""

import mpmath
import numpy as np
import pytest
from conftest import KEY, needs_avx512
from fastnoise_kernels import l2_lanes, l2_laplace, lanes, layout
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.l2_lanes import RadiusSizes
from fastnoise_kernels.l2_laplace import rows_in, woven_lane
from l2_kernels import ALL, kernel_with, lanes_of
from laws import l2_law
from numba import njit

from fastnoise.bits import compiled_blocks
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.rows import Rows

pytestmark = pytest.mark.long

# --- normal radii ---------------------------------------------------------------------------------


@intrinsic
def sixteen_radii_and_inverses(here, words, radii):
    drawn = l2_lanes.normal_radius(words.word(0), l2_lanes.SHORT.on(here))
    for i, value in enumerate(drawn):
        radii.put(lanes.LANES * i, value)


@njit
def radii_and_inverses(words, radii):
    sixteen_radii_and_inverses(words, radii)


def worst_radius(unknown: float, rng) -> float:
    """How far a normal radius may be off, beside what it is taken to be off by at most.

    Of uniform numbers of 38 bits: near 0, near 1 and in between, at both ends of what is known.
    """
    small = [*range(1, 41), *(2 ** rng.uniform(0, layout.UNIFORM_BITS - 1, 280)).astype(int)]
    parts, worst = np.array([*small, *(ALL - part for part in small)], np.uint64), 0.0
    for group in parts.reshape(-1, 16):
        words = lanes_of((group << np.uint64(layout.SPARE_BITS)).reshape(16, 1))
        drawn = np.empty(32)
        radii_and_inverses(words, drawn)
        for part, radius, inverse in zip(group.tolist(), drawn[:16], drawn[16:], strict=True):
            room = 4 * l2_lanes.ROUND * radius + unknown * inverse
            with mpmath.workprec(100):
                ends = (mpmath.mpf(part + end) / ALL for end in (0, 1))
                off = max(abs(mpmath.sqrt(-2 * mpmath.log(u)) - float(radius)) for u in ends)
            worst = max(worst, float(off / room))
    return worst


def test_errors__of_normal_radii_are_within_their_bound(rng):
    assert 0.8 < worst_radius(l2_lanes.SHORT.unknown, rng) < 1.0


def test_errors__that_forget_a_part_are_seen(rng):
    assert worst_radius(l2_lanes.SHORT.unknown / 2, rng) > 1.0


@needs_avx512
def test_errors__of_the_quick_root_are_a_part(rng):
    """Beside what is not known of a uniform number alone, they are seen."""
    assert worst_radius(l2_lanes.SHORT._replace(off=0.0).unknown, rng) > 1.0


# --- what fits without a logarithm ----------------------------------------------------------------


def fall(t: mpmath.mpf) -> mpmath.mpf:
    """f of `surely_fits`."""
    return mpmath.mpf(3) / 4 * t**4 * (1 + mpmath.mpf(9) / 4 * abs(t))


def room_above(t: mpmath.mpf, bound) -> mpmath.mpf:
    """How much more than -bound(t) the sum is that ln u is compared with, over shape.

    With x = 3 sqrt(shape) t: 9/2 t**2 + 1 - (1 + t)**3 + 3 ln(1 + t).
    """
    return mpmath.mpf(9) / 2 * t**2 + 1 - (1 + t) ** 3 + 3 * mpmath.log(1 + t) + bound(t)


def test_quick_fits__have_their_bounds():
    """Everywhere below 5/9; a bound that is a tenth lower is seen to fail."""
    with mpmath.workprec(200):
        points = [mpmath.mpf(i) / 3600 for i in range(-2000, 2001) if i]
        assert min(room_above(t, fall) for t in points) > 0
        assert min(room_above(t, lambda t: fall(t) * 0.9) for t in points) < 0
        steps = [abs(fall(t) - fall(t + mpmath.mpf(1) / 3600)) * 3600 for t in points[:-1]]
        assert max(steps) < mpmath.mpf(4) / 3


@pytest.mark.parametrize("dim", [4, 9])
def test_quick_fits__that_are_too_many_are_seen(dim, monkeypatch):
    """Also a kernel that takes what is above -f / 20 for a fit: some radii should not be there."""
    law, count = l2_law(dim, 300.0, 0, monkeypatch), 1_200
    reader = L2Reader(law.tables, compiled_blocks)
    exact = np.array([reader.noise(KEY, row) for row in range(count)], np.float64)
    np.testing.assert_array_equal(law.noise(KEY, Rows(0), count), exact)
    bold = kernel_with(
        ("size.times_plus(27 / 16, 0.75)", "size.times_plus(27 / 320, 0.0375)"),
        monkeypatch=monkeypatch,
    )
    monkeypatch.setattr("fastnoise.laws.law.filler", lambda name: bold.fill_l2_laplace.address)
    noise = law.noise(KEY, Rows(0), count)
    assert (noise != exact).any(axis=1).sum() > 2


class Radii:
    """`sixteen_radii` of a kernel, for a law of so many dimensions and a scale of 1."""

    def __init__(self, dim: int, kernel=l2_laplace) -> None:
        self.shape = (dim + 1) / 2 - 1 / 3
        sixteen_radii = kernel.sixteen_radii

        @njit
        def call(words, chi_of, sizes, radii):
            return sixteen_radii(words, 0, chi_of, sizes, radii)

        self.call, self.chi_of = call, l2_laplace.chi_sizes(self.shape, (9 * self.shape) ** -0.5)

    def __call__(self, parts: np.ndarray) -> np.ndarray:
        """Radii of sixteen rows, from the leading 38 bits of their words: normal radius, angle, u.

        0 where it does not fit, NaN in doubt.
        """
        radii = np.empty(48)
        words = lanes_of(parts.astype(np.uint64) << np.uint64(layout.SPARE_BITS))
        misfits = rows_in(self.call(words, self.chi_of, RadiusSizes(1.0, 8.0, 2.0**52), radii))
        fits = np.array([misfits >> row & 1 == 0 for row in range(16)])
        return np.where(fits, radii[[woven_lane(row) for row in range(16)]], 0.0)

    def largest_fit(self, parts: list[int]) -> int:
        """The largest last part that fits; -1 if none does."""
        low, high = -1, ALL - 1
        while low < high:
            middle = (low + high + 1) // 2
            radius = self(np.tile([*parts, middle], (16, 1)))[0]
            low, high = (middle, high) if radius > 0.0 else (low, middle - 1)
        return low

    def room(self, parts: list[int], last: int) -> float:
        """How much more than ln u its limit is, whatever follows the bits of the parts."""
        with mpmath.workprec(160):
            radii = [
                mpmath.sqrt(-2 * mpmath.log(mpmath.mpf(parts[0] + end) / ALL)) for end in (0, 1)
            ]
            turns = [mpmath.mpf(parts[1] + end) / ALL - mpmath.mpf(1) / 8 for end in (0, 1)]
            xs = [r * mpmath.cos(2 * mpmath.pi * turn) for r in radii for turn in turns]
            limits = [room_above(x / (9 * self.shape) ** 0.5, lambda _: 0) for x in xs]
            return float(self.shape * min(limits) - mpmath.log(mpmath.mpf(last + 1) / ALL))


def least_room(radii: Radii, rng) -> float:
    """Of u that fit by a hair: where next to nothing is known of a normal radius, and anywhere.

    Next to the axis, where t is small, the bound is nearest to what it bounds.
    """
    found = []
    for case in range(60):
        first = 2 ** rng.uniform(0, 2 if case % 2 else 37)
        parts = [int(first), ALL * 3 // 8 + int(2 ** rng.uniform(25, 30 if case % 2 else 35))]
        last = radii.largest_fit(parts)
        if last >= 0:
            found.append(radii.room(parts, last))
    assert len(found) > 10
    return min(found)


@pytest.mark.parametrize("dim", [4, 16, 1000])
def test_quick_fits__fit_whatever_bits_follow(dim, rng):
    assert least_room(Radii(dim), rng) > 0.0


def test_quick_fits__without_room_for_errors_are_seen(rng, monkeypatch):
    bold = kernel_with(("part * 16.0", "part * 0.0"), monkeypatch=monkeypatch)
    assert least_room(Radii(4, bold), rng) < 0.0


def alone_and_among_others(radii: Radii) -> list[float]:
    """The radius of a row that is sure to fit, beside others of that kind, and beside one that
    needs its logarithms, which leave a doubt of the first as well: its u may be 0."""
    rows = np.tile([ALL // 2, ALL * 3 // 8, ALL // 3], (16, 1))
    rows[5, 2] = 0
    beside = rows.copy()
    beside[9, 2] = ALL - 1
    return [float(radii(some)[5]) for some in (rows, beside)]


def test_quick_fits__do_not_depend_on_neighbours(monkeypatch):
    """Else a row might be left for Python and not be found there, and have no noise."""
    alone, among = alone_and_among_others(Radii(4))
    assert alone == among > 0.0
    hasty = kernel_with(("careful & ~sure", "careful"), monkeypatch=monkeypatch)
    alone, among = alone_and_among_others(Radii(4, hasty))
    assert alone > 0.0
    assert np.isnan(among)


# --- woven rows -----------------------------------------------------------------------------------


def test_woven__masks_and_lanes_are_put_in_order(rng):
    assert [woven_lane(row) for row in lanes.WOVEN] == list(range(16))
    for mask in rng.integers(0, 2**16, 200).tolist():
        rows = {row for lane, row in enumerate(lanes.WOVEN) if mask >> lane & 1}
        assert rows_in(np.uint32(mask)) == sum(1 << row for row in rows)
