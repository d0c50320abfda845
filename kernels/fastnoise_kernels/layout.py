"""How a law is laid out in memory: the words that kernels, tables and the reader agree on.

A law is one read-only array of 64-bit words: a header, then two alias tables. The *head* draws the
top step or a level; the *digit* says how much further down. Where the head reaches far enough, only
its last entry is followed by a digit, in levels; for small epsilon every level is, and a digit
counts laps of the head. Laws of finite support have no digit. An alias table of 2**bits cells is a
row of 32-bit cells, packed two to a word, and a block of `limbs` words per cell:

    cell = leading threshold bits (32 - bits of them) << bits | alias entry
    limb = the 64 threshold bits that follow, most significant first

A uniform number of `bits` + (32 - bits) + 64 * limbs binary digits picks the cell, then the cell's
own entry if the rest is below the threshold and the alias entry otherwise. Only a tie in the
leading digits (one row in 2**(32 - bits)) ever reads a limb.

On a flat level all places are equally likely. On a sloping one, of 2**bits places, place p is kept
with the product of the *slopes* of its binary digits: slope i, of SLOPE_LIMBS words, is a little
more than e**-(epsilon of 2**i steps). A place that is not kept is drawn again.

A row of a law on the line has two or four 32-bit words:

    short     a place, the coin of the head
    long      the coin of the digit, the coin of the head, a place of two words

Long rows whose levels slope are *sloping* where the upper word of the place has room for it: then
all but the noise itself fits 32 bits.
"""

from typing import Final

# Header: what each of the first words means.
WIDTH: Final = 0  # 32-bit words per row
STEPS: Final = 1  # a level is so many grid steps wide on either side
RADIUS: Final = 2  # r: the top step is -(r - 1) .. r - 1
LIMBS: Final = 3
DEEPEST: Final = 4  # a level beyond this does not fit 64-bit integers
HEAD_BITS: Final = 5
HEAD_LEVELS: Final = 6  # entry 0 is the top step, 1 .. HEAD_LEVELS are levels, others see BEYOND
BEYOND: Final = 7  # what the entries after HEAD_LEVELS are: TAIL, LAPS or ENDS
HEAD_CELLS: Final = 8  # where the cells start, in words
HEAD_THRESHOLDS: Final = 9
DIGIT_BITS: Final = 10
DIGIT_LEVELS: Final = 11  # entries 0 .. DIGIT_LEVELS - 1; the next draws again, as much further
DIGIT_CELLS: Final = 12
DIGIT_THRESHOLDS: Final = 13
REST_TOP: Final = 14  # a place whose coin (what is left of its word) is below this is careful,
REST_SIDE: Final = 15  # on the top step and on a level
SLOPES: Final = 16  # where the slopes start, in words; 0 if levels are flat
SLOPE_BITS: Final = 17
LAST_PLACES: Final = 18  # ENDS: how many places the last level has on either side
END: Final = 19  # ENDS: the two ends are this far out
HEADER: Final = 20

TAIL: Final = 0  # one entry: a digit more levels down
LAPS: Final = 1  # one entry: draw again; and every level has a digit, in laps of HEAD_LEVELS
ENDS: Final = 2  # two entries: the last level, which is shorter; the two ends of the support

SLOPE_LIMBS: Final = 4
SHORT: Final = 2
LONG: Final = 4
MOST_SLOPE_BITS: Final = 30  # of a sloping row, beside a sign
SLOPING_DIGIT_BITS: Final = 6  # of the digit of sloping rows: four registers hold its cells
FEW_BITS: Final = 5  # two registers hold the cells of such a head: 32 are read, used or not


# A law of vectors has more header, and rows of two words per coordinate, then the coins. Its layers
# are drawn with COINS alias tables, a coin of 32 bits each: the layer is the sum of TIMES times the
# entry, and the last entry of the last table, LAST, stands for all from there on. How far is then
# drawn as m + (m + 1 digits), m from one more table.
DIM: Final = 20
COINS: Final = 21
SIZES: Final = 22  # where (steps, radius) of each coordinate start, in words
LEAST_PER_SQUARE: Final = 4  # an l1 ball is small if N + dim is less than this times dim**2
NETWORK: Final = 23  # where the pairs of a sorting network start
PAIRS: Final = 24
SCALE: Final = 25  # this and the next are float64: scale of the noise in grid steps
SHAPE: Final = 26  # two constants of the Gamma law of the radius (Marsaglia & Tsang 2000)
FINE_BITS: Final = 28  # of l2 noise: see below
KEPT_BELOW: Final = 29  # this and the next
SMALL_LAYERS: Final = 31  # how many layers are small l1 balls: a uniform word and
COUNT_THRESHOLDS: Final = 32  # dim thresholds for each, from there on, say how many are not 0
TABLES: Final = 33  # TABLE words for each alias table
MOST_COINS: Final = 8
TABLE: Final = 5
TABLE_BITS: Final = 0
TABLE_CELLS: Final = 1
TABLE_THRESHOLDS: Final = 2
TABLE_TIMES: Final = 3
TABLE_LAST: Final = 4
VECTOR_HEADER: Final = TABLES + TABLE * (MOST_COINS + 1)

# l2 noise is rounded to cells of 2**FINE_BITS grid steps; the place in the cell is drawn uniformly
# and kept with a chance that falls along the radius. A word gives its first UNIFORM_BITS to a
# uniform number and its SPARE_BITS to the place of a coordinate, to which a byte of a 32-bit word,
# shared by four of them, adds BYTE_BITS more where FINE_BITS ask for them. The spare bits of the
# first word are a coin, which is made longer where it matters: a coin of SPARE_BITS + 64 that is
# below KEPT_BELOW, SPARE_BITS in one word and 64 in the next, keeps its place whatever it is.
UNIFORM_BITS: Final = 38  # with 36 second looks cost 8% at 128 dimensions; with 40 bytes do
SPARE_BITS: Final = 64 - UNIFORM_BITS
BYTE_BITS: Final = 8
PLANE: Final = 2  # dimensions
SPACE: Final = 3
RADIUS_WORDS: Final = 3  # of a row of four dimensions or more


def words_before(dim: int) -> int:
    """How many 64-bit words of a row come before those whose spare bits are places."""
    return {PLANE: 1, SPACE: 2}.get(dim, RADIUS_WORDS)


def l2_words(dim: int) -> int:
    """How many 64-bit words a row has; bytes of places follow."""
    return words_before(dim) + (dim if dim <= SPACE else dim + dim % 2)


# AES-256: rounds, 32-bit words of a key and of the fifteen round keys, and of sixteen blocks.
ROUNDS: Final = 14
KEY_WORDS: Final = 8
SCHEDULE: Final = 60
BATCH: Final = 64

# A block is the address of a row, of ADDRESS_BITS, and an index (see `words`): a row's own words
# are those of the first ones, its extra words those from EXTRA_INDEX on, its own key two more.
ADDRESS_BITS: Final = 96
EXTRA_INDEX: Final = 1 << 30
KEY_INDEX: Final = 3 << 30

# A uniform number that is needed to more bits than its word has goes on under the row's own key,
# in blocks whose lower half is its index: that of its word in the row, plus REFINED_DRAW for every
# draw before (a radius that did not fit); or COIN_INDEX for a coin, the next ones for places. The
# upper half counts its blocks.
REFINED_DRAW: Final = 1 << 20
COIN_INDEX: Final = 1 << 39
DRAW_BLOCKS: Final = 2  # of extra ones, for each further draw of a radius


def is_sloping(beyond: int, radius: int, slope_bits: int) -> bool:
    return beyond == LAPS and radius == 1 and 1 <= slope_bits <= MOST_SLOPE_BITS


# What a kernel writes for integer noise that is undecided: the Python layer redraws that row in
# unbounded integers. Noise of 2**62 grid steps or more is rarer than e**-1024 at the widest
# law it serves, scale 2**52; a coin equals a slope in 64 bits in one row in 2**64.
UNDECIDED: Final = -(1 << 63)
DECIDED_STEPS: Final = 1 << 62
EXACT_FLOAT: Final = 1 << 53  # integers below this are floats

# Choices in 32 bits: a weight is a product of numbers from tables of LEVEL_BASE, one for each digit
# of its level.
LEVEL_BASE: Final = 32
LEVEL_DIGITS: Final = (2, 3)  # how many it may have; with epsilon below 0.0005 it has more
MOST_CANDIDATES: Final = 255  # more would leave too many rows undecided
LEAST_STEPS: Final = 1 << 20  # of a level: fewer make levels that do not fit
MOST_WEIGHT: Final = (1 << 32) - (1 << 12)  # of all candidates together, before it is rounded
