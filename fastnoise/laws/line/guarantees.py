"""What is proved of laws on the line, in numbers and in words."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from math import inf
from typing import Any

from fastnoise.arithmetic.floats import float_above, stated_delta
from fastnoise.certificate import BOUNDED, READ_BACK, Guarantee
from fastnoise.ideal.truncated_discrete_laplace import truncation
from fastnoise.laws.line import proof
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.laws.line.law import LaplaceLaw, StaircaseLaw, TruncatedLaplaceLaw, UniformLaw


@singledispatch
def guarantee(law: Any, changed: int | None) -> Guarantee:
    """What the tables of a law prove if `changed` elements change together."""
    raise TypeError(f"nothing is proved of a {type(law).__name__}")


@guarantee.register
def _(law: StaircaseLaw, changed: int | None) -> Guarantee:
    drawn, steps = DrawnLaw(law.tables), law.steps
    return Guarantee(
        proof.staircase_epsilon(drawn, steps),
        0.0,
        float_above(proof.staircase_distance(drawn, law.epsilon, steps, law.radius)),
        "exact",
        READ_BACK
        + "epsilon, which is the logarithm of the largest ratio between two adjacent levels. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"{BOUNDED}.",
        changed,
    )


@guarantee.register
def _(law: LaplaceLaw, changed: int | None) -> Guarantee:
    drawn, shift = DrawnLaw(law.tables), law.steps
    if changed is not None and law.made_for is not None:
        shift += changed - law.made_for
    return Guarantee(
        proof.endless_epsilon(drawn, shift),
        0.0,
        float_above(proof.laplace_distance(drawn, Fraction(law.epsilon) / law.steps)),
        "exact",
        READ_BACK
        + "the largest ratio between two adjacent integers, whose logarithm is what a step costs. "
        "Beyond the tables the same ratios come again, so it holds at any depth.",
        f"epsilon, by that cost times the steps that inputs can be apart ({shift:,}); {BOUNDED}.",
        changed,
    )


@guarantee.register
def _(law: UniformLaw, changed: int | None) -> Guarantee:
    drawn = DrawnLaw(law.tables)
    return Guarantee(
        0.0 if drawn.is_sound() else inf,
        stated_delta(proof.uniform_delta(drawn, law.steps)),
        float_above(proof.uniform_distance(drawn, *law.weights)),
        "exact",
        READ_BACK
        + "delta, which is the sensitivity times the largest of them; the total variation.",
        "nothing.",
        changed,
    )


@guarantee.register
def _(law: TruncatedLaplaceLaw, changed: int | None) -> Guarantee:
    drawn, epsilon, delta, shift = DrawnLaw(law.tables), law.epsilon, law.delta, law.steps
    core = truncation(epsilon, delta, shift)
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
