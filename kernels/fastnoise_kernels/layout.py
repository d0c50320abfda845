"""How a law is laid out in memory: the words that kernels, tables and the reader agree on.

A law is one read-only array of 64-bit words: a header, then two alias tables. The *head* draws the
top step or a level; the *digit* says how much further down. Where the head reaches far enough, only
its last entry is followed by a digit, in levels; for small epsilon every level is, and a digit
counts laps of the head. An alias table of 2**bits cells is a row of 32-bit cells, packed two to a
word, and a block of `limbs` words a cell:

    cell = leading threshold bits (32 - bits of them) << bits | alias entry
    limb = the 64 threshold bits that follow, most significant first

A uniform number of `bits` + (32 - bits) + 64 * limbs binary digits picks the cell, then the cell's
own entry if the rest is below the threshold and the alias entry otherwise. Only a tie in the
leading digits (a row in 2**(32 - bits)) ever reads a limb.
"""

from typing import Final

# Header: what each of the first words means.
WORDS: Final = 0  # 64-bit words a row: 1 (one 32-bit uniform) or 2 (a digit and a 64-bit uniform)
STEPS: Final = 1  # the released sensitivity in grid steps; a level is this wide on either side
RADIUS: Final = 2  # r: the top step is -(r - 1) .. r - 1
LIMBS: Final = 3
DEEPEST: Final = 4  # a level beyond this does not fit 64-bit integers
HEAD_BITS: Final = 5
HEAD_LEVELS: Final = 6  # entry 0 is the top step, 1 .. HEAD_LEVELS are levels, the next is beyond
LAPS: Final = 7  # 1: every level has a digit, in laps of HEAD_LEVELS; beyond is: draw again
HEAD_CELLS: Final = 8  # where the cells start, in words
HEAD_THRESHOLDS: Final = 9
DIGIT_BITS: Final = 10
DIGIT_LEVELS: Final = 11  # entries 0 .. DIGIT_LEVELS - 1; the next draws again, as much further
DIGIT_CELLS: Final = 12
DIGIT_THRESHOLDS: Final = 13
HEADER: Final = 14

# A row's own words come from nonce 0; ties, rejections and restarts read on under these nonces.
EXTRA_NONCE: Final = 1 << 63

# What a kernel writes for noise of 2**62 grid steps or more: the Python layer redraws that row in
# unbounded integers. At the widest law it serves, scale 2**52, such a row has probability e**-1024.
DEEP: Final = -(1 << 63)
DEEP_STEPS: Final = 1 << 62
EXACT_FLOAT: Final = 1 << 53  # integers below this are floats
