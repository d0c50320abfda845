"""A digest of what each mechanism gives: the same on every processor. `python tests/digests.py`.

Few enough cases that an emulated processor compiles and runs them in minutes: every family of
laws, ids, strides, dtypes, rows on both sides of 2**32 and 2**62, and grids that are no power of 2.
Names on the command line are of families; all by default.
"""

import json
import sys
import warnings
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

import fastnoise as fn

KEY = bytes(range(32))
ROWS, FEW = 3_000, 100  # a vector counts as one
STARTS = (0, 2**32 - 50, 2**62 - 50)
IDS = np.concatenate([start + 7 * np.arange(40) for start in (1, 2**32 - 99, 2**62 - 99)])

FAMILIES = {
    "staircase": [fn.Staircase(1.0), fn.Staircase(0.005, 0.3), fn.Staircase(1e-3, 2.0)],
    "laplace": [fn.Laplace(1.0, 0.3), fn.Laplace(1e-3)],
    "integers": [fn.DiscreteStaircase(1e-3, 1000), fn.DiscreteLaplace(0.3, 7), fn.Geometric(1.0)],
    "finite": [fn.DiscreteUniform(0.01, 3), fn.TruncatedDiscreteLaplace(0.5, 1e-4, 3)],
    "l2": [*(fn.L2Laplace(0.5, dim, 0.3) for dim in (1, 3, 5, 16)), fn.MultiUserLaplace(2.0, 4)],
    "plane": [fn.L2Laplace(1.0, 2, 0.3)],
    "l1": [fn.L1Staircase(2.0, 4, 0.7), fn.L1Staircase(0.01, 3), fn.L1Staircase(1e-5, 5, 0.7)],
    "box": [fn.BoxStaircase(1.0, (0.1, 0.9, 3.0)), fn.BoxStaircase(2.0, (0.3, 0.3))],
    "choice": [fn.StaircaseChoice(0.5), fn.StaircaseChoice(2.0, 3.0, gamma=0.25)],
}


def values(count: int, shape: tuple[int, ...], integers: bool) -> np.ndarray:
    """Awkward ones: halves, large and small ones, the same on every processor."""
    steps = np.arange(count * int(np.prod(shape))).reshape(count, *shape)
    if integers:
        return steps * 12_345 % 199_999 - 99_999
    return np.ldexp((steps * 12_345 % 199_999 - 99_999) / 8.0, steps % 23 - 16)


def of_choice(mechanism: fn.StaircaseChoice, stream: fn.Stream) -> Iterator[np.ndarray]:
    for count in (5, 12, 32):
        costs = abs(values(ROWS // 10, (count,), False)) % 50.0
        for start in STARTS:
            yield mechanism.choose(costs, stream=stream.at(start))
        yield mechanism.choose(costs[: len(IDS)], stream=stream, rows=IDS)


def of_noise(mechanism: fn.Laplace, stream: fn.Stream) -> Iterator[np.ndarray]:
    integers = isinstance(mechanism.sensitivity, int)
    shape = (mechanism.dim,) if hasattr(mechanism, "dim") else ()
    x = values(ROWS, shape, integers)
    for start in STARTS:
        yield mechanism.perturb(x[:FEW], stream=stream.at(start))
    yield mechanism.perturb(x, stream=stream.at(5))
    yield mechanism.perturb(x[::-3], stream=stream.at(7))
    yield mechanism.perturb(x.astype("i4" if integers else "f4"), stream=stream.at(9), clip=(-9, 9))
    yield mechanism.perturb(x[: len(IDS)], stream=stream, rows=IDS)
    if not integers:
        yield mechanism.perturb(x, stream=stream.at(0), grid=None)
        yield mechanism.perturb(x.astype("f4"), stream=stream.at(0), grid=None)


def digest(name: str) -> str:
    total, stream = blake2b(digest_size=16), fn.Stream.from_key(KEY)
    for mechanism in FAMILIES[name]:
        made = of_choice if name == "choice" else of_noise
        for part in made(mechanism, stream):
            total.update(np.ascontiguousarray(part).tobytes())
    return total.hexdigest()


def main() -> None:
    """What it was made with, then a digest of each family, as JSON."""
    from fastnoise_kernels import lanes
    from numba.core.registry import cpu_target

    warnings.simplefilter("ignore", fn.TextbookNoiseWarning)
    context = cpu_target.target_context
    features = ("aes", "vaes", "avx2", "avx512f")
    has = {"fma": lanes.fuses(context), **{name: lanes.has(context, name) for name in features}}
    stream = fn.Stream.from_key(KEY)
    made = {"keystream": blake2b(stream.keystream(100_000), digest_size=16).hexdigest()}
    for name in sys.argv[1:] or FAMILIES:
        made[name] = digest(name)
    print(json.dumps({"has": has, "digests": made}))


if __name__ == "__main__":
    main()
