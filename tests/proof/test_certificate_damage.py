"""Does a certificate see a table that is not what it should be?"""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from fastnoise_kernels import layout
from mechanisms import name

import fastnoise as fn
from fastnoise.laws.alias import alias_cells
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.laws.line.tables import laplace_tables, staircase_tables

HEAD = layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS
DIGIT = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS


def law_of(mechanism) -> DrawnLaw:
    return DrawnLaw(mechanism._law(mechanism.grid).tables)


def table_at(index: int) -> tuple[int, int, int]:
    at = layout.TABLES + layout.TABLE * index
    return at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS


def rewritten(law: np.ndarray, table: tuple[int, int, int], weights: list[int]) -> np.ndarray:
    """A law with other weights in one of its tables."""
    words = [int(word) for word in law]
    bits, cells_at, limbs_at = (words[at] for at in table)
    limbs = words[layout.LIMBS]
    thresholds, aliases = alias_cells(weights, bits, limbs)
    halves = [t >> 64 * limbs << bits | a for t, a in zip(thresholds, aliases, strict=True)]
    packed = [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    words[cells_at : cells_at + len(packed)] = packed
    rest = [t >> 64 * i & (1 << 64) - 1 for t in thresholds for i in reversed(range(limbs))]
    words[limbs_at : limbs_at + len(rest)] = rest
    return np.array(words, np.uint64)


def moved(weights: list[int], source: int, target: int, share: Fraction) -> list[int]:
    """With a share of one entry given to another."""
    weights, amount = list(weights), int(weights[source] * share)
    assert amount
    weights[source] -= amount
    weights[target] += amount
    return weights


@pytest.fixture
def damaged(monkeypatch):
    """The certificate of a mechanism whose law has been changed."""

    def certificate(mechanism, change):
        law = mechanism._law(mechanism.grid)
        broken = law.with_tables(change(law.tables.copy()))
        assert not np.array_equal(broken.tables, law.tables)
        monkeypatch.setattr(type(mechanism), "_law", lambda self, grid: broken)
        return mechanism.certificate()

    return certificate


def less(at, amount):
    """A change of the word at that place."""

    def change(law):
        law[at] = int(law[at]) - amount
        return law

    return change


MILLIONTH = Fraction(1, 10**6)
LINES = [
    fn.Staircase(1.0),
    fn.Staircase(1e-3),
    fn.Laplace(1.0),
    fn.DiscreteStaircase(0.5, 10),
    fn.DiscreteLaplace(1.0, 1000),
]


@pytest.mark.parametrize("mechanism", LINES, ids=name)
@pytest.mark.parametrize("entry", [0, 1, 2, 7, -2, -1])
@pytest.mark.parametrize("table", ["head", "digit"])
def test_damage__one_entry_off_by_a_millionth_is_seen(mechanism, table, entry, damaged):
    """Lighter, and its neighbour heavier: of levels, of what is beyond them, of restarts."""
    law = law_of(mechanism)
    weights, size = (
        (law.head, law.levels + (not law.laps) + 1)
        if table == "head"
        else (law.digit, law.digits + 1)
    )
    source = entry % size
    changed = moved(weights, source, source - 1 if source else 1, MILLIONTH)
    at = HEAD if table == "head" else DIGIT
    assert damaged(mechanism, lambda law: rewritten(law, at, changed)).epsilon > mechanism.epsilon


@pytest.mark.parametrize("mechanism", LINES, ids=name)
def test_damage__one_threshold_off_by_a_millionth_is_seen(mechanism, damaged):
    """The leading bits of one, as they stand in a cell."""

    def change(law):
        cells, bits = int(law[layout.HEAD_CELLS]), int(law[layout.HEAD_BITS])
        packed = int(law[cells + 1]) >> 32
        low = packed & ((1 << bits) - 1)
        leading = packed >> bits
        less = leading - max(1, leading // 10**6)
        law[cells + 1] = int(law[cells + 1]) & (1 << 32) - 1 | (less << bits | low) << 32
        return law

    certificate = damaged(mechanism, change)
    assert certificate.epsilon > mechanism.epsilon
    assert certificate.total_variation > 1e-12


@pytest.mark.parametrize("mechanism", LINES, ids=name)
def test_damage__a_tail_that_ends_is_seen(mechanism, damaged):
    """No restart: its weight is on the last entry before it."""
    law = law_of(mechanism)
    ended = moved(law.digit, law.digits, law.digits - 1, Fraction(1))
    certificate = damaged(mechanism, lambda law: rewritten(law, DIGIT, ended))
    assert certificate.epsilon == inf
    assert certificate.total_variation > 0


@pytest.mark.parametrize("more", [1 + 1e-6, 1 - 1e-6])
@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.DiscreteLaplace(1.0, 1000)], ids=name)
def test_damage__a_wrong_ratio_is_seen(mechanism, more, damaged):
    law = law_of(mechanism)
    wrong = staircase_tables(more, law.steps, law.radius)
    if isinstance(mechanism, fn.DiscreteLaplace):
        wrong = laplace_tables(more, mechanism.sensitivity)
    certificate = damaged(mechanism, lambda _: wrong)
    assert certificate.epsilon == pytest.approx(more, rel=1e-12)
    assert certificate.total_variation > 1e-8


def test_damage__a_wrong_gamma_is_seen(damaged):
    mechanism = fn.Staircase(1.0)
    law = law_of(mechanism)
    wrong = staircase_tables(1.0, law.steps, law.radius + 1)
    assert damaged(mechanism, lambda _: wrong).total_variation == 1.0


def test_damage__steps_that_are_too_narrow_cost_twice(damaged):
    mechanism = fn.DiscreteStaircase(1.0, 10)
    certificate = damaged(mechanism, lambda _: staircase_tables(1.0, 9, 4))
    assert certificate.epsilon == 2.0
    assert certificate.total_variation == 1.0


def with_word(at, value):
    def change(law):
        law[at] = value
        return law

    return change


def of_width(width):
    return with_word(layout.WIDTH, width)


UNFIT = {
    "a word more that is drawn again at the top": (LINES[3], less(layout.REST_TOP, 1)),
    "a word more that is drawn again beside it": (LINES[3], less(layout.REST_SIDE, 1)),
    "long rows": (fn.Staircase(1.0), of_width(layout.LONG)),
    "short rows": (fn.Staircase(1e-3), of_width(layout.SHORT)),
    "sloping rows": (fn.Staircase(1e-3), with_word(layout.SLOPE_BITS, 12)),
    "short rows of a slope": (fn.Laplace(1.0), of_width(layout.SHORT)),
    "flat rows of a slope": (fn.Laplace(1.0), with_word(layout.SLOPES, 0)),
    "rows of fewer slopes": (fn.Laplace(1.0), less(layout.SLOPE_BITS, 1)),
    "rows of a digit with more cells": (fn.Laplace(1.0), less(layout.DIGIT_BITS, -1)),
    "rows of no kind": (fn.Laplace(1.0), of_width(5)),
}


@pytest.mark.parametrize("name", UNFIT)
def test_damage__rows_that_are_drawn_in_another_way_are_seen(name, damaged):
    certificate = damaged(*UNFIT[name])
    assert certificate.epsilon == inf
    assert certificate.total_variation == 1.0


def test_damage__an_entry_that_should_not_be_is_seen(damaged):
    mechanism = fn.DiscreteStaircase(1.0, 10)
    law = law_of(mechanism)
    stray = moved(law.head, 0, law.levels + 2, MILLIONTH)
    assert damaged(mechanism, lambda law: rewritten(law, HEAD, stray)).epsilon == inf


def test_damage__a_slope_that_is_too_low_is_seen(damaged):
    mechanism = fn.DiscreteLaplace(1e-3, 2**20)
    at = int(law_of(mechanism).tables[layout.SLOPES]) + layout.SLOPE_LIMBS * 4
    certificate = damaged(mechanism, less(at, 2**40))
    assert certificate.epsilon > mechanism.epsilon
    assert certificate.total_variation > 1e-12


@pytest.mark.parametrize(
    "mechanism",
    [fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), fn.TruncatedDiscreteLaplace(1.0, 1e-6, 2**20)],
    ids=name,
)
@pytest.mark.parametrize("entry", [0, 1, 5, -2, -1])
def test_damage__of_a_truncated_law_is_seen(mechanism, entry, damaged):
    """Lighter than it should be: too steep from the one before, or too much at the ends."""
    law = law_of(mechanism)
    source = entry % (law.levels + 1 + 2 * law.ends)
    changed = moved(law.head, source, source - 1 if source else 1, MILLIONTH)
    certificate = damaged(mechanism, lambda law: rewritten(law, HEAD, changed))
    assert certificate.epsilon > mechanism.epsilon or certificate.delta > mechanism.delta
    assert certificate.total_variation > 1e-20  # 1e-29 as it should be


def test_damage__something_beyond_the_ends_is_seen(damaged):
    mechanism = fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3)
    law = law_of(mechanism)
    assert not law.ends
    further = moved(law.head, 0, law.levels + 1, MILLIONTH)
    certificate = damaged(mechanism, lambda law: rewritten(law, HEAD, further))
    assert (certificate.epsilon, certificate.delta) == (inf, 1.0)


def test_damage__a_staircase_in_place_of_a_slope_is_seen(damaged):
    """Its levels are right, but two elements that each move by a step may both change level."""
    mechanism = fn.DiscreteLaplace(1e-3, 2**20)
    wide = law_of(mechanism).steps
    assert wide > 1
    flat = staircase_tables(float(Fraction(1e-3) * wide / 2**20), wide, 1)
    certificate = damaged(mechanism, lambda _: flat)
    assert certificate.epsilon > 1000 * mechanism.epsilon
    assert certificate.total_variation == 1.0


def test_damage__of_a_flat_law_is_seen(damaged):
    mechanism = fn.DiscreteUniform(0.07)
    law = law_of(mechanism)
    changed = moved(law.head, 1, 0, MILLIONTH)
    certificate = damaged(mechanism, lambda law: rewritten(law, HEAD, changed))
    assert certificate.delta > mechanism.delta
    assert certificate.total_variation > 1e-8


FLAT_LAYERS = [
    fn.L1Staircase(1.0, 2),
    fn.BoxStaircase(0.5, (1.0, 2.0, 3.0)),
    fn.L1Staircase(1e-5, 3),
]


@pytest.mark.parametrize("mechanism", FLAT_LAYERS, ids=name)
@pytest.mark.parametrize("entry", [1, 2, -2, -1])
def test_damage__of_layers_is_seen(mechanism, entry, damaged):
    """An entry of every table: coins, parts of what is beyond, digits and restarts."""
    law = DrawnLayers(mechanism._law(mechanism.grid).tables)
    tables = [(table_at(i), weights) for i, weights in enumerate([*law.coins, law.tail])]
    for at, weights in [*tables, (DIGIT, law.digit)]:
        listed = [i for i, weight in enumerate(weights) if weight]
        source = listed[entry % len(listed)]
        changed = moved(weights, source, source - 1, MILLIONTH)
        certificate = damaged(mechanism, lambda law: rewritten(law, at, changed))  # noqa: B023
        assert certificate.epsilon > mechanism.epsilon


@pytest.mark.parametrize("mechanism", FLAT_LAYERS, ids=name)
def test_damage__layers_that_end_are_seen(mechanism, damaged):
    law = DrawnLayers(mechanism._law(mechanism.grid).tables)
    ended = moved(law.digit, law.digits, law.digits - 1, Fraction(1))
    certificate = damaged(mechanism, lambda law: rewritten(law, DIGIT, ended))
    assert certificate.epsilon == inf
    assert certificate.total_variation == 1.0


def test_damage__layers_that_are_too_narrow_are_seen(damaged):
    mechanism = fn.L1Staircase(1.0, 2)
    at = int(mechanism._law(mechanism.grid).tables[layout.SIZES])
    certificate = damaged(mechanism, less(at, 1))
    assert certificate.epsilon > 1.9
    assert certificate.total_variation == 1.0


@pytest.mark.parametrize("dim", [2, 8])
@pytest.mark.parametrize("place", [0, -1])
def test_damage__a_small_ball_that_is_not_uniform_is_seen(dim, place, damaged):
    """A threshold that is off by one in 64 bits; a layer that is left out."""

    def change(law):
        start = int(law[layout.COUNT_THRESHOLDS])
        stop = start + dim * int(law[layout.SMALL_LAYERS])
        law[start:stop][place] -= np.uint64(1)
        return law

    mechanism = fn.L1Staircase(200.0 * dim, dim)
    assert mechanism.certificate().epsilon <= mechanism.epsilon
    for damage in (change, less(layout.SMALL_LAYERS, 1)):
        certificate = damaged(mechanism, damage)
        assert (certificate.epsilon, certificate.total_variation) == (inf, 1.0)


@pytest.mark.parametrize("factor", [1 - 1e-6, 1 + 1e-6])
def test_damage__of_a_scale_is_seen(factor, damaged):
    def change(law):
        scale = law[layout.SCALE : layout.SCALE + 1].view(np.float64)
        scale *= factor
        return law

    mechanism = fn.L2Laplace(1.0, 3)
    certificate = damaged(mechanism, change)
    assert certificate.epsilon == pytest.approx(1 / factor, rel=1e-12)
    assert certificate.total_variation == pytest.approx(3e-6, rel=1e-4)


def test_damage__a_scale_that_is_no_number_is_seen(damaged):
    def change(law):
        law[layout.SCALE : layout.SCALE + 1].view(np.float64)[:] = np.nan
        return law

    assert damaged(fn.L2Laplace(1.0, 3), change).epsilon == inf
