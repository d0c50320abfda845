"""What each peer runs: `call(line, x, threads)` returns a function that returns x with noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numba
import numpy as np

import fastnoise as fn
from bench.suite import recipes

from .catalogue import Line

Array = Any
Call = Callable[[], Array]
Draw = Callable[[int], Array]

PIECE = 1 << 16
MECHANISMS: dict[str, Any] = {
    "laplace": fn.Laplace(1.0),
    "staircase": fn.Staircase(1.0),
    "discrete laplace": fn.DiscreteLaplace(1.0),
}
RECIPES: dict[str, Callable[..., Array]] = {
    "laplace": recipes.laplace,
    "staircase": recipes.staircase,
    "discrete laplace": recipes.discrete_laplace,
}


def data(law: str, values: int) -> Array:
    if law == "discrete laplace":
        return np.arange(values) % 1000
    return np.random.default_rng(1).random(values)


def mean_size(line: Line) -> float:
    """E|noise| of what the line draws."""
    if line.draws == "nothing":
        return 1.0
    if line.draws == "rounded laplace":
        return math.exp(-0.5) / -math.expm1(-1.0)
    return float(MECHANISMS[line.draws or line.law].moment(1))


def call(line: Line, x: Array, threads: int) -> Call:
    """Imports the peer; everything that can be prepared is."""
    if line.peer in SCALARS:
        return SCALARS[line.peer](line.law, x)
    if line.peer == "fastnoise":
        return ours(line.law, x, threads)
    return _in_pieces([DRAWS[line.peer](line.draws or line.law) for _ in range(threads)], x)


def ours(law: str, x: Array, threads: int) -> Call:
    y = np.empty_like(x)

    def run() -> Array:
        numba.set_num_threads(threads)
        return MECHANISMS[law].perturb(x, out=y)

    return run


def _in_pieces(draws: list[Draw], x: Array) -> Call:
    """x + noise, a thread for each of `draws` on its own part."""
    y = np.empty_like(x)
    ends = np.linspace(0, x.size, len(draws) + 1).astype(int)

    def part(draw: Draw, begin: int, end: int) -> None:
        for piece in _pieces(begin, end):
            np.add(x[piece], draw(piece.stop - piece.start), out=y[piece])

    def run() -> Array:
        if len(draws) == 1:
            part(draws[0], 0, x.size)
        else:  # a pool a call: while Python threads are alive, some layers of numba use one thread
            with ThreadPoolExecutor(len(draws)) as pool:
                list(pool.map(part, draws, ends[:-1], ends[1:]))
        return y

    return run


def _pieces(begin: int, end: int) -> Iterator[slice]:
    return (slice(a, min(a + PIECE, end)) for a in range(begin, end, PIECE))


def _recipe(generator: Callable[[], Any], law: str) -> Draw:
    return partial(RECIPES[law], generator(), MECHANISMS[law])


def _numpy(law: str) -> Draw:
    return _recipe(np.random.default_rng, law)


def _nothing(law: str) -> Draw:
    return lambda size: 1.0


def _scipy(law: str) -> Draw:
    from scipy import stats

    law_of = stats.laplace() if law == "laplace" else stats.dlaplace(1.0)
    generator = np.random.default_rng()
    return lambda size: law_of.rvs(size=size, random_state=generator)


def _mkl(law: str) -> Draw:
    from mkl_random import MKLRandomState

    return _recipe(lambda: MKLRandomState(brng="SFMT19937"), law)


def _randomgen(law: str) -> Draw:
    from randomgen import SFC64

    return _recipe(lambda: np.random.Generator(SFC64()), law)


def _randomgen_chacha(law: str) -> Draw:
    from randomgen import ChaCha

    return _recipe(lambda: np.random.Generator(ChaCha(rounds=20)), law)


def _opendp(law: str, x: Array, **grid: int) -> Call:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    real = law == "laplace"
    atoms = dp.atom_domain(T=float, nan=False) if real else dp.atom_domain(T="i64")
    domain = dp.vector_domain(atoms, size=x.size)
    metric = dp.l1_distance(T=float if real else "i64")
    return partial(dp.m.make_laplace(domain, metric, 1.0, **grid), x)


def _diffprivlib(law: str, x: Array) -> Call:
    from diffprivlib.mechanisms import Geometric, Laplace, Staircase

    kind = {"laplace": Laplace, "staircase": Staircase, "discrete laplace": Geometric}[law]
    return _loop(kind(epsilon=1.0, sensitivity=1).randomise, x)


def _python_dp(law: str, x: Array) -> Call:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    return _loop(LaplaceMechanism(epsilon=1.0, sensitivity=1.0).add_noise, x)


def _loop(one: Callable[[Any], Any], x: Array) -> Call:
    values = x.tolist()
    return lambda: [one(value) for value in values]


DRAWS: dict[str, Callable[[str], Draw]] = {
    "numpy": _numpy,
    "numpy add": _nothing,
    "mkl_random": _mkl,
    "scipy": _scipy,
    "randomgen": _randomgen,
    "randomgen ChaCha20": _randomgen_chacha,
}
SCALARS: dict[str, Callable[[str, Array], Call]] = {
    "opendp": _opendp,
    "opendp grid": partial(_opendp, k=-60),
    "diffprivlib": _diffprivlib,
    "python-dp": _python_dp,
}
