"""Does `fastnoise verify` see tables, ratios and certificates that are a little wrong?"""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from fastnoise_kernels import layout
from fastnoise_kernels.polynomials import POWER_ERROR

import fastnoise as fn
from fastnoise.laws.choice import law as laws_of_choice
from fastnoise.laws.l2 import law as laws_of_l2
from fastnoise.laws.layers import law as laws_of_layers
from fastnoise.laws.layers import tables as layer_tables
from fastnoise.laws.line import law as laws_of_line
from fastnoise.laws.line import tables
from fastnoise.laws.line.reader import Table
from fastnoise.mechanisms import mechanism as mechanism_module
from fastnoise.verify import tables as verified

pytestmark = pytest.mark.long

HEAD = layout.HEAD_BITS, layout.HEAD_CELLS, layout.HEAD_THRESHOLDS
DIGIT = layout.DIGIT_BITS, layout.DIGIT_CELLS, layout.DIGIT_THRESHOLDS


# --- tables ---------------------------------------------------------------------------------------


def damaged(law, table, entry: int, part: Fraction = Fraction(1, 10**6)):
    """One threshold of an alias table, that of the first cell from `entry` on that has one, less by
    one part in a million."""
    words, (bits_at, cells_at, thresholds_at) = law.copy(), table
    alias = Table(law, *table)
    cell = next(i for i in range(entry, len(alias.thresholds)) if alias.thresholds[i])
    threshold = int(alias.thresholds[cell] * (1 - part))
    limbs, bits = alias.limbs, alias.bits
    at, half = int(law[cells_at]) + cell // 2, 32 * (cell % 2)
    packed = int(words[at]) & ~(0xFFFFFFFF << half)
    leading = (threshold >> 64 * limbs) << bits | alias.aliases[cell]
    words[at] = packed | leading << half
    start = int(law[thresholds_at]) + cell * limbs
    for i in range(limbs):
        words[start + i] = threshold >> 64 * (limbs - 1 - i) & (2**64 - 1)
    assert Table(words, *table).thresholds[cell] == threshold
    assert words[bits_at] == law[bits_at]
    return words


@pytest.mark.parametrize("entry", [0, 1, 9, 26])
def test_tables__a_damaged_level_is_seen(broken, entry):
    broken.spoil(laws_of_line, "staircase_tables", lambda law: damaged(law, HEAD, entry))
    broken.only_of(fn.Staircase(1.0))
    assert "P(level" in broken.failures("tables")


@pytest.mark.parametrize("entry", [0, 3, 40])
def test_tables__a_damaged_digit_is_seen(broken, entry):
    """In the tail, and where digits count laps."""
    broken.spoil(laws_of_line, "staircase_tables", lambda law: damaged(law, DIGIT, entry))
    broken.only_of(fn.DiscreteStaircase(0.5, 10))
    assert "P(level" in broken.failures("tables")
    broken.forget()
    broken.only_of(fn.DiscreteStaircase(1e-6, 2**20))
    assert "P(level" in broken.failures("tables")


@pytest.mark.parametrize("slope", [0, 7, 20])
def test_tables__a_damaged_slope_is_seen(broken, slope):
    def spoil(law):
        words = law.copy()
        at = int(law[layout.SLOPES]) + layout.SLOPE_LIMBS * slope
        words[at] = int(words[at]) - int(words[at]) // 10**6
        return words

    broken.spoil(laws_of_line, "laplace_tables", spoil)
    broken.only_of(fn.Laplace(1.0))
    assert "relative error above" in broken.failures("tables")


def coin(i: int) -> tuple[int, int, int]:
    at = layout.TABLES + layout.TABLE * i
    return at + layout.TABLE_BITS, at + layout.TABLE_CELLS, at + layout.TABLE_THRESHOLDS


@pytest.mark.parametrize(
    ("mechanism", "table", "entry"),
    [
        (fn.L1Staircase(2.0, 4), coin(0), 5),
        (fn.L1Staircase(2.0, 4), coin(1), 2),  # how many digits beyond the table
        (fn.L1Staircase(2.0, 4), DIGIT, 1),
        (fn.L1Staircase(1e-6, 2), coin(0), 0),
        (fn.L1Staircase(1e-6, 2), coin(1), 4000),
        (fn.L1Staircase(1e-6, 2), coin(2), 9000),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), coin(0), 30),
        (fn.BoxStaircase(0.01, (1.0, 3.0)), coin(0), 1000),
    ],
)
def test_tables__a_damaged_layer_is_seen(broken, mechanism, table, entry):
    broken.spoil(laws_of_layers, "layer_tables", lambda law: damaged(law, table, entry))
    broken.only_of(mechanism)
    assert "relative error above" in broken.failures("tables")


def test_tables__a_threshold_of_places_that_is_too_low_is_seen(broken):
    def spoil(law):
        words = law.copy()
        words[layout.REST_SIDE] = 0
        return words

    broken.spoil(laws_of_line, "staircase_tables", spoil)
    broken.only_of(fn.DiscreteStaircase(0.5, 10))
    assert "should be drawn again" in broken.failures("tables")


def test_tables__a_scale_of_l2_noise_that_is_too_small_is_seen(monkeypatch, broken):
    right = laws_of_l2.l2_tables
    monkeypatch.setattr(laws_of_l2, "l2_tables", lambda d, scale: right(d, scale * (1 - 1e-6)))
    broken.only_of(fn.L2Laplace(0.5, 3))
    assert "the scale is" in broken.failures("tables")


@pytest.mark.parametrize("sign", [-1, 1])
def test_tables__a_wrong_rate_of_choices_is_seen(broken, sign):
    broken.spoil(laws_of_choice, "rate_of", lambda rate: rate * (1 + sign * 2.0**-47))
    broken.only_of(fn.StaircaseChoice(0.5))
    assert "e**-" in broken.failures("tables")


@pytest.mark.parametrize("level", [1, 40, 1415])
def test_tables__a_wrong_weight_of_choices_is_seen(broken, level):
    """One whose error is twice what is allowed, up to the last before 0."""

    def spoil(weights):
        at = verified.weighed_levels(0.5).index(level)
        assert weights[at] > 0.0
        return [w * (1 + 2 * POWER_ERROR * (i == at)) for i, w in enumerate(weights)]

    broken.spoil(verified, "kernel_weights", spoil)
    broken.only_of(fn.StaircaseChoice(0.5))
    assert "e**-" in broken.failures("tables")


def test_tables__choices_without_narrow_weights_have_none_that_is_wrong(broken):
    broken.only_of(fn.StaircaseChoice(1e-4))
    assert not broken.failures("tables")


@pytest.mark.parametrize("at", [0, 5, 33, 36])
def test_tables__a_wrong_narrow_weight_of_choices_is_seen(broken, at):
    """An entry with an error of a few roundings of its 24 bits."""

    def spoil(tables):
        return tables * (1 + 5 * 2.0**-24 * (np.arange(len(tables)) == at)).astype(np.float32)

    broken.spoil(verified, "weight_tables", spoil)
    broken.only_of(fn.StaircaseChoice(0.5))
    assert "weighs" in broken.failures("tables")


@pytest.mark.parametrize("factor", [1.05, 1.0001])
@pytest.mark.parametrize(
    ("mechanism", "function", "place"),
    [
        (fn.Staircase(1.0), "staircase_law", 2),
        (fn.L1Staircase(2.0, 3), "ball_law", 3),
        (fn.DiscreteStaircase(1.0, 10**6), "integer_law", "radius"),
    ],
    ids=str,
)
def test_tables__a_wrong_gamma_is_seen(monkeypatch, broken, mechanism, function, place, factor):
    home = sys.modules[type(mechanism).__module__]
    right = getattr(home, function)

    def wrong(*parameters, **named):
        given = named if place in named else list(parameters)
        given[place] = type(given[place])(given[place] * factor)
        return right(*parameters, **given) if place in named else right(*given)

    monkeypatch.setattr(home, function, wrong)
    broken.only_of(mechanism)
    assert broken.failures("tables")


def cut(weights):
    """Nothing beyond the last listed entry, which has its weight."""
    return [*weights[:-2], weights[-2] + weights[-1], 0]


TAILED = [
    fn.Staircase(1.0),
    fn.Staircase(1e-6),
    fn.Laplace(1.0),
    fn.Geometric(50.0),
    fn.L1Staircase(2.0, 3),
    fn.BoxStaircase(1e-6, (1.0, 2.0)),
]


@pytest.mark.parametrize("mechanism", TAILED, ids=str)
def test_tables__a_truncated_tail_is_seen(broken, mechanism):
    for module in (tables, layer_tables):
        broken.spoil(module, "restarting", cut)
    broken.only_of(mechanism)
    assert "relative error above" in broken.failures("tables")


def test_tables__a_truncated_head_is_seen(broken):
    broken.spoil(tables, "_head_and_tail", lambda pair: (cut(pair[0]), pair[1]))
    broken.only_of(fn.Staircase(1.0))
    assert "relative error above" in broken.failures("tables")


# --- ratios, certificates -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "home", "name"),
    [
        (fn.Staircase(1.0), laws_of_line, "staircase_tables"),
        (fn.Laplace(1.0), laws_of_line, "laplace_tables"),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), laws_of_line, "truncated_laplace_tables"),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), laws_of_layers, "layer_tables"),
    ],
    ids=str,
)
def test_ratios__a_millionth_more_epsilon_is_seen(monkeypatch, broken, mechanism, home, name):
    right = getattr(home, name)
    monkeypatch.setattr(home, name, lambda epsilon, *rest: right(epsilon * (1 + 1e-6), *rest))
    broken.only_of(mechanism)
    assert broken.failures("ratios")


@pytest.mark.parametrize("mechanism", [fn.DiscreteUniform(0.01, 3), TAILED[0]], ids=str)
def test_ratios__a_sensitivity_that_is_not_covered_is_seen(monkeypatch, broken, mechanism):
    """Made for the law of half the noise."""
    if isinstance(mechanism, fn.DiscreteUniform):
        right = laws_of_line.uniform_tables
        monkeypatch.setattr(
            laws_of_line, "uniform_tables", lambda c, h: right(c // 4 * 2 + 1, 2 * h)
        )
    else:
        right = laws_of_line.staircase_tables
        monkeypatch.setattr(
            laws_of_line, "staircase_tables", lambda e, s, r: right(e, s // 2, r // 2)
        )
    broken.only_of(mechanism)
    assert broken.failures("ratios")


def test_ratios__draws_of_neighbours_are_compared(broken):
    def further(out, law):
        """Inputs 1 apart become inputs 7 apart."""
        out += 3 * np.sign(np.median(out) - 0.5)

    broken.spoil_values(further)
    broken.only_of(fn.Laplace(1.0))
    assert "outputs of neighbours differ" in broken.failures("ratios")


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        (fn.Staircase(1.0), {"epsilon": 1.0 + 1e-15}),
        (fn.Staircase(1.0), {"epsilon": 1.0 - 1e-12}),
        (fn.Staircase(1.0), {"delta": 1e-30}),
        (fn.Staircase(1.0), {"total_variation": 0.0}),
        (fn.Staircase(1.0), {"total_variation": 1e-9}),
        (fn.Staircase(1.0), {"basis": "faith"}),
        (fn.Staircase(1.0), {"released_sensitivity": 0.999}),
        (fn.Laplace(1.0), {"epsilon": 1.0 - 1e-12}),
        (fn.L1Staircase(2.0, 4), {"epsilon": 2.0 - 1e-12}),
        (fn.L1Staircase(2.0, 4), {"total_variation": 0.0}),
        (fn.BoxStaircase(1.0, (1.0, 3.0)), {"epsilon": 1.0 - 1e-12}),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), {"delta": 1e-4 * (1 - 1e-9)}),
        (fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3), {"delta": 1e-4 * (1 + 1e-9)}),
        (fn.DiscreteUniform(0.01, 3), {"delta": 0.01 * (1 - 1e-9)}),
        (fn.L2Laplace(0.5, 3), {"epsilon": 0.6}),
        (fn.L2Laplace(0.5, 3), {"epsilon": 0.5 - 1e-12}),
    ],
    ids=str,
)
def test_certificates__one_that_claims_too_much_is_seen(broken, mechanism, claim):
    broken.spoil(mechanism_module, "Certificate", lambda certificate: replace(certificate, **claim))
    broken.only_of(mechanism)
    assert broken.failures("certificates")


def test_certificates__many_changed_elements_that_cost_nothing_are_seen(monkeypatch, broken):
    right = fn.Laplace.certificate
    monkeypatch.setattr(fn.Laplace, "certificate", lambda self, **changed: right(self))
    broken.only_of(fn.Laplace(1.0))
    assert "further apart" in broken.failures("certificates")
