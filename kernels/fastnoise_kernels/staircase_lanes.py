"""Sixteen rows of the integer staircase at a time: what `staircase.draw` does for most of them."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes, lookups


def pick(builder, cells, coin, bits, cells_at=lookups.gather, unknown=0):
    """`look_up` for sixteen coins: their entries, and a mask of ties.

    unknown: how many last bits of a coin are; a threshold that differs in no other bit is a tie.
    """
    index = coin >> builder.sub(ir.Constant(lanes.I32, 32), bits)
    rest = (coin | (1 << unknown) - 1) << bits
    cell = cells_at(builder, cells, index)
    leading = builder.shl(ir.Constant(lanes.I32, -1), bits)
    threshold = cell & leading
    entry = (rest < threshold).where(index, cell & builder.not_(leading))
    if not unknown:
        return entry, rest.equals(threshold)
    return entry, rest - threshold < builder.shl(ir.Constant(lanes.I32, 1 << unknown), bits)


def word_of(builder, words, start, i):
    """32-bit word i of sixteen rows whose words start there."""
    where = builder.add(start, ir.Constant(lanes.I64, lanes.LANES * i))
    return lanes.load(builder, words, where, lanes.LANES_32)


def rows_intrinsic(few_cells=False, narrow=False):
    """few_cells: whether the head has so few that registers hold them (`lookups.permuted`).

    narrow: whether 32 bits hold the noise of every level of the head: half the work.
    """
    kind = lanes.LANES_32 if narrow else lanes.LANES_64

    @intrinsic
    def sixteen_rows(typing, words, offset, cells, digit_cells, sizes, noise, at):
        """`draw` for a group of sixteen rows; the mask that comes back marks those that need care.

        `sizes` of short rows: head bits, head levels, steps, radius, and below what a coin needs
        care on the top step and on a level. Long rows: also digit bits, its restart, levels a
        digit, deepest level.
        """
        short = len(sizes) == 6

        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            def word(i):
                return word_of(builder, data(0), arguments[1], i)

            def size(i):
                value = builder.extract_value(arguments[4], i)
                return builder.trunc(value, lanes.I32) if narrow else value

            def narrowed(i):
                return size(i) if narrow else builder.trunc(size(i), lanes.I32)

            def as_wide(short_lanes):
                return short_lanes if narrow else short_lanes.widened()

            def by_level(top, side):
                return is_top.where(lanes.broadcast(builder, top, kind), side)

            def fitting(value):
                """Short rows have widths below 2**32: knowing it makes products cheaper."""
                known = short and not narrow
                return builder.and_(value, ir.Constant(lanes.I64, 0xFFFFFFFF)) if known else value

            steps, radius, one = fitting(size(2)), fitting(size(3)), ir.Constant(kind.element, 1)
            quick = few_cells and lanes.has_avx512(context)
            cells_at = lookups.permuted if quick else lookups.gather
            entry, careful = pick(builder, data(2), word(1), narrowed(0), cells_at)
            careful |= entry > narrowed(1)
            is_top = entry.equals(0)
            top_width = builder.sub(builder.shl(radius, one), one)
            width = by_level(fitting(top_width), fitting(builder.shl(steps, one)))
            rest = by_level(size(4), size(5))
            below = as_wide(entry - 1)
            if narrow:
                place, coin = word(0).high_product(width), word(0) * width
            elif short:
                product = word(0).widened() * width
                place, coin = product >> 32, product & 0xFFFFFFFF
            else:
                uniform = word(2).widened() | word(3).widened() << 32
                place, coin = uniform.high_product(width), uniform * width
                digit, tie = pick(builder, data(3), word(0), narrowed(6))
                below += digit.widened() * size(8)
                careful |= tie | digit.equals(narrowed(7)) | ~(is_top | (below < size(9)))
            careful |= coin < rest
            outer = below * steps + radius + place
            signed = (place < steps).where(outer, steps - outer)
            drawn = is_top.where(place - radius + 1, signed)
            lanes.store(drawn.sign_widened() if narrow else drawn, data(5), arguments[6])
            return careful.bits()

        integer = types.int64
        return types.uint32(words, integer, cells, digit_cells, sizes, noise, integer), codegen

    return sixteen_rows
