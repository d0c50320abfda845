"""Does StaircaseChoice choose by the law, exactly, whatever the rows, and say what it refuses?"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import choice as kernels
from fastnoise_kernels.choice import block_levels, choose_sixteen, column_levels, rooms
from fastnoise_kernels.elementary import INTEGER_FLOAT
from numba import njit
from reference import ROWS, near

import fastnoise as fn
from fastnoise import choice
from fastnoise.choice import ChoiceReader, Steps, law_of
from fastnoise.exact import exp_bounds
from fastnoise.reader import row_words
from fastnoise.rows import Rows
from fastnoise.verify.fit import rejected

EPSILONS = [1e-6, 0.01, 0.5, 1.0, 5.0, 50.0]
SIZES = [1, 2, 7, 8, 9, 33]


def key_of(mechanism, stream):
    return stream._noise_key(f"{mechanism!r} on grid {mechanism.grid}")


@pytest.mark.parametrize("row", [row for row in ROWS if row["mechanism"] == "abstract_staircase"])
def test_choice__reference_row(row):
    given = row["params"]
    law = fn.StaircaseChoice(given["eps"], given["Delta"], gamma=given["gamma"])
    assert law.probabilities(given["costs"])[given["i"]] == near(row["value"], 1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("count", SIZES)
def test_choice__kernel_is_reader(epsilon, count, stream, rng):
    law = fn.StaircaseChoice(epsilon, 0.7)
    reader, key = ChoiceReader(law._steps), key_of(law, stream)
    for first, spread in ((0, 5.0), (2**40 - 20, 2.0 / epsilon)):
        costs = rng.normal(size=(40, count)) * spread
        fast = law.choose(costs, stream=stream.at(first))
        assert fast.tolist() == [
            reader.choose(key, first + i, row) for i, row in enumerate(costs.tolist())
        ]


EXTREMES = [1e-300, 1e-10, 1e-6, 1.0, 700.0, 1e3, 1.7e308]


@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize("count", [3, 8, 21])
def test_choice__kernel_is_reader_of_extreme_costs(epsilon, count, stream, rng, monkeypatch):
    """Equal ones, some a level apart, of 2**52 steps and more, just below; and a mixture."""
    law = fn.StaircaseChoice(epsilon, 0.7)
    level, end = law.released_sensitivity, 2.0**52 * law.grid
    kinds = [0.0, level, 3 * level, end, -end, end - law.grid, end / 2, 9 * end, 1e308, 1 / epsilon]
    equal = np.repeat(np.array(kinds)[:, None], count, axis=1)
    near_equal = equal + rng.integers(0, 3, equal.shape) * level * (np.abs(equal) < end)
    costs = np.concatenate([equal, near_equal, rng.choice(kinds, (30, count))])
    reader, key = ChoiceReader(law._steps), key_of(law, stream)
    expected = [reader.choose(key, i, row) for i, row in enumerate(costs.tolist())]
    monkeypatch.delattr(ChoiceReader, "choose")  # the kernel decides on its own
    assert law.choose(costs, stream=stream.at(0)).tolist() == expected


def test_choice__rows_slices_strides_and_threads(stream, rng, threads, monkeypatch):
    law = fn.StaircaseChoice(0.3)
    costs = rng.random((40_000, 5)) * 9
    threads(1)
    whole = law.choose(costs, stream=stream.at(0))
    threads(2)
    assert (law.choose(costs, stream=stream.at(0)) == whole).all()
    assert (law.choose(costs[1000:1234], stream=stream.at(1000)) == whole[1000:1234]).all()
    ids = rng.permutation(40_000)[:777]
    assert (law.choose(costs[ids], stream=stream, rows=ids) == whole[ids]).all()
    monkeypatch.setattr(choice, "CHUNK", 37)
    assert (law.choose(np.asfortranarray(costs), stream=stream.at(0)) == whole).all()
    assert (law.choose(costs[:, ::-1][:, ::-1], stream=stream.at(0)) == whole).all()
    shaped = law.choose(costs.reshape(50, 800, 5).swapaxes(0, 1), stream=stream.at(0))
    assert (shaped.T.ravel() != whole).any()  # the rows of a transpose are other rows
    same = law.choose(costs.reshape(50, 800, 5), stream=stream.at(0))
    assert (same.ravel() == whole).all()


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_choice__fits(epsilon, gamma, stream, rng):
    law = fn.StaircaseChoice(epsilon, 2.0, gamma=gamma)
    costs = rng.random(6) * min(8.0 / epsilon, 1e6)
    drawn = law.choose(np.tile(costs, (200_000, 1)), stream=stream)
    expected = law.probabilities(costs)
    assert not rejected(np.bincount(drawn, minlength=6), expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_choice__five_percent_more_epsilon_is_rejected(epsilon, stream):
    law, wrong = fn.StaircaseChoice(epsilon), fn.StaircaseChoice(1.05 * epsilon, gamma=0.5)
    costs = np.arange(6) * max(1.0, round(0.5 / epsilon)) if epsilon < 2 else np.arange(6) % 2
    drawn = wrong.choose(np.tile(costs, (4_000_000, 1)), stream=stream)
    assert rejected(np.bincount(drawn, minlength=6), law.probabilities(costs))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_choice__neighbours_differ_by_at_most_two_epsilon(epsilon, rng):
    law = fn.StaircaseChoice(epsilon, 0.3)
    for _ in range(500):
        costs = rng.normal(size=7)
        moved = costs + rng.choice([-1.0, 1.0], 7) * 0.3 * rng.choice([1.0, rng.random()], 7)
        ratio = law.probabilities(costs) / law.probabilities(moved)
        assert ratio.max() <= math.exp(2 * epsilon) * (1 + 1e-12)


def test_choice__levels_of_neighbours_are_one_apart_at_most(rng):
    """In exact arithmetic, at every place where rounding could make it two."""
    for sensitivity, gamma in itertools.product((1.0, 0.1, 1e-3, 7e5), (0.0, 0.25, 1.0)):
        law = fn.StaircaseChoice(1.0, sensitivity, gamma=gamma)
        steps, exact = law._steps, law.grid
        edges = (steps.radius + steps.steps * np.arange(50)) * exact
        for cost in np.concatenate([edges, edges - exact / 2, np.nextafter(edges, 0)]):
            low, high = sorted((steps.level(cost), steps.level(cost + sensitivity)))
            assert high - low <= 1
            assert abs(steps.level(-cost) - steps.level(sensitivity - cost)) <= 1


def test_choice__kernel_levels_are_exact(rng):
    """Levels show in the choice at epsilon 50, where the lowest one always wins."""
    law = fn.StaircaseChoice(50.0, 0.1)
    steps = law._steps
    edge = (steps.radius + 3 * steps.steps) * law.grid
    for cost in (edge, np.nextafter(edge, 0), edge - law.grid / 2, edge - 0.51 * law.grid):
        level = steps.level(cost)
        other = (steps.radius + (level - 0.5) * steps.steps) * law.grid  # the middle of that level
        assert steps.level(other) == level
        below = (steps.radius + (level - 1.5) * steps.steps) * law.grid
        chosen = law.choose(np.tile([cost, other], (4000, 1)))
        assert 0.4 < chosen.mean() < 0.6
        assert (law.choose(np.tile([cost, below], (4000, 1))) == 1).all()


@njit
def by_column(columns, count, sizes, least):
    column_levels(columns, count, sizes, least)


@njit
def by_block(costs, count, sizes, columns, least):
    block_levels(costs, 0, count, sizes, columns, least)


def kernel_levels(costs, sizes):
    """Levels of costs as both ways of the kernel have them, which agree; as do the least ones."""
    count, sizes = max(8, -(-len(costs) // 16)), tuple(sizes)
    rows = np.resize(costs, (16, count))
    columns, least = rows.T.ravel(), np.zeros(16)
    by_column(columns, count, sizes, least)
    again, least_again = np.zeros(16 * count), np.zeros(16)
    by_block(rows.ravel(), count, sizes, again, least_again)
    np.testing.assert_array_equal(columns, again)
    levels = columns.reshape(count, 16).T - (INTEGER_FLOAT - 1.0)
    for found in (least, least_again):
        np.testing.assert_array_equal(found - (INTEGER_FLOAT - 1.0), levels.min(axis=1))
    return levels.ravel()[: len(costs)].astype(int).tolist()


def costs_at_edges(steps, rng):
    """Where levels begin, up to 2**52 grid steps; a half, a rounding away; others; and negative."""
    last = (2**52 - steps.radius) // steps.steps
    starts = [0, 1, 2, 1000, last // 4, last // 2, last - 1, last]
    starts += [int(last * 2.0**-e) for e in rng.random(300) * 32]
    edges = np.array([steps.radius + start * steps.steps for start in starts], float)
    around = [edges + more for more in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    around += [np.nextafter(edges - 0.5, to) for to in (0.0, np.inf)]
    sizes = [*around, [0.0, 0.5, np.nextafter(0.5, 0), 2.0**52, 2.0**53, 2.0**90, 1e300], starts]
    sizes = np.concatenate([*sizes, 2.0 ** (rng.random(300) * 60 - 4)])
    return np.concatenate([sizes, -sizes]) * steps.grid


@pytest.mark.parametrize("gamma", [1e-9, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("sensitivity", [1.0, 0.7, 1.9999, 3e-5, 7e5])
def test_choice__kernel_levels_are_the_readers(sensitivity, gamma, rng):
    steps = fn.StaircaseChoice(1.0, sensitivity, gamma=gamma)._steps
    costs, sizes = costs_at_edges(steps, rng), law_of(steps)[:3]
    assert kernel_levels(costs, sizes) == [steps.level(cost) for cost in costs.tolist()]


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("sign", [-1, 1])
def test_choice__wrong_sizes_of_levels_are_seen(size, sign, rng):
    """Off by a rounding, or by half of a grid step."""
    steps = fn.StaircaseChoice(1.0, 0.7, gamma=0.3)._steps
    costs, sizes = costs_at_edges(steps, rng), law_of(steps)[:3].copy()
    sizes[size] += sign * (1.0 if size == 1 else 2.0**-52 * sizes[size])
    assert kernel_levels(costs, sizes) != [steps.level(cost) for cost in costs.tolist()]


def test_choice__every_candidate_is_possible():
    """One that floats would never choose: words that choose it, in the reader."""
    law = fn.StaircaseChoice(1.0)
    reader = ChoiceReader(law._steps)
    last = iter([2**64 - 1] * 1000)
    assert reader.draw(last, [0.0, 2000.0]) == 1
    assert reader.draw(iter([2**64 - 1, 0, 0]), [0.0, 2000.0]) == 0
    assert reader.draw(iter([0] * 1000), [2000.0, 0.0]) == 0


def test_choice__undecided_rows_are_decided_in_python(stream, monkeypatch):
    law = fn.StaircaseChoice(1.0)
    costs = np.arange(60.0).reshape(20, 3)
    expected = law.choose(costs, stream=stream.at(0))

    def none(rows, *arguments, grain):
        arguments[-1][:] = -1
        return rows

    monkeypatch.setattr(kernels, "choose", none)
    assert (law.choose(costs, stream=stream.at(0)) == expected).all()


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
    law, row, error = law_of(Steps(1.0, 1.0, 1, 1)), [0.0] * count, (count + 16) * 2.0**-51
    for beyond, chosen in ((0, None), (1 << 14, None), (1 << 24, count // 2)):
        assert decided(law, row, (1 << 63) + beyond, error) == chosen
    assert decided(law, row, (1 << 63) - (1 << 24), error) == count // 2 - 1


@pytest.mark.parametrize("count", [3, 9])
@pytest.mark.parametrize("row", [-3, 0, 2])
def test_choice__rows_that_are_not_there_are_not_read(count, row, rng):
    """The first and the last one of ten stand in for those around them."""
    memory = rng.random(40 * count) * 30
    costs, room = memory[15 * count : 25 * count], rooms(count)
    words, law = np.zeros(32, np.uint32), law_of(Steps(0.3, 1.0, 1, 1))
    choose_sixteen(costs, count, row, words, 0, law, 0.0, room)
    there = [min(max(row + lane, 0), 9) for lane in range(16)]
    sums = room[0].reshape(count, 16)
    np.testing.assert_array_equal(sums, sums[:, [there.index(i) for i in there]])


def end_of(steps, row, at):
    """The first word beyond candidate `at`."""
    levels = [steps.level(cost) for cost in row]
    exponents = [Fraction(steps.epsilon) * (level - min(levels)) for level in levels]
    weights = [exp_bounds(exponent, 40)[0] for exponent in exponents]
    return math.ceil(sum(weights[: at + 1]) / sum(weights) * 2**64)


CLOSE = [
    (0.3, [0.0, 7.0, 3.0], 1),
    (1.7, [2.0, 1.0, 5.0, 0.0, 0.0, 3.0, 9.0, 4.0], 4),
    (1e-3, [float(cost) for cost in range(40)], 17),
]


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_choice__no_room_for_errors_is_seen(epsilon, row, at):
    """Near where the choice changes nothing is decided; without a margin some is, and wrongly."""
    steps, wrong = Steps(epsilon, 1.0, 1, 1), 0
    law, reader, end = law_of(steps), ChoiceReader(steps), end_of(steps, row, at)
    for word in range(end - 40 * 64, end + 40 * 64, 64):
        exact = reader.draw(iter([word] + [1 << 63] * 9), row)
        assert decided(law, row, word, (len(row) + 16) * 2.0**-51) is None
        wrong += decided(law, row, word, 0.0) != exact
    assert wrong > 5


@pytest.mark.parametrize("more", [0.0, 2.0**-49, 2.0**-36])
def test_choice__bulk_leaves_that_room(more):
    """Two candidates whose boundary is where the row's own word is, or a little further."""
    costs, out = np.array([[0.0, 1.0]]), np.zeros(1, np.int64)
    for row in range(40):
        word = next(row_words(KEY, row, 2))
        odds = math.log(word / (2**64 - word))
        if odds > 0.1:
            steps = Steps(odds * (1 + more), 1.0, 1, 1)
            arguments = np.frombuffer(KEY, "<u4"), row, np.empty(0, np.int64), costs.ravel(), 2
            unclear = kernels.choose(1, *arguments, law_of(steps), out)
            assert (unclear, out[0]) == ((1, -1) if more < 2.0**-40 else (0, 0))
            choice._choose_block(steps, KEY, Rows(row), costs, out)
            assert out[0] == ChoiceReader(steps).choose(KEY, row, costs[0].tolist())


@pytest.mark.parametrize(("epsilon", "row", "at"), CLOSE)
def test_choice__weights_that_are_off_by_more_than_the_room_are_seen(epsilon, row, at):
    """Just outside the margin the kernel decides, and rightly; with a rate that is off, wrongly."""
    steps, error = Steps(epsilon, 1.0, 1, 1), (len(row) + 16) * 2.0**-51
    law, reader, end = law_of(steps), ChoiceReader(steps), end_of(steps, row, at)
    words = [end + sign * int(1.1 * error * 2**64) for sign in (-1, 1)]
    exact = [reader.draw(iter([word, 1 << 63]), row) for word in words]
    assert [decided(law, row, word, error) for word in words] == exact == [at, at + 1]
    laws = [law * [1, 1, 1, 1 + sign * 2.0**-36, 1] for sign in (-1, 1)]
    off = [[decided(wrong, row, word, error) for word in words] for wrong in laws]
    assert [at, at] in off
    assert [at + 1, at + 1] in off


def test_choice__huge_costs_count_as_the_largest():
    law = fn.StaircaseChoice(1e-3)
    assert set(law.choose(np.full((1000, 2), 1e308)).tolist()) == {0, 1}
    assert set(law.choose(np.tile([1e308, -1e200], (1000, 1))).tolist()) == {0, 1}
    assert (law.choose(np.tile([1e308, 0.0], (1000, 1))) == 1).all()


def test_choice__dtypes_and_shapes(stream):
    law = fn.StaircaseChoice(1.0)
    costs = np.arange(12).reshape(3, 4)
    expected = law.choose(costs.astype(float), stream=stream.at(0))
    for kind in (np.int8, np.uint16, np.int64, np.float32, ">f8"):
        assert (law.choose(costs.astype(kind), stream=stream.at(0)) == expected).all()
    assert law.choose(costs.tolist(), stream=stream.at(0)).tolist() == expected.tolist()
    assert isinstance(law.choose([1.0, 2.0]), int)
    assert law.choose(np.ones((0, 3))).shape == (0,)
    assert law.choose(np.ones((4, 0, 3))).shape == (4, 0)
    assert (law.choose(np.ones((5, 1))) == 0).all()


def test_choice__is_a_value():
    law = fn.StaircaseChoice(0.5, 2.0, gamma="dominating")
    assert eval(repr(law), {"StaircaseChoice": fn.StaircaseChoice}) == law
    assert hash(law) == hash(fn.StaircaseChoice(0.5, 2.0, gamma=law.gamma))
    assert law.privacy.epsilon == 1.0
    assert law.privacy.adjacency == "cost"
    assert law.privacy.at(3.0) == 2.0
    assert law.released_sensitivity >= 2.0


@pytest.mark.parametrize(
    ("costs", "error", "words"),
    [
        (3.0, ValueError, "costs"),
        (np.ones((3, 0)), ValueError, "costs"),
        ([1.0, math.nan], ValueError, "costs has 1"),
        ([[1.0, math.inf], [math.inf, 0.0]], ValueError, "costs has 2"),
        ([[1.0], [1.0, 2.0]], ValueError, "costs"),
        (["a", "b"], TypeError, "costs"),
        ([1j, 2.0], TypeError, "costs"),
        ([True, False], TypeError, "costs"),
        (np.ma.masked_array([1.0, 2.0]), TypeError, "costs"),
    ],
)
def test_choice__bad_costs_are_named(costs, error, words):
    with pytest.raises(error, match=words):
        fn.StaircaseChoice(1.0).choose(costs)


def test_choice__bad_stream_and_rows_are_named(stream):
    law = fn.StaircaseChoice(1.0)
    with pytest.raises(TypeError, match="stream"):
        law.choose([1.0, 2.0], stream=KEY)
    with pytest.raises(ValueError, match="rows"):
        law.choose(np.ones((3, 2)), rows=[1, 2, 3])
    with pytest.raises(ValueError, match="rows"):
        law.choose(np.ones((3, 2)), stream=stream, rows=[1, 2])
    with pytest.raises(ValueError, match="gamma"):
        fn.StaircaseChoice(1.0, gamma="best")
    before = stream.position
    law.choose(np.ones((3, 2)), stream=stream)
    assert stream.position == before + 3
