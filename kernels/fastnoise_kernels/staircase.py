"""The integer staircase: a level from exact tables, then a uniform place on that level.

Level 0 is the top step, the integers -(r - 1) .. r - 1; level k >= 1 is the `steps` integers on
either side at distance r + (k - 1) * steps and beyond. On a flat level all integers are equally
likely, which makes a staircase; sloping levels make the discrete Laplace law.

`draw` is the definition: noise as a function of the words of a row. The tile loops compute the same
for most rows, and leave careful ones (a tie with a threshold, a biased bounded integer, a restart,
a slope that might matter: one row in some thousands) to it.
"""

import numpy as np

from fastnoise_kernels.ahead import bring_near
from fastnoise_kernels.alias import HALF, LOW, OUT_OF_WORDS, look_up
from fastnoise_kernels.filler import address_at, filler, is_marked
from fastnoise_kernels.jit import inlined, inner
from fastnoise_kernels.layout import (
    BEYOND,
    DEEPEST,
    DIGIT_BITS,
    DIGIT_CELLS,
    DIGIT_LEVELS,
    DIGIT_THRESHOLDS,
    END,
    ENDS,
    EXACT_FLOAT,
    FEW_BITS,
    HEAD_BITS,
    HEAD_CELLS,
    HEAD_LEVELS,
    HEAD_THRESHOLDS,
    LAPS,
    LAST_PLACES,
    LONG,
    RADIUS,
    REST_SIDE,
    REST_TOP,
    SHORT,
    SLOPE_BITS,
    SLOPE_LIMBS,
    SLOPES,
    STEPS,
    TAIL,
    UNDECIDED,
    WIDTH,
    is_sloping,
)
from fastnoise_kernels.memory import product_high
from fastnoise_kernels.sloping_lanes import SlopingSizes, sixteen_sloping_rows
from fastnoise_kernels.staircase_lanes import LongSizes, ShortSizes, rows_intrinsic
from fastnoise_kernels.words import extra_words, put_half, row_words

has_sloping_rows = inner(is_sloping)
ENOUGH_WORDS = 18  # two own words and two blocks of extra ones: more is needed once in 10**9 rows
NARROW = np.uint64(1 << 31)  # noise below this fits 32 bits, with its sign
KEPT, DROPPED, UNKNOWN = 1, 0, -1
SLOPE_ERROR = np.uint64(128)  # a product of 60 slopes of 64 bits is within 2 units per slope


@inner
def draw_digit(coin, law, words, used):
    """How far down, beyond what the head says; never much further than DEEPEST."""
    restarts = np.uint64(0)
    while True:
        entry, used = look_up(coin, law, DIGIT_BITS, DIGIT_CELLS, DIGIT_THRESHOLDS, words, used)
        if used == OUT_OF_WORDS:
            return restarts, OUT_OF_WORDS
        digit = restarts * law[DIGIT_LEVELS] + entry
        if entry != law[DIGIT_LEVELS] or digit > law[DEEPEST]:
            return digit, used
        if used == len(words):
            return restarts, OUT_OF_WORDS
        restarts += np.uint64(1)
        coin = words[used] >> HALF
        used += 1


@inner
def draw_level(law, words, used):
    beyond, coin, digit_coin = law[BEYOND], words[0] >> HALF, words[0] & LOW
    while True:
        level, used = look_up(coin, law, HEAD_BITS, HEAD_CELLS, HEAD_THRESHOLDS, words, used)
        last = level > law[HEAD_LEVELS] and beyond != ENDS
        if used == OUT_OF_WORDS or not last:
            break
        if used == len(words):
            return level, OUT_OF_WORDS
        coin = words[used] >> HALF
        used += 1
        if beyond == TAIL:
            break
    if used == OUT_OF_WORDS or not (last or (beyond == LAPS and level > 0)):
        return level, used
    if beyond == LAPS:
        digit, used = draw_digit(digit_coin, law, words, used)
        if digit > law[DEEPEST] // law[HEAD_LEVELS]:  # the product might not fit
            return law[DEEPEST] + np.uint64(1), used
        return level + digit * law[HEAD_LEVELS], used
    digit, used = draw_digit(coin, law, words, used)
    return level + digit, used


@inner
def keep(place, coin, known, rest, room, law, words, used):
    """Whether to keep a place: KEPT, DROPPED or UNKNOWN, and how many words have been used.

    Flat levels drop a coin that would be a bias (Lemire 2019), sloping ones a coin, of which some
    bits are known and a word has the others, that is below one less the product of the slopes.
    """
    out = place if place < law[STEPS] else place - law[STEPS]
    if out >= room:
        return DROPPED, used
    if coin >= rest:
        return KEPT, used
    if law[SLOPES] == 0:
        return DROPPED, used
    if used == len(words):
        return DROPPED, OUT_OF_WORDS
    coin |= words[used] >> known
    chance = ~np.uint64(0)
    for i in range(law[SLOPE_BITS]):
        if out >> np.uint64(i) & np.uint64(1):
            chance = product_high(chance, law[law[SLOPES] + np.uint64(SLOPE_LIMBS * i)])
    if coin >= np.uint64(0) - chance:
        return KEPT, used + 1
    short_of = ~chance - coin
    return (DROPPED if short_of > SLOPE_ERROR else UNKNOWN), used + 1


@inner
def draw_place(width, rest, room, law, words, used):
    """A place below `width`, of which either side has `room`; `width` itself if undecided."""
    known = np.uint64(63) - law[SLOPE_BITS]
    if law[WIDTH] == SHORT:
        product = (words[0] & LOW) * width
        place, coin = product >> HALF, product & LOW
    else:
        place, coin = product_high(words[1], width), words[1] * width
    while True:
        kept, used = keep(place, coin, known, rest, room, law, words, used)
        if used == OUT_OF_WORDS or kept == UNKNOWN:
            return width, used
        if kept == KEPT:
            return place, used
        if used == len(words):
            return width, OUT_OF_WORDS
        place, coin = product_high(words[used], width), words[used] * width
        rest = (np.uint64(0) - width) % width if law[SLOPES] == 0 else rest
        used += 1


@inner
def draw(law, words):
    """The noise that `words` (a row's own, then its extra ones) give, and how many were used.

    OUT_OF_WORDS: the row needs a longer array. UNDECIDED: 64 bits cannot tell.
    """
    level, used = draw_level(law, words, np.int64(law[WIDTH]) // 2)
    if used == OUT_OF_WORDS or level > law[DEEPEST]:
        return np.int64(UNDECIDED), used
    two, room = np.uint64(2), law[STEPS]
    width, rest = law[STEPS] * two, law[REST_SIDE]
    if level == 0:
        width, rest = law[RADIUS] * two - np.uint64(1), law[REST_TOP]
        room = width
    elif law[BEYOND] == ENDS and level > law[HEAD_LEVELS]:
        if level > law[HEAD_LEVELS] + np.uint64(1):
            end = np.int64(law[END])
            return (end if words[1] >> np.uint64(63) == 0 else -end), used
        room = law[LAST_PLACES]
    place, used = draw_place(width, rest, room, law, words, used)
    if used == OUT_OF_WORDS or place == width:
        return np.int64(UNDECIDED), used
    return place_on_level(np.int64(level), np.int64(place), law), used


@inner
def place_on_level(level, place, law):
    radius, steps = np.int64(law[RADIUS]), np.int64(law[STEPS])
    if level == 0:
        return place - (radius - 1)
    distance = radius + (level - 1) * steps
    return distance + place if place < steps else -(distance + place - steps)


@inner
def draw_row(schedule, address, law):
    size = ENOUGH_WORDS
    while True:
        words = np.empty(size, np.uint64)
        row_words(schedule, address, np.int64(law[WIDTH]), words)
        noise, used = draw(law, words)
        if used != OUT_OF_WORDS:
            return noise
        size *= 2


@inlined
def redraw(tile, careful):
    """Draw one by one the rows that the masks of their groups mark.

    Their own words are at hand, which saves half of the time.
    """
    law, width = tile.law, np.int64(tile.law[WIDTH])
    own = np.empty(ENOUGH_WORDS, np.uint64)
    for group in range(len(careful)):
        if careful[group] == 0:
            continue
        for at in range(16 * group, 16 * group + 16):
            if is_marked(careful[group], at, tile):
                address = address_at(at, tile)
                for i in range(width):
                    put_half(own, i, tile.words[16 * (width * group + i) + at % 16])
                extra_words(tile.schedule, address, own[width // 2 :])
                tile.noise[at], used = draw(law, own)
                if used == OUT_OF_WORDS:
                    tile.noise[at] = draw_row(tile.schedule, address, law)


@inner
def table_cells(law, cells_at):
    return law[np.int64(law[cells_at]) :].view(np.uint32)


def _groups(sixteen_rows, width):
    """width: 32-bit words per row."""

    @inner
    def all_groups(words, cells, digit_cells, sizes, noise, careful, ahead):
        """Noise of whole groups, and their masks of careful rows; whether there are any."""
        some = np.uint32(0)
        for group in range(len(careful)):
            bring_near(ahead, group)
            at, to = 16 * width * group, 16 * group
            careful[group] = sixteen_rows(words, at, cells, digit_cells, sizes, noise, to)
            some |= careful[group]
        return some > 0

    return all_groups


few_cells_groups = _groups(rows_intrinsic(few_cells=True, narrow=True), SHORT)
narrow_groups = _groups(rows_intrinsic(narrow=True), SHORT)
short_groups, long_groups = (_groups(rows_intrinsic(), width) for width in (SHORT, LONG))
sloping_groups = _groups(sixteen_sloping_rows, LONG)


@inner
def short_rows(law, words, noise, careful, ahead):
    sizes = ShortSizes(
        law[HEAD_BITS],
        law[HEAD_LEVELS],
        law[STEPS],
        law[RADIUS],
        law[REST_TOP],
        law[REST_SIDE],
    )
    cells = table_cells(law, HEAD_CELLS)
    if law[RADIUS] + law[HEAD_LEVELS] * law[STEPS] <= NARROW:
        if law[HEAD_BITS] <= FEW_BITS:
            return few_cells_groups(words, cells, cells, sizes, noise, careful, ahead)
        return narrow_groups(words, cells, cells, sizes, noise, careful, ahead)
    return short_groups(words, cells, cells, sizes, noise, careful, ahead)


@inner
def sloping_rows(law, words, noise, careful, ahead):
    sizes = SlopingSizes(
        law[HEAD_BITS],
        law[HEAD_LEVELS],
        law[DIGIT_BITS],
        law[DIGIT_LEVELS],
        law[SLOPE_BITS],
        law[REST_SIDE] >> HALF,
    )
    cells, digit_cells = table_cells(law, HEAD_CELLS), table_cells(law, DIGIT_CELLS)
    return sloping_groups(words, cells, digit_cells, sizes, noise, careful, ahead)


@inner
def long_rows(law, words, noise, careful, ahead):
    laps = law[BEYOND] == LAPS
    sizes = LongSizes(
        law[HEAD_BITS],
        law[HEAD_LEVELS],
        law[STEPS],
        law[RADIUS],
        law[REST_TOP],
        law[REST_SIDE],
        law[DIGIT_BITS],
        law[DIGIT_LEVELS] if laps else LOW,
        law[HEAD_LEVELS] if laps else np.uint64(0),
        law[DEEPEST],
    )
    cells, digit_cells = table_cells(law, HEAD_CELLS), table_cells(law, DIGIT_CELLS)
    return long_groups(words, cells, digit_cells, sizes, noise, careful, ahead)


@inner
def widest(noise):
    """Not less than any |noise|, and with as many bits as the largest."""
    bits = np.int64(0)
    for i in range(len(noise)):
        bits |= noise[i] ^ (noise[i] >> 63)
    return bits


@filler
def fill_staircase(tile):
    """A row's words, of 32 bits, are those of short or long rows; see `layout`."""
    law, words, noise, ahead = tile.law, tile.words, tile.noise, tile.ahead
    width, stop = law[WIDTH], tile.lead + tile.n
    careful = tile.room.view(np.uint32)[: (stop + 15) // 16]
    if width == SHORT:
        some = short_rows(law, words, noise, careful, ahead)
    elif has_sloping_rows(law[BEYOND], law[RADIUS], law[SLOPE_BITS]):
        some = sloping_rows(law, words, noise, careful, ahead)
    else:
        some = long_rows(law, words, noise, careful, ahead)
    if some:
        redraw(tile, careful)
    # Short rows reach 2**43 at most, 2,046 levels of 2**31 steps; sloping ones are 2**16 levels.
    return (some or width == LONG) and widest(noise[tile.lead : stop]) >= EXACT_FLOAT
