"""The same question as test_reader.py, of laws on the integers: slopes, ends, sloping rows."""

from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
import pytest
from conftest import KEY
from crafted import FILL, beyond_the_head, both_ways, coin_bits, coin_for, schedule_of
from fastnoise_kernels import layout, staircase
from fastnoise_kernels.ahead import nothing_ahead
from laws import line_law

from fastnoise.bits import MASK_32
from fastnoise.laws.line import reader
from fastnoise.laws.line.finite_tables import truncated_laplace_tables, uniform_tables
from fastnoise.laws.line.tables import laplace_tables
from fastnoise.rows import Rows

INTEGER_LAWS = {
    "laplace-1e-6": laplace_tables(1e-6, 1),
    "laplace-1e-6-wide": laplace_tables(1e-6, 2**32),
    "laplace-0.01": laplace_tables(0.01, 1),
    "laplace-1": laplace_tables(1.0, 1),
    "laplace-1-laps": laplace_tables(1.0, 1000),
    "laplace-1-two-places": laplace_tables(1.0, 8192),
    "laplace-1-widest-sloping-row": laplace_tables(1.0, 2**39),
    "laplace-1-wide": laplace_tables(1.0, 2**40),
    "laplace-50": laplace_tables(50.0, 2**20),
    "laplace-1000": laplace_tables(1000.0, 1),
    "uniform": uniform_tables(13, Fraction(7, 100)),
    "uniform-flat": uniform_tables(1001, Fraction(1, 1001)),
    "uniform-wide": uniform_tables(10**12 + 1, Fraction(999_999, 10**18)),
    "truncated-1": truncated_laplace_tables(1.0, Fraction(1, 10), 1),
    "truncated-0.01": truncated_laplace_tables(0.01, Fraction(1, 10**4), 3),
    "truncated-0.1": truncated_laplace_tables(0.1, Fraction(1, 10**9), 1000),
    "truncated-0.1-heavy-ends": truncated_laplace_tables(0.1, Fraction(1, 2), 2**20),
    "truncated-1-wide": truncated_laplace_tables(1.0, Fraction(1, 10**6), 2**40),
}
SLOPING = [name for name, law in INTEGER_LAWS.items() if law[layout.SLOPES]]


def has_sloping_rows(law) -> bool:
    sizes = (layout.BEYOND, layout.RADIUS, layout.SLOPE_BITS)
    return layout.is_sloping(*(int(law[at]) for at in sizes))


SLOPING_ROWS = [name for name, law in INTEGER_LAWS.items() if has_sloping_rows(law)]
STARTS = [0, 2**32 - 20, 2**40 - 20, 2**62 + 9]


@pytest.mark.parametrize("name", INTEGER_LAWS)
def test_integer_kernel_is_reader(name):
    """Rows in order, around the end of an epoch among others, and the same rows by their ids."""
    tables = INTEGER_LAWS[name]
    law, plain = line_law(tables, 1.0, integers=True), reader.LineReader(tables)
    rows = [first + i for first in STARTS for i in range(40)]
    expected = [plain.noise(KEY, row) for row in rows]
    fast = [law.noise(KEY, Rows(first), 40).tolist() for first in STARTS]
    assert [noise for part in fast for noise in part] == expected
    ids = np.array(rows[::-1], np.int64)
    ids.flags.writeable = False
    assert law.noise(KEY, Rows(-1, ids), len(rows)).tolist() == expected[::-1]


@pytest.mark.parametrize("name", [*SLOPING, "uniform", "truncated-0.01"])
def test_integer_vector_path_is_careful_path(name):
    law = INTEGER_LAWS[name]
    fast = line_law(law, 1.0).noise(KEY, Rows(0), 10_000)
    schedule, top = schedule_of(KEY), np.uint64(0)
    alone = [staircase.draw_row(schedule, (np.uint64(row), top), law) for row in range(10_000)]
    assert fast.tolist() == alone


def test_few_cells__have_room_to_be_read_whole():
    """Lanes read 32 cells of a short head and 64 of the digit of a sloping row, used or not."""
    for law in INTEGER_LAWS.values():
        cells, digit_cells = int(law[layout.HEAD_CELLS]), int(law[layout.DIGIT_CELLS])
        assert len(law) >= cells + 16
        if has_sloping_rows(law):
            assert law[layout.DIGIT_BITS] == layout.SLOPING_DIGIT_BITS
            assert len(law) >= digit_cells + 32
    assert len(uniform_tables(3, Fraction(1, 5))) == layout.HEADER + 16  # by padding alone


def test_integer_vector_path__is_seen_to_differ_between_laws():
    """The comparison of 40 rows, on a law that is a part in a million off."""
    law = laplace_tables(1.0, 2**40)
    wrong = line_law(laplace_tables(1 + 1e-6, 2**40), 1.0)
    plain = reader.LineReader(law)
    assert wrong.noise(KEY, Rows(0), 40).tolist() != [plain.noise(KEY, row) for row in range(40)]


@lru_cache
def head_and_digit(law_bytes: bytes, entry: int) -> tuple[int, list[int], int, list[int]]:
    """Coins, and words after them, for this head entry and for digit 0."""
    law = np.frombuffer(law_bytes, np.uint64)
    head, tail = coin_for(reader.Table.head(law), entry)
    digit, digit_tail = coin_for(reader.Table.digit(law), 0)
    return head, tail, digit, digit_tail if law[layout.BEYOND] == layout.LAPS else []


def on_a_level(law, entry: int, place: int, coin: int) -> list[int]:
    """Words that draw head entry `entry` and this place, with a coin of 64 bits for it."""
    head, tail, digit, digit_tail = head_and_digit(law.tobytes(), entry)
    known, places = coin_bits(law), 2 * int(law[layout.STEPS])
    assert place < places
    word, rest = (place << 64 | coin) // places, coin << known & (2**64 - 1)
    return [head << 32 | digit, word, *tail, *digit_tail, rest]


def steep_place(law, negative: bool) -> tuple[int, int]:
    """A place with many binary digits set, and in 64 bits how likely it is not to be kept."""
    steps = int(law[layout.STEPS])
    out = (steps - 1) & ~2 if steps > 4 else steps - 1
    dropped = floor((1 - reader.Slopes(law).chance(out)) * 2**64)
    return out + negative * steps, dropped


@pytest.mark.parametrize("name", SLOPING)
@pytest.mark.parametrize("negative", [False, True])
def test_slopes__a_coin_above_is_kept_and_one_below_is_not(name, negative):
    law = INTEGER_LAWS[name]
    place, dropped = steep_place(law, negative)
    distance = 1 + place % int(law[layout.STEPS])
    kept = -distance if negative else distance
    quick = int(law[layout.REST_SIDE])
    assert dropped < quick
    unit = 1 << (64 - coin_bits(law))  # what the row's own words tell of the coin
    nearest = -(-quick // unit) * unit
    for coin in (dropped + 1000, quick + 999, nearest, nearest + 999, 2**64 - 1):
        words = on_a_level(law, 1, place, coin)
        assert both_ways(law, words + FILL) == (kept, kept)
        used = len(words) - (coin // unit * unit >= quick)  # who is kept at once reads no more
        assert staircase.draw(law, np.array(words + FILL, np.uint64))[1] == used
    following = 1 << (63 - int(law[layout.SLOPE_BITS]))  # gives place 1, perhaps not kept either
    for coin in (0, dropped // 2, dropped - 1000):
        words = [*on_a_level(law, 1, place, coin), following]
        fast, slow = both_ways(law, [*words, 2**64 - 1, *FILL])
        assert fast == slow != kept


@pytest.mark.parametrize("name", SLOPING)
def test_slopes__a_coin_that_64_bits_cannot_decide_is_left_to_the_reader(name):
    """All coins near the edge: the kernel is right or says UNDECIDED, and says so at the edge."""
    law = INTEGER_LAWS[name]
    place, dropped = steep_place(law, False)
    kept, undecided, plain = 1 + place, [], reader.LineReader(law)
    for step in range(-300, 301):
        words = on_a_level(law, 1, place, dropped + step) + FILL
        fast = int(staircase.draw(law, np.array(words, np.uint64))[0])
        slow = plain.draw(iter(words))
        assert (slow == kept) == (step > 0) or step == 0
        if fast == layout.UNDECIDED:
            undecided.append(step)
        else:
            assert fast == slow
    assert 0 in undecided
    assert set(undecided) <= set(range(-130, 131))
    for rest, decided in ((0, False), (2**64 - 1, True)):  # more bits of the same coin
        words = on_a_level(law, 1, place, dropped)
        words[-1] |= rest % (1 << coin_bits(law))
        fast, slow = both_ways(law, words + FILL)
        assert fast == layout.UNDECIDED
        assert (slow == kept) == decided


@pytest.mark.parametrize("name", SLOPING_ROWS)
def test_sloping_rows__in_lanes_as_one_by_one(name):
    """Coins that tie with a threshold of the digit, or differ in the last bit; and places at both
    ends, with coins on either side of what needs care. A tie always does."""
    law = INTEGER_LAWS[name]
    head, digits = reader.Table.head(law), reader.Table.digit(law)
    bits, steps, quick = digits.bits, int(law[layout.STEPS]), int(law[layout.REST_SIDE])
    unit = 1 << 32  # of coins, lanes see so much
    nearest = -(-quick // unit) * unit
    places = [
        (p << 64 | c) // (2 * steps)
        for p in (0, steps - 1, steps, 2 * steps - 1)
        for c in (nearest - unit, nearest, nearest + unit, 2**64 - 1)
    ]
    head_coins = [coin_for(head, entry)[0] for entry in (0, 1, 2, int(law[layout.HEAD_LEVELS]))]
    quickly = 0
    for cell, threshold in enumerate(digits.thresholds):
        leading = cell << (32 - bits) | threshold >> (64 * digits.limbs)
        for step in (-1, 0, 1):
            digit_coin = (leading + step) % 2**32
            coins = head_coins[cell % 4 :] + head_coins[: cell % 4]
            rows = [[coins[i % 4] << 32 | digit_coin, place] for i, place in enumerate(places)]
            halves = [[h for word in row for h in (word & MASK_32, word >> 32)] for row in rows]
            words = np.array(halves, np.uint32).T.copy().reshape(-1)
            noise, careful = np.zeros(16, np.int64), np.zeros(1, np.uint32)
            staircase.sloping_rows(law, words, noise, careful, nothing_ahead())
            assert step or careful[0] == 2**16 - 1
            for lane, row in enumerate(rows):
                if careful[0] >> lane & 1 == 0:
                    quickly += 1
                    fast, slow = both_ways(law, [*row, *FILL])
                    assert noise[lane] == fast == slow
    assert quickly > len(digits.thresholds)


ENDED = [name for name, law in INTEGER_LAWS.items() if law[layout.BEYOND] == layout.ENDS]


@pytest.mark.parametrize("name", ENDED)
@pytest.mark.parametrize("negative", [False, True])
def test_last_level__is_shorter(name, negative):
    """Its last place is drawn, the one after it never; that takes no word for a coin."""
    law = INTEGER_LAWS[name]
    steps, last, end = (int(law[i]) for i in (layout.STEPS, layout.LAST_PLACES, layout.END))
    entry = int(law[layout.HEAD_LEVELS]) + 1
    assert 0 < last < steps
    words = on_a_level(law, entry, last - 1 + negative * steps, 2**64 - 1)
    sign = -1 if negative else 1
    assert both_ways(law, words + FILL) == (sign * (end - 1), sign * (end - 1))
    first = (2**64 - 1) >> (int(law[layout.SLOPE_BITS]) + 1)  # place 0 and a coin that keeps it
    for place in (last, steps - 1):
        words = on_a_level(law, entry, place + negative * steps, 2**64 - 1)
        assert both_ways(law, [*words[:-1], first, *FILL]) == (end - last, end - last)


@pytest.mark.parametrize("name", ENDED)
def test_ends__are_both_drawn(name):
    law = INTEGER_LAWS[name]
    end = int(law[layout.END])
    head, tail = coin_for(reader.Table.head(law), int(law[layout.HEAD_LEVELS]) + 2)
    for word, expected in ((0, end), (2**63 - 1, end), (2**63, -end), (2**64 - 1, -end)):
        assert both_ways(law, [head << 32, word, *tail, *FILL]) == (expected, expected)


@pytest.mark.parametrize("name", ["laplace-1e-6", "laplace-1", "laplace-1-wide"])
def test_integer_laws__restart_once_and_many_times(name):
    law = INTEGER_LAWS[name]
    for times in (0, 1, 2, 7):
        fast, slow = both_ways(law, beyond_the_head(law, times) + FILL)
        assert fast == slow


@pytest.mark.parametrize("name", ["truncated-0.1", "laplace-1e-6"])
def test_sloping_law__runs_out_of_words_and_says_so(name):
    law = INTEGER_LAWS[name]
    place, dropped = steep_place(law, False)
    words = on_a_level(law, 1, place, dropped - 1000)
    for size in range(2, len(words) + 1):
        some = np.array(words[:size], np.uint64)
        assert staircase.draw(law, some)[1] == staircase.OUT_OF_WORDS
