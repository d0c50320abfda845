"""Is the released sum exact: snapped right, added exactly, rounded once, the same grid for all?"""

from fractions import Fraction
from math import ceil, inf, nan

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels.layout import UNDECIDED
from laws import DEEPER, WIDE, exact, half_up, wide_vectors
from mechanisms import FLOATS, VECTORS, name

import fastnoise as fn
from fastnoise.arithmetic.elementary import exp_bounds
from fastnoise.laws.law import Limits
from fastnoise.laws.line.drawn import DrawnLaw
from fastnoise.laws.line.reader import LineReader
from fastnoise.rows import Rows

BOTH = (-inf, inf)
EVERYWHERE = Limits()


def awkward(grid: float) -> list[float]:
    """Values where rounding goes wrong first, in grid steps and around them."""
    steps = [0.0, 0.5, 1.5, 2.5, 0.49999999999999994, 0.5000000000000001, 1e-300, 1 / 3, 4503599.5]
    steps += [2.0**51 + 0.5, 2.0**52 - 0.5, 2.0**52, 2.0**52 + 1, 2.0**53 - 1, 2.0**53 + 2, 2.0**62]
    steps += [2.0**63, 2.0**80 + 2.0**30, 2.0**300]
    values = [sign * step * grid for step in steps for sign in (1, -1)]
    around = [np.nextafter(v, towards) for v in values for towards in BOTH]
    return [*values, *map(float, around), 5e-324, 1.7976931348623157e308]


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1000.0, 1e-200, 1e200])
@pytest.mark.parametrize("epsilon", [1.0, 1e-3, 20.0])
def test_awkward_values__are_snapped_and_summed_exactly(epsilon, sensitivity, stream):
    mechanism = fn.Staircase(epsilon, sensitivity)
    x = np.array(awkward(mechanism.grid))
    noise = mechanism.sample(x.size, stream=stream.at(0)) / mechanism.grid
    got = mechanism.perturb(x, stream=stream.at(0))
    expected = [exact(v, int(n), mechanism.grid) for v, n in zip(x.tolist(), noise, strict=True)]
    assert got.tolist() == expected


@pytest.mark.parametrize("law", [WIDE, DEEPER], ids=["beyond 2**53", "beyond 2**62"])
def test_wide_noise__is_added_exactly_too(law, rng):
    """Noise of 53 bits and more, where a float sum in two steps would round twice."""
    x = np.array(awkward(law.grid) * 60)
    x = np.concatenate([x, rng.normal(size=5000) * 2.0 ** rng.integers(-30, 60, 5000)])
    noise = law.noise(KEY, Rows(0), x.size)
    if law is DEEPER:
        assert (noise == UNDECIDED).mean() > 0.3
    else:
        assert (np.abs(noise) > 2**53).mean() > 0.5
    got = np.empty_like(x)
    law.perturb(KEY, Rows(0), 0, x, got, EVERYWHERE)
    plain = LineReader(law.tables)
    for i in range(0, x.size, 1 if law is WIDE else 97):
        drawn = int(noise[i]) if noise[i] != UNDECIDED else plain.noise(KEY, i)
        assert got[i] == exact(x[i], drawn, law.grid)


@pytest.mark.parametrize("mechanism", [fn.Staircase(1.0), fn.Laplace(1.0), fn.L2Laplace(1.0, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bare_values__are_added_as_others(mechanism, dtype, rng):
    """What is neither clipped nor missing has a loop of its own, and the same bits."""
    law = mechanism._law(mechanism.grid)
    x = np.array(awkward(law.grid) * 30)
    x = np.concatenate([x, rng.normal(size=1001) * 2.0 ** rng.integers(-60, 60, 1001)])
    x = x[np.abs(x) <= np.finfo(dtype).max].astype(dtype)
    bare, others = np.empty_like(x), np.empty_like(x)
    for limits, out in ((Limits(nan=False), bare), (EVERYWHERE, others)):
        law.perturb(KEY, Rows(0), 0, x, out, limits)
    assert bare.tobytes() == others.tobytes()


def test_deep_rows__in_place_clipped_and_missing(rng):
    x = rng.normal(size=300) * 1e6
    x[5] = nan
    got = x.copy()
    DEEPER.perturb(KEY, Rows(0), 0, got, got, Limits(-1000.0, 1000.0))
    assert np.isnan(got[5])
    plain = LineReader(DEEPER.tables)
    for i in range(6, 300):
        clipped = min(max(x[i], -1000.0), 1000.0)
        assert got[i] == exact(clipped, plain.noise(KEY, i), DEEPER.grid)


@pytest.mark.parametrize("sensitivity", [1.0, 0.3, 1000.0, 1 / 3, 1e-9, 123456.789])
@pytest.mark.parametrize("epsilon", [1e-8, 1e-3, 0.1, 1.0, 5.0, 20.0, 40.0])
@pytest.mark.parametrize("gamma", [None, 0.0, 0.3, 1.0])
def test_grid__is_fine_and_covers_the_snapping(epsilon, sensitivity, gamma):
    mechanism = fn.Staircase(epsilon, sensitivity, gamma=gamma)
    grid, steps = mechanism.grid, mechanism.released_sensitivity / mechanism.grid
    assert np.frexp(grid)[0] == 0.5
    assert steps == ceil(Fraction(sensitivity) / Fraction(grid))
    assert mechanism.released_sensitivity >= sensitivity
    radius = max(1, round(Fraction(mechanism.gamma or 1.0) * int(steps)))
    q = 1 / np.expm1(epsilon)
    rho = radius - 0.5 + steps * q
    spread = steps**2 * np.exp(-epsilon) / np.expm1(-epsilon) ** 2
    drawn = (rho**2 + spread - 0.25) / (2 * rho) * grid  # E|X| of the integer staircase
    ideal = mechanism.moment(1)
    assert drawn <= ideal * (1 + 1e-5)
    assert drawn >= ideal * (1 - 1e-5)
    assert grid <= ideal * 1e-5


def test_grid__of_the_users_choice(stream):
    mechanism = fn.Staircase(1.0, 0.3)
    for grid in (1, 2.0, 0.5, 2.0**-30, np.float32(0.25)):
        y = mechanism.perturb(np.full(2000, 0.1), grid=grid, stream=stream.at(0))
        assert (y / float(grid) == np.round(y / float(grid))).all()
    coarse = mechanism.perturb(np.zeros(20_000), grid=1.0, stream=stream.at(0))
    geometric = 1 / np.sinh(1.0)  # one step covers the sensitivity: the geometric mechanism
    assert abs(np.abs(coarse).mean() - geometric) < 5 * coarse.std() / np.sqrt(coarse.size)


@pytest.mark.parametrize(
    ("first", "second"), [(0.0, 1 / 3), (0.1, 1.1), (0.0, 1.0), (1e9, 1e9 + 1)]
)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_neighbours__have_the_same_possible_outputs(first, second, epsilon, stream):
    """Each output of one input has positive probability for the other, within e**epsilon."""
    mechanism = fn.Staircase(epsilon)
    law = DrawnLaw(mechanism._law(mechanism.grid).tables)
    above = exp_bounds(epsilon)[1]
    points = [half_up(value, mechanism.grid) for value in (first, second)]
    for mine, other in (points, points[::-1]):
        noise = mechanism.sample(300, stream=stream) / mechanism.grid
        tail = [law.radius + k * law.steps + s for k in (3, 40, 5000) for s in (-1, 0, 1)]
        for n in [*map(int, noise), 0, law.radius - 1, law.radius, *tail, *(-n for n in tail)]:
            here, there = law.point(n), law.point(mine + n - other)
            assert there > 0
            assert there >= here * above


def test_clip__comes_before_the_noise(stream):
    mechanism = fn.Staircase(1.0)
    x = np.array([-1e300, -5.0, 0.25, 7.0, 1e300])
    inside = np.array([-1.0, -1.0, 0.25, 2.0, 2.0])
    noise = mechanism.perturb(np.zeros(5), clip=(-1, 2), stream=stream.at(0))
    noisy = mechanism.perturb(x, clip=(-1, 2), stream=stream.at(0))
    assert noisy.tolist() == (inside + noise).tolist()
    only_low = mechanism.perturb(x, clip=[-1, inf], stream=stream.at(0))
    assert only_low[4] == 1e300


def test_integers__are_clamped_to_2_to_53(stream):
    mechanism = fn.Staircase(1.0)
    extremes = np.array([-(2**63), -(2**53) - 1, -3, 5, 2**53 + 1, 2**63 - 1])
    clamped = np.clip(extremes, -(2**53), 2**53).astype(float)
    expected = mechanism.perturb(clamped, stream=stream.at(0))
    assert mechanism.perturb(extremes, stream=stream.at(0)).tolist() == expected.tolist()
    at_the_limit = mechanism.perturb(2.0**53, stream=stream.at(0))
    assert mechanism.perturb(np.array([2**64 - 1], np.uint64), stream=stream.at(0)) == at_the_limit
    assert mechanism.perturb(10**400, stream=stream.at(0)) == at_the_limit


# --- every mechanism on floats --------------------------------------------------------------------


def grids(mechanism):
    """One grid for each value of a row."""
    count = getattr(mechanism, "dim", 1)
    return list(mechanism.grid) if isinstance(mechanism.grid, tuple) else [mechanism.grid] * count


def shaped(mechanism, rows):
    """Vectors for those that take them, else numbers."""
    return rows if hasattr(mechanism, "dim") else rows[:, 0]


@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_every_sum__is_snapped_and_exact(mechanism, stream):
    """Also where coordinates have grids of their own: the values are awkward on each."""
    steps = grids(mechanism)
    columns = [awkward(grid) for grid in steps[:3]]
    kinds, count = len(columns[0]), len(columns[0])
    rows = [
        [columns[min(j, 2)][(i + 5 * j) % kinds] for j in range(len(steps))] for i in range(count)
    ]
    x = shaped(mechanism, np.array(rows))
    noise = mechanism.sample(count, stream=stream.at(0)).reshape(count, -1) / np.array(steps)
    got = mechanism.perturb(x, stream=stream.at(0)).reshape(count, -1)
    for row, drawn, sums in zip(rows, noise.tolist(), got.tolist(), strict=True):
        triples = zip(row, drawn, steps, strict=True)
        assert sums == [exact(value, int(n), grid) for value, n, grid in triples]
        assert all(n == int(n) for n in drawn)
    assert not np.array_equal(np.array(rows) + noise * np.array(steps), got)  # a naive sum differs


@pytest.mark.parametrize("mechanism", [*FLOATS, *VECTORS], ids=name)
def test_every_input__has_outputs_on_the_same_grid(mechanism, stream, rng):
    """Whatever x is, outputs are whole steps, and none of their last bits is ruled out."""
    step = np.array(grids(mechanism))
    dim, n = step.size, 4000 // step.size + 60
    widths = np.array(getattr(mechanism, "widths", [mechanism.sensitivity] * dim))
    shares = (0.0, 0.1, 1 / 3, 1.0, 1.1, rng.uniform(-50, 50, dim))
    for x in (widths * share for share in shares):
        y = mechanism.perturb(shaped(mechanism, np.tile(x, (n, 1))), stream=stream)
        steps = y.reshape(n, dim) / step
        assert (steps == np.round(steps)).all()
        for column in steps.T[:5]:
            assert len(np.unique(column % 4)) == 4
            assert (np.bincount((column % 2).astype(int)) > 0.2 * n).all()


NEIGHBOURS = [
    fn.Staircase(1.0),
    fn.Staircase(1.0, gamma=1.0),
    fn.Laplace(1.0),
    *(fn.L2Laplace(1.0, dim) for dim in (1, 2, 3)),
    fn.MultiUserLaplace(1.0, 1),
    *(fn.L1Staircase(1.0, dim) for dim in (1, 2, 3)),
    *(fn.BoxStaircase(1.0, (1.0,) * dim) for dim in (1, 2, 3)),
]


def counts(mechanism, x, stream, n=100_000):
    """How often outputs for `x` fall in each cell, of a size that makes cells few."""
    many = np.tile(x, (n, 1))
    y = mechanism.perturb(shaped(mechanism, many), stream=stream).reshape(n, -1)
    y = np.floor(y / {1: 0.5, 2: 1.0, 3: 2.0}[x.size])
    points, times = np.unique(y, axis=0, return_counts=True)
    return dict(zip(map(tuple, points.tolist()), times.tolist(), strict=True))


def exceeded(mechanism, epsilon, distance, stream):
    """Cells more than e**epsilon as likely here as `distance` away, by six standard deviations."""
    start = np.full(getattr(mechanism, "dim", 1), 0.3)
    here = counts(mechanism, start, stream)
    away = counts(mechanism, start + distance * np.eye(start.size)[0], stream)
    likely = {point: times for point, times in here.items() if times > 300}
    assert likely
    return [
        point
        for point, times in likely.items()
        if times * np.exp(-epsilon) - away.get(point, 0)
        > 6 * np.sqrt(times * np.exp(-2 * epsilon) + away.get(point, 0))
    ]


@pytest.mark.parametrize("mechanism", NEIGHBOURS, ids=name)
def test_every_output__of_one_input_is_as_likely_for_its_neighbour(mechanism, stream):
    assert not exceeded(mechanism, 1.0, 1.0, stream)
    assert exceeded(mechanism, 0.1, 6.0, stream)  # inputs far apart are told apart


# --- vectors beyond floats ------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [7, 1 << 18])
@pytest.mark.parametrize("filler", ["l1_staircase", "box_staircase"])
def test_wide_vectors__are_added_exactly_too(filler, chunk, rng, monkeypatch):
    """Rows that kernels leave to Python, in chunks that end inside vectors, a NaN among them."""
    monkeypatch.setattr("fastnoise.laws.line.law.CHUNK", chunk)
    law = wide_vectors(filler)
    undecided = np.isnan(law.noise(KEY, Rows(0), 250)).any(axis=1)
    assert 0.2 < undecided.mean() < 0.98
    x = rng.normal(size=(250, 2)) * 2.0 ** rng.integers(-30, 60, (250, 2))
    x[undecided.argmax(), 1] = nan
    flat, got = x.reshape(-1), np.empty(500)
    for start in range(0, 500, 33):  # 33 values: half a vector more
        part = slice(start, start + 33)
        law.perturb(KEY, Rows(0), start, flat[part], got[part], EVERYWHERE)
    reader = law.reader
    for i, (row, sums) in enumerate(zip(x, got.reshape(-1, 2), strict=True)):
        expected = [
            nan if value != value else exact(value, steps, grid)
            for value, steps, grid in zip(row, reader.noise(KEY, i), law.grids, strict=True)
        ]
        assert np.array_equal(sums, expected, equal_nan=True)


@pytest.mark.parametrize("chunk", [7, 1 << 18])
def test_deep_rows__in_small_chunks(chunk, rng, monkeypatch):
    monkeypatch.setattr("fastnoise.laws.line.law.CHUNK", chunk)
    x, got = rng.normal(size=100) * 1e6, np.empty(100)
    DEEPER.perturb(KEY, Rows(0), 0, x, got, EVERYWHERE)
    plain = LineReader(DEEPER.tables)
    assert got.tolist() == [exact(v, plain.noise(KEY, i), DEEPER.grid) for i, v in enumerate(x)]
