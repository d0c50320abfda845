"""Does each certificate claim no more than the tables allow, and no less than was asked for?"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

from fastnoise.arithmetic.floats import exact_delta
from fastnoise.certificate import Certificate
from fastnoise.laws.layers.drawn import DrawnLayers
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.mechanisms.l1_staircase import L1Staircase
from fastnoise.mechanisms.l2_laplace import MultiUserLaplace
from fastnoise.mechanisms.laplace import Laplace
from fastnoise.verify.ideal import (
    ROUNDING,
    Ideal,
    IdealLayers,
    IdealScale,
    exactly,
    ideal_law,
    many_digits,
    snapped_steps,
)
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.ratios import check_claim, compare
from fastnoise.verify.subjects import CHOICES, EXTREME, USUAL, families
from fastnoise.verify.tables import drawn_scale, layer_pairs, level_pairs

FAR = 2.0**-40  # a total variation that no law here comes near
ENTRIES = 500  # of tables, whose errors are added up
MANY = [1, 65_536, 1_000_000]  # changed elements or users


def rows() -> list[Row]:
    return [
        *by_family("certificates", check_certificate, families([*USUAL, *EXTREME])),
        *by_family("certificates", check_promise, families(CHOICES)),
    ]


def check_certificate(mechanism: Any, tally: Tally) -> None:
    check_promise(mechanism, tally)
    certificate = mechanism.certificate()
    with many_digits():
        ideal = ideal_law(mechanism)
    if isinstance(ideal, IdealScale):
        check_slope(mechanism, ideal, certificate, tally)
    else:
        check_claim(mechanism, certificate.epsilon, exact_delta(certificate.delta), tally)
        check_distance(mechanism, ideal, certificate, tally)
    check_changed(mechanism, tally)


def check_promise(mechanism: Any, tally: Tally) -> None:
    """What was asked for is kept, and the law is where the mechanism says it is."""
    certificate, privacy = mechanism.certificate(), mechanism.privacy
    for name, most in (("epsilon", privacy.epsilon), ("delta", privacy.delta)):
        claimed = getattr(certificate, name)
        tally.expect(0 <= claimed <= most, f"{name} is {claimed}, not {most} or less")
    off = certificate.total_variation
    tally.expect(0 <= off < FAR, f"the total variation from the ideal law is {off}")
    tally.expect(certificate.basis in ("exact", "bounded"), f"basis is {certificate.basis!r}")
    tally.expect(certificate.adjacency == privacy.adjacency, "adjacency is not that of privacy")
    for name in ("grid", "released_sensitivity"):
        claimed, wanted = getattr(certificate, name), getattr(mechanism, name)
        tally.expect(claimed == wanted, f"{name} is {claimed}, not {wanted}")


def check_slope(mechanism: Any, ideal: IdealScale, certificate: Certificate, tally: Tally) -> None:
    """l2 noise falls by a factor e in a distance of its scale."""
    with many_digits():
        scale = drawn_scale(mechanism._law(mechanism.grid).tables)
        least = exactly(mechanism.epsilon) * ideal.scale / scale
        holds = least <= exactly(certificate.epsilon)
    tally.expect(holds, f"epsilon is {least:.20}, not {certificate.epsilon}")


def check_distance(
    mechanism: Any, ideal: Ideal | IdealLayers, certificate: Certificate, tally: Tally
) -> None:
    """The errors of some levels or layers, added up, are at most the distance that is claimed."""
    law = mechanism._law(mechanism.grid).tables
    with many_digits():
        if isinstance(ideal, Ideal):
            pairs = level_pairs(DrawnLaw(law), ideal)
        else:
            pairs = layer_pairs(DrawnLayers(law), ideal)
        errors = (abs(exactly(pair.drawn) - pair.ideal) for pair in islice(pairs, ENTRIES))
        least = sum(errors, Decimal(0)) / 2
        holds = least <= exactly(certificate.total_variation) + ROUNDING
    tally.expect(holds, f"the total variation is {least:.3}, above {certificate.total_variation}")


def check_changed(mechanism: Any, tally: Tally) -> None:
    """Where many share a change, more of them cost more, and the tables do not contradict it."""
    counts = shared_by(mechanism)
    if not counts:
        return
    claimed = [mechanism.certificate(changed=count).epsilon for count in counts]
    tally.expect(claimed == sorted(claimed), f"epsilon of {counts} changed is {claimed}")
    if isinstance(mechanism, Laplace):
        law = DrawnLaw(mechanism._law(mechanism.grid).tables)
        for count, epsilon in zip(counts, claimed, strict=True):
            steps = snapped_steps(mechanism, count)
            compare(law, ((n, n + steps) for n in (0, 1, steps)), Fraction(epsilon), tally)


def shared_by(mechanism: Any) -> list[int]:
    """Among how many a change of the sensitivity may be shared."""
    match mechanism:
        case Laplace() | MultiUserLaplace():
            return MANY
        case L1Staircase():
            return [1, mechanism.dim]
    return []
