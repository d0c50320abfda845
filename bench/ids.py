"""Rows that are named by ids, beside rows that follow each other; addresses of texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import fastnoise as fn
from bench.suite.limits import set_threads
from bench.suite.measure import seconds
from fastnoise.etl.ids import addresses

ROWS = 4_000_000
LENGTH = 32  # characters of a text


def id_lines(rows: int) -> Iterator[tuple[str, str, str]]:
    """(what, measured, wanted); the check for repeats is part of each call."""
    generator, count = np.random.default_rng(1), min(rows, ROWS)
    mechanism, stream = fn.Staircase(epsilon=1.0), fn.Stream.from_key(bytes(32))
    x, y = generator.random(count), np.zeros(count)
    names: dict[str, Any] = {
        "consecutive": range(5, 5 + count),
        "sorted": np.cumsum(generator.integers(1, 9, count)),
        "shuffled": generator.permutation(count),
        "random, of 63 bits": generator.permutation(distinct(generator, count)),
    }
    set_threads(2)
    calls = [partial(mechanism.perturb, x, out=y, stream=stream, rows=r) for r in names.values()]
    plain, *others = seconds(*calls)
    wanted = "<= 2.5 x", "<= 10 x", "<= 10 x"
    for name, spent, limit in zip(list(names)[1:], others, wanted, strict=True):
        measured = f"{spent / plain:.1f} x ({spent * 1e9 / count:.1f} ns a row)"
        yield f"rows= {name}, against consecutive ones, 2 threads", measured, limit
    set_threads(1)
    texts = letters(generator, max(1, count // 4))
    (spent,) = seconds(lambda: addresses(lambda _: texts, ["id"], bytes(32)))
    what = f"addresses of texts of {LENGTH} characters, 1 thread"
    yield what, f"{spent * 1e9 / len(texts):.0f} ns a row", "<= 40 ns"


def distinct(generator: np.random.Generator, count: int) -> Any:
    return np.unique(generator.integers(0, 2**63 - 1, count + 1_000))[:count]


def letters(generator: np.random.Generator, count: int) -> Any:
    """Random texts of small letters."""
    data = generator.integers(ord("a"), ord("z") + 1, count * LENGTH, np.uint8)
    offsets = np.arange(count + 1, dtype=np.int32) * LENGTH
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(data))
