"""The integer staircase: a level from exact tables, then a uniform place on that level.

Level 0 is the top step, the integers -(r - 1) .. r - 1; level k >= 1 is the `steps` integers on
either side at distance r + (k - 1) * steps and beyond. On a flat level all integers are equally
likely, which makes a staircase; sloping levels make the discrete Laplace law.

`draw` is the definition: noise as a function of the words of a row. The tile loops compute the same
for rows that need no care, and leave the rest (a tie with a threshold, a biased bounded integer, a
restart, a slope that might matter: one row in some thousands) to it.
"""

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.chacha import (
    AHEAD,
    extra_words,
    fill_words,
    fill_words_of,
    put_half,
    row_words,
    words_room,
)
from fastnoise_kernels.filler import bring_near, filler
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layout import (
    BEYOND,
    DEEP,
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
    LENT_BITS,
    LIMBS,
    LONG,
    RADIUS,
    REST_SIDE,
    REST_TOP,
    SHORT,
    SLOPE_BITS,
    SLOPE_LIMBS,
    SLOPES,
    SLOPING,
    STEPS,
    TAIL,
    WIDTH,
)
from fastnoise_kernels.sloping_lanes import sixteen_sloping_rows
from fastnoise_kernels.staircase_lanes import rows_intrinsic

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
LENT = np.uint64((1 << LENT_BITS) - 1)
ENOUGH_WORDS = 18  # two own words and two blocks of extra ones: more is needed once in 10**9 rows
OUT_OF_WORDS = -1
NARROW = np.uint64(1 << 31)  # noise below this fits 32 bits, with its sign
KEPT, DROPPED, UNDECIDED = 1, 0, -1
SLOPE_ERROR = np.uint64(128)  # a product of 60 slopes of 64 bits is within 2 units a slope


@intrinsic
def product_high(typing, a, b):
    """The upper 64 bits of a 64 x 64 bit product."""

    def codegen(context, builder, signature, arguments):
        wide = ir.IntType(128)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        high = builder.lshr(builder.mul(a, b), ir.Constant(wide, 64))
        return builder.trunc(high, lanes.I64)

    return types.uint64(types.uint64, types.uint64), codegen


@inner
def look_up(coin, law, bits_at, cells_at, limbs_at, words, used):
    """The entry that 32-bit `coin` picks, and how many words have been used: more after a tie."""
    bits = law[bits_at]
    cell_index = coin >> (HALF - bits)
    packed = law[law[cells_at] + (cell_index >> np.uint64(1))]
    cell = (packed >> (HALF * (cell_index & np.uint64(1)))) & LOW
    alias = cell & ((np.uint64(1) << bits) - np.uint64(1))
    coin = (coin << bits) & LOW
    threshold = cell - alias
    if coin != threshold:
        return (cell_index if coin < threshold else alias), used
    limb = law[limbs_at] + cell_index * law[LIMBS]
    for i in range(law[LIMBS]):
        if used == len(words):
            return alias, OUT_OF_WORDS
        if words[used] != law[limb + np.uint64(i)]:
            return (cell_index if words[used] < law[limb + np.uint64(i)] else alias), used + 1
        used += 1
    return alias, used


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
    beyond, digit_coin = law[BEYOND], words[0] & LOW
    if law[WIDTH] == SLOPING:
        if used == len(words):
            return np.uint64(0), OUT_OF_WORDS
        digit_coin = digit_coin & ~LENT | words[used] >> np.uint64(64 - LENT_BITS)
        used += 1
    coin = words[0] >> HALF
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
    """Whether to keep a place: KEPT, DROPPED or UNDECIDED, and how many words have been used.

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
    missing = ~chance - coin
    return (DROPPED if missing > SLOPE_ERROR else UNDECIDED), used + 1


@inner
def draw_place(width, rest, room, law, words, used):
    """A place below `width`, of which either side has `room`; `width` itself if undecided."""
    known = np.uint64(63) - law[SLOPE_BITS]
    if law[WIDTH] == SHORT:
        product = (words[0] & LOW) * width
        place, coin = product >> HALF, product & LOW
    else:
        word = words[1]
        if law[WIDTH] == SLOPING:
            lacking = np.uint64(32 - LENT_BITS)
            word = word << HALF | (words[0] & LENT) << lacking
            known -= lacking
        place, coin = product_high(word, width), word * width
    while True:
        kept, used = keep(place, coin, known, rest, room, law, words, used)
        if used == OUT_OF_WORDS or kept == UNDECIDED:
            return width, used
        if kept == KEPT:
            return place, used
        if used == len(words):
            return width, OUT_OF_WORDS
        place, coin = product_high(words[used], width), words[used] * width
        known = np.uint64(63) - law[SLOPE_BITS]
        rest = (np.uint64(0) - width) % width if law[SLOPES] == 0 else rest
        used += 1


@inner
def draw(law, words):
    """The noise that `words` (a row's own, then its extra ones) give, and how many were used.

    OUT_OF_WORDS: the row needs a longer array. Noise that 64 bits cannot decide comes back as DEEP.
    """
    level, used = draw_level(law, words, (np.int64(law[WIDTH]) + 1) // 2)
    if used == OUT_OF_WORDS or level > law[DEEPEST]:
        return np.int64(DEEP), used
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
        return np.int64(DEEP), used
    return place_on_level(np.int64(level), np.int64(place), law), used


@inner
def place_on_level(level, place, law):
    radius, steps = np.int64(law[RADIUS]), np.int64(law[STEPS])
    if level == 0:
        return place - (radius - 1)
    distance = radius + (level - 1) * steps
    return distance + place if place < steps else -(distance + place - steps)


@inner
def draw_row(key, row, law):
    size = ENOUGH_WORDS
    while True:
        words = np.empty(size, np.uint64)
        row_words(key, row, np.int64(law[WIDTH]), words)
        noise, used = draw(law, words)
        if used != OUT_OF_WORDS:
            return noise
        size *= 2


@inner
def redraw(careful, key, law, first, ids, lead, total, words, noise):
    """Draw one by one the rows that the masks of their groups mark.

    Their own words are at hand, which saves half of the time.
    """
    width, own = np.int64(law[WIDTH]), np.empty(ENOUGH_WORDS, np.uint64)
    for group in range(len(careful)):
        if careful[group] == 0:
            continue
        for at in range(max(lead, 16 * group), min(total, 16 * group + 16)):
            if careful[group] >> (at % 16) & 1:
                row = ids[at] if first < 0 else first - lead + at
                for i in range(width):
                    put_half(own, i, words[16 * (width * group + i) + at % 16])
                extra_words(key, row, own[(width + 1) // 2 :])
                noise[at], used = draw(law, own)
                if used == OUT_OF_WORDS:
                    noise[at] = draw_row(key, row, law)


@inner
def table_cells(law, cells_at):
    return law[np.int64(law[cells_at]) :].view(np.uint32)


def _groups(sixteen_rows):
    @inner
    def all_groups(words, group_words, cells, digit_cells, sizes, noise, careful, ahead):
        """Noise of whole groups, and their masks of rows that need care; whether there are any."""
        some = np.uint32(0)
        for group in range(len(careful)):
            bring_near(ahead, group)
            mask = sixteen_rows(
                words, group_words * group, cells, digit_cells, sizes, noise, 16 * group
            )
            careful[group] = mask
            some |= mask
        return some > 0

    return all_groups


few_cells_groups = _groups(rows_intrinsic(few_cells=True, narrow=True))
narrow_groups = _groups(rows_intrinsic(narrow=True))
all_groups, sloping_groups = _groups(rows_intrinsic()), _groups(sixteen_sloping_rows)


@inner
def short_rows(law, words, noise, careful, ahead):
    sizes = (
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
            return few_cells_groups(words, 32, cells, cells, sizes, noise, careful, ahead)
        return narrow_groups(words, 32, cells, cells, sizes, noise, careful, ahead)
    return all_groups(words, 32, cells, cells, sizes, noise, careful, ahead)


@inner
def sloping_rows(law, words, noise, careful, ahead):
    sizes = (
        law[HEAD_BITS],
        law[HEAD_LEVELS],
        law[DIGIT_BITS],
        law[DIGIT_LEVELS],
        law[SLOPE_BITS],
        law[REST_SIDE] >> HALF,
    )
    cells, digit_cells = table_cells(law, HEAD_CELLS), table_cells(law, DIGIT_CELLS)
    return sloping_groups(words, 48, cells, digit_cells, sizes, noise, careful, ahead)


@inner
def long_rows(law, words, noise, careful, ahead):
    laps = law[BEYOND] == LAPS
    sizes = (
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
    return all_groups(words, 64, cells, digit_cells, sizes, noise, careful, ahead)


@inner
def widest(noise):
    """Not less than any |noise|, and with as many bits as the largest."""
    bits = np.int64(0)
    for i in range(len(noise)):
        bits |= noise[i] ^ (noise[i] >> 63)
    return bits


@filler
def fill_staircase(key_at, law_at, law_size, first, ids_at, n, ahead_at, scratch_at, noise_at):
    key, law, ids = carray(key_at, 8), carray(law_at, law_size), carray(ids_at, n)
    width, ahead = np.int64(law[WIDTH]), carray(ahead_at, AHEAD)
    scratch = carray(scratch_at, words_room(n, LONG) // 2 + n // 16 + 2).view(np.uint32)
    words, careful = scratch[: words_room(n, width)], scratch[words_room(n, width) :]
    if first < 0:
        lead, start = 0, 0
        fill_words_of(key, ids, width, words)
    else:
        lead, start = first % 16, fill_words(key, first, n, width, words, ahead)
    words, total = words[start:], lead + n
    noise = carray(noise_at, total + 16)
    careful = careful[: (total + 15) // 16]
    if width == SHORT:
        some = short_rows(law, words, noise, careful, ahead)
    elif width == SLOPING:
        some = sloping_rows(law, words, noise, careful, ahead)
    else:
        some = long_rows(law, words, noise, careful, ahead)
    if some:
        redraw(careful, key, law, first, ids, lead, total, words, noise)
    # Sixteen lanes reach 2**43 at most: 2,046 levels of 2**31 steps, or sloping, 2**16 of 2**27.
    return ~lead if (some or width == LONG) and widest(noise[lead:total]) >= EXACT_FLOAT else lead
