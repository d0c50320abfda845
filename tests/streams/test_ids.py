"""Do kernels give every id the address of the definition, whatever column it comes in?"""

import uuid
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from conftest import KEY

from fastnoise.etl.ids import addresses
from fastnoise.identity import HASHED, address, text_id

TEXT = "c0ffee00-1234-4abc-8def-0123456789ab"
BARE = TEXT.replace("-", "")
EDGES = [0, 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1, 10**19, 10**19 - 1, 2**64, 10**20 - 1, 10**20]
INTEGERS = [str(sign * n) for n in EDGES for sign in (1, -1)] + [str(-(2**63) - 1)]
NO_INTEGERS = [
    "-0",
    "00",
    "07",
    "-07",
    "+7",
    "7.0",
    "-",
    "--1",
    "1-",
    " 7",
    "7 ",
    "7e0",
    "\x117",
    "\N{ARABIC-INDIC DIGIT SEVEN}",
]
UUIDS = [TEXT, TEXT.upper(), BARE, BARE.upper(), TEXT.title()]
NO_UUIDS = [f"{{{TEXT}}}", BARE[1:], BARE + "0", TEXT[:-1], TEXT + "0", "-" * 32, "-" * 36]
NO_UUIDS += [TEXT.replace("-", "_"), TEXT[1:9] + TEXT[0] + TEXT[9:]]
# Each character beside the digits, in each of the four parts; control characters, which an upper
# case digit would be; and others beyond ASCII.
NO_UUIDS += [BARE[:i] + c + BARE[i + 1 :] for i in (0, 9, 23, 31) for c in "/:@G`g\x10\x01\x7f"]
NO_UUIDS += [TEXT[:i] + c + TEXT[i + 1 :] for i in (0, 9, 14, 22, 35) for c in "/:@G`g\x10 "]
NO_UUIDS += ["é" * 16, "é" * 18, "0" * 30 + "é", "0" * 34 + "é"]
LENGTHS = ["x" * n for n in range(71)] + ["7" * n for n in range(71)] + ["a" * 5_000]
TEXTS = list(dict.fromkeys([*INTEGERS, *NO_INTEGERS, *UUIDS, *NO_UUIDS, *LENGTHS, "Žofie"]))


def found(*columns) -> list[int]:
    names = [str(i) for i in range(len(columns))]
    rows = addresses(dict(zip(names, columns, strict=True)).get, names, KEY)
    return [rows.address(i) for i in range(rows.ids.size)]


def defined(*columns) -> list[int]:
    return [address(person, KEY) for person in zip(*columns, strict=True)]


def test_texts__are_whom_they_name():
    assert found(pa.array(TEXTS)) == defined([text_id(text) for text in TEXTS])


@pytest.mark.parametrize("text", TEXTS[:40:7])
def test_texts__one_alone(text):
    """At the very end of its memory, where sixteen bytes cannot be read at once."""
    assert found(pa.array([text])) == defined([text_id(text)])


PAIRS = {
    "large": lambda a: a.cast(pa.large_string()),
    "views": lambda a: a.cast(pa.string_view()),
    "dictionary": lambda a: a.dictionary_encode(),
    "slice": lambda a: pa.concat_arrays([pa.array(["no", "one"]), a, a]).slice(2, len(a)),
    "slice of large": lambda a: pa.array(["", *a.to_pylist()], pa.large_string()).slice(1),
    "slice of views": lambda a: pa.array(["", *a.to_pylist()], pa.string_view()).slice(1),
    "slice of a dictionary": lambda a: pa.array(["", *a.to_pylist()]).dictionary_encode().slice(1),
    "chunks": lambda a: pa.chunked_array([a[:3], a[3:3], a[3:70], a[70:]]),
    "chunks with dictionaries": lambda a: pa.chunked_array(
        [a[:9].dictionary_encode(), a[9:].dictionary_encode()]
    ),
    "buffers without nulls": lambda a: pa.array([*a.to_pylist(), None])[:-1],
}


@pytest.mark.parametrize("kind", PAIRS)
def test_texts__in_every_column(kind):
    column = PAIRS[kind](pa.array(TEXTS))
    people = [text_id(text) for text in TEXTS]
    assert found(column) == defined(people)
    assert found(column, pa.array(TEXTS)) == defined(people, people)


NUMBERS = {
    pa.int8(): [-128, -1, 0, 127],
    pa.uint8(): [0, 255],
    pa.int32(): [-(2**31), -1, 5],
    pa.int64(): [-(2**63), -1, 0, 2**63 - 1],
    pa.uint64(): [0, 2**63 - 1, 2**63, 2**64 - 1],
    pa.decimal128(38, 0): [-(2**63), -1, 0, 2**63, 2**64 - 1],
    pa.decimal256(76, 0): [-(2**63), -1, 0, 2**63, 2**64 - 1],
}


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_integers__of_every_type(kind):
    numbers = NUMBERS[kind]
    values = list(map(Decimal, numbers)) if pa.types.is_decimal(kind) else numbers
    column = pa.array([values[0], *values], kind)
    for ids in (column[1:], column.dictionary_encode()[1:]):
        assert found(ids) == defined(numbers)
        assert found(ids, ids) == defined(numbers, numbers)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**100, -(2**100), 2**127, 10**60])
def test_decimals__beyond_64_bits_are_refused(number):
    for kind in (pa.decimal128(38, 0), pa.decimal256(76, 0)):
        if abs(number) < 10**38 or kind == pa.decimal256(76, 0):
            with pytest.raises(ValueError, match=r"key '0' must hold integers from -2\*\*63"):
                found(pa.array([Decimal(number)], kind))


def test_uuids_and_dates():
    people = [uuid.UUID(int=n) for n in (0, 1, 2**127, 2**128 - 1)]
    column = pa.array([person.bytes for person in people], pa.uuid())
    assert found(column) == found(pa.array([str(person) for person in people]))
    assert found(column[1:]) == defined([person.bytes for person in people])[1:]
    days = [date(1, 1, 1) + timedelta(days) for days in (0, 719_162, 739_572)]
    for kind in (pa.date32(), pa.date64()):
        assert found(pa.array(days, kind)[1:]) == defined([str(day) for day in days])[1:]


def test_nothing__is_nobody():
    empty = [pa.array([], kind) for kind in (pa.string(), pa.int8(), pa.uuid(), pa.null())]
    empty += [pa.array([], pa.string()).dictionary_encode(), pa.chunked_array([], pa.string())]
    for column in empty:
        assert found(column) == []
        assert found(column, pa.array([], pa.string_view())) == []


def test_addresses__of_hashes_and_of_rows_never_meet():
    for one in found(pa.array(TEXTS)):
        assert one & HASHED or one < 2**63


def test_threads__make_no_difference(threads, rng):
    texts = [str(n)[: n % 20] for n in rng.integers(0, 2**63 - 1, 40_000).tolist()]
    numbers = np.arange(-20_000, 20_000)
    threads(1)
    expected = found(pa.array(texts), numbers)
    threads(2)
    assert found(pa.array(texts), numbers) == expected
    assert expected[-3:] == defined([text_id(t) for t in texts[-3:]], numbers[-3:].tolist())
