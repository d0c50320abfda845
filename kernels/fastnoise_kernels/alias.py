"""The alias look-up: which entry of a table a coin picks (`layout` has the table).

`look_up` is the definition, for one coin; `pick` does the same for sixteen, but for ties.
"""

import numpy as np

from fastnoise_kernels import lookups
from fastnoise_kernels.jit import inner
from fastnoise_kernels.layout import LIMBS

LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
OUT_OF_WORDS = -1


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


def pick(cells, coin, bits, cells_at=lookups.gather):
    """`look_up` for sixteen coins: their entries, and a mask of ties. cells_at: finds the cells."""
    index, rest = coin >> 32 - bits, coin << bits
    cell = cells_at(cells, index)
    leading = -1 << bits
    threshold = cell & leading
    return (rest < threshold).where(index, cell & ~leading), rest.equals(threshold)
