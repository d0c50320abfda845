"""Do vector kernels draw what plain Python reads off the same tables with the same words?"""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import count, product
from math import ceil, isnan, prod

import numpy as np
import pytest
from conftest import KEY
from crafted import FILL, coin_for, schedule_of, ties
from fastnoise_kernels import layers, layout
from fastnoise_kernels.box_staircase import box_columns, draw_box, redraw_box
from fastnoise_kernels.l1_lanes import FEW, ball_column
from fastnoise_kernels.l1_small import nonzero_count
from fastnoise_kernels.l1_staircase import draw_ball, redraw_ball
from fastnoise_kernels.staircase import OUT_OF_WORDS
from laws import READERS, vector_law
from numba import njit

import fastnoise as fn
from fastnoise.bits import compiled_blocks
from fastnoise.laws.l2.law import l2_grid, l2_law
from fastnoise.laws.l2.reader import Numbers, Vector
from fastnoise.laws.law import Limits
from fastnoise.laws.layers import reader as vector_reader
from fastnoise.laws.layers import tables as layer_tables
from fastnoise.laws.layers.balls import l1_points, points_by_count
from fastnoise.laws.layers.law import BallLaw, ball_grid, ball_law, box_grids, box_law
from fastnoise.laws.line import reader
from fastnoise.rows import Rows

pytestmark = pytest.mark.long

KINDS = ["box_staircase", "l1_staircase", "l2_laplace"]
DIMS = [2, 3, 4, 5, 16, 64]
EPSILONS = [1e-6, 0.01, 1.0, 4.0, 50.0]
STARTS = [0, 2**32 - 5, 2**40 - 5, 2**62 + 9]
ROWS = 10


def law_of(kind: str, dim: int, epsilon: float):
    if kind == "l2_laplace":
        return l2_law(epsilon, dim, 1.0, 1, l2_grid(epsilon, dim, 1.0, 1))
    if kind == "l1_staircase":
        grid = ball_grid(epsilon, dim, 1.0, 0.4)
        return ball_law(epsilon, dim, 1.0, 0.4, grid)
    widths = tuple(1.0 + i % 3 for i in range(dim))
    core = tuple(0.4 * width for width in widths)
    return box_law(epsilon, widths, core, box_grids(epsilon, widths, core))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_vector_kernel_is_reader(kind, dim, epsilon):
    """Rows in order, around the end of an epoch among others, and the same rows by their ids."""
    law = law_of(kind, dim, epsilon)
    assert law.filler == kind
    plain = READERS[kind](law.tables)
    rows = [first + i for first in STARTS for i in range(ROWS)]
    expected = [plain.noise(KEY, row) for row in rows]
    fast = [law.noise(KEY, Rows(first), ROWS) for first in STARTS]
    assert np.concatenate(fast).tolist() == expected
    ids = np.array(rows[::-1], np.int64)
    ids.flags.writeable = False
    assert law.noise(KEY, Rows(-1, ids), len(rows)).tolist() == expected[::-1]
    assert any(map(any, expected))


@pytest.mark.parametrize("kind", KINDS)
def test_vector_kernel__is_seen_to_differ_between_laws(kind):
    """The same comparison on another law."""
    right, wrong = law_of(kind, 3, 1.0), law_of(kind, 3, 1.3)
    plain = READERS[kind](right.tables)
    fast = wrong.noise(KEY, Rows(0), ROWS).tolist()
    assert fast != [plain.noise(KEY, row) for row in range(ROWS)]


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize(
    ("dim", "epsilon"),
    [(2, 2.0), (2, 5.0), (2, 50.0), (3, 1e-6), (5, 0.01), (16, 1.0), (64, 20.0)]
    + [(dim, 1.0) for dim in range(2, FEW + 2)],
)
def test_vector_path_is_careful_path(kind, dim, epsilon):
    """The sixteen-lane loop against the definition, on enough rows to meet rare cases."""
    law = law_of(kind, dim, epsilon)
    rows = 6_000 // dim
    schedule, one_by_one = schedule_of(KEY), np.empty((rows, dim))
    redraw = redraw_box if kind == "box_staircase" else redraw_ball
    for row, noise in enumerate(one_by_one):
        redraw(schedule, (np.uint64(row), np.uint64(0)), law.tables, noise)
    np.testing.assert_array_equal(law.noise(KEY, Rows(0), rows), one_by_one)


@pytest.mark.parametrize("dim", [4, 5, 8])
def test_l2_radius__that_does_not_fit_is_drawn_again(dim):
    """About one row in fifty: those rows alone, more than sixteen of them, one drawn thrice."""
    law = law_of("l2_laplace", dim, 1.0)
    plain = READERS["l2_laplace"](law.tables)
    unlucky = [row for row in range(3000) if draws_of_radius(plain, row) > 1][:20]
    unlucky.append(next(row for row in count() if draws_of_radius(plain, row) > 2))
    assert len(unlucky) > 17
    ids = np.array(unlucky, np.int64)
    ids.flags.writeable = False
    expected = [plain.noise(KEY, row) for row in unlucky]
    assert law.noise(KEY, Rows(-1, ids), len(ids)).tolist() == expected
    first, rows = unlucky[-1] - 7, 9
    expected = [plain.noise(KEY, first + i) for i in range(rows)]
    assert law.noise(KEY, Rows(first), rows).tolist() == expected


def draws_of_radius(plain, row: int) -> int:
    return 1 + Vector(plain, Numbers(compiled_blocks, KEY, row, plain.width)).drawn()


# --- layers from crafted words --------------------------------------------------------------------


def box_tables(epsilon: float, steps: list[int], radii: list[int]):
    points = [1] * (len(steps) + 1)
    for n, r in zip(steps, radii, strict=True):
        points = [p * (2 * (r + k * n) - 1) for k, p in enumerate(points)]
    return layer_tables.layer_tables(epsilon, points, steps, radii)


def ball_tables(epsilon: float, dim: int, steps: int, radius: int):
    grid = {"grid": 1.0, "dim": dim}
    return BallLaw(**grid, epsilon=epsilon, steps=steps, radius=radius).tables


LAYERED = {
    "box-1": ("box_staircase", box_tables(1.0, [1000, 7], [300, 7])),
    "box-20": ("box_staircase", box_tables(20.0, [2**20, 2**21, 5], [2**10, 2**20, 1])),
    "box-1e-4": ("box_staircase", box_tables(1e-4, [2**20, 2**20], [2**19, 2**19])),
    "box-wide": ("box_staircase", box_tables(20.0, [2**45, 3], [2**44, 1])),
    "ball-1": ("l1_staircase", ball_tables(1.0, 2, 1000, 300)),
    "ball-20": ("l1_staircase", ball_tables(20.0, 3, 2**20, 2**10)),
    "ball-1e-4": ("l1_staircase", ball_tables(1e-4, 2, 2**20, 2**19)),
    "ball-wide": ("l1_staircase", ball_tables(20.0, 2, 2**45, 2**44)),
}


@cache
def plain_reader(name: str):
    kind, law = LAYERED[name]
    return READERS[kind](law)


def both_ways(name: str, words: list[int]) -> tuple[list[float], list[int], int]:
    """(kernel, reader, words that the kernel used) on the same words."""
    kind, law = LAYERED[name]
    noise = np.full(int(law[layout.DIM]), -1e300)
    draw = draw_box if kind == "box_staircase" else draw_ball
    used = draw(law, np.array(words, np.uint64), noise)
    assert used != OUT_OF_WORDS
    return noise.tolist(), plain_reader(name).draw(iter(words)), used


def place_word(place: int, width: int) -> int:
    """A word that draws this place, in the middle of those that do."""
    return ((2 * place + 1) << 63) // width


def own_words(law, coins: list[int]) -> list[int]:
    """Words in the middle of things for coordinates, then the coins, two to a word."""
    places = [0x5DEECE66D1234567 + (i << 59) for i in range(int(law[layout.DIM]))]
    halves = [*coins, 0] if len(coins) % 2 else coins
    return places + [low | high << 32 for low, high in zip(halves[::2], halves[1::2], strict=True)]


def plain_coins(name: str) -> list[int]:
    """A coin for entry 1 of every table that needs no more words."""
    plain = plain_reader(name)
    picked = [coin_for(table, 1) for table in plain.coins]
    return [coin for coin, tail in picked if not tail] + [
        coin - (coin % 2 == 1) for coin, tail in picked if tail
    ]


@pytest.mark.parametrize("name", LAYERED)
def test_layer_ties__at_every_word(name):
    law = LAYERED[name][1]
    plain, coins = plain_reader(name), plain_coins(name)
    layers = set()
    for at, table in enumerate(plain.coins):
        for coin, tail in ties(table, 6):
            own = own_words(law, [*coins[:at], coin, *coins[at + 1 :]])
            fast, slow, _ = both_ways(name, [*own, *tail, *FILL])
            assert fast == slow
            layers.add(tuple(slow))
    assert len(layers) >= 3


def beyond_the_table(name: str, more: int, restarts: int) -> list[int]:
    """Words that pick the last entry, `more` + 1 digits, and restart the first so often."""
    plain, law = plain_reader(name), LAYERED[name][1]
    last, last_tail = coin_for(plain.coins[-1], plain.last)
    words = own_words(law, [*plain_coins(name)[:-1], last]) + last_tail
    coin, tail = coin_for(plain.tail, more)
    words += [coin << 32, *tail]
    again, again_tail = coin_for(plain.digit, plain.digits)
    end, end_tail = coin_for(plain.digit, 0)
    words += [again << 32, *again_tail] * restarts
    return words + [end << 32, *end_tail] * (more + 1)


@pytest.mark.parametrize("name", LAYERED)
def test_last_entry__draws_how_far_beyond(name):
    plain = plain_reader(name)
    sizes = []
    for more, restarts in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 3), (2, 1)]:
        words = beyond_the_table(name, more, restarts)
        fast, slow, used = both_ways(name, words + FILL)
        assert fast == slow
        assert used >= len(words)
        own = words[plain.dim : (plain.width + 1) // 2]
        layer = plain.layer(own, iter(words[(plain.width + 1) // 2 :] + FILL))
        sizes.append(layer - plain.times[-1] * (plain.last + more + restarts * plain.digits))
    assert set(sizes) <= set(range(plain.times[-1]))  # what the lower coins add


@pytest.mark.parametrize("name", LAYERED)
def test_layers__run_out_of_words_and_say_so(name):
    kind, law = LAYERED[name]
    words = np.array(beyond_the_table(name, 1, 2), np.uint64)
    draw = draw_box if kind == "box_staircase" else draw_ball
    noise = np.empty(int(law[layout.DIM]))
    for size in range((int(law[layout.WIDTH]) + 1) // 2, len(words)):
        assert draw(law, words[:size], noise) == OUT_OF_WORDS


@pytest.mark.parametrize("name", ["box-wide", "box-1e-4", "ball-wide", "ball-1e-4"])
def test_deep_layers__are_marked_not_rounded(name):
    """Sides of more than 2**52 steps; the reader's integers have no end."""
    plain = plain_reader(name)
    restarts = (2 << 52) // (max(plain.steps) * plain.times[-1] * plain.digits) + 1
    fast, slow, _ = both_ways(name, beyond_the_table(name, 0, restarts) + FILL)
    assert any(map(isnan, fast))
    assert all(isnan(a) or a == b for a, b in zip(fast, slow, strict=True))
    assert max(map(abs, slow)) > 2**50


@pytest.mark.parametrize("grids", [(2.0**-50, 2.0**-20), (2.0**-20, 2.0**-50)], ids=str)
def test_box_too_wide_in_one_coordinate__is_added_once_and_never_nan(grids):
    """Rows that kernels decide in one coordinate only are left to the reader as a whole."""
    law = box_law(2.0, (1.0, 1.0), (0.4, 0.4), grids)
    count = 400
    released = np.empty(2 * count)
    law.perturb(KEY, Rows(0), 0, np.zeros(2 * count), released, Limits())
    plain = READERS["box_staircase"](law.tables)
    noise = [plain.noise(KEY, row) for row in range(count)]
    undecided = np.isnan(law.noise(KEY, Rows(0), count)).any(axis=1)
    assert 0 < np.count_nonzero(undecided) < count
    expected = [float(n * Fraction(g)) for row in noise for n, g in zip(row, grids, strict=True)]
    np.testing.assert_array_equal(released, expected)


# --- places on a layer ----------------------------------------------------------------------------


def layer_one(name: str) -> tuple[list[int], int]:
    """A row's words after its coordinates; and the layer that they give."""
    plain, law = plain_reader(name), LAYERED[name][1]
    words = own_words(law, plain_coins(name))
    return words[plain.dim :], plain.layer(words[plain.dim :], iter(FILL))


def test_ball__what_numbers_and_signs_give():
    """Sorted, the gaps; with signs in the order of the words."""
    coins, layer = layer_one("ball-1")
    most = 300 - 1 + 1000 * layer + 2
    own = [place_word(11, 2 * most), place_word(most + 4, 2 * most)]
    assert both_ways("ball-1", [*own, *coins, *FILL])[:2] == ([4, -6], [4, -6])
    own = [place_word(most + 0, 2 * most), place_word(most - 1, 2 * most)]
    fast, slow, used = both_ways("ball-1", [*own, *coins, *FILL])
    assert fast == slow
    assert used > 3, "a zero with a minus sign was kept"


@pytest.mark.parametrize(
    "places",
    [(7, 7), (-7, 7), (-7, -7), (0, 0), (-1, 5), (5, -1), (-6, 5)],
    ids=str,
)
def test_ball__two_alike_and_minus_zero_are_drawn_again(places):
    """Places, and ~place for those with a minus sign; sorted, ~6 and 5 leave no zero first."""
    coins, layer = layer_one("ball-1")
    most = 300 - 1 + 1000 * layer + 2
    own = [place_word(p if p >= 0 else most + ~p, 2 * most) for p in places]
    numbers = [p if p >= 0 else ~p for p in places]
    signs, ordered = [p < 0 for p in places], sorted(numbers)
    sizes = [ordered[0], ordered[1] - ordered[0] - 1]
    bad = any(size < sign for size, sign in zip(sizes, signs, strict=True)) or min(sizes) < 0
    again = [place_word(most + 20, 2 * most), place_word(3, 2 * most)]
    fast, slow, used = both_ways("ball-1", [*own, *coins, *again, *FILL])
    expected = [-s if sign else s for s, sign in zip(sizes, signs, strict=True)]
    assert fast == slow == ([-3, 16] if bad else expected)
    assert used == 3 + 2 * bad


@pytest.mark.parametrize("name", ["ball-1", "box-1"])
def test_biased_words__are_drawn_again(name):
    """A word of 0 leaves no rest, and no width here divides 2**64: it is replaced, not the row."""
    coins, layer = layer_one(name)
    widths = [2 * (1000 * layer + 301)] * 2
    if LAYERED[name][0] == "box_staircase":
        widths = [2 * (r + layer * n) - 1 for n, r in ((1000, 300), (7, 7))]
    assert all(2**64 % width for width in widths)
    good = [place_word(5, widths[0]), place_word(9, widths[1])]
    clean, _, used = both_ways(name, [*good, *coins, *FILL])
    assert used == 3
    fast, slow, used = both_ways(name, [0, good[1], *coins, 0, good[0], *FILL])
    assert fast == slow == clean
    assert used == 5


HALVES = [1, 2, 3, 1000, 2**20 + 1, 2**40 - 87, 2**48 - 1, 2**49 - 1, 2**49, 2**52 - 1]


@njit
def box_places(words, layers, sizes, columns):
    return box_columns(1, words, 0, layers, sizes, columns)


@njit
def ball_places(words, layers, sizes, columns):
    """Less the half that is added where they are not negative."""
    signs = np.zeros(1, np.uint32)
    return ball_column(words, 0, layers, (0.0, 0.0), sizes, columns, 0, signs, 0, 0.0)


def split(half: int, rng) -> tuple[int, int, int]:
    """A layer, steps and a radius that make this half."""
    layer = int(2 ** rng.uniform(0, np.log2(half))) if half > 1 else 0
    steps = int(rng.integers(0, (half - 1) // max(layer, 1) + 1))
    return layer, steps, half - layer * steps


def words_near_edges(half: int, width: int, rng) -> list[int]:
    """Where a place begins, ends of the parts of 2**12 words that floats know, `room` around."""
    places = [0, 1, 2, width // 3, width // 2, width - 2, width - 1, width]
    places += [int(place) for place in rng.integers(0, width, 20)]
    edges = [ceil((p << 64) / width) + step for p in places for step in (-2, -1, 0, 1, 4096)]
    edges += [ceil(Fraction(p << 64, width)) for p in places]
    room = int(half * layers.ROOM * 2**64 / width)
    some = [(p << 64) // width + int(room * rng.uniform(-3, 3)) for p in places for _ in range(8)]
    edges += some + [e | 4095 for e in some] + [e & ~4095 for e in some]
    return [e for e in edges if 0 <= e < 2**64]


def wrong_places(sixteen_places, half: int, odd: int, rng) -> tuple[int, int]:
    """How many are wrong although they need no care; how many random ones do."""
    layer, steps, radius = split(half, rng)
    sizes, width, wrong, careful = np.zeros(layers.PLACE_SIZES), 2 * half - odd, 0, 0
    layers.put_place_sizes(np.uint64(steps), np.uint64(radius), float(odd), sizes)
    near = grouped(words_near_edges(half, width, rng))
    random = grouped(rng.integers(0, 2**64, 160, np.uint64).tolist())
    for group in near + random:
        words = np.array([w & reader.MASK_32 for w in group] + [w >> 32 for w in group], np.uint32)
        columns = np.zeros(32)
        needed = int(sixteen_places(words, np.full(16, float(layer)), sizes, columns))
        careful += needed.bit_count() * (group in random)
        for lane, word in enumerate(group):
            place, rest = divmod(word * width, 2**64)
            right = columns[lane] == place - (half - odd) and rest >= 2**64 % width
            wrong += not right and not needed >> lane & 1
    return wrong, careful


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(("sixteen_places", "odd"), [(box_places, 1), (ball_places, 0)])
def test_sixteen_places__near_every_edge_are_right_or_need_care(half, sixteen_places, odd, rng):
    """Words just below, at and above where a place begins; random ones seldom need care."""
    for _ in range(10):
        wrong, careful = wrong_places(sixteen_places, half, odd, rng)
        assert wrong == 0
        assert careful == 0 or half > 2**30
        assert careful == 160 or half < 2**49


def test_sixteen_places__too_little_room_is_seen(rng, monkeypatch):
    """A quarter of it, in plain Python: what is compiled keeps its constants."""
    monkeypatch.setattr(layers, "ROOM", layers.ROOM / 4)
    monkeypatch.setattr(layers, "put_place_sizes", layers.put_place_sizes.py_func)
    assert any(wrong_places(ball_places, 2**45 - 3, 0, rng)[0] for _ in range(40))


def grouped(words: list[int]) -> list[list[int]]:
    padded = words + words[:1] * (-len(words) % 16)
    return [padded[i : i + 16] for i in range(0, len(padded), 16)]


# --- small balls ----------------------------------------------------------------------------------

SMALL = {
    "dim-2": ball_tables(1.0, 2, 3, 2),
    "dim-3": ball_tables(2.0, 3, 5, 1),
    "dim-16": ball_tables(1.0, 16, 16, 5),
    "dim-70": ball_tables(20.0, 70, 70, 1),
    "dim-128": ball_tables(4.0, 128, 128, 40),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_balls__kernel_and_reader_agree(name):
    """On all rows: those whose layer is small, and from some layer on those of the others."""
    tables = SMALL[name]
    dim, rows = int(tables[layout.DIM]), 120
    law = vector_law("l1_staircase", tables, [1.0] * dim)
    plain = READERS["l1_staircase"](tables)
    noise = law.noise(KEY, Rows(7), rows)
    assert noise.tolist() == [plain.noise(KEY, 7 + i) for i in range(rows)]
    assert len({tuple(row) for row in noise.tolist()}) > rows // 8


@pytest.mark.parametrize("name", ["dim-2", "dim-3", "dim-16"])
@pytest.mark.parametrize("layer", [0, 1])
def test_small_balls__a_word_beside_a_threshold_is_decided_and_one_on_it_is_not(name, layer):
    law = SMALL[name]
    dim, radius = int(law[layout.DIM]), int(law[int(law[layout.SIZES]) + 1])
    radius += layer * int(law[int(law[layout.SIZES])]) - 1
    start = int(law[layout.COUNT_THRESHOLDS]) + dim * layer
    for j, threshold in enumerate(int(word) for word in law[start : start + dim]):
        if threshold < 2**64 - 1:
            counts = [nonzero_count(law, layer, np.uint64(threshold + i)) for i in (-1, 0, 1)]
            assert counts == [j, -1, j + 1]
        for nearby, more in ((threshold - 1, j), (threshold, j + 1)):
            words = iter([nearby, 2**64 - 1, 2**64 - 1])
            assert vector_reader.nonzero_count(dim, radius, words) == min(more, radius, dim)


@pytest.mark.parametrize(("dim", "radius"), [(2, 0), (2, 1), (2, 3), (3, 2), (4, 1)])
def test_small_balls__every_point_comes_from_equally_many_words(dim, radius):
    """Each step is uniform: j by its share, sets by Floyd's choices, signs by bits."""
    law = ball_tables(1.0, dim, 4 * dim * dim, radius + 1)
    coin, tail = coin_for(READERS["l1_staircase"](law).coins[0], 0)
    first_layer = [*own_words(law, [coin]), *tail]
    points = Counter()
    for j, share in enumerate(points_by_count(dim, radius)):
        if not share:
            continue
        thresholds = [0, *law[int(law[layout.COUNT_THRESHOLDS]) :][:dim].tolist()]
        first = int(thresholds[j]) + 1
        sizes = [*range(radius - j + 1, radius + 1), *range(dim - j + 1, dim + 1)]
        choices = [range(size) for size in sizes]
        ways = prod(sizes) * 2**dim
        for signs in range(2**dim):
            for chosen in product(*choices):
                places = [place_word(c, size) for c, size in zip(chosen, sizes, strict=True)]
                words = [*first_layer, first, signs, *places]
                noise = np.empty(dim)
                assert draw_ball(law, np.array(words, np.uint64), noise) != OUT_OF_WORDS
                points[tuple(noise.astype(int).tolist())] += Fraction(share, ways)
    assert sum(points.values()) == l1_points(dim, radius) == len(points)
    assert set(points.values()) == {1}
    assert max(sum(map(abs, point)) for point in points) == radius


@pytest.mark.parametrize(
    ("epsilon", "dim", "grid"), [(600.0, 16, None), (2.0, 4, 0.25), (20.0, 64, 1.0)]
)
def test_small_balls__are_drawn_by_kernels(epsilon, dim, grid, stream):
    mechanism = fn.L1Staircase(epsilon, dim, gamma=0.2 if grid else None)
    law = mechanism._law(grid or mechanism.grid)
    assert law.tables[layout.SMALL_LAYERS] > 0
    noise = law.noise(KEY, Rows(0), 60)
    plain = READERS[law.filler](law.tables)
    assert noise.tolist() == [plain.noise(KEY, i) for i in range(60)]
    got = mechanism.perturb(np.zeros((60, dim)), stream=stream, grid=grid or mechanism.grid)
    assert np.isfinite(got).all()
