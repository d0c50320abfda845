"""What is proved of laws on the line, in numbers and in words."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from fastnoise.arithmetic.floats import float_above, stated_delta
from fastnoise.certificate import BOUNDED, READ_BACK, Guarantee
from fastnoise.ideal.discrete_uniform import FlatWeights
from fastnoise.ideal.truncated_discrete_laplace import truncation
from fastnoise.laws.alias import Tables
from fastnoise.laws.line import proof
from fastnoise.laws.line.drawn import DrawnLaw


def staircase_guarantee(tables: Tables, epsilon: float, steps: int, radius: int) -> Guarantee:
    """Of the integer staircase, for one element that moves by at most `steps`."""
    drawn = DrawnLaw(tables)
    return Guarantee(
        proof.staircase_epsilon(drawn, steps),
        0.0,
        float_above(proof.staircase_distance(drawn, epsilon, steps, radius)),
        "exact",
        READ_BACK
        + "epsilon, which is the logarithm of the largest ratio between two adjacent levels. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"{BOUNDED}.",
    )


def laplace_guarantee(
    tables: Tables, epsilon: float, steps: int, shift: int, changed: int | None
) -> Guarantee:
    """Of the discrete Laplace law of sensitivity `steps`, for a change of `shift` steps in l1."""
    drawn = DrawnLaw(tables)
    return Guarantee(
        proof.endless_epsilon(drawn, shift),
        0.0,
        float_above(proof.laplace_distance(drawn, Fraction(epsilon) / steps)),
        "exact",
        READ_BACK
        + "the largest ratio between two adjacent integers, whose logarithm is what a step costs. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"epsilon, by that cost times the steps that inputs can be apart ({shift:,}); {BOUNDED}.",
        changed,
    )


def uniform_guarantee(
    tables: Tables, ideal: FlatWeights, shift: int, changed: int | None
) -> Guarantee:
    """Of the flat law, for a change of `shift` in l1."""
    drawn = DrawnLaw(tables)
    return Guarantee(
        0.0 if drawn.is_sound() else inf,
        stated_delta(proof.uniform_delta(drawn, shift)),
        float_above(proof.uniform_distance(drawn, *ideal)),
        "exact",
        READ_BACK
        + "delta, which is the sensitivity times the largest of them; the total variation.",
        "nothing.",
        changed,
    )


def truncated_guarantee(
    tables: Tables, epsilon: float, delta: Fraction, shift: int, changed: int | None
) -> Guarantee:
    """Of the law with its tails cut off, for a change of `shift` in l1."""
    drawn, core = DrawnLaw(tables), truncation(epsilon, delta, shift)
    proved, excess = proof.truncated_guarantee(drawn, epsilon, shift)
    return Guarantee(
        proved,
        stated_delta(excess),
        float_above(proof.truncated_distance(drawn, epsilon, delta, shift, core)),
        "exact",
        READ_BACK
        + "the largest ratio between two adjacent integers before the ends, and how much the ends "
        "are above it.",
        f"delta, from that of one step by group privacy, in interval arithmetic; {BOUNDED}.",
        changed,
    )
