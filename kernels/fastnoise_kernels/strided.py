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
from fastnoise_kernels.memory import element, float_bits, put, wide_vectors
from fastnoise_kernels.pointers import LINE, pointer_to


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
    def line(memory, step, n, swap, signed, to_float, buffer, apart, wide):
        if to_float and bits == 64 and not signed:
            for i in range(n):
                value = np.float64(integer(memory, i * step, swap, False))
                store_64(buffer, i * apart, np.uint64(float_bits(value)))
        elif to_float:
            for i in range(n):
                value = np.float64(np.int64(integer(memory, i * step, swap, signed)))
                store_64(buffer, i * apart, np.uint64(float_bits(value)))
        elif wide:
            for i in range(n):
                store_64(buffer, i * apart, integer(memory, i * step, swap, signed))
        elif bits == 32:
            for i in range(n):
                store_32(buffer, i * apart, integer(memory, i * step, swap, False))

    @inner
    def read(memory, there, buffer, here, counts, swap, signed, to_float, wide):
        """A rectangle of values: integers as float64, if they become some; all others as bits.

        there, here: how many bytes apart they are along both axes, there and in the buffer.
        """
        wide_vectors()
        for at in range(counts[0]):
            source, to = memory + at * there[0], buffer + at * here[0]
            if there[1] == dense and wide and here[1] == 8:  # of its own, which is vectorised
                line(source, dense, counts[1], swap, signed, to_float, to, 8, True)
            else:
                line(source, there[1], counts[1], swap, signed, to_float, to, here[1], wide)

    return read


read_8, read_16 = _reading(8, load_8), _reading(16, load_16)
read_32, read_64 = _reading(32, load_32), _reading(64, load_64)


def _writing(bits, store):
    shift, dense = np.uint64(64 - bits), bits // 8

    @inlined
    def line(memory, step, n, swap, buffer, apart, wide):
        if wide:
            for i in range(n):
                value = load_64(buffer, i * apart)
                store(memory, i * step, swapped(value << shift) if swap else value)
        elif bits == 32:
            for i in range(n):
                value = load_32(buffer, i * apart)
                store(memory, i * step, swapped(value << shift) if swap else value)

    @inner
    def write(memory, there, buffer, here, counts, swap, wide):
        """The other way; values of fewer bits lose the upper ones."""
        wide_vectors()
        for at in range(counts[0]):
            target, source = memory + at * there[0], buffer + at * here[0]
            if there[1] == dense and wide and here[1] == 8:
                line(target, dense, counts[1], swap, source, 8, True)
            else:
                line(target, there[1], counts[1], swap, source, here[1], wide)

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


@inner
def rectangle(lines, n, stride, step, pitch, size):
    """The axes of a block as they are moved, the inner one last: strides there and here, counts.

    Lines are the inner one where they are denser, and so short that the buffer is written line by
    line of the cache: otherwise its addresses could be whole pages apart, and drive each other out.
    """
    if abs(stride) < abs(step) and pitch <= LINE:
        return (step, stride), (size, pitch), (n, lines)
    return (stride, step), (pitch, size), (lines, n)


@kernel
def gather(
    start,
    stop,
    across,
    line,
    lines,
    columns,
    block,
    most,
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

    start, stop: which of the blocks if `across`, else which of the lines. most: lines at a time.
    memory: the address of the first column in line 0. shape, strides: of the leading axes. step: of
    the last one. width: bytes of a value there; size: in the buffer.
    """
    blocks = (columns + block - 1) // block
    begin, end, first, last = (0, lines, start, stop) if across else (start, stop, 0, blocks)
    run, stride, pitch = shape[-1], strides[-1], columns * size
    for place in range(first, last):
        column = place * block
        n, at = min(block, columns - column), begin
        while at < end:
            some = min(run - (line + at) % run, end - at, most)  # lines that are evenly spaced
            there, here, counts = rectangle(some, n, stride, step, pitch, size)
            source = memory + offset_of(line + at, shape, strides) + column * step
            to = buffer + at * pitch + column * size
            if width == 8:
                read_64(source, there, to, here, counts, swap, signed, to_float, size == 8)
            elif width == 4:
                read_32(source, there, to, here, counts, swap, signed, to_float, size == 8)
            elif width == 2:
                read_16(source, there, to, here, counts, swap, signed, to_float, size == 8)
            else:
                read_8(source, there, to, here, counts, swap, signed, to_float, size == 8)
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
    most,
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
            some = min(run - (line + at) % run, end - at, most)
            there, here, counts = rectangle(some, n, stride, step, pitch, size)
            target = memory + offset_of(line + at, shape, strides) + column * step
            source = buffer + at * pitch + column * size
            if width == 8:
                write_64(target, there, source, here, counts, swap, size == 8)
            elif width == 4:
                write_32(target, there, source, here, counts, swap, size == 8)
            elif width == 2:
                write_16(target, there, source, here, counts, swap, size == 8)
            else:
                write_8(target, there, source, here, counts, swap, size == 8)
            at += some
    return 0


@inlined
def there(bits, place):
    """All ones if that bit is set, else 0."""
    byte = np.uint64(element(bits, place >> 3))
    return np.uint64(0) - (byte >> np.uint64(place & 7) & np.uint64(1))


@kernel
def blank(start, stop, bits, first, values):
    """values[i] = 0 where bit first + i, counted from the lowest of the first byte, is not set.

    Whole bytes are eight values of a vector: 0.9 -> 0.1 ns per value.
    """
    wide_vectors()
    at = start
    while at < stop:
        place = first + at
        if place % 8 == 0 and at + 8 <= stop:
            byte = np.uint64(element(bits, place >> 3))
            for i in range(8):
                kept = np.uint64(0) - (byte >> np.uint64(i) & np.uint64(1))
                put(values, at + i, values.dtype.type(element(values, at + i) & kept))
            at += 8
        else:
            put(values, at, values.dtype.type(element(values, at) & there(bits, place)))
            at += 1
    return 0
