"""How accurate are the kernels' logarithm, sine and cosine, and are they those of the reader?"""

import mpmath
import numpy as np
import pytest
from fastnoise_kernels import lanes
from fastnoise_kernels.elementary import logarithm, turned, unit
from numba import njit, types
from numba.extending import intrinsic

from fastnoise import vector_reader

ONES = 2**64 - 1


def _sixteen_intrinsic(function, load):
    """An intrinsic: `function` of sixteen values from `at` on, its results to the same place."""

    @intrinsic
    def sixteen(typing, values, at, first, second):
        def codegen(context, builder, signature, arguments):
            def data(i):
                return context.make_array(signature.args[i])(context, builder, arguments[i]).data

            results = function(load(builder, data(0), arguments[1]))
            results = results if isinstance(results, tuple) else (results,)
            for i, result in enumerate(results):
                lanes.store(result, data(2 + i), arguments[1])
            return context.get_dummy_value()

        return types.void(values, types.int64, first, second), codegen

    return sixteen


def _load_word(builder, data, at):
    return lanes.load(builder, data, at, lanes.LANES_64)


def compiled(function, load):
    """`function` of arrays: two of results, of which the second may be unused."""
    sixteen = _sixteen_intrinsic(function, load)

    @njit
    def all_of(values, first, second):
        for at in range(0, len(values), 16):
            sixteen(values, at, first, second)

    def call(values):
        size = len(values)
        padded = np.concatenate([values, np.repeat(values[:1], -size % 16)])
        first, second = np.zeros(len(padded)), np.zeros(len(padded))
        all_of(padded, first, second)
        return first[:size], second[:size]

    return call


kernel_logarithm = compiled(logarithm, lanes.load_floats)
kernel_turned = compiled(turned, _load_word)
kernel_unit = compiled(unit, _load_word)


def words(rng, count: int) -> np.ndarray:
    """Random ones, and both sides of where anything changes."""
    edges = [0, ONES, *(1 << i for i in range(64)), *(ONES >> i for i in range(64))]
    quarters = [q << 62 for q in range(4)]
    edges += [(q + step) % 2**64 for q in quarters for step in (-4097, -4096, -1, 1, 4095, 4096)]
    edges += [(q + (1 << 61) + step) % 2**64 for q in quarters for step in (-4096, -1, 0, 1, 4096)]
    return np.concatenate([np.array(edges, np.uint64), rng.integers(0, ONES, count, np.uint64)])


def arguments(rng, count: int) -> np.ndarray:
    """Uniforms and products of up to three, near 1, the root of 1/2, powers of two, tiny ones."""
    root = np.sqrt(0.5)
    steps = np.arange(-40, 41)
    near = [value * (1 + steps * 2.0**-53) for value in (1.0, root, 2 * root, 0.5, 2.0, 2.0**-53)]
    near += [1 - 2.0 ** -np.arange(1, 54), 1 + 2.0 ** -np.arange(1, 53), 2.0 ** -np.arange(160)]
    near += [1 + rng.standard_normal(300) * 2.0 ** -rng.integers(1, 50, 300), [2.0**40, 7.0, 1e6]]
    uniforms = kernel_unit(rng.integers(0, ONES, 3 * count, np.uint64))[0].reshape(3, count)
    small = uniforms[0] * 2.0 ** -rng.integers(0, 160, count)
    return np.concatenate([*near, *uniforms.cumprod(axis=0), small])


def logarithm_errors(x: np.ndarray, values: np.ndarray) -> list[mpmath.mpf]:
    """Relative ones."""
    with mpmath.workprec(160):
        exact = [mpmath.log(mpmath.mpf(float(a))) for a in x]
        return [abs(mpmath.mpf(float(v)) / e - 1) for v, e in zip(values, exact, strict=True) if e]


def test_logarithm__is_within_2_to_minus_51(rng):
    x = arguments(rng, 2_000)
    values = kernel_logarithm(x)[0]
    assert max(logarithm_errors(x, values)) < 2.0**-51
    assert kernel_logarithm(np.array([1.0]))[0][0] == 0.0


def test_logarithm__an_error_is_seen(rng):
    """Two units in the last place of one value."""
    x = arguments(rng, 10)
    values = kernel_logarithm(x)[0]
    values[-1] += 3 * np.spacing(values[-1])
    assert max(logarithm_errors(x, values)) >= 2.0**-51


def test_logarithm__is_the_readers(rng):
    x = arguments(rng, 1_000)
    assert kernel_logarithm(x)[0].tolist() == [vector_reader.logarithm(a) for a in x.tolist()]


def angles(some: np.ndarray) -> list[mpmath.mpf]:
    """What `turned` is the cosine and sine of: the middle of its place, an eighth back."""
    with mpmath.workprec(160):
        places = [((w % 2**62) >> 10) + mpmath.mpf(1) / 2 for w in some.tolist()]
        quarters = [w >> 62 for w in some.tolist()]
        pairs = zip(quarters, places, strict=True)
        return [mpmath.pi / 2 * (q + p / 2**52 - mpmath.mpf(1) / 2) for q, p in pairs]


def turned_error(some: np.ndarray, cosines: np.ndarray, sines: np.ndarray) -> mpmath.mpf:
    """The largest absolute one."""
    with mpmath.workprec(160):
        errors = [
            max(abs(mpmath.cos(a) - float(c)), abs(mpmath.sin(a) - float(s)))
            for a, c, s in zip(angles(some), cosines, sines, strict=True)
        ]
    return max(errors)


def test_turned__is_within_2_to_minus_52(rng):
    some = words(rng, 3_000)
    assert turned_error(some, *kernel_turned(some)) < 2.0**-52


def test_turned__an_error_is_seen(rng):
    some = words(rng, 3)
    cosines, sines = kernel_turned(some)
    sines[7] += 2.0**-51
    assert turned_error(some, cosines, sines) >= 2.0**-52


def test_turned__is_the_readers(rng):
    some = words(rng, 3_000)
    pairs = list(zip(*(values.tolist() for values in kernel_turned(some)), strict=True))
    assert pairs == [vector_reader.turned(word) for word in some.tolist()]


def test_turned__four_quarters_are_one_turned(rng):
    """The same place in each: (c, s), (-s, c), (-c, -s), (s, -c)."""
    place = words(rng, 100) >> np.uint64(2)
    turns = [kernel_turned(place | np.uint64(q << 62)) for q in range(4)]
    (c, s), *others = turns
    for (a, b), (x, y) in zip(others, [(-s, c), (-c, -s), (s, -c)], strict=True):
        np.testing.assert_array_equal((a, b), (x, y))


def test_unit__is_the_middle_of_its_part(rng):
    some = words(rng, 5_000)
    values = kernel_unit(some)[0].tolist()
    assert values == [vector_reader.unit(word) for word in some.tolist()]
    assert values == [((w >> 12) * 2 + 1) / 2**53 for w in some.tolist()]
    assert min(values) == 2.0**-53
    assert max(values) == 1 - 2.0**-53


@pytest.mark.parametrize("function", [kernel_logarithm, kernel_unit, kernel_turned])
def test_place_in_the_vector__does_not_matter(function, rng):
    values = arguments(rng, 20) if function is kernel_logarithm else words(rng, 20)
    once = function(values)
    for shift in (1, 7):
        np.testing.assert_array_equal(function(values[shift:]), np.array(once)[:, shift:])
