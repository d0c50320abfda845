"""Can outputs of one input be impossible for its neighbour?

The precision attack (Mironov 2012): low bits of `x + noise` in floats give x away. Here all inputs
have the same possible outputs, the points of one grid, and no pattern of bits beside the value.
"""

from __future__ import annotations

import os
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from fastnoise.mechanisms.mechanism import IntegerMechanism
from fastnoise.stream import Stream
from fastnoise.verify.fit import Floats, Values
from fastnoise.verify.outcome import Row, Tally, by_family
from fastnoise.verify.subjects import USUAL, families, grids, neighbour_step

VALUES = 50_000  # outputs of each input
LEAKING = 0.2  # share of numpy's outputs that give the input away, at least

# Where rounding goes wrong first, in grid steps.
AWKWARD = [0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 0.5000000000000001, 1e-300, 1 / 3, 4503599.5]
AWKWARD += [2.0**51 + 0.5, 2.0**52 - 0.5, 2.0**52, 2.0**53 - 1, 2.0**53 + 2, 2.0**62, 2.0**80]
PAYLOADS = [0x7FF8000000000001, 0xFFF8000000000123, 0x7FF0000000000001]


def rows() -> list[Row]:
    on_floats = [m for m in USUAL if not isinstance(m, IntegerMechanism)]
    on_integers = [m for m in USUAL if isinstance(m, IntegerMechanism)]
    return [
        *by_family("attack", check_outputs, families(on_floats)),
        *by_family("attack", check_integers, families(on_integers)),
        Row("attack", "numpy's x + laplace", check_control, [(0.0, 1.0)]),
    ]


def check_outputs(mechanism: Any, tally: Tally) -> None:
    """Neighbours at 0, between points of the grid, far beyond the noise and far below it."""
    step = neighbour_step(mechanism)
    for start in (0.0, 1 / 3, 1e9, 1e-300):
        x = np.full(step.size, start) * step.max()
        for value in (x, x + step):
            outputs = released(mechanism, value, VALUES)
            wrong = outputs[impossible(mechanism, outputs)].tolist()
            tally.add(outputs.size, (f"{value.tolist()} gave {y!r}, off the grid" for y in wrong))
            if start < 1:  # far out floats are coarser than the grid
                gaps = unseen(mechanism, outputs)
                tally.expect(not gaps, f"{value.tolist()} never gave steps of {gaps} modulo 8")
    check_sums(mechanism, tally)
    check_patterns(mechanism, tally)


def released(mechanism: Any, x: Floats, values: int) -> Floats:
    """What is released of one row, drawn again and again: a row of the result is a draw."""
    data = np.tile(x, (values // x.size, 1))
    outputs = mechanism.perturb(data.reshape(-1, *mechanism._row_shape))
    return np.asarray(outputs.reshape(data.shape))


def impossible(mechanism: Any, outputs: Floats) -> Values:
    """Which outputs no input has: x is snapped to the grid, and its noise any number of steps."""
    steps = outputs / np.array(grids(mechanism))  # powers of two: nothing is rounded
    return np.asarray(steps != np.floor(steps))


def unseen(mechanism: Any, outputs: Floats) -> set[int]:
    """Which steps modulo 8 some coordinate never has: noise of even steps would give x away."""
    steps = outputs / np.array(grids(mechanism))
    columns = [set(column.tolist()) for column in (steps % 8).T]
    return {i for i in range(8) for column in columns if i not in column}


def half_up(value: float, grid: float) -> int:
    return floor(Fraction(value) / Fraction(grid) + Fraction(1, 2))


def check_sums(mechanism: Any, tally: Tally) -> None:
    """Awkward data is snapped with exact round-half-up, and the exact sum is rounded once."""
    stream, steps = Stream.from_key(os.urandom(32)), np.array(grids(mechanism))
    values = [sign * value for value in AWKWARD for sign in (1, -1)]
    columns = [np.roll(values, i) * grid for i, grid in enumerate(steps)]
    x = np.stack(columns, axis=1)
    noise = mechanism.sample(len(x), stream=stream.at(0)).reshape(x.shape) / steps
    got = mechanism.perturb(x.reshape(-1, *mechanism._row_shape), stream=stream.at(0))
    triples = zip(x.flat, noise.flat, np.tile(steps, len(x)), strict=True)
    expected = [float((half_up(v, g) + int(n)) * Fraction(g)) for v, n, g in triples]
    wrong = [i for i, y in enumerate(got.flat) if y != expected[i]]
    tally.add(x.size, (f"{x.flat[i]!r} is not snapped and added exactly" for i in wrong))


def check_patterns(mechanism: Any, tally: Tally) -> None:
    """No sign of zero comes out, not where noise takes data back to 0, and no payload of NaN."""
    stream = Stream.from_key(os.urandom(32))
    zeros = mechanism.perturb(-mechanism.sample(300, stream=stream.at(0)), stream=stream.at(0))
    tally.expect(not zeros.any(), "data and noise of opposite signs do not make 0")
    tally.expect(not np.signbit(zeros).any(), "-0.0 comes out")
    missing = np.tile(np.array(PAYLOADS, np.uint64).view(np.float64), len(grids(mechanism)))
    out = mechanism.perturb(missing.reshape(-1, *mechanism._row_shape), nan="keep")
    tally.expect(len(set(out.view(np.uint64).flat)) == 1, "NaNs differ in their bits")


def check_integers(mechanism: Any, tally: Tally) -> None:
    """Sums are exact and saturate, at the limits of every dtype."""
    stream = Stream.from_key(os.urandom(32))
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64):
        limits = np.iinfo(kind)
        low, high = int(limits.min), int(limits.max)
        x = np.resize(np.array([low, low + 1, high - 1, high, 0, 1, high // 2], kind), 200)
        noise = mechanism.sample(x.size, stream=stream.at(0)).tolist()
        sums = [min(max(v + n, low), high) for v, n in zip(x.tolist(), noise, strict=True)]
        got = mechanism.perturb(x, stream=stream.at(0)).tolist()
        wrong = [i for i, y in enumerate(got) if y != sums[i]]
        tally.add(x.size, (f"{x[i]} + {noise[i]} became {got[i]} as {x.dtype}" for i in wrong))


def check_control(pair: tuple[float, float], tally: Tally) -> None:
    """The textbook's sum must fail: else the attack is no attack."""
    share = textbook_leak(*pair, VALUES)
    tally.expect(share > LEAKING, f"only {share:.0%} of the outputs give the input away")
    tally.note = f"the control: {share:.0%} of its outputs give the input away"


def textbook_leak(x: float, other: float, draws: int) -> float:
    """The share of x + laplace that other + laplace can never be, whatever laplace is."""
    y = x + np.random.default_rng().laplace(scale=abs(other - x), size=draws)
    noise = y - other
    near = [noise, np.nextafter(noise, np.inf), np.nextafter(noise, -np.inf)]
    return 1.0 - float(np.mean(np.any([other + value == y for value in near], axis=0)))
