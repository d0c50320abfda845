"""Is l2 noise exactly the ideal law's: are doubts where they must be, and decided by definition?"""

from fractions import Fraction
from math import ceil

import mpmath
import numpy as np
import pytest
from conftest import KEY
from crafted import schedule_of
from fastnoise_kernels import l2_lanes, l2_laplace, l2_places, layout
from fastnoise_kernels.ahead import nothing_ahead
from fastnoise_kernels.filler import Tile
from fastnoise_kernels.words import words_stored
from l2_kernels import ALL, kernel_with, lanes_of
from laws import l2_law
from scipy.stats import chi2

import fastnoise as fn
from fastnoise.arithmetic.intervals import Interval
from fastnoise.bits import compiled_blocks
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.law import Limits
from fastnoise.rows import Rows
from fastnoise.verify.fit import ALPHA

pytestmark = pytest.mark.long

DIMS = [2, 3, 4, 5, 16]


# --- intervals ------------------------------------------------------------------------------------


def holds(interval: Interval, value: mpmath.mpf) -> bool:
    whole = mpmath.mpf(2) ** interval.bits
    return interval.low / whole <= value <= interval.high / whole


@pytest.mark.parametrize("bits", [40, 96, 200])
def test_intervals__hold_what_real_numbers_give(bits, rng):
    """Operations of intervals around random numbers, and of points, which stay a few units wide."""
    with mpmath.workprec(4 * bits):
        for _ in range(200):
            scale = int(rng.integers(1, bits))
            value = Fraction(int.from_bytes(rng.bytes(40), "little") + 1, 1 << (320 - scale // 8))
            x = mpmath.mpf(value.numerator) / value.denominator
            exact = Interval.of(value, bits)
            wide = Interval(exact.low - 5, exact.high + 7, bits)
            for interval in (exact, wide):
                cosine, sine = interval.turned()
                assert holds(interval.root(), mpmath.sqrt(x))
                assert holds(interval.logarithm(), mpmath.log(x))
                assert holds(cosine, mpmath.cos(mpmath.pi / 2 * x))
                assert holds(sine, mpmath.sin(mpmath.pi / 2 * x))
                assert holds(interval * -interval, -x * x)
                assert holds(interval * Fraction(-3, 7) + 2, x * -3 / 7 + 2)
                assert holds(interval - wide, mpmath.mpf(0))
            assert exact.turned()[0].high - exact.turned()[0].low <= 6
            if exact.low > 1 << bits:
                assert exact.logarithm().high - exact.logarithm().low <= 4


def test_intervals__of_tiny_and_of_no_numbers():
    tiny = Interval(1, 1, 96).logarithm()
    with mpmath.workprec(300):
        assert holds(tiny, -96 * mpmath.log(2))
    assert Interval(0, 1, 96).logarithm().low < -(2**150)
    assert Interval(-5, -1, 40).root().low == 0
    assert (Interval.of(3, 40).floor(), Interval(-1, 0, 40).floor()) == (3, None)


def test_intervals__one_unit_less_is_seen(rng):
    """The same check on an interval that ends a little too early."""
    with mpmath.workprec(400):
        wrong = 0
        for _ in range(100):
            value = Fraction(int.from_bytes(rng.bytes(30), "little") + 1, 1 << 240)
            logarithm = Interval.of(value, 96).logarithm()
            short = Interval(logarithm.low, logarithm.low, 96)
            wrong += not holds(short, mpmath.log(mpmath.mpf(value.numerator) / value.denominator))
    assert wrong == 100


# --- floats and their errors ----------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize(("scale", "fine"), [(2.0**39, 0), (2.0**43, 0), (2.0**46, 3)])
def test_decided__is_right_where_floats_are_pressed_hard(dim, scale, fine, monkeypatch):
    """Cells so small that many coordinates are looked at again, or left: those that are not are
    the reader's."""
    law = l2_law(dim, scale, fine, monkeypatch)
    reader = L2Reader(law.tables, compiled_blocks)
    noise = law.noise(KEY, Rows(0), 1_500 // dim)
    exact = np.array([reader.noise(KEY, row) for row in range(len(noise))], np.float64)
    unknown = np.isnan(noise)
    assert 0.0005 < unknown.mean() < 0.9
    np.testing.assert_array_equal(noise[~unknown], exact[~unknown])


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_errors__that_are_bounded_too_low_are_seen(dim, monkeypatch):
    """The same on a kernel whose constants are a hundredth of what they should be."""
    bold = kernel_with(
        ("return 1.01 * (", "return 0.0101 * ("),
        (
            "return 1.6 * 2.0 ** -(self.place_bits + 1) + rounding + 2 *",
            "return 0.016 * 2.0 ** -(self.place_bits + 1) + 0.01 * rounding + 0.02 *",
        ),
        ("part * 1.6 + 5 * ROUND", "part * 0.016 + 0.05 * ROUND"),
        monkeypatch=monkeypatch,
    )
    law = l2_law(dim, 2.0**43, 0, monkeypatch)
    reader, count = L2Reader(law.tables, compiled_blocks), 3_000 // dim
    with monkeypatch.context() as patch:
        patch.setattr("fastnoise.laws.law.filler", lambda name: bold.fill_l2_laplace.address)
        noise = law.noise(KEY, Rows(0), count)
    exact = np.array([reader.noise(KEY, row) for row in range(count)], np.float64)
    unknown = np.isnan(noise)
    assert (noise[~unknown] != exact[~unknown]).any()


# --- extreme words --------------------------------------------------------------------------------

HARD = [0, 1, 2, 3, 7, 1000, 2**40, ALL // 2, ALL - 1, ALL - 2, ALL - 3, ALL - 1000]


def hard_words(rng, count: int, width: int) -> np.ndarray:
    """Words of rows whose uniform numbers are often next to 0 or 1."""
    words = rng.integers(0, 2**64, (count, width), np.uint64)
    hard = np.array(HARD, np.uint64)[rng.integers(0, len(HARD), (count, width))]
    hard, low = hard << np.uint64(layout.SPARE_BITS), words & l2_lanes.SPARE
    return np.where(rng.random((count, width)) < 0.4, hard | low, words)


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 16])
@pytest.mark.parametrize("scale", [0.3, 30.0, 2.0**20, 2.0**40, 2.0**44])
def test_extreme_words__are_right_or_in_doubt(dim, scale, rng, monkeypatch):
    """From noise that is next to always 0 to that of many bits."""
    law, width = l2_law(dim, scale, 0, monkeypatch).tables, layout.l2_words(dim)
    fill = {2: l2_laplace.planes, 3: l2_laplace.spaces}.get(dim, l2_laplace.normal_groups)
    sizes = l2_laplace.cell_sizes(law), l2_laplace.radius_sizes(law)
    ids, tops, seen = np.empty(0, np.int64), np.empty(0, np.uint32), 0
    stored = words_stored.py_func(2 * width)
    for _ in range(12):
        rows = hard_words(rng, 16, width)
        noise, room = np.empty(32 * dim), np.empty(80 + 80 * (dim + 1), np.uint64)
        words, ahead = lanes_of(rows), nothing_ahead()
        words = np.append(words, np.zeros(16 * stored - words.size, np.uint32))
        given = 0, ids, tops, 0, 16, words, stored, room, ahead, noise
        fill(Tile(schedule_of(KEY), law, *given), *sizes)
        for row, words in enumerate(rows.tolist()):
            drawn = noise.reshape(-1, dim)[row]
            exact = L2Reader(law, blocks_of(words, row)).noise(KEY, row)
            assert all(np.isnan(a) or a == b for a, b in zip(drawn, exact, strict=True))
            seen += int(np.isfinite(drawn).sum())
    assert seen > 100 or scale > 2.0**40


def blocks_of(words: list[int], row: int):
    """Blocks whose row `row` has these words for its own; all others are as ever."""
    halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]

    def blocks(key: bytes, places) -> list[list[int]]:
        found = compiled_blocks(key, places)
        for i, place in enumerate(places):
            index, address = divmod(place, 1 << layout.ADDRESS_BITS)
            if key == KEY and address == row and index < layout.EXTRA_INDEX:
                some = halves[4 * index :][:4]
                found[i] = some + [0] * (4 - len(some))
        return found

    return blocks


# --- cells and places -----------------------------------------------------------------------------


def drawn_and_exact(law, count: int) -> tuple[np.ndarray, np.ndarray]:
    """What the kernel says of the first rows, and what the reader says."""
    reader = L2Reader(law.tables, compiled_blocks)
    exact = np.array([reader.noise(KEY, row) for row in range(count)], np.float64)
    return law.noise(KEY, Rows(0), count), exact


@pytest.mark.parametrize("dim", [2, 3, 4, 7])
@pytest.mark.parametrize("fine", [1, 5, 26, 27, 30])
def test_places__are_the_readers(dim, fine, monkeypatch):
    """Spare bits, and halves of words that coordinates share; in order and by ids."""
    law = l2_law(dim, 2.0 ** (fine + 15), fine, monkeypatch)
    noise, exact = drawn_and_exact(law, 40)
    known = ~np.isnan(noise)
    assert known.mean() > 0.9
    np.testing.assert_array_equal(noise[known], exact[known])
    assert len(set((exact % 2**fine).reshape(-1).tolist())) > min(2**fine, 30) * 0.9


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_undecided__are_perturbed_as_the_reader_says(dim, monkeypatch):
    """Steep cells: coins are too high in many rows, and some places are drawn again."""
    law = l2_law(dim, 64.0, 3, monkeypatch)
    reader, count, lead = L2Reader(law.tables, compiled_blocks), 120, 3
    exact = np.array([reader.noise(KEY, 7 + row) for row in range(count)], np.float64)
    data, out = np.linspace(-9.0, 9.0, count * dim - lead - 1), np.empty(count * dim - lead - 1)
    law.perturb(KEY, Rows(7), lead, data, out, Limits())
    unknown = np.isnan(law.noise(KEY, Rows(7), count)).all(axis=1)
    assert 0 < unknown.sum() < count
    expected = np.floor(data + 0.5) + exact.reshape(-1)[lead:-1]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dim", [2, 3, 5, 40])
def test_coins__are_decided_as_the_reader_does(dim, monkeypatch):
    """Steep cells of many steps: kernels draw many places again, and leave next to none."""
    law = l2_law(dim, 2.0**14 * dim**0.5, 13, monkeypatch)
    reader, count = L2Reader(law.tables, compiled_blocks), 160
    noise, exact = drawn_and_exact(law, count)
    known = ~np.isnan(noise)
    assert known.mean() > 0.98
    np.testing.assert_array_equal(noise[known], exact[known])
    monkeypatch.setattr(L2Reader, "_kept", lambda self, *arguments: True)
    first = np.array([reader.noise(KEY, row) for row in range(count)], np.float64)
    assert 0.1 < (first != exact).any(axis=1).mean() < 0.6


def test_coins__exponentials_are_as_near_as_margins_say():
    with mpmath.workprec(100):
        for x in [0.0, 2.0**-60, 1e-9, *np.geomspace(1e-6, 60.0, 400).tolist()]:
            error = abs(l2_places.exp_minus(x) - mpmath.exp(-mpmath.mpf(x)))
            assert error < l2_places.FLAT / 4


def test_coins__nothing_is_kept_of_a_row_in_doubt(monkeypatch):
    """Other coordinates have first places, which the reader may have to draw again."""
    law = l2_law(2, 2.0**14, 13, monkeypatch).tables
    for noise, known in (([1.0, 2.0], True), ([1.0, np.nan], False)):
        assert l2_places.keep_place(schedule_of(KEY), law, 0.0, np.array(noise)) == known


def test_coins__that_are_decided_too_soon_are_seen(monkeypatch):
    """The same on cells of four steps, and a kernel that knows no margin."""
    law = l2_law(5, 16.0, 2, monkeypatch)
    bold = kernel_with(
        ("error = margin(len(noise), size, scale)", "error = 0.0"),
        monkeypatch=monkeypatch,
        module=l2_places,
    )
    careful, exact = drawn_and_exact(law, 600)
    known = ~np.isnan(careful)
    np.testing.assert_array_equal(careful[known], exact[known])
    with monkeypatch.context() as patch:
        patch.setattr("fastnoise.laws.law.filler", lambda name: bold.fill_l2_laplace.address)
        noise = law.noise(KEY, Rows(0), len(exact))
    assert 0 < (noise != exact).any(axis=1).mean() < 0.5


def test_undecided__one_coordinate_or_the_whole_row(monkeypatch):
    law = l2_law(5, 2.0**42, 0, monkeypatch)
    reader = L2Reader(law.tables, compiled_blocks)
    noise = law.noise(KEY, Rows(0), 200)
    row = int(np.flatnonzero(np.isnan(noise).sum(axis=1) == 1)[0])
    some = np.flatnonzero(np.isnan(noise[row])).tolist()
    exact = reader.noise(KEY, row)
    assert law._undecided_noise(some, KEY, row, noise[row]) == [exact[i] for i in some]
    everything = np.full(5, np.nan)
    assert law._undecided_noise(list(range(5)), KEY, row, everything) == exact


def differs(counts: np.ndarray, others: np.ndarray) -> bool:
    """Pearson's test that two samples are of one law, at ALPHA; cells of few draws together."""
    order = np.argsort(counts + others)[::-1]
    many = order[(counts + others)[order] >= 60]
    rest = np.setdiff1d(order, many)
    table = np.array([[*c[many], c[rest].sum()] for c in (counts, others)], np.float64)
    table = table[:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return statistic > chi2.isf(ALPHA, table.shape[1] - 1)


def cells_of(noise: np.ndarray, size: int = 2) -> np.ndarray:
    """How often each cell of `size` steps near the middle is hit, in two dimensions."""
    places = np.clip((noise // size + 24).astype(np.int64), 0, 47)
    return np.bincount(places[:, 0] * 48 + places[:, 1], minlength=48 * 48)


STEEP = 8.0  # scale in steps, on cells of 16: the density falls by a factor e**2.8 across one


def test_steep_cells__have_the_law_of_none(monkeypatch):
    """Cells wider than the noise, so that most places are not kept: the same law as without.

    The reference is a million draws of the rounded law itself.
    """
    plain, steep = l2_law(2, STEEP, 0, monkeypatch), l2_law(2, STEEP, 4, monkeypatch)
    reader = L2Reader(steep.tables, compiled_blocks)
    drawn = np.array([reader.noise(KEY, row) for row in range(12_000)])
    reference = cells_of(plain.noise(KEY, Rows(2**50), 1_000_000))
    assert not differs(cells_of(drawn), reference)
    monkeypatch.setattr(L2Reader, "_kept", lambda self, *arguments: True)
    uniform = np.array([reader.noise(KEY, row) for row in range(12_000)])
    assert differs(cells_of(uniform), reference)


@pytest.mark.parametrize("dim", [2, 3, 16, 128, 1000])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("users", [1, 65_536])
def test_laws__leave_few_rows_in_doubt(dim, epsilon, users):
    """The grids of mechanisms: a coordinate in 100,000 or fewer, by the bounds and as drawn."""
    mechanism = (fn.L2Laplace if users == 1 else fn.MultiUserLaplace)(epsilon, dim)
    law = mechanism._law(mechanism.grid)
    fine, scale = int(law.tables[layout.FINE_BITS]), L2Reader(law.tables).scale
    assert fine <= layout.SPARE_BITS + layout.BYTE_BITS
    falls = Fraction(2**fine) * Fraction(ceil(dim**0.5 * 1000), 1000) / scale
    assert fine == 0 or falls < Fraction(1, 2**9)
    noise = law.noise(KEY, Rows(0), 400_000 // dim)
    assert np.isnan(noise).mean() < max(1e-5 * dim / 16, 1e-4)
