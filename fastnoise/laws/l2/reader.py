"""The l2 Laplace law by definition: real numbers, to as many bits as a decision takes.

A row is a function of uniform numbers whose binary digits have no end. The first 38 of each are
in a word of the row; more come from a block of its own, when they are needed (`layout`). Everything
is computed in intervals: a cell, or whether a radius fits, is known once an interval leaves no
choice, and asked again with twice the bits until then. So what is drawn is the ideal law, exactly:

1. The vector Y of density proportional to exp(-|y| / scale) falls in a cell, a cube of 2**k grid
   steps per side; at k = 0 that is the rounding of Y to the grid.
2. Given the cell, Y is drawn again: a place Z uniform in it, kept with chance
   exp(-(|Z| - |M| + D / 2) / scale), M the middle of the cell and D its diagonal, which is at most
   1 because no point of a cube is further than D / 2 from its middle; else another place. That is
   rejection sampling of the density within the cell, so Z has the law of Y.
3. The grid step that Z is nearest to is the noise: k bits of each coordinate of the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import count
from math import isnan, nan

import numpy as np
from fastnoise_kernels import layout

from fastnoise.arithmetic.elementary import exp_above
from fastnoise.arithmetic.intervals import Interval
from fastnoise.bits import (
    HALF_BLOCK,
    Blocks,
    block_place,
    own_block,
    pairs_of,
    plain_blocks,
    row_key,
)
from fastnoise.laws.alias import Tables

Uniform = Callable[[int], int]  # the first n binary digits of a uniform number
Places = Callable[[int], Uniform]  # that of a coordinate
FIRST_BITS = 96  # floats leave a doubt in their last 50: more is seldom needed
HALF = Fraction(1, 2)
SPARE = (1 << layout.SPARE_BITS) - 1
BYTE = (1 << layout.BYTE_BITS) - 1


class L2Reader:
    """Draws from a law; `blocks` computes those of the cipher, in plain Python by default."""

    def __init__(self, law: Tables, blocks: Blocks = plain_blocks) -> None:
        self.width, self.dim = int(law[layout.WIDTH]), int(law[layout.DIM])
        self.fine, self.kept_below = int(law[layout.FINE_BITS]), int(law[layout.KEPT_BELOW])
        self.scale = Fraction(float(law.view(np.float64)[layout.SCALE]))
        self.cells = self.scale / (1 << self.fine)  # the scale in cells
        self.shape = Fraction(self.dim + 1, 2) - Fraction(1, 3)
        self.blocks = blocks

    def noise(self, key: bytes, address: int) -> list[int]:
        """The noise of one row, in grid steps, of any size."""
        return self.noise_at(range(self.dim), key, address, [nan] * self.dim)

    def noise_at(
        self, some: Sequence[int], key: bytes, address: int, known: Sequence[float]
    ) -> list[int]:
        """That of some coordinates; known: what kernels know of all, whatever the coin, or NaN."""
        numbers = Numbers(self.blocks, key, address, self.width)
        vector, size = Vector(self, numbers), 1 << self.fine
        coin, places = self._attempt(numbers, 0)
        if self.fine == 0 or coin(layout.SPARE_BITS) < self.kept_below:
            return [size * vector.cell(i) + places(i)(self.fine) for i in some]
        cells = [vector.cell(i) if isnan(n) else int(n) >> self.fine for i, n in enumerate(known)]
        for attempt in count(1):
            if self._kept(cells, coin, places):
                break
            coin, places = self._attempt(numbers, attempt)
        return [size * cells[i] + places(i)(self.fine) for i in some]

    def _attempt(self, numbers: Numbers, attempt: int) -> tuple[Uniform, Places]:
        """A coin and the coordinates of a place: of the row's own words, then of further ones."""
        first = layout.COIN_INDEX + attempt * layout.REFINED_DRAW
        if attempt:
            return numbers.further(first), lambda i: numbers.further(first + 1 + i)
        return numbers.coin(), lambda i: numbers.place(i, self)

    def _kept(self, cells: list[int], coin: Uniform, places: Places) -> bool:
        """Whether coin < exp(-(|Z| - |M| + D / 2) / scale)."""
        bits, known = self.fine + 64, self.fine
        while True:
            low, high = self._falls(cells, places, known, bits)
            value, above = coin(bits), exp_above(low, bits) * (1 << bits)
            if value >= above:
                return False
            if value + 1 <= exp_above(high, bits) * (1 << bits) - 2:
                return True
            bits, known = 2 * bits, bits

    def _falls(
        self, cells: list[int], places: Places, known: int, bits: int
    ) -> tuple[Fraction, Fraction]:
        """Bounds of (|Z| - |M| + D / 2) / scale, from the first bits of a place."""
        step, size = 1 << bits - self.fine, 1 << self.fine
        width, least, most, middles = 1 << bits - known, 0, 0, 0
        for i, cell in enumerate(cells):
            low = (cell << bits) + (places(i)(known) << bits - known) - step // 2
            ends = low * low, (low + width) ** 2
            least += min(ends) if low >= 0 or low + width <= 0 else 0
            most += max(ends)
            middles += (2 * size * cell + size - 1) ** 2
        reach = Interval(least >> bits, -(-most >> bits), bits)
        middle = Interval.of(Fraction(middles, 4 * size * size), bits).root()
        diagonal = Interval.of(self.dim, bits).root()
        length = reach.root() - middle + diagonal * HALF
        return self._fall(length.low, bits), self._fall(length.high, bits)

    def _fall(self, cells: int, bits: int) -> Fraction:
        return max(Fraction(0), Fraction(cells, 1 << bits) / self.cells)


class Numbers:
    """The uniform numbers of one row."""

    def __init__(self, blocks: Blocks, key: bytes, address: int, width: int) -> None:
        self.blocks, self.key, self.address, self.width = blocks, key, address, width
        self.row_key = row_key(key, address, blocks)
        self.known: dict[tuple[bytes, int], Sequence[int]] = {}

    def expect(self, words: Iterable[int]) -> None:
        """Compute at once what these words of the row, and more bits of each, will take."""
        some = list(words)
        self._compute(self.row_key, some)
        self._compute(self.key, [self._own(i // 2) for i in some])

    def _own(self, index: int) -> int:
        return own_block(self.address, self.width, index)

    def _compute(self, key: bytes, places: Iterable[int]) -> None:
        left = [place for place in dict.fromkeys(places) if (key, place) not in self.known]
        self.known.update(zip(((key, at) for at in left), self.blocks(key, left), strict=True))

    def block(self, key: bytes, place: int) -> Sequence[int]:
        self._compute(key, [place])
        return self.known[key, place]

    def half(self, i: int) -> int:
        """A 32-bit word of the row's own."""
        return self.block(self.key, self._own(i // 4))[i % 4]

    def word(self, i: int) -> int:
        return self.half(2 * i) | self.half(2 * i + 1) << 32

    def own(self, i: int) -> Uniform:
        """That of the row's word i."""
        return self._uniform(i, self.word(i) >> layout.SPARE_BITS, layout.UNIFORM_BITS)

    def extra(self, draw: int, i: int) -> Uniform:
        """That of word i of an extra draw, the first being draw 1."""
        index = layout.EXTRA_INDEX + layout.DRAW_BLOCKS * (draw - 1) + i // 2
        word = list(pairs_of(self.block(self.key, block_place(self.address, index))))[i % 2]
        number = draw * layout.REFINED_DRAW + i
        return self._uniform(number, word >> layout.SPARE_BITS, layout.UNIFORM_BITS)

    def coin(self) -> Uniform:
        """The spare bits of the first word, and more."""
        return self._uniform(layout.COIN_INDEX, self.word(0) & SPARE, layout.SPARE_BITS)

    def place(self, i: int, law: L2Reader) -> Uniform:
        """The last `fine` of a byte and the spare bits of a coordinate's word."""
        bits = self.word(layout.words_before(law.dim) + i) & SPARE
        if law.fine > layout.SPARE_BITS:
            shared = self.half(2 * layout.l2_words(law.dim) + i // 4)
            bits |= (shared >> layout.BYTE_BITS * (i % 4) & BYTE) << layout.SPARE_BITS
        return self._uniform(layout.COIN_INDEX + 1 + i, bits & ((1 << law.fine) - 1), law.fine)

    def further(self, index: int) -> Uniform:
        return self._uniform(index, 0, 0)

    def _uniform(self, index: int, leading: int, known: int) -> Uniform:
        def digits(bits: int) -> int:
            value, so_far, words = leading, known, self._refining(index)
            while so_far < bits:
                value, so_far = value << 64 | next(words), so_far + 64
            return value >> (so_far - bits)

        return digits

    def _refining(self, index: int) -> Iterator[int]:
        for n in count():
            yield from pairs_of(self.block(self.row_key, n << HALF_BLOCK | index))


class Vector:
    """The vector of one row: in which cells its coordinates are."""

    def __init__(self, law: L2Reader, numbers: Numbers) -> None:
        self.law, self.numbers = law, numbers
        self.coordinate = {layout.PLANE: self._on_plane, layout.SPACE: self._in_space}.get(
            law.dim, self._normal
        )
        self.cube_root, self.drawn = cache(self._cube_root), cache(self._drawn)

    def cell(self, i: int) -> int:
        """floor((Y_i + 1/2) / 2**fine)."""
        bits, size = FIRST_BITS, 1 << self.law.fine
        while True:
            place = self.coordinate(i, bits) * self.law.cells + Fraction(1, 2 * size)
            if (floor := place.floor()) is not None:
                return floor
            bits *= 2

    def _on_plane(self, i: int, bits: int) -> Interval:
        """Coordinates of noise of scale 1."""
        turn, *others = self._own(range(3))
        return self._gamma(others, bits) * turned(turn, bits)[i]

    def _in_space(self, i: int, bits: int) -> Interval:
        height, turn, *others = self._own(range(5))
        radius, z = self._gamma(others, bits), unit(height, bits) * 2 + -1
        if i == 2:
            return radius * z
        across = (-z + 1) * (z + 1)
        return radius * across.root() * turned(turn, bits)[i]

    def _gamma(self, uniforms: list[Uniform], bits: int) -> Interval:
        """Minus the logarithm of a product."""
        logarithms = [unit(uniform, bits).logarithm() for uniform in uniforms]
        return -sum(logarithms[1:], logarithms[0])

    def _normal(self, i: int, bits: int) -> Interval:
        """A normal number times chi of dim + 1 degrees."""
        first = layout.RADIUS_WORDS + i - i % 2
        *_, size, angle = self._own([*range(layout.RADIUS_WORDS), first, first + 1])
        pair = normals(size, angle, bits)
        _, root = self.cube_root(self.drawn(), bits)
        return pair[i % 2] * (root * root * root * (2 * self.law.shape)).root()

    def _own(self, words: Sequence[int]) -> list[Uniform]:
        self.numbers.expect(words)
        return [self.numbers.own(i) for i in words]

    def _drawn(self) -> int:
        """Which draw of a radius is the first that fits: 0 is that of the row's own words."""
        return next(draw for draw in count() if self._fits(draw))

    def _uniforms(self, draw: int) -> list[Uniform]:
        extra = partial(self.numbers.extra, draw)
        return list(map(extra if draw else self.numbers.own, range(layout.RADIUS_WORDS)))

    def _cube_root(self, draw: int, bits: int) -> tuple[Interval, Interval]:
        """A normal number x, and 1 + x / sqrt(9 shape) (Marsaglia & Tsang 2000)."""
        size, angle, _ = self._uniforms(draw)
        x = normals(size, angle, bits)[0]
        return x, x * Interval.of(1 / (9 * self.law.shape), bits).root() + 1

    def _fits(self, draw: int) -> bool:
        """Whether ln u < x**2 / 2 + shape - cube * shape + ln(cube) * shape, and the cube > 0."""
        bits, shape = FIRST_BITS, self.law.shape
        while True:
            x, root = self.cube_root(draw, bits)
            if root.high <= 0:
                return False
            if root.low > 0:
                cube = root * root * root
                limit = x * x * HALF + (cube.logarithm() - cube + 1) * shape
                distance = limit - unit(self._uniforms(draw)[-1], bits).logarithm()
                if distance.low > 0 or distance.high <= 0:
                    return distance.low > 0
            bits *= 2


def unit(uniform: Uniform, bits: int) -> Interval:
    low = uniform(bits)
    return Interval(low, low + 1, bits)


def turned(uniform: Uniform, bits: int) -> tuple[Interval, Interval]:
    """Cosine and sine of a uniform angle, an eighth of a turn back."""
    low = 4 * uniform(bits) - (1 << (bits - 1))
    return Interval(low, low + 4, bits).turned()


def normals(size: Uniform, angle: Uniform, bits: int) -> tuple[Interval, Interval]:
    """Two independent normal numbers (Box & Muller 1958)."""
    radius = (unit(size, bits).logarithm() * -2).root()
    cosine, sine = turned(angle, bits)
    return radius * cosine, radius * sine
