"""Fixtures for all tests."""

import numpy as np
import pytest

import fastnoise as fn

KEY = bytes(range(32))


@pytest.fixture
def stream() -> fn.Stream:
    return fn.Stream.from_key(KEY)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261116)


@pytest.fixture
def threads():
    """Set the number of threads; what it was comes back afterwards."""
    import numba

    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)
