"""Elements, lines, bits and products as LLVM sees them, without what numba adds."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.lanes import DOUBLE, I32, I64, pointer
from fastnoise_kernels.shuffles import rows_of


@intrinsic
def wide_vectors(typing):
    """Have this function vectorised as wide as the processor goes, which LLVM shies away from.

    The keystream runs at that width anyway; measured: 0.65 -> 0.44 ns a row of `add_tile`.
    """

    def codegen(context, builder, signature, arguments):
        # llvmlite knows no attributes with a value, but writes what it finds.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def element(typing, array, index):
    """array[index] of a contiguous array for an index that is never negative.

    numba's own indexing counts negative ones from the end, which keeps loops from vectorising.
    """

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load(builder.gep(data, [arguments[1]]))

    return array.dtype(array, types.int64), codegen


@intrinsic
def put(typing, array, index, value):
    """array[index] = value, likewise."""

    def codegen(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store(arguments[2], builder.gep(data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen


def _rows_intrinsic(order):
    @intrinsic(prefer_literal=True)
    def eight_rows(typing, count, columns, at, rows, to, dim):
        """Copy `count` columns of eight float64 (1, 2, 4 or 8 of them) to the rows of `order`.

        The columns are 16 apart from columns[at] on, the rows `dim` from rows[to] on.
        """
        columns_at_once = count.literal_value

        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            eight, some = ir.VectorType(DOUBLE, 8), ir.VectorType(DOUBLE, columns_at_once)
            vectors = []
            for i in range(columns_at_once):
                column = builder.add(arguments[2], ir.Constant(I64, 16 * i))
                vectors.append(builder.load(pointer(builder, data(1), column, eight), align=8))
            pieces = 8 // columns_at_once
            for i, vector in enumerate(rows_of(builder, vectors)):
                for piece in range(pieces):
                    start = columns_at_once * piece
                    kept = list(range(start, start + columns_at_once))
                    mask = ir.Constant(ir.VectorType(I32, columns_at_once), kept)
                    row = builder.shuffle_vector(vector, vector, mask)
                    skipped = lanes.times(builder, arguments[5], order[i * pieces + piece])
                    offset = builder.add(arguments[4], skipped)
                    builder.store(row, pointer(builder, data(3), offset, some), align=8)
            return context.get_dummy_value()

        integer = types.int64
        return types.void(count, columns, integer, rows, integer, integer), codegen

    return eight_rows


eight_rows, eight_woven_rows = _rows_intrinsic(range(8)), _rows_intrinsic(lanes.WOVEN[:8])


def _prefetch_intrinsic(cache, to_write=False):
    @intrinsic
    def prefetch(typing, address):
        """Have the line at that address on its way to the first- or second-level cache."""

        def codegen(context, builder, signature, arguments):
            where = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
            lanes.prefetch(builder, where, cache, to_write)
            return context.get_dummy_value()

        return types.void(types.int64), codegen

    return prefetch


prefetch, prefetch_near = _prefetch_intrinsic(cache=2), _prefetch_intrinsic(cache=1)
prefetch_to_write = _prefetch_intrinsic(cache=2, to_write=True)


@intrinsic
def times_plus(typing, value, factor, addend):
    """value * factor + addend, of a product that is exact: the same bits with and without fma."""

    def codegen(context, builder, signature, arguments):
        if lanes.has(context, "fma"):
            return lanes.call(builder, "llvm.fma.f64", DOUBLE, *arguments)
        product = builder.fmul(*arguments[:2])
        return builder.fadd(product, arguments[2])

    real = types.float64
    return real(real, real, real), codegen


@intrinsic
def float_bits(typing, value):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), codegen


@intrinsic
def float_of_bits(typing, bits):
    def codegen(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), codegen
