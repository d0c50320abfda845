"""AES-256 where a processor has no instructions for it: sixteen blocks, bit by bit.

A plane is one bit of every byte: sixteen elements, one for each byte of a block, of sixteen bits,
one for each block. Elements are row by row, so that shifted rows and mixed columns are elements
that change places. No address and no branch depends on the key or on a block.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from fastnoise_kernels.lanes import I8, I16, I32, I64, LANES, Lanes, Number, loop
from fastnoise_kernels.layout import ROUNDS
from fastnoise_kernels.pointers import Pointer

BLOCK = ir.VectorType(I64, 2)
BYTES = ir.VectorType(I8, LANES)
PLANE = ir.VectorType(I16, LANES)
BY_ROWS = [row + 4 * column for row in range(4) for column in range(4)]  # its own inverse
SHIFTED = [4 * row + (column + row) % 4 for row in range(4) for column in range(4)]
NEXT_ROW = [(place + 4) % 16 for place in range(16)]
NEXT_BUT_ONE = [(place + 8) % 16 for place in range(16)]
REDUCED = (0, 1, 3, 4)  # bits of x**8 in AES's field: x**4 + x**3 + x + 1


def encrypted_by_bits(schedule: Pointer, blocks: list[ir.Value]) -> list[ir.Value]:
    """Sixteen blocks; see `aes`."""

    def turn(i: Number, planes: list[Lanes]) -> list[Lanes]:
        planes = [_moved(plane, SHIFTED) for plane in substituted(planes)]
        return _keyed(schedule, i + 1, _mixed(planes))

    planes = _keyed(schedule, _constant(schedule, 0), _planes(schedule, blocks))
    planes = loop(ROUNDS - 1, planes, turn)
    planes = [_moved(plane, SHIFTED) for plane in substituted(planes)]
    return _blocks(_keyed(schedule, _constant(schedule, ROUNDS), planes))


def _constant(schedule: Pointer, value: int) -> Number:
    return Number(schedule.builder, ir.Constant(I64, value))


def _moved(lanes: Lanes, order: list[int]) -> Lanes:
    mask = ir.Constant(ir.VectorType(I32, LANES), order)
    return lanes._new(lanes.builder.shuffle_vector(lanes.value, lanes.value, mask))


def _planes(schedule: Pointer, blocks: list[ir.Value]) -> list[Lanes]:
    """Two blocks to a vector, then bits and vectors change places."""
    builder = schedule.builder
    states = [_moved(Lanes(builder, builder.bitcast(block, BYTES)), BY_ROWS) for block in blocks]
    wide = [state.widened(PLANE) for state in states]
    return _transposed([low | high << 8 for low, high in zip(wide[:8], wide[8:], strict=True)])


def _blocks(planes: list[Lanes]) -> list[ir.Value]:
    pairs = _transposed(planes)
    halves = [*pairs, *(pair >> 8 for pair in pairs)]
    builder = planes[0].builder
    states = [Lanes(builder, builder.trunc(half.value, BYTES)) for half in halves]
    return [builder.bitcast(_moved(state, BY_ROWS).value, BLOCK) for state in states]


def _transposed(rows: list[Lanes]) -> list[Lanes]:
    """Bit i of a byte of row k becomes bit k of that byte of row i."""
    rows = list(rows)
    for step, mask in ((4, 0x0F0F), (2, 0x3333), (1, 0x5555)):
        for i in range(8):
            if not i & step:
                a, b = rows[i], rows[i + step]
                changed = ((a >> step) ^ b) & mask
                rows[i], rows[i + step] = a ^ (changed << step), b ^ changed
    return rows


def _keyed(schedule: Pointer, i: Any, planes: list[Lanes]) -> list[Lanes]:
    """Each bit of round key i is that of a byte in all blocks."""
    key = schedule.builder.load(schedule.of(BYTES, i * 16), align=4)
    wide = _moved(Lanes(schedule.builder, key), BY_ROWS).widened(PLANE)
    return [plane ^ (wide << 15 - bit).sign_shifted(15) for bit, plane in enumerate(planes)]


def _mixed(planes: list[Lanes]) -> list[Lanes]:
    """Columns times 2, 3, 1, 1: a, b, c, d become 2 (a + b) + b + (c + d)."""
    following = [_moved(plane, NEXT_ROW) for plane in planes]
    sums = [plane ^ next_ for plane, next_ in zip(planes, following, strict=True)]
    doubled = [sums[bit - 1] ^ sums[7] if bit in REDUCED[1:] else sums[bit - 1] for bit in range(8)]
    rest = [next_ ^ _moved(s, NEXT_BUT_ONE) for next_, s in zip(following, sums, strict=True)]
    return [one ^ other for one, other in zip(doubled, rest, strict=True)]


def substituted(bits: list[Any]) -> list[Any]:
    """AES's substitution of a byte in eight bits, lowest first, of whatever has &, ^ and ~.

    The circuit of Boyar and Peralta, "A small depth-16 circuit for the AES S-box" (2012): 34
    products; names are theirs.
    """
    x7, x6, x5, x4, x3, x2, x1, x0 = bits
    y14, y13, y9, y8, t0 = x3 ^ x5, x0 ^ x6, x0 ^ x3, x0 ^ x5, x1 ^ x2
    y1 = t0 ^ x7
    y4, y12, y2, y5 = y1 ^ x3, y13 ^ y14, y1 ^ x0, y1 ^ x6
    y3, t1 = y5 ^ y8, x4 ^ y12
    y15, y20 = t1 ^ x5, t1 ^ x1
    y6, y10, y11 = y15 ^ x7, y15 ^ t0, y20 ^ y9
    y7, y17, y19, y16 = x7 ^ y11, y10 ^ y11, y10 ^ y8, t0 ^ y11
    y21, y18 = y13 ^ y16, x0 ^ y16

    t2, t7, t12 = y12 & y15, y13 & y16, y9 & y11
    t4, t6 = (y3 & y6) ^ t2, (y4 & x7) ^ t2
    t9, t11 = (y5 & y1) ^ t7, (y2 & y7) ^ t7
    t14, t16 = (y14 & y17) ^ t12, (y8 & y10) ^ t12
    t21, t22, t23, t24 = t4 ^ t14 ^ y20, t6 ^ t16 ^ y19, t9 ^ t14 ^ y21, t11 ^ t16 ^ y18
    t25, t26 = t21 ^ t22, t21 & t23
    t27, t30, t31 = t24 ^ t26, t23 ^ t24, t22 ^ t26
    t29, t33 = (t25 & t27) ^ t22, (t31 & t30) ^ t24
    t36 = t24 & (t27 ^ t33)
    t37, t38 = t36 ^ t23 ^ t33, t27 ^ t36
    t40 = t25 ^ (t29 & t38)
    t41, t42, t43, t44 = t40 ^ t37, t29 ^ t33, t29 ^ t40, t33 ^ t37
    t45 = t42 ^ t41

    z0, z1, z2, z3, z4, z5 = t44 & y15, t37 & y6, t33 & x7, t43 & y16, t40 & y1, t29 & y7
    z6, z7, z8, z9, z10, z11 = t42 & y11, t45 & y17, t41 & y10, t44 & y12, t37 & y3, t33 & y4
    z12, z13, z14, z15, z16, z17 = t43 & y13, t40 & y5, t29 & y2, t42 & y9, t45 & y14, t41 & y8

    t46, t47, t48, t49, t50, t51 = z15 ^ z16, z10 ^ z11, z5 ^ z13, z9 ^ z10, z2 ^ z12, z2 ^ z5
    t52, t53, t54, t55 = z7 ^ z8, z0 ^ z3, z6 ^ z7, z16 ^ z17
    t56, t57, t58, t59 = z12 ^ t48, t50 ^ t53, z4 ^ t46, z3 ^ t54
    t60, t61, t62, t63 = t46 ^ t57, z14 ^ t57, t52 ^ t58, t49 ^ t58
    t64, t65, t66 = z4 ^ t59, t61 ^ t62, z1 ^ t63
    s0, s6, s7 = t59 ^ t63, t56 ^ ~t62, t48 ^ ~t60
    s3, s4, s5 = t53 ^ t66, t51 ^ t66, t47 ^ t65
    return [s7, s6, s5, s4, s3, t55 ^ ~(t64 ^ t65), t64 ^ ~s3, s0]
