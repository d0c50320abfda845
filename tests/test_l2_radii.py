"""Are radii of l2 noise known as well as they are said to be, and drawn again where they must?"""

import mpmath
import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import l2_lanes, lanes, layout
from fastnoise_kernels.l2_laplace import rows_in, woven_lane
from llvmlite import ir
from numba import njit, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from test_l2_reader import ALL, kernel_with, l2_law, lanes_of

from fastnoise.engine import compiled_blocks, vector_noise
from fastnoise.l2_reader import L2Reader
from fastnoise.rows import Rows

# --- normal radii ---------------------------------------------------------------------------------


@intrinsic
def sixteen_radii_and_inverses(typing, words, radii):
    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        word = lanes.load_word(builder, data(0), ir.Constant(lanes.I64, 0))
        drawn = l2_lanes.normal_radius(word, l2_lanes.SHORT.here(context))
        for i, value in enumerate(drawn):
            lanes.store(value, data(1), lanes.LANES * i)
        return context.get_dummy_value()

    return types.void(words, radii), codegen


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
    """The same beside what is not known of a uniform number alone, and beside half of all."""
    if lanes.has_avx512(cpu_target.target_context):
        assert worst_radius(l2_lanes.SHORT._replace(off=0.0).unknown, rng) > 1.0
    assert worst_radius(l2_lanes.SHORT.unknown / 2, rng) > 1.0


# --- what fits without a logarithm ----------------------------------------------------------------


def fall(t: mpmath.mpf) -> mpmath.mpf:
    """f of `chi`."""
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


def wrong_rows(dim: int, kernel, monkeypatch) -> int:
    """Of 1,500, those that are not as the reader has them."""
    release = l2_law(dim, 300.0, 0, monkeypatch)
    reader = L2Reader(release.law, compiled_blocks)
    with monkeypatch.context() as patch:
        if kernel:
            patch.setattr("fastnoise.engine._filler", lambda name: kernel.fill_l2_laplace.address)
        noise = vector_noise(release, KEY, Rows(0), 1_500)
    exact = np.array([reader.noise(KEY, row) for row in range(1_500)], np.float64)
    return int((noise != exact).any(axis=1).sum())


@pytest.mark.parametrize("dim", [4, 9])
def test_quick_fits__that_are_too_many_are_seen(dim, monkeypatch):
    """Also a kernel that takes what is above -f / 20 for a fit: some radii should not be there."""
    bold = kernel_with(
        ("size.times_plus(27 / 16, 0.75)", "size.times_plus(27 / 320, 0.0375)"),
        monkeypatch=monkeypatch,
    )
    assert wrong_rows(dim, None, monkeypatch) == 0
    assert wrong_rows(dim, bold, monkeypatch) > 2


# --- woven rows -----------------------------------------------------------------------------------


def test_woven__masks_and_lanes_are_put_in_order(rng):
    assert [woven_lane(row) for row in lanes.WOVEN] == list(range(16))
    for mask in rng.integers(0, 2**16, 200).tolist():
        rows = {row for lane, row in enumerate(lanes.WOVEN) if mask >> lane & 1}
        assert rows_in(np.uint32(mask)) == sum(1 << row for row in rows)
