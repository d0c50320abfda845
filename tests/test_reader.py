"""Do kernels draw what plain Python reads off the same tables with the same words?"""

from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import layout, staircase
from fastnoise_kernels.chacha import AHEAD
from test_tables import LAWS

from fastnoise import reader
from fastnoise.engine import integer_noise
from fastnoise.finite_tables import truncated_laplace_law, uniform_law
from fastnoise.reader import MASK_32
from fastnoise.release import Release
from fastnoise.rows import Rows
from fastnoise.tables import laplace_law, staircase_law

SMALL = [(1.0, 2**20, 395_882), (2.5, 10, 3), (1e-3, 2**20, 2**19), (20.0, 2**35, 1_560_000)]


@pytest.mark.parametrize("parameters", LAWS, ids=str)
@pytest.mark.parametrize("first", [0, 2**32 - 20, 2**62 + 9])
def test_kernel_is_reader(parameters, first):
    law = staircase_law(*parameters)
    release = Release("staircase", law, 1.0)
    fast, plain = integer_noise(release, KEY, Rows(first), 40), reader.Reader(law)
    assert fast.tolist() == [plain.noise(KEY, first + i) for i in range(40)]


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_vector_path_is_careful_path(parameters):
    """The sixteen-lane loop against the definition, on enough rows to meet every rare case."""
    law = staircase_law(*parameters)
    release = Release("staircase", law, 1.0)
    fast = integer_noise(release, KEY, Rows(0), 40_000)
    key = np.frombuffer(KEY, "<u4")
    assert fast.tolist() == [staircase.draw_row(key, row, law) for row in range(40_000)]


def coin_for(table: reader.Table, entry: int) -> tuple[int, list[int]]:
    """A 32-bit coin, and the words after it, that pick `entry`."""
    shift, room = 32 - table.bits, 1 << (32 - table.bits)
    for cell, (threshold, alias) in enumerate(zip(table.thresholds, table.aliases, strict=True)):
        leading = threshold >> (64 * table.limbs)
        if alias == entry and leading < room - 1:
            return cell << shift | (room - 1), []
    cell, threshold = entry, table.thresholds[entry]
    assert threshold > 0, "nothing picks this entry"
    value = threshold - 1  # the largest number below the threshold, tying in every word but one
    words = [value >> (64 * i) & (2**64 - 1) for i in reversed(range(table.limbs))]
    return cell << shift | value >> (64 * table.limbs), words


def both_ways(law, words: list[int]) -> tuple[int, int]:
    """(kernel, reader) on the same words; the kernel must not run out of them."""
    noise, used = staircase.draw(law, np.array(words, np.uint64))
    assert used != staircase.OUT_OF_WORDS
    return int(noise), reader.Reader(law).draw(iter(words))


FILL = [0x0123456789ABCDEF * (i + 3) % 2**64 for i in range(64)]


def law_of_size(epsilon: float, most: int) -> np.ndarray:
    """Short rows whose head reaches that far, or a little less."""
    levels = int(staircase_law(epsilon, 1000, 5)[layout.HEAD_LEVELS])
    return staircase_law(epsilon, (most - 5) // levels, 5)


@pytest.mark.parametrize("most", [2**26, 2**31, 2**31 + 600, 2**34])
@pytest.mark.parametrize("epsilon", [2.0, 1.0, 0.05])  # heads of few cells, and of many
def test_levels__are_drawn_in_lanes_as_one_by_one(epsilon, most):
    """At both ends of what 32 bits hold, and beyond: words for entries and edges of a level."""
    law = law_of_size(epsilon, most).copy()
    levels = int(law[layout.HEAD_LEVELS])
    assert most - levels <= 5 + levels * int(law[layout.STEPS]) <= most
    places = [0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2, 2**32 - 1, *FILL[:9]]
    words = np.array([place % 2**32 for place in places] + [1] * 16, np.uint32)
    cells, largest = staircase.table_cells(law, layout.HEAD_CELLS), 0
    nothing_ahead = np.zeros(AHEAD, np.int64)
    for entry in {*range(0, levels + 1, 1 + levels // 28), levels}:
        cells[: 1 << int(law[layout.HEAD_BITS])] = entry  # whatever the coin
        noise, careful = np.zeros(16, np.int64), np.zeros(1, np.uint32)
        staircase.short_rows(law, words, noise, careful, nothing_ahead)
        for lane, place in enumerate(places):
            exact, _ = both_ways(law, [1 << 32 | place % 2**32, *FILL])
            if careful[0] >> lane & 1 == 0:
                assert noise[lane] == exact
                largest = max(largest, abs(exact))
    assert most - levels - 1 <= largest < most


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_ties__at_every_word(parameters):
    """Coins that equal a threshold in their leading bits, then in 1, 2, .. all of its words."""
    law = staircase_law(*parameters)
    table, own = reader.Table.head(law), int(law[layout.WIDTH]) // 2
    for cell in range(0, 1 << table.bits, max(1, (1 << table.bits) // 40)):
        threshold = table.thresholds[cell]
        limbs = [threshold >> (64 * i) & (2**64 - 1) for i in reversed(range(table.limbs))]
        coin = cell << (32 - table.bits) | threshold >> (64 * table.limbs)
        for ties in range(table.limbs + 1):
            for step in (-1, 1):
                tail = limbs[:ties]
                if ties < table.limbs:
                    tail = [*tail, min(max(limbs[ties] + step, 0), 2**64 - 1)]
                first = [coin << 32 | 0x9E3779B9, 0xD1B54A32D192ED03][:own]
                fast, slow = both_ways(law, [*first, *tail, *FILL])
                assert fast == slow


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_restarts__once_and_many_times(parameters):
    law = staircase_law(*parameters)
    for times in (0, 1, 2, 7):
        fast, slow = both_ways(law, beyond_the_head(law, times) + FILL)
        assert fast == slow
        levels = int(law[layout.HEAD_LEVELS]) if law[layout.BEYOND] == layout.LAPS else 1
        passed = times * levels * int(law[layout.DIGIT_LEVELS]) * int(law[layout.STEPS])
        assert passed < abs(slow) < passed + 2 * levels * int(law[layout.STEPS] * 60)


def own_words(law, coin: int, digit_coin: int, place: int) -> list[int]:
    """Those of a row with a digit, whose place starts with the bits of a 64-bit word."""
    if law[layout.WIDTH] == layout.LONG:
        return [coin << 32 | digit_coin, place]
    lent, own = place >> 22 & 1023, digit_coin & 1023
    return [coin << 32 | digit_coin - own + lent, place >> 32, own << 54 | 12345]


def coin_bits(law) -> int:
    """How many bits of the coin of a place are in the row's own words."""
    words = 64 if law[layout.WIDTH] == layout.LONG else 42
    return words - 1 - int(law[layout.SLOPE_BITS])


def beyond_the_head(law, restarts: int) -> list[int]:
    """Words that draw a digit and restart it so often, then draw its entry 0."""
    head, digits = reader.Table.head(law), reader.Table.digit(law)
    again, again_tail = coin_for(digits, int(law[layout.DIGIT_LEVELS]))
    end, end_tail = coin_for(digits, 0)
    draws = [(again, again_tail)] * restarts + [(end, end_tail)]
    if law[layout.BEYOND] == layout.LAPS:
        coin, tail = coin_for(head, 1)
        words = own_words(law, coin, draws[0][0], 0xD1B54A32D192ED03) + tail + draws[0][1]
        draws = draws[1:]
    else:
        coin, tail = coin_for(head, int(law[layout.HEAD_LEVELS]) + 1)
        words = [coin << 32 | 0x9E3779B9, 0xD1B54A32D192ED03][: int(law[layout.WIDTH]) // 2] + tail
    for coin, tail in draws:
        words += [coin << 32, *tail]
    return words


def test_left_over_weight__redraws_the_head():
    law = staircase_law(1e-3, 2**20, 2**19)
    head = reader.Table.head(law)
    coin, tail = coin_for(head, int(law[layout.HEAD_LEVELS]) + 1)
    top, top_tail = coin_for(head, 0)
    fast, slow = both_ways(law, [coin << 32, 2**63, *tail, top << 32, *top_tail, *FILL])
    assert fast == slow
    assert abs(slow) < 2**19


@pytest.mark.parametrize("parameters", [*SMALL, (1.0, 1_000_003, 400_000)], ids=str)
@pytest.mark.parametrize("entry", [0, 1])
def test_biased_places__are_drawn_again(parameters, entry):
    """A word whose product leaves too small a rest; then one that is fine."""
    law = staircase_law(*parameters)
    coin, tail = coin_for(reader.Table.head(law), entry)
    own = int(law[layout.WIDTH]) // 2
    digit, digit_tail = coin_for(reader.Table.digit(law), 0) if own == 2 else (0, [])
    low = 0 if own == 1 else digit  # 0 * width leaves 0: biased unless the width divides the range
    words = [coin << 32 | low, 0][:own] + tail + (digit_tail if entry else [])
    width = 2 * int(law[layout.STEPS]) if entry else 2 * int(law[layout.RADIUS]) - 1
    biased = (1 << (32 if own == 1 else 64)) % width > 0
    fast, slow = both_ways(law, [*words, 0, *FILL])
    assert fast == slow
    assert staircase.draw(law, np.array([*words, 0, *FILL], np.uint64))[1] == len(words) + (
        (1 + (2**64 % width > 0)) if biased else 0
    )


def test_runs_out_of_words__and_says_so():
    law = staircase_law(1.0, 2**20, 395_882)
    words = np.array(beyond_the_head(law, 3), np.uint64)
    for size in range(1, len(words)):
        assert staircase.draw(law, words[:size])[1] == staircase.OUT_OF_WORDS


def test_deep_noise__is_marked_not_wrapped():
    """Levels that would need more than 62 bits; the reader's integers have no end."""
    for law in (staircase_law(1.0, 2**57, 2**50), staircase_law(1e-3, 2**40, 1)):
        fast, slow = both_ways(law, beyond_the_head(law, 2000) + FILL)
        assert fast == layout.DEEP
        assert abs(slow) > 2**62


# --- laws on the integers -------------------------------------------------------------------------

INTEGER_LAWS = {
    "laplace-1e-6": laplace_law(1e-6, 1),
    "laplace-1e-6-wide": laplace_law(1e-6, 2**32),
    "laplace-0.01": laplace_law(0.01, 1),
    "laplace-1": laplace_law(1.0, 1),
    "laplace-1-laps": laplace_law(1.0, 1000),
    "laplace-1-two-places": laplace_law(1.0, 8192),
    "laplace-1-widest-sloping-row": laplace_law(1.0, 2**39),
    "laplace-1-wide": laplace_law(1.0, 2**40),
    "laplace-50": laplace_law(50.0, 2**20),
    "laplace-1000": laplace_law(1000.0, 1),
    "uniform": uniform_law(13, Fraction(7, 100)),
    "uniform-flat": uniform_law(1001, Fraction(1, 1001)),
    "uniform-wide": uniform_law(10**12 + 1, Fraction(999_999, 10**18)),
    "truncated-1": truncated_laplace_law(1.0, Fraction(1, 10), 1),
    "truncated-0.01": truncated_laplace_law(0.01, Fraction(1, 10**4), 3),
    "truncated-0.1": truncated_laplace_law(0.1, Fraction(1, 10**9), 1000),
    "truncated-0.1-heavy-ends": truncated_laplace_law(0.1, Fraction(1, 2), 2**20),
    "truncated-1-wide": truncated_laplace_law(1.0, Fraction(1, 10**6), 2**40),
}
SLOPING = [name for name, law in INTEGER_LAWS.items() if law[layout.SLOPES]]
SLOPING_ROWS = [n for n, law in INTEGER_LAWS.items() if law[layout.WIDTH] == layout.SLOPING]
STARTS = [0, 2**32 - 20, 2**40 - 20, 2**62 + 9]


@pytest.mark.parametrize("name", INTEGER_LAWS)
def test_integer_kernel_is_reader(name):
    """Rows in order, around the end of an epoch among others, and the same rows by their ids."""
    law = INTEGER_LAWS[name]
    release, plain = Release("staircase", law, 1.0, integers=True), reader.Reader(law)
    rows = [first + i for first in STARTS for i in range(40)]
    expected = [plain.noise(KEY, row) for row in rows]
    fast = [integer_noise(release, KEY, Rows(first), 40).tolist() for first in STARTS]
    assert [noise for part in fast for noise in part] == expected
    ids = np.array(rows[::-1], np.int64)
    ids.flags.writeable = False
    assert integer_noise(release, KEY, Rows(-1, ids), len(rows)).tolist() == expected[::-1]


@pytest.mark.parametrize("name", [*SLOPING, "uniform", "truncated-0.01"])
def test_integer_vector_path_is_careful_path(name):
    law = INTEGER_LAWS[name]
    fast = integer_noise(Release("staircase", law, 1.0), KEY, Rows(0), 10_000)
    key = np.frombuffer(KEY, "<u4")
    assert fast.tolist() == [staircase.draw_row(key, row, law) for row in range(10_000)]


def test_few_cells__have_room_to_be_read_whole():
    """Lanes read 32 cells of a short head and 64 of the digit of a sloping row, used or not."""
    for law in INTEGER_LAWS.values():
        cells, digit_cells = int(law[layout.HEAD_CELLS]), int(law[layout.DIGIT_CELLS])
        assert len(law) >= cells + 16
        if law[layout.WIDTH] == layout.SLOPING:
            assert law[layout.DIGIT_BITS] == layout.SLOPING_DIGIT_BITS
            assert len(law) >= digit_cells + 32
    assert len(uniform_law(3, Fraction(1, 5))) == layout.HEADER + 16  # by padding alone


def test_integer_vector_path__is_seen_to_differ_between_laws():
    """The comparison of 40 rows, on a law that is a part in a million off."""
    law = laplace_law(1.0, 2**40)
    wrong = Release("staircase", laplace_law(1 + 1e-6, 2**40), 1.0)
    plain = reader.Reader(law)
    assert integer_noise(wrong, KEY, Rows(0), 40).tolist() != [
        plain.noise(KEY, row) for row in range(40)
    ]


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
    return [*own_words(law, head, digit, word), *tail, *digit_tail, rest]


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
    """All coins near the edge: the kernel is right or says DEEP, and does say so at the edge."""
    law = INTEGER_LAWS[name]
    place, dropped = steep_place(law, False)
    kept, undecided, plain = 1 + place, [], reader.Reader(law)
    for step in range(-300, 301):
        words = on_a_level(law, 1, place, dropped + step) + FILL
        fast = int(staircase.draw(law, np.array(words, np.uint64))[0])
        slow = plain.draw(iter(words))
        assert (slow == kept) == (step > 0) or step == 0
        if fast == layout.DEEP:
            undecided.append(step)
        else:
            assert fast == slow
    assert 0 in undecided
    assert set(undecided) <= set(range(-130, 131))
    for rest, decided in ((0, False), (2**64 - 1, True)):  # more bits of the same coin
        words = on_a_level(law, 1, place, dropped)
        words[-1] |= rest % (1 << coin_bits(law))
        fast, slow = both_ways(law, words + FILL)
        assert fast == layout.DEEP
        assert (slow == kept) == decided


@pytest.mark.parametrize("name", SLOPING_ROWS)
def test_sloping_rows__in_lanes_as_one_by_one(name):
    """Coins that tie with a threshold of the digit, in all 22 bits or but for the last; and places
    at both ends, with coins on either side of what needs care. A tie always does."""
    law = INTEGER_LAWS[name]
    head, digits = reader.Table.head(law), reader.Table.digit(law)
    bits, steps, quick = digits.bits, int(law[layout.STEPS]), int(law[layout.REST_SIDE])
    unit = 1 << (64 - coin_bits(law))
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
            digit_coin = (leading + 1024 * step) % 2**32 & ~1023
            coins = head_coins[cell % 4 :] + head_coins[: cell % 4]
            rows = [
                own_words(law, coins[i % 4], digit_coin, place) for i, place in enumerate(places)
            ]
            halves = [[row[0] & MASK_32, row[0] >> 32, row[1]] for row in rows]
            words = np.array(halves, np.uint32).T.copy().reshape(-1)
            noise, careful = np.zeros(16, np.int64), np.zeros(1, np.uint32)
            staircase.sloping_rows(law, words, noise, careful, np.zeros(AHEAD, np.int64))
            assert step or careful[0] == 2**16 - 1
            for lane, row in enumerate(rows):
                if careful[0] >> lane & 1 == 0:
                    quickly += 1
                    for own_bits in (0, 2**64 - 1):  # what the lent bits were does not matter
                        fast, slow = both_ways(law, [*row[:2], own_bits, *FILL])
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
