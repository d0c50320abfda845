"""Do kernels draw what plain Python reads off the same tables with the same words?"""

import numpy as np
import pytest
from conftest import KEY
from crafted import FILL, beyond_the_head, both_ways, coin_for, schedule_of, ties
from fastnoise_kernels import layout, staircase
from fastnoise_kernels.ahead import nothing_ahead
from laws import STAIRCASE_TABLES, line_law

from fastnoise.laws.line import reader
from fastnoise.laws.line.tables import laplace_tables, staircase_tables
from fastnoise.rows import Rows

SMALL = [(1.0, 2**20, 395_882), (2.5, 10, 3), (1e-3, 2**20, 2**19), (20.0, 2**35, 1_560_000)]


@pytest.mark.parametrize("parameters", STAIRCASE_TABLES, ids=str)
@pytest.mark.parametrize("first", [0, 2**32 - 20, 2**62 + 9])
def test_kernel_is_reader(parameters, first):
    tables = staircase_tables(*parameters)
    law = line_law(tables, 1.0)
    fast, plain = law.noise(KEY, Rows(first), 40), reader.LineReader(tables)
    assert fast.tolist() == [plain.noise(KEY, first + i) for i in range(40)]


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_vector_path_is_careful_path(parameters):
    """The sixteen-lane loop against the definition, on enough rows to meet every rare case."""
    tables = staircase_tables(*parameters)
    law = line_law(tables, 1.0)
    fast = law.noise(KEY, Rows(0), 40_000)
    schedule = schedule_of(KEY)
    assert fast.tolist() == [
        staircase.draw_row(schedule, (np.uint64(row), np.uint64(0)), tables)
        for row in range(40_000)
    ]


def law_of_size(epsilon: float, most: int) -> np.ndarray:
    """Short rows whose head reaches that far, or a little less."""
    levels = int(staircase_tables(epsilon, 1000, 5)[layout.HEAD_LEVELS])
    return staircase_tables(epsilon, (most - 5) // levels, 5)


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
    for entry in {*range(0, levels + 1, 1 + levels // 28), levels}:
        cells[: 1 << int(law[layout.HEAD_BITS])] = entry  # whatever the coin
        noise, careful = np.zeros(16, np.int64), np.zeros(1, np.uint32)
        staircase.short_rows(law, words, noise, careful, nothing_ahead())
        for lane, place in enumerate(places):
            exact, _ = both_ways(law, [1 << 32 | place % 2**32, *FILL])
            if careful[0] >> lane & 1 == 0:
                assert noise[lane] == exact
                largest = max(largest, abs(exact))
    assert most - levels - 1 <= largest < most


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_ties__at_every_word(parameters):
    law = staircase_tables(*parameters)
    own = int(law[layout.WIDTH]) // 2
    for coin, tail in ties(reader.Table.head(law), 40):
        first = [coin << 32 | 0x9E3779B9, 0xD1B54A32D192ED03][:own]
        fast, slow = both_ways(law, [*first, *tail, *FILL])
        assert fast == slow


@pytest.mark.parametrize("parameters", SMALL, ids=str)
def test_restarts__once_and_many_times(parameters):
    law = staircase_tables(*parameters)
    for times in (0, 1, 2, 7):
        fast, slow = both_ways(law, beyond_the_head(law, times) + FILL)
        assert fast == slow
        levels = int(law[layout.HEAD_LEVELS]) if law[layout.BEYOND] == layout.LAPS else 1
        passed = times * levels * int(law[layout.DIGIT_LEVELS]) * int(law[layout.STEPS])
        assert passed < abs(slow) < passed + 2 * levels * int(law[layout.STEPS] * 60)


def test_left_over_weight__redraws_the_head():
    law = staircase_tables(1e-3, 2**20, 2**19)
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
    law = staircase_tables(*parameters)
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
    law = staircase_tables(1.0, 2**20, 395_882)
    words = np.array(beyond_the_head(law, 3), np.uint64)
    for size in range(1, len(words)):
        assert staircase.draw(law, words[:size])[1] == staircase.OUT_OF_WORDS


def test_deep_noise__is_marked_not_wrapped():
    """Levels that would need more than 62 bits; the reader's integers have no end."""
    for law in (staircase_tables(1.0, 2**57, 2**50), staircase_tables(1e-3, 2**40, 1)):
        fast, slow = both_ways(law, beyond_the_head(law, 2000) + FILL)
        assert fast == layout.UNDECIDED
        assert abs(slow) > 2**62


# A row in eight is careful, of each of its draws again.
OFTEN_CAREFUL = staircase_tables(0.5, 3 * 2**29, 2**29 + 5)
TABLES_OF = {
    "short": OFTEN_CAREFUL,
    "long": staircase_tables(1e-3, 2**20, 2**19),
    "sloping": laplace_tables(1.0, 2**20),
}


@pytest.mark.parametrize("kind", TABLES_OF)
def test_addresses_of_96_bits__are_whole_wherever_they_are_used(kind, rng):
    """Of people whose ids are hashed; pairs of them differ in the upper 32 bits alone."""
    tables = TABLES_OF[kind]
    lows = rng.integers(0, 2**64, 150, np.uint64).tolist()
    addresses = [top << 64 | low for low in lows for top in (0, 2**31, 2**31 + 77, 2**32 - 1)]
    law, plain = line_law(tables, 1.0, integers=True), reader.LineReader(tables)
    fast = law.noise(KEY, Rows.of(addresses), len(addresses))
    assert fast.tolist() == [plain.noise(KEY, address) for address in addresses]
    assert len(set(fast.tolist())) > 0.95 * len(addresses)
