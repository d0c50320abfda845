"""Does the kernel of choices have exact levels, and decide on its own only what it is sure of?"""

import math

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import choice as kernels
from fastnoise_kernels.choice import block_levels, choose_sixteen, column_levels, margin, rooms
from fastnoise_kernels.elementary import INTEGER_FLOAT
from laws import costs_at_edges, drawn_law, end_of
from numba import njit

import fastnoise as fn
from fastnoise.bits import row_words
from fastnoise.laws.choice import choosing as choice
from fastnoise.laws.choice.law import ChoiceLaw, ChoiceReader, weight_tables
from fastnoise.rows import Rows

# --- levels ---------------------------------------------------------------------------------------


@njit
def by_column(columns, count, sizes, least):
    column_levels(columns, count, sizes, least)


@njit
def by_block(costs, count, sizes, columns, least):
    return block_levels(costs, 0, count, sizes, columns, least)


def kernel_levels(costs, sizes):
    """Levels of costs as both ways of the kernel have them, each with seven of 0 in a row.

    They agree, but for rows that one of them leaves to the other: of 2**52 steps or more.
    """
    rows, sizes, levels = np.zeros((-len(costs) % 16 + len(costs), 8)), tuple(sizes), []
    places = np.arange(len(costs)), np.arange(len(costs)) % 8
    rows[places] = costs
    for sixteen in rows.reshape(-1, 16, 8):
        columns, least, again, least_again = sixteen.T.ravel(), *np.zeros((3, 128))
        by_column(columns, 8, sizes, least)
        left = by_block(sixteen.ravel(), 8, sizes, again, least_again)
        found = columns.reshape(8, 16).T - (INTEGER_FLOAT - 1.0)
        for lane in range(16):
            huge = np.abs(sixteen[lane]).max() * sizes[0] >= 2.0**53 - 16
            assert (left >> lane & 1) <= huge
            if not left >> lane & 1:
                assert (columns[lane::16] == again[lane::16]).all()
                assert least[lane] == least_again[lane]
            assert least[lane] == columns[lane::16].min()
        levels.append(found)
    return np.concatenate(levels)[places].astype(int).tolist()


@pytest.mark.parametrize("gamma", [1e-9, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.7, 1.9999, 3e-5, 7e5])
def test_choice__kernel_levels_are_the_readers(sensitivity, gamma, rng):
    steps = drawn_law(fn.StaircaseChoice(1.0, sensitivity, gamma=gamma))
    costs, sizes = costs_at_edges(steps, rng), steps.sizes[:3]
    assert kernel_levels(costs, sizes) == [steps.level(cost) for cost in costs.tolist()]


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1, 1])
def test_choice__wrong_sizes_of_levels_are_seen(size, sign, rng):
    """Off by a rounding, or by half of a grid step."""
    steps = drawn_law(fn.StaircaseChoice(1.0, 0.7, gamma=0.3))
    costs, sizes = costs_at_edges(steps, rng), steps.sizes[:3].copy()
    sizes[size] += sign * (1.0 if size == 1 else 2.0**-52 * sizes[size])
    assert kernel_levels(costs, sizes) != [steps.level(cost) for cost in costs.tolist()]


# --- what is left undecided -----------------------------------------------------------------------


def decided(law, row, word, error):
    """What the kernel itself chooses for sixteen times the same row and word; None if undecided."""
    words = np.repeat(np.array([word & 0xFFFFFFFF, word >> 32], np.uint32), 16)
    room, costs = rooms(len(row)), np.tile(np.array(row, float), 16)
    unclear = choose_sixteen(costs, len(row), 0, words, 0, law, error, room)
    assert unclear in (0, 0xFFFF)
    assert len(set(room[4].tolist())) == 1
    assert (room[4][0] == -1) == bool(unclear)
    return None if unclear else int(room[4][0])


@pytest.mark.parametrize("count", [2, 8])
def test_choice__a_sum_that_is_too_near_is_left_undecided(count):
    """A goal on a running sum, that of the first half of equal weights: u = 1/2."""
    law, row, error = ChoiceLaw(1.0, 1.0, 1, 1).sizes, [0.0] * count, margin(count)
    for beyond, chosen in ((0, None), (1 << 23, None), (1 << 30, count // 2)):
        assert decided(law, row, (1 << 63) + beyond, error) == chosen
    assert decided(law, row, (1 << 63) - (1 << 30), error) == count // 2 - 1


@pytest.mark.parametrize("count", [3, 9])
@pytest.mark.parametrize("row", [-3, 0, 2])
def test_choice__rows_that_are_not_there_are_not_read(count, row, rng):
    """The first and the last one of ten stand in for those around them."""
    memory = rng.random(40 * count) * 30
    costs, room = memory[15 * count : 25 * count], rooms(count)
    words, law = np.zeros(32, np.uint32), ChoiceLaw(0.3, 1.0, 1, 1).sizes
    choose_sixteen(costs, count, row, words, 0, law, 0.0, room)
    there = [min(max(row + lane, 0), 9) for lane in range(16)]
    sums = room[0].reshape(count, 16)
    np.testing.assert_array_equal(sums, sums[:, [there.index(i) for i in there]])


CLOSE = [
    (0.3, [0.0, 7.0, 3.0], 1),
    (1.7, [2.0, 1.0, 5.0, 0.0, 0.0, 3.0, 9.0, 4.0], 4),
    (1e-3, [float(cost) for cost in range(40)], 17),
]


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_choice__no_room_for_errors_is_seen(epsilon, row, at):
    """Near where the choice changes nothing is decided; without a margin some is, and wrongly."""
    steps, wrong = ChoiceLaw(epsilon, 1.0, 1, 1), 0
    law, reader, end = steps.sizes, ChoiceReader(steps), end_of(steps, row, at)
    for word in range(end - 40 * 64, end + 40 * 64, 64):
        exact = reader.draw(iter([word] + [1 << 63] * 9), row)
        assert decided(law, row, word, margin(len(row))) is None
        wrong += decided(law, row, word, 0.0) != exact
    assert wrong > 5


@pytest.mark.parametrize("more", [0.0, 2.0**-49, 2.0**-42, 2.0**-30])
def test_choice__bulk_leaves_that_room(more):
    """Two candidates whose boundary is where the row's own word is, or a little further."""
    costs, out = np.array([[0.0, 1.0]]), np.zeros(1, np.int64)
    for row in range(40):
        word = next(row_words(KEY, row, 2))
        odds = math.log(word / (2**64 - word))
        if odds > 0.1:
            steps = ChoiceLaw(odds * (1 + more), 1.0, 1, 1)
            arguments = np.frombuffer(KEY, "<u4"), *Rows(row), costs.ravel(), 2
            unclear = kernels.choose(1, *arguments, steps.sizes, weight_tables(steps, 2), out)
            assert (unclear, out[0]) == ((1, -1) if more < 2.0**-35 else (0, 0))
            choice._choose_block(steps, KEY, Rows(row), costs, out)
            assert out[0] == ChoiceReader(steps).choose(KEY, row, costs[0].tolist())


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_choice__weights_that_are_off_by_more_than_the_room_are_seen(epsilon, row, at):
    """Just outside the margin the kernel decides, and rightly; with a rate that is off, wrongly."""
    steps, error = ChoiceLaw(epsilon, 1.0, 1, 1), margin(len(row))
    law, reader, end = steps.sizes, ChoiceReader(steps), end_of(steps, row, at)
    words = [end + sign * int(1.1 * error * 2**64) for sign in (-1, 1)]
    exact = [reader.draw(iter([word, 1 << 63]), row) for word in words]
    assert [decided(law, row, word, error) for word in words] == exact == [at, at + 1]
    laws = [law * [1, 1, 1, 1 + sign * 2.0**-24] for sign in (-1, 1)]
    off = [[decided(wrong, row, word, error) for word in words] for wrong in laws]
    assert [at, at] in off
    assert [at + 1, at + 1] in off
