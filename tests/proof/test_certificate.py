"""Does a certificate tell what is drawn: no more than was asked for, for as many as change?"""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from fastnoise_kernels.choice import choose_sixteen, margin, rooms
from fastnoise_kernels.polynomials import POWER_ERROR
from mechanisms import CHOICES, DRAWN, EVERY, INTEGERS, name

import fastnoise as fn
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.arithmetic.floats import exact_delta
from fastnoise.laws.choice.law import ChoiceLaw

EXTREME = [
    fn.Staircase(1e-10),
    fn.Staircase(1e-8, 3.3, gamma=1.0),
    fn.Staircase(100.0, 1e-200),
    fn.Staircase(1e5),
    fn.Laplace(1e-9, 1e30),
    fn.Laplace(300.0),
    fn.Geometric(1e-6),
    fn.Geometric(2_500.0),
    fn.DiscreteStaircase(1e-6, 2**32),
    fn.DiscreteStaircase(1e300, 2**57, r=1),
    fn.DiscreteLaplace(2.0**-12, 2**40),
    fn.DiscreteLaplace(50.0, 2**40),
    fn.DiscreteUniform(Fraction(1, 3), 2**40),
    fn.DiscreteUniform(1e-15, 3),
    fn.TruncatedDiscreteLaplace(1e-6, 0.1, 2**32),
    fn.TruncatedDiscreteLaplace(1.0, 1e-30, 2**40),
    fn.TruncatedDiscreteLaplace(50.0, Fraction(1, 7)),
    fn.TruncatedDiscreteLaplace(1e4, 0.1, 7),
    fn.MultiUserLaplace(0.5, dim=1),
    fn.MultiUserLaplace(0.01, dim=128),
    fn.L2Laplace(1e-6, dim=2),
    fn.L2Laplace(30.0, dim=1000, sensitivity=1e-3),
    fn.L1Staircase(1e-9, dim=2),
    fn.L1Staircase(1e-3, dim=32),
    fn.L1Staircase(100.0, dim=3),
    fn.BoxStaircase(1e-10, (1.0, 3.0)),
    fn.BoxStaircase(1e-3, (1.0, 2.0, 5.0), core=(0.0, 1.0, 2.0)),
    fn.BoxStaircase(1.0, (1.0, 2.0), core=(30.0, 0.0)),
    fn.BoxStaircase(1e4, (1.0, 2.0)),
    fn.BoxStaircase(0.7, (4.0,)),
]
FLOAT_LAWS = (fn.L2Laplace, fn.MultiUserLaplace)
LAYERED = (fn.L1Staircase, fn.BoxStaircase)


def is_vector(mechanism, kinds) -> bool:
    return isinstance(mechanism, kinds) and mechanism.dim > 1


def farthest(mechanism) -> float:
    """How far a law may be from the ideal: by the rounding of floats, by slack, by tables."""
    if is_vector(mechanism, FLOAT_LAWS):
        return mechanism.dim * 2.0**-51
    if isinstance(mechanism, LAYERED):
        return (getattr(mechanism, "dim", 1) + 1) * 2.0**-79
    return 1e-29 if isinstance(mechanism, fn.TruncatedDiscreteLaplace) else 1e-50


# --- what was asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", [*EVERY, *EXTREME], ids=name)
def test_certificate__is_never_above_what_was_asked_for(mechanism):
    certificate, privacy = mechanism.certificate(), mechanism.privacy
    assert certificate.epsilon <= privacy.epsilon
    assert exact_delta(certificate.delta) <= exact_delta(privacy.delta)
    assert certificate.adjacency == privacy.adjacency
    assert (certificate.grid, certificate.released_sensitivity) == (
        mechanism.grid,
        mechanism.released_sensitivity,
    )


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__is_what_was_asked_for_to_the_last_digit(mechanism):
    """No rounding of tables reaches a float; that of a float scale does."""
    certificate, privacy = mechanism.certificate(), mechanism.privacy
    if is_vector(mechanism, FLOAT_LAWS):
        assert certificate.epsilon >= privacy.epsilon * (1 - 2.0**-51)
    else:
        assert certificate.epsilon == privacy.epsilon
    assert certificate.delta == privacy.delta


@pytest.mark.parametrize("mechanism", [*DRAWN, *EXTREME], ids=name)
def test_certificate__is_near_the_ideal(mechanism):
    assert 0 <= mechanism.certificate().total_variation <= farthest(mechanism)


def test_certificate__of_a_fall_that_no_number_holds():
    mechanism = fn.TruncatedDiscreteLaplace(1e300, 0.5, 2**52)
    certificate = mechanism.certificate()
    assert certificate.epsilon <= mechanism.epsilon
    assert certificate.delta <= 0.5
    assert certificate.total_variation <= 1


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__says_on_what_it_is_based(mechanism):
    exact = not is_vector(mechanism, FLOAT_LAWS) and mechanism not in CHOICES
    certificate = mechanism.certificate()
    assert certificate.basis == ("exact" if exact else "bounded")
    assert certificate.exact
    assert certificate.bounded


@pytest.mark.parametrize("mechanism", EVERY, ids=name)
def test_certificate__is_json_and_a_page(mechanism):
    certificate = mechanism.certificate()
    copy = json.loads(json.dumps(certificate.to_dict()))
    assert copy["epsilon"] == certificate.epsilon
    assert copy["mechanism"] == repr(mechanism)
    assert set(copy) == set(certificate.__dataclass_fields__)
    page = str(certificate)
    assert all(len(line) <= 100 for line in page.splitlines()[1:])
    assert len(page.splitlines()) < 100
    assert f"epsilon               {certificate.epsilon}\n" in page
    assert certificate == mechanism.certificate()
    assert repr(certificate).startswith("Certificate(mechanism=")


# --- how many change ------------------------------------------------------------------------------

SHARED = [fn.Laplace(1.0), fn.MultiUserLaplace(2.0, 1), fn.MultiUserLaplace(2.0, 5)]
COUNTS = [1, 1000, 65_536, 65_537, 10**6, 10**9]


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
def test_changed__more_cost_more(mechanism):
    epsilons = [mechanism.certificate(changed=count).epsilon for count in COUNTS]
    assert epsilons == sorted(epsilons)
    assert epsilons[0] < epsilons[2] <= mechanism.epsilon < epsilons[4]
    assert mechanism.certificate() == mechanism.certificate(changed=65_536)
    assert mechanism.certificate(changed=7).changed == 7


@pytest.mark.parametrize("mechanism", SHARED, ids=name)
def test_changed__costs_what_snapping_moves(mechanism):
    """A grid step for each after the first, or the diagonal of a cell for each, over the scale."""
    moved = mechanism.grid * getattr(mechanism, "dim", 1) ** 0.5
    few, many = (mechanism.certificate(changed=count).epsilon for count in (1, 1 + 10**7))
    expected = 10**7 * moved * mechanism.epsilon / mechanism.released_sensitivity
    assert many - few == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "mechanism", [m for m in INTEGERS if m.privacy.adjacency == "l1"], ids=name
)
def test_changed__makes_no_difference_where_nothing_is_snapped(mechanism):
    certificate = mechanism.certificate(changed=10**9)
    assert replace(certificate, changed=None) == mechanism.certificate()


def test_changed__coordinates_of_a_vector_share_epsilon():
    mechanism = fn.L1Staircase(1.0, dim=3)
    assert mechanism.certificate().changed == 3
    assert {mechanism.certificate(changed=k).epsilon for k in (1, 2, 3)} == {1.0}
    with pytest.raises(ValueError, match=r"changed must be an integer in \[1, 4\), not 4"):
        mechanism.certificate(changed=4)


ALONE = [
    fn.Staircase(1.0),
    fn.DiscreteStaircase(1.0, 2),
    fn.BoxStaircase(1.0, (1.0, 2.0)),
    fn.L2Laplace(1.0, 1),
    fn.L2Laplace(1.0, 2),
    *CHOICES,
]


@pytest.mark.parametrize("mechanism", ALONE, ids=name)
@pytest.mark.parametrize("changed", [1, 2, True])
def test_changed__is_refused_where_each_pays(mechanism, changed):
    with pytest.raises(ValueError, match=r"changed must be left out, not .*: each .* pays epsilon"):
        mechanism.certificate(changed=changed)


@pytest.mark.parametrize(
    "mechanism", [*SHARED, fn.Geometric(1.0), fn.L1Staircase(1.0, 2)], ids=name
)
@pytest.mark.parametrize(
    ("changed", "kind"), [(0, ValueError), (-3, ValueError), (True, TypeError), (1.5, TypeError)]
)
def test_changed__must_count(mechanism, changed, kind):
    with pytest.raises(kind, match="changed must be an integer"):
        mechanism.certificate(changed=changed)


# --- choices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-7, 0.01, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("count", [1, 2, 33, 1000])
def test_choice__floats_are_as_near_as_the_certificate_says(epsilon, count, rng):
    """The kernel's own sums and goals, as parts of their total, beside exact ones.

    Half of POWER_ERROR and 2 count roundings; 3 for the goal. Twice all is within the margin.
    """
    spread = min(30.0 / epsilon, 2.0**31)
    costs = np.floor(rng.random((16, count)) ** 3 * spread)
    words = rng.integers(2**32, size=32, dtype=np.uint32)
    room, law = rooms(count), ChoiceLaw(epsilon, 1.0, 1, 1).sizes
    choose_sixteen(costs.ravel(), count, 0, words, 0, law, margin(count), room)
    sums, goals, rounding = room[0].reshape(count, 16), room[3], Fraction(1, 2**53)
    most = Fraction(POWER_ERROR) / 2 + 2 * count * rounding
    assert 2 * (most + 5 * rounding) < margin(count)
    for lane in range(0, 16, 5):
        levels = [int(cost) for cost in costs[lane]]
        exact, total = [], Fraction(0)
        for level in levels:
            total += exp_bounds(Fraction(epsilon) * (level - min(levels)), 40)[0]
            total = Fraction(int(total * 2**120), 2**120)
            exact.append(total)
        drawn = [Fraction(value) for value in sums[:, lane].tolist()]
        pairs = zip(drawn, exact, strict=True)
        assert max(abs(value / drawn[-1] - right / total) for value, right in pairs) <= most
        uniform = Fraction(int(words[lane]) | int(words[16 + lane]) << 32, 2**64)
        assert abs(Fraction(goals[lane].item()) / drawn[-1] - uniform) <= 3 * rounding
