"""Sixteen rows of sloping levels at a time: what `staircase.draw` does for most of them.

A level is 2**bits steps wide, so that a place is the first bits of its word. All but the noise
itself fits 32 bits.
"""

from functools import partial

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes, lookups
from fastnoise_kernels.layout import LENT_BITS, SLOPING, SLOPING_DIGIT_BITS
from fastnoise_kernels.staircase_lanes import pick, word_of


@intrinsic
def sixteen_sloping_rows(typing, words, offset, cells, digit_cells, sizes, noise, at):
    """`draw` for a group of sixteen rows; the mask that comes back marks those that need care.

    `sizes`: head bits, head levels, digit bits, its restart, slope bits, and up to what the first
    32 bits of a coin need care.
    """

    def codegen(context, builder, signature, arguments):
        def data(i):
            return context.make_array(signature.args[i])(context, builder, arguments[i]).data

        def size(i):
            return builder.trunc(builder.extract_value(arguments[4], i), lanes.I32)

        quick = lanes.has_avx512(context)
        digit_at = (
            partial(lookups.permuted, cells=1 << SLOPING_DIGIT_BITS) if quick else lookups.gather
        )
        levels, bits, most = size(1), size(4), size(5)
        words = (word_of(builder, data(0), arguments[1], i) for i in range(SLOPING))
        digit_word, head_word, place_word = words
        entry, careful = pick(builder, data(2), head_word, size(0))
        digit, tie = pick(builder, data(3), digit_word, size(2), digit_at, LENT_BITS)
        careful |= tie | (entry > levels) | digit.equals(size(3))
        lent = digit_word << 32 - LENT_BITS
        sign_and_place = builder.add(bits, ir.Constant(lanes.I32, 1))
        coin = place_word.followed_by(lent, sign_and_place)
        careful |= ~(coin > most)
        below = (entry - 1 + digit * levels).widened()
        place = (place_word << 1) >> builder.sub(ir.Constant(lanes.I32, 32), bits)
        distance = (below << builder.zext(bits, lanes.I64)) + (place + 1).widened()
        negative = (place_word >> 31).equals(1)
        drawn = negative.where(0 - distance, distance)
        nothing = lanes.broadcast(builder, 0, lanes.LANES_64)
        lanes.store(entry.equals(0).where(nothing, drawn), data(5), arguments[6])
        return careful.bits()

    integer = types.int64
    return types.uint32(words, integer, cells, digit_cells, sizes, noise, integer), codegen
