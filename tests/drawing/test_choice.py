"""Does StaircaseChoice choose by the law, exactly, whatever the rows, and say what it refuses?"""

import itertools
import math

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import choice as kernels
from laws import drawn_law

import fastnoise as fn
from fastnoise.identity import noise_identity
from fastnoise.laws.choice import choosing as choice
from fastnoise.laws.choice.law import ChoiceReader
from fastnoise.verify.fit import rejected

EPSILONS = [1e-6, 0.01, 0.5, 1.0, 5.0, 50.0]
SIZES = [1, 2, 7, 8, 9, 33]


def key_of(mechanism, stream):
    return stream._noise_key(noise_identity(mechanism, drawn_law(mechanism)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("count", SIZES)
def test_choice__kernel_is_reader(epsilon, count, stream, rng):
    law = fn.StaircaseChoice(epsilon, 0.7)
    reader, key = ChoiceReader(drawn_law(law)), key_of(law, stream)
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
    reader, key = ChoiceReader(drawn_law(law)), key_of(law, stream)
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
        steps, exact = drawn_law(law), law.grid
        edges = (steps.radius + steps.steps * np.arange(50)) * exact
        for cost in np.concatenate([edges, edges - exact / 2, np.nextafter(edges, 0)]):
            low, high = sorted((steps.level(cost), steps.level(cost + sensitivity)))
            assert high - low <= 1
            assert abs(steps.level(-cost) - steps.level(sensitivity - cost)) <= 1


def test_choice__kernel_levels_are_exact(rng):
    """Levels show in the choice at epsilon 50, where the lowest one always wins."""
    law = fn.StaircaseChoice(50.0, 0.1)
    steps = drawn_law(law)
    edge = (steps.radius + 3 * steps.steps) * law.grid
    for cost in (edge, np.nextafter(edge, 0), edge - law.grid / 2, edge - 0.51 * law.grid):
        level = steps.level(cost)
        other = (steps.radius + (level - 0.5) * steps.steps) * law.grid  # the middle of that level
        assert steps.level(other) == level
        below = (steps.radius + (level - 1.5) * steps.steps) * law.grid
        chosen = law.choose(np.tile([cost, other], (4000, 1)))
        assert 0.4 < chosen.mean() < 0.6
        assert (law.choose(np.tile([cost, below], (4000, 1))) == 1).all()


def test_choice__every_candidate_is_possible():
    """One that floats would never choose: words that choose it, in the reader."""
    law = fn.StaircaseChoice(1.0)
    reader = ChoiceReader(drawn_law(law))
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


@pytest.mark.parametrize("count", [1, 3, 8, 33])
@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf])
def test_choice__one_unfit_cost_is_found_wherever_it_is(cost, count, stream, rng):
    """By the kernel, where no stream is; before rows are taken, where one is."""
    law, sound = fn.StaircaseChoice(1.0), rng.random((1000, count)) * 1e9
    for row, candidate in (
        (0, 0),
        (999, count - 1),
        *rng.integers(0, (1000, count), (9, 2)).tolist(),
    ):
        costs = sound.copy()
        costs[row, candidate] = cost
        expected = rf"costs has 1 NaN .*{cost} at index \({row}, {candidate}\)"
        for given in ({}, {"stream": stream}, {"stream": stream, "rows": range(1000)}):
            with pytest.raises(ValueError, match=expected):
                law.choose(costs, **given)
    assert stream.position == 0


@pytest.mark.parametrize("count", [3, 8])
def test_choice__every_nan_is_found(count, rng):
    """Of either sign and any bits, which the kernel must not take for an exponent."""
    bits = rng.integers(1, 1 << 52, 4000, np.uint64) | np.uint64(0x7FF << 52)
    bits |= rng.integers(0, 2, 4000, np.uint64) << np.uint64(63)
    law = fn.StaircaseChoice(1.0)
    for nan in [np.uint64(0x7FF8000000000C00), *bits]:
        costs = np.zeros((1, count))
        costs.view(np.uint64)[0, -1] = nan
        with pytest.raises(ValueError, match="costs has 1 NaN"):
            law.choose(costs)


@pytest.mark.parametrize("count", [3, 8])
def test_choice__costs_that_are_changed_meanwhile_are_refused(count, monkeypatch):
    """Unfit when the kernel sees them, and no longer when they are counted."""
    costs = np.full((20, count), math.nan)
    monkeypatch.setattr(choice, "_unfit", lambda data: "")
    with pytest.raises(ValueError, match="changed while they were read"):
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
