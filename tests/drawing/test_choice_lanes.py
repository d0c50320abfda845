"""Do choices in 32 bits have exact levels, and decide only what they are sure of?"""

import math

import numpy as np
import pytest
from conftest import KEY, needs_avx512
from fastnoise_kernels import layout
from fastnoise_kernels.choice_lanes import (
    UNIT,
    Sixteen,
    narrow_margin,
    three_digit_choices,
    two_digit_choices,
)
from fastnoise_kernels.intrinsics import intrinsic
from interpreters import run
from laws import costs_at_edges, drawn_law, end_of
from numba import boolean, int64, njit

import fastnoise as fn
from fastnoise.bits import row_words
from fastnoise.laws.choice import choosing as choice
from fastnoise.laws.choice.law import ChoiceLaw, ChoiceReader, weight_tables
from fastnoise.rows import Rows

pytestmark = needs_avx512
STEPS = layout.LEAST_STEPS


def steps_of(epsilon):
    """Levels as wide as 1, the first from 1/2 on."""
    return ChoiceLaw(epsilon, 1 / STEPS, STEPS, STEPS // 2)


def sizes_of(steps):
    scale, offset, per_half = steps.sizes[:3].tolist()
    return scale / UNIT, offset / UNIT, per_half * UNIT


# --- levels ---------------------------------------------------------------------------------------


@intrinsic
def fill_levels(here, costs, count: int64, sizes, columns) -> boolean:
    return Sixteen(here, costs, here.number(0), count, columns).fill_levels(sizes)


@njit
def levels_are_right(costs, count, sizes, columns):
    return fill_levels(costs, count, sizes, columns)


def narrow_levels(rows, sizes):
    """Of sixteen rows; None if they may be wrong."""
    count = rows.shape[1]
    columns = np.zeros((max(16, count), 16), np.int32)
    memory = np.append(rows.ravel(), np.zeros(16))
    right = levels_are_right(memory, count, sizes, columns.ravel().view(np.uint32))
    return columns[:count].T + 1 if right else None


def levels_differ(steps, sizes, rng):
    """Whether levels at edges are not the reader's, as far as they are said to be right."""
    with np.errstate(over="ignore"):
        costs = costs_at_edges(steps, rng)
    fit = costs[np.abs(costs) < (2.0**50 - 1) * steps.grid]
    assert len(fit) > 0.6 * len(costs)
    sixteens = np.resize(fit, (-(-len(fit) // 48), 16, 3))
    found = [narrow_levels(rows, sizes) for rows in sixteens]
    assert all(levels is not None for levels in found)
    exact = [steps.level(cost) for cost in sixteens.ravel().tolist()]
    return np.ravel(found).tolist() != exact


@pytest.mark.parametrize("gamma", [1e-9, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.7, 1.9999, 3e-5, 7e5, 1e-270, 1e270])
def test_narrow__levels_are_the_readers(sensitivity, gamma, rng):
    steps = drawn_law(fn.StaircaseChoice(1.0, sensitivity, gamma=gamma))
    assert not levels_differ(steps, sizes_of(steps), rng)


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1, 1])
def test_narrow__wrong_sizes_of_levels_are_seen(size, sign, rng):
    """Off by some roundings, or by half of a grid step."""
    steps = drawn_law(fn.StaircaseChoice(1.0, 0.7, gamma=0.3))
    sizes = np.array(sizes_of(steps))
    sizes[size] += sign * (1.0 / UNIT if size == 1 else 2.0**-50 * sizes[size])
    assert levels_differ(steps, tuple(sizes), rng)


@pytest.mark.parametrize("gamma", [0.3, 1.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.7])
def test_narrow__levels_at_the_end_are_right_or_refused(sensitivity, gamma):
    """Where the largest sizes are that have levels of 32 bits: half a step further they are not."""
    steps = drawn_law(fn.StaircaseChoice(1.0, sensitivity, gamma=gamma))
    for below in (-2.0, -1.0, -0.5, -0.25, 0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 1.0, 1.5, 2.0):
        for sign in (-1.0, 1.0):
            cost = sign * (2.0**50 - below) * steps.grid
            found = narrow_levels(np.full((16, 2), cost), sizes_of(steps))
            if below > 0.0 or (below, sign) == (0.0, -1.0):
                assert set(found.ravel().tolist()) == {steps.level(cost)}
            else:
                assert found is None


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 31, 32, 33, 255])
def test_narrow__every_level_is_in_its_place(count, rng):
    steps = steps_of(1.0)
    costs = rng.integers(-(2**30), 2**30, (16, count)) + 0.25
    found = narrow_levels(costs, sizes_of(steps))
    assert found.tolist() == [[steps.level(cost) for cost in row] for row in costs.tolist()]


@pytest.mark.parametrize("count", [1, 5, 16, 40])
@pytest.mark.parametrize("cost", [math.nan, -math.nan, math.inf, -math.inf, 2.0**31, -1e300])
def test_narrow__a_cost_that_is_too_large_or_unfit_is_seen(count, cost, rng):
    for _ in range(20):
        costs = rng.normal(size=(16, count))
        costs[rng.integers(16), rng.integers(count)] = cost
        assert narrow_levels(costs, sizes_of(steps_of(1.0))) is None


# --- choices --------------------------------------------------------------------------------------


@njit
def by_two(costs, count, words, sizes, tables, margin, sums, choices):
    return two_digit_choices(costs, 0, count, words, 0, sizes, tables, margin, sums, choices)


@njit
def by_three(costs, count, words, sizes, tables, margin, sums, choices):
    return three_digit_choices(costs, 0, count, words, 0, sizes, tables, margin, sums, choices)


def narrow(steps, rows, words, tables=None, margin=None):
    """Choices of sixteen rows, -1 where they are not sure; and the running sums of weights."""
    count = rows.shape[1]
    tables = weight_tables(steps, count) if tables is None else tables
    digits = len(tables) // layout.LEVEL_BASE
    sums, choices = np.zeros((max(16, count), 16), np.uint32), np.zeros(16, np.int64)
    margin = narrow_margin(digits, count) if margin is None else margin
    memory = np.append(rows.ravel(), np.zeros(16))
    halves = np.concatenate([words & 0xFFFFFFFF, words >> 32]).astype(np.uint32)
    choose = {2: by_two, 3: by_three}[digits]
    unsure = choose(memory, count, halves, sizes_of(steps), tables, margin, sums.ravel(), choices)
    choices[[bool(unsure >> lane & 1) for lane in range(16)]] = -1
    return choices, sums[:count].T


EPSILONS = [7.5e-4, 0.003, 0.018, 0.02, 0.5, 4.0, 300.0, 1e5]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("count", [1, 2, 16, 33, 255])
def test_narrow__choices_are_the_readers(epsilon, count, rng):
    steps = steps_of(epsilon)
    reader, unsure = ChoiceReader(steps), 0
    for spread in (1.0, 2.0 / epsilon, 40.0 / epsilon):
        rows = rng.normal(size=(16, count)) * min(max(spread, 3.0), 2.0**29)
        words = rng.integers(2**64, size=16, dtype=np.uint64)
        chosen, _ = narrow(steps, rows, words)
        unsure += (chosen < 0).sum()
        for row, word, found in zip(rows.tolist(), words.tolist(), chosen.tolist(), strict=True):
            assert found in (-1, reader.draw(iter([word, 1 << 63, 1 << 63]), row))
    assert unsure <= 2


@pytest.mark.parametrize("epsilon", [0.01, 1.0])
@pytest.mark.parametrize("count", [2, 32, 255])
def test_narrow__sums_are_near(epsilon, count, rng):
    """Sums as parts of their total, beside exact ones: within half of the margin for both."""
    steps = steps_of(epsilon)
    rows = np.floor(rng.random((16, count)) ** 3 * 20 / epsilon) + 0.5
    tables = weight_tables(steps, count)
    _, sums = narrow(steps, rows, np.zeros(16, np.uint64))
    parts, units = narrow_margin(len(tables) // layout.LEVEL_BASE, count)
    for row, drawn in zip(rows.tolist(), sums.tolist(), strict=True):
        levels = np.array([steps.level(cost) for cost in row])
        exact = np.cumsum(np.exp(-epsilon * (levels - levels.min())))
        off = np.abs(drawn - exact / exact[-1] * drawn[-1])
        assert off.max() <= parts * 2.0**-32 * drawn[-1] + units - 3


def test_narrow__the_largest_sum_fits():
    """And a goal in it, with its margin."""
    for count in range(1, layout.MOST_CANDIDATES + 1):
        parts, units = narrow_margin(max(layout.LEVEL_DIGITS), count)
        largest = weight_tables(steps_of(1.0), count)[0]
        total = count * int(largest)
        assert total + (total * parts >> 32) + units < 2**32
        assert largest > 0.99 * 2**32 / count


def test_narrow__levels_of_too_many_digits_weigh_nothing():
    for epsilon in EPSILONS:
        for count in (1, 32, 255):
            tables = weight_tables(steps_of(epsilon), count).reshape(-1, layout.LEVEL_BASE)
            assert len(tables) in layout.LEVEL_DIGITS
            assert np.prod(tables[:, -1]) < 0.5
    assert weight_tables(steps_of(4e-4), 255).size == 0
    assert weight_tables(steps_of(1.0), layout.MOST_CANDIDATES + 1).size == 0
    assert weight_tables(ChoiceLaw(1.0, 1.0, STEPS - 1, 1), 32).size == 0


CLOSE = [
    (0.7, [0.0, 7.0, 3.0], 1),
    (0.05, [2.0, 1.0, 5.0, 0.0, 0.0, 3.0, 9.0, 4.0], 4),
    (1e-3, [float(cost) for cost in range(31)], 13),
]


def around(steps, row, at, off):
    """Words that are off by parts of 1 from where the choice changes, `at` or to the next."""
    end = end_of(steps, row, at)
    return np.array([end + int(part * 2**64) for part in off], np.uint64)


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_narrow__no_room_for_errors_is_seen(epsilon, row, at):
    """Near where the choice changes nothing is decided; without a margin some is, and wrongly."""
    steps, rows = steps_of(epsilon), np.tile(row, (16, 1))
    words = around(steps, row, at, np.linspace(-1, 1, 16) * 2.0**-32)
    exact = [ChoiceReader(steps).draw(iter([word, 1 << 63]), row) for word in words.tolist()]
    assert set(narrow(steps, rows, words)[0]) == {-1}
    assert narrow(steps, rows, words, margin=(0, 0))[0].tolist() != exact


def test_narrow__margin():
    """What its derivation says: each part of it is needed, and few would show in a test."""
    for count in (1, 32, 255):
        assert narrow_margin(2, count) == (3 * 2**7 + 8, count + 4)
        assert narrow_margin(3, count) == (5 * 2**7 + 8, count + 4)


def test_narrow__weights_that_are_rounded_down_are_seen():
    """Many that lose nearly a unit each: the margin has room for that; without, some are wrong."""
    steps, row = steps_of(1.0), [0.0] + [16.0] * 254
    rows, (parts, units) = np.tile(row, (16, 1)), narrow_margin(2, len(row))
    unit = 1 / int(narrow(steps, rows, np.zeros(16, np.uint64))[1][0, -1])
    words = around(steps, row, 127, np.linspace(-150, 150, 16) * unit)
    exact = [ChoiceReader(steps).draw(iter([word, 1 << 63]), row) for word in words.tolist()]
    assert set(narrow(steps, rows, words)[0]) == {-1}
    for less in (units, units - 4):
        chosen = narrow(steps, rows, words, margin=(parts, units - less))[0].tolist()
        assert any(found not in (-1, right) for found, right in zip(chosen, exact, strict=True))


@pytest.mark.parametrize("row", [[40.0, 0.0], [24.0, 0.0, 0.0]])
def test_narrow__a_goal_near_zero_is_left_undecided(row):
    """There is no sum below the first one, however small that is."""
    steps, words = steps_of(1.0), np.zeros(16, np.uint64)
    assert ChoiceReader(steps).draw(iter([0, 0, 0]), row) == 0
    assert set(narrow(steps, np.tile(row, (16, 1)), words)[0]) == {-1}


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_narrow__weights_that_are_off_by_more_than_the_room_are_seen(epsilon, row, at):
    """Just outside the margin it decides, and rightly; with weights that are off, wrongly."""
    steps, rows = steps_of(epsilon), np.tile(row, (16, 1))
    tables = weight_tables(steps, len(row))
    parts, units = narrow_margin(len(tables) // layout.LEVEL_BASE, len(row))
    total = int(narrow(steps, rows, np.zeros(16, np.uint64))[1][0, -1])
    room = parts * 2.0**-32 + (units + 3) / total
    words = around(steps, row, at, [-2 * room] * 8 + [2 * room] * 8)
    assert narrow(steps, rows, words)[0].tolist() == [at] * 8 + [at + 1] * 8
    off = []
    for sign in (-1, 1):
        wrong = tables.copy()
        wrong[int(row[0])] *= 1 + sign * 400 * room
        off.append(narrow(steps, rows, words, wrong)[0].tolist())
    assert [at] * 16 in off
    assert [at + 1] * 16 in off


@pytest.mark.parametrize("count", [2, 32, 255])
def test_narrow__few_rows_are_left_undecided(count, rng):
    steps, unsure, groups = steps_of(1.0), 0, 400
    for _ in range(groups):
        words = rng.integers(2**64, size=16, dtype=np.uint64)
        chosen, _ = narrow(steps, rng.random((16, count)) * 10, words)
        unsure += (chosen < 0).sum()
    assert unsure <= 16 * groups * {2: 2.0**-20, 32: 2.0**-15, 255: 2.0**-9}[count] + 3


# --- in bulk --------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0.0, 2.0**-50, 2.0**-40, 2.0**-32, 2.0**-24, 2.0**-16])
def test_narrow__what_is_left_undecided_is_decided(more):
    """Rows of two candidates whose boundary is where the word of one is, or a little further."""
    costs, out = np.tile([0.0, 1.0], (40, 1)), np.zeros(40, np.int64)
    words, tried = [next(row_words(KEY, row, 2)) for row in range(40)], 0
    for word in words:
        odds = math.log(word / (2**64 - word))
        for epsilon in (odds * (1 + more), odds * (1 - more)):
            if epsilon > 0.1:
                steps, tried = steps_of(epsilon), tried + 1
                choice._choose_block(steps, KEY, Rows(0), costs, out)
                reader = ChoiceReader(steps)
                assert out.tolist() == [reader.choose(KEY, row, [0.0, 1.0]) for row in range(40)]
    assert tried > 20


def test_narrow__tables_are_no_error_of_floats():
    """They underflow, which is nobody's business."""
    with np.errstate(all="raise"):
        for epsilon in (1e-3, 0.3, 1.0, 1e5):
            fn.StaircaseChoice(epsilon).choose(np.ones((40, 7)))


def test_narrow__nothing_is_read_around_the_costs():
    """They end, or start, where memory does: reading on would end the process."""
    found = run(
        """
        import ctypes, mmap
        import numpy as np
        import fastnoise as fn

        size, page, rng = 1 << 20, mmap.PAGESIZE, np.random.default_rng(1)
        memory = mmap.mmap(-1, size + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        assert protect(start, page, 0) == protect(start + page + size, page, 0) == 0
        law, stream, tried = fn.StaircaseChoice(0.5), fn.Stream.from_key(bytes(32)), 0
        for count in (1, 2, 3, 7, 15, 16, 17, 31, 33):
            for rows in (15, 16, 17, 31, 32, 48):
                sound, n = rng.random((rows + 16, count)) * 9, rows * count
                for place in (page, page + size - 8 * n):
                    costs = np.frombuffer(memory, np.float64, n, place).reshape(rows, count)
                    costs[:] = sound[:rows]
                    for first in (0, 5):
                        chosen = law.choose(costs, stream=stream.at(first))
                        expected = law.choose(sound, stream=stream.at(first))[:rows]
                        assert (chosen == expected).all()
                        tried += 1
        print(tried)
        """
    )
    assert found == "216"
