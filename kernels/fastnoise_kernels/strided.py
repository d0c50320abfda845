"""Values of any dtype and strides, into a buffer that loops can take, and back.

Memory is seen as lines along its last axis, which follow each other in C order. Lines are moved in
blocks: of many values, or where another axis is denser in memory, of so few that all lines give
theirs before the next block is fetched.
"""

import numpy as np
from llvmlite import ir
from numba import int64, uint64

from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.jit import inlined, inner, kernel
from fastnoise_kernels.lanes import I8, I64, Number, call
from fastnoise_kernels.memory import float_bits, wide_vectors
from fastnoise_kernels.pointers import pointer_to


def _access(bits):
    """Of unsigned integers of so many bits, wherever they are: nothing says they are aligned."""
    kind = ir.IntType(bits)

    def place(memory, offset):
        # An offset from a pointer is something that LLVM's vectoriser knows about; a sum is not.
        start = pointer_to(memory).of(I8, offset)
        return memory.builder.bitcast(start, kind.as_pointer())

    @intrinsic
    def load(here, memory: int64, offset: int64) -> uint64:
        """The integer so many bytes from an address."""
        loaded = here.builder.load(place(memory, offset), align=1)
        return Number(here.builder, loaded if bits == 64 else here.builder.zext(loaded, I64))

    @intrinsic
    def store(here, memory: int64, offset: int64, value: uint64):
        """The lower bits of an integer."""
        lower = value.value if bits == 64 else here.builder.trunc(value.value, kind)
        here.builder.store(lower, place(memory, offset), align=1)

    return load, store


(load_8, store_8), (load_16, store_16) = _access(8), _access(16)
(load_32, store_32), (load_64, store_64) = _access(32), _access(64)


@intrinsic
def swapped(here, value: uint64) -> uint64:
    """Its bytes in the other order."""
    return Number(here.builder, call(here.builder, "llvm.bswap.i64", I64, value.value))


def _reading(bits, load):
    shift, top, dense = np.uint64(64 - bits), np.uint64(1 << (bits - 1)), bits // 8

    @inlined
    def integer(memory, offset, swap, signed):
        """As one of 64 bits."""
        value = load(memory, offset)
        if swap:
            value = swapped(value) >> shift
        return (value ^ top) - top if signed else value

    @inlined
    def line(memory, step, n, swap, signed, to_float, buffer, size):
        if to_float and bits == 64 and not signed:
            for i in range(n):
                value = np.float64(integer(memory, i * step, swap, False))
                store_64(buffer, 8 * i, np.uint64(float_bits(value)))
        elif to_float:
            for i in range(n):
                value = np.float64(np.int64(integer(memory, i * step, swap, signed)))
                store_64(buffer, 8 * i, np.uint64(float_bits(value)))
        elif size == 8:
            for i in range(n):
                store_64(buffer, 8 * i, integer(memory, i * step, swap, signed))
        elif bits == 32:
            for i in range(n):
                store_32(buffer, 4 * i, integer(memory, i * step, swap, False))

    @inner
    def read(memory, stride, step, lines, n, swap, signed, to_float, buffer, pitch, size):
        """n values of some lines as float64, if they are integers that become some; else as bits.

        stride, pitch: from line to line, there and in the buffer.
        """
        wide_vectors()
        for at in range(lines):
            source, to = memory + at * stride, buffer + at * pitch
            if step == dense:  # a loop of its own, which is vectorised
                line(source, dense, n, swap, signed, to_float, to, size)
            else:
                line(source, step, n, swap, signed, to_float, to, size)

    return read


read_8, read_16 = _reading(8, load_8), _reading(16, load_16)
read_32, read_64 = _reading(32, load_32), _reading(64, load_64)


def _writing(bits, store):
    shift, dense = np.uint64(64 - bits), bits // 8

    @inlined
    def line(memory, step, n, swap, buffer, size):
        if size == 8:
            for i in range(n):
                value = load_64(buffer, 8 * i)
                store(memory, i * step, swapped(value << shift) if swap else value)
        elif bits == 32:
            for i in range(n):
                value = load_32(buffer, 4 * i)
                store(memory, i * step, swapped(value << shift) if swap else value)

    @inner
    def write(memory, stride, step, lines, n, swap, buffer, pitch, size):
        """The other way; values of fewer bits lose the upper ones."""
        wide_vectors()
        for at in range(lines):
            target, source = memory + at * stride, buffer + at * pitch
            if step == dense:
                line(target, dense, n, swap, source, size)
            else:
                line(target, step, n, swap, source, size)

    return write


write_8, write_16 = _writing(8, store_8), _writing(16, store_16)
write_32, write_64 = _writing(32, store_32), _writing(64, store_64)


@inner
def offset_of(line, shape, strides):
    """Where a line starts."""
    offset = 0
    for i in range(len(shape)):
        axis = len(shape) - 1 - i
        offset += line % shape[axis] * strides[axis]
        line //= shape[axis]
    return offset


@kernel
def gather(
    start,
    stop,
    across,
    line,
    lines,
    columns,
    block,
    memory,
    shape,
    strides,
    step,
    width,
    swap,
    signed,
    to_float,
    buffer,
    size,
):
    """Some columns of `lines` lines from `line` on, one after the other.

    start, stop: which of the blocks if `across`, else which of the lines. memory: the address of
        the first column in line 0. shape, strides: of the leading axes. step: of the last one.
    width: bytes of a value there; size: in the buffer.
    """
    blocks = (columns + block - 1) // block
    begin, end, first, last = (0, lines, start, stop) if across else (start, stop, 0, blocks)
    run, stride, pitch = shape[-1], strides[-1], columns * size
    for place in range(first, last):
        column = place * block
        n, at = min(block, columns - column), begin
        while at < end:
            some = min(run - (line + at) % run, end - at)  # lines that are evenly spaced
            source = memory + offset_of(line + at, shape, strides) + column * step
            to = buffer + at * pitch + column * size
            if width == 8:
                read_64(source, stride, step, some, n, swap, signed, to_float, to, pitch, size)
            elif width == 4:
                read_32(source, stride, step, some, n, swap, signed, to_float, to, pitch, size)
            elif width == 2:
                read_16(source, stride, step, some, n, swap, signed, to_float, to, pitch, size)
            else:
                read_8(source, stride, step, some, n, swap, signed, to_float, to, pitch, size)
            at += some
    return 0


@kernel
def scatter(
    start,
    stop,
    across,
    line,
    lines,
    columns,
    block,
    memory,
    shape,
    strides,
    step,
    width,
    swap,
    buffer,
    size,
):
    """The other way."""
    blocks = (columns + block - 1) // block
    begin, end, first, last = (0, lines, start, stop) if across else (start, stop, 0, blocks)
    run, stride, pitch = shape[-1], strides[-1], columns * size
    for place in range(first, last):
        column = place * block
        n, at = min(block, columns - column), begin
        while at < end:
            some = min(run - (line + at) % run, end - at)
            target = memory + offset_of(line + at, shape, strides) + column * step
            source = buffer + at * pitch + column * size
            if width == 8:
                write_64(target, stride, step, some, n, swap, source, pitch, size)
            elif width == 4:
                write_32(target, stride, step, some, n, swap, source, pitch, size)
            elif width == 2:
                write_16(target, stride, step, some, n, swap, source, pitch, size)
            else:
                write_8(target, stride, step, some, n, swap, source, pitch, size)
            at += some
    return 0


@kernel
def blank(start, stop, bits, first, values):
    """values[i] = 0 where bit first + i, counted from the lowest of the first byte, is not set."""
    for i in range(start, stop):
        place = first + i
        there = np.uint64(bits[place >> 3]) >> np.uint64(place & 7) & np.uint64(1)
        values[i] = values[i] if there != 0 else values.dtype.type(0)
    return 0
