"""Is the noise that comes out distributed as promised, and would these tests see if it were not?

Each test is put to fresh draws twice: against the ideal law, at ALPHA = 1e-6, and as a control
against a law that is 5% wrong, or with one draw in 20 spoilt, which it must reject. Some 300 tests
of noise that fits make a false alarm in one run of 3,000.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from fastnoise.mechanisms.box_staircase import BoxStaircase
from fastnoise.mechanisms.l1_staircase import L1Staircase
from fastnoise.mechanisms.l2_laplace import MultiUserLaplace
from fastnoise.mechanisms.mechanism import IntegerMechanism, VectorMechanism
from fastnoise.mechanisms.staircase_choice import StaircaseChoice
from fastnoise.verify.fit import (
    SHARES,
    Floats,
    Values,
    misfits,
    rejected,
    rows_depend,
    signs_depend,
    simplex_misfits,
    sphere_misfits,
    unlikely,
)
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import CHOICES, USUAL, families

DRAWS = 200_000
VALUES = 800_000  # of vectors, in all
WRONG = 1.05
CANDIDATES = 12


class Verdict(NamedTuple):
    """Whether a test rejects the draws, and whether it rejects its control."""

    name: str
    misfit: bool
    seen: bool


def rows() -> list[Row]:
    return by_family("fit", check_fit, families([*USUAL, *CHOICES]))


def check_fit(mechanism: Any, tally: Tally) -> None:
    for name, misfit, seen in verdicts(mechanism):
        tally.expect(not misfit, f"{name}: the noise does not fit")
        tally.expect(seen, f"{name}: the test would not see 5%")


def verdicts(mechanism: Any) -> Iterator[Verdict]:
    match mechanism:
        case StaircaseChoice():
            yield choice_verdict(mechanism)
        case VectorMechanism():
            yield from vector_verdicts(mechanism)
        case _:
            noise, wrong = mechanism.sample(DRAWS), wider(mechanism)
            test = integers_misfit if isinstance(mechanism, IntegerMechanism) else line_misfits
            yield Verdict("law", test(mechanism, noise), test(wrong, noise))
            yield rows_verdict(noise, np.abs(noise))


def wider(mechanism: Any) -> Any:
    """The same law, 5% wider: on the integers by epsilon and delta, which need not be whole."""
    if isinstance(mechanism, IntegerMechanism):
        names, factor = {"epsilon", "delta"}, 1 / WRONG
    else:
        names, factor = {"sensitivity", "widths", "core"}, WRONG
    values = {field.name: getattr(mechanism, field.name) for field in fields(mechanism)}
    return replace(
        mechanism, **{name: _times(values[name], factor) for name in names & values.keys()}
    )


def _times(value: Any, factor: float) -> Any:
    return tuple(factor * v for v in value) if isinstance(value, tuple) else factor * value


# --- numbers --------------------------------------------------------------------------------------


def line_misfits(law: Any, noise: Floats) -> bool:
    """Pearson's test in cells whose edges lie between points of the grid."""
    edges = (np.floor(law.ppf(SHARES) / law.grid) + 0.5) * law.grid
    return misfits(noise, edges, law.cdf(edges))


def integers_misfit(law: Any, noise: Values) -> bool:
    """Exact tests of the sign and of 0; Pearson's, in cells between integers."""
    likely = np.array([float(law.cdf(-1)), float(law.pmf(0)), float(law.sf(0))])
    counts = np.array([(noise < 0).sum(), (noise == 0).sum(), (noise > 0).sum()])
    edges = np.unique(law.ppf(SHARES).astype(np.int64))
    return unlikely(counts, noise.size, likely) or misfits(noise, edges, law.cdf(edges))


def rows_verdict(values: Values, sizes: Values) -> Verdict:
    """Rows do not depend on each other."""
    again, spoilt = values.copy(), sizes.copy()
    again[16::20], spoilt[16::20] = values[:-16:20], sizes[:-16:20]
    return Verdict("independence of rows", rows_depend(values, sizes), rows_depend(again, spoilt))


# --- vectors --------------------------------------------------------------------------------------


def vector_verdicts(mechanism: Any) -> Iterator[Verdict]:
    dim, wrong = mechanism.dim, wider(mechanism)
    noise = mechanism.sample(min(DRAWS, VALUES // dim))
    yield Verdict("radius", radius_misfits(mechanism, noise), radius_misfits(wrong, noise))
    yield rows_verdict(noise[:, 0], norms(mechanism, noise))
    if isinstance(mechanism, BoxStaircase):
        yield Verdict("sides", sides_misfit(mechanism, noise), sides_misfit(wrong, noise))
    elif dim > 1:
        is_l1 = isinstance(mechanism, L1Staircase)
        yield tampered("direction", simplex_misfits if is_l1 else sphere_misfits, shortened, noise)
    if dim > 1:
        yield tampered("signs", signs_depend, copied_signs, noise)


def tampered(
    name: str, test: Callable[[Floats], bool], spoil: Callable[[Floats], None], noise: Floats
) -> Verdict:
    wrong = noise.copy()
    spoil(wrong)
    return Verdict(name, test(noise), test(wrong))


def shortened(noise: Floats) -> None:
    """One axis is 5% shorter."""
    noise[:, 0] /= WRONG


def copied_signs(noise: Floats) -> None:
    """One vector in 20 has the sign of its first number on its last one, too."""
    noise[::20, -1] = np.abs(noise[::20, -1]) * np.sign(noise[::20, 0])


def norms(mechanism: Any, noise: Floats) -> Floats:
    """In the mechanism's own norm; for boxes, how many widths a vector is outside the core."""
    if isinstance(mechanism, BoxStaircase):
        return np.asarray(np.max((np.abs(noise) - mechanism.core) / mechanism.widths, axis=1))
    if isinstance(mechanism, L1Staircase):
        return np.asarray(np.abs(noise).sum(axis=1))
    return np.asarray(np.sqrt((noise**2).sum(axis=1)))


def radius_misfits(law: Any, noise: Floats) -> bool:
    if isinstance(law, BoxStaircase):
        edges = np.array([law.confidence_region(share).beta for share in SHARES.tolist()])
    else:
        radius = law.radius(1) if isinstance(law, MultiUserLaplace) else law.radius
        edges = radius.ppf(SHARES)
    return misfits(norms(law, noise), edges, SHARES)


def sides_misfit(law: BoxStaircase, noise: Floats) -> bool:
    """|coordinates|, each a mixture of uniform numbers: on its side of every box."""
    layers = np.arange(60.0 * (law.dim + 1) / law.epsilon)
    weights = law.layer_pmf(layers)
    for i in range(law.dim):
        sides = law.core[i] + layers * law.widths[i]
        edges = law.marginal_var()[i] ** 0.5 * np.arange(0.1, 3.0, 0.1)
        inside = np.minimum(edges[:, None] / np.maximum(sides, 1e-300), 1.0)
        if misfits(np.abs(noise[:, i]), edges, inside @ weights):
            return True
    return False


# --- choices --------------------------------------------------------------------------------------


def choice_verdict(mechanism: StaircaseChoice) -> Verdict:
    costs = (np.arange(CANDIDATES) + 0.1) / 4 * mechanism.sensitivity
    chosen = mechanism.choose(np.tile(costs, (DRAWS, 1)))
    counts = np.bincount(chosen, minlength=CANDIDATES)
    wrong = StaircaseChoice(mechanism.epsilon * WRONG, mechanism.sensitivity, gamma=mechanism.gamma)
    laws = mechanism, wrong
    misfit, seen = (rejected(counts, law.probabilities(costs)) for law in laws)
    return Verdict("choice", misfit, seen)
