"""Do kernels draw what plain Python reads off the same tables with the same words?"""

import numpy as np
import pytest
from conftest import KEY
from fastnoise_kernels import layout, staircase
from test_tables import LAWS

from fastnoise import reader
from fastnoise.engine import integer_noise
from fastnoise.release import Release
from fastnoise.rows import Rows
from fastnoise.tables import staircase_law

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


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_ties__at_every_word(parameters):
    """Coins that equal a threshold in their leading bits, then in 1, 2, .. all of its words."""
    law = staircase_law(*parameters)
    table, own = reader.Table.head(law), int(law[layout.WORDS])
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


def beyond_the_head(law, restarts: int) -> list[int]:
    """Words that draw a digit and restart it so often, then draw its entry 0."""
    head, digits = reader.Table.head(law), reader.Table.digit(law)
    again, again_tail = coin_for(digits, int(law[layout.DIGIT_LEVELS]))
    end, end_tail = coin_for(digits, 0)
    draws = [(again, again_tail)] * restarts + [(end, end_tail)]
    if law[layout.BEYOND] == layout.LAPS:
        coin, tail = coin_for(head, 1)
        words = [coin << 32 | draws[0][0], 0xD1B54A32D192ED03, *tail, *draws[0][1]]
        draws = draws[1:]
    else:
        coin, tail = coin_for(head, int(law[layout.HEAD_LEVELS]) + 1)
        words = [coin << 32 | 0x9E3779B9, 0xD1B54A32D192ED03][: int(law[layout.WORDS])] + tail
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
    own = int(law[layout.WORDS])
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
