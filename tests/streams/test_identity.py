"""Has every address one meaning: who draws what for whom, under one key?"""

import itertools
import uuid
from datetime import date
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from laws import drawn_law

import fastnoise as fn
from fastnoise.identity import address, encoded, entry_identity, ids_identity, noise_identity

STAIRCASE = fn.Staircase(epsilon=1.0)
GEOMETRIC = fn.Geometric(epsilon=0.1)


def plan(*, clip=None, **fields):
    column = {"mechanism": "laplace", "epsilon": 1.0, "sensitivity": 10.0}
    return fn.Plan({"columns": {"income": column | ({"clip": clip} if clip else {})}, **fields})


def table(**columns):
    return pa.table({"income": np.zeros(8), "id": np.arange(8), **columns})


def released(plan, stream, data=None):
    return plan.perturb(table() if data is None else data, stream=stream)["income"].to_pylist()


def apart(draws):
    """No two share noise, not even in part: all values of all of them differ."""
    values = [value for drawn in draws for value in drawn]
    return len(set(values)) == len(values)


def test_plans__share_noise_only_where_all_that_names_it_is_the_same(stream):
    data = table(id2=np.arange(8), nr=np.arange(8))
    plans = [
        plan(),
        plan(release="None"),
        plan(release="a"),
        plan(release="a", key="id"),
        plan(release="a", key="nr"),
        plan(release="a", key=["id", "nr"]),
        plan(release="a", key=["nr", "id"]),
        plan(release="a", key="id", clip=[0, 10]),
        plan(release="a", key="id", clip=[0, 9]),
        plan(key="id"),
        plan(release="a:id"),
        plan(release='a", "id'),
    ]
    assert apart([released(one, stream.at(0), data) for one in plans])


def test_plans__a_key_of_one_column_is_that_column(stream):
    one, other = plan(release="a", key="id"), plan(release="a", key=["id"])
    assert released(one, stream) == released(other, stream)


def test_perturb__another_clip_is_other_noise(stream):
    clips = [None, (0, 1), (0, 2), (-1, 1), (0, np.inf), (-np.inf, 0)]
    assert apart(STAIRCASE.perturb(np.zeros(8), stream=stream.at(0), clip=clip) for clip in clips)
    drawn = [
        GEOMETRIC.perturb(np.zeros(64, int), stream=stream.at(0), clip=clip).tolist()
        for clip in [None, (0, 1), (0, 2), (-1, 1)]
    ]
    assert all(one != other for one, other in itertools.combinations(drawn, 2))


def test_perturb__the_same_clip_however_it_is_written(stream):
    def drawn(mechanism, clip, kind=float):
        return mechanism.perturb(np.zeros(8, kind), stream=stream.at(0), clip=clip).tolist()

    same = [(-0.0, 2), [0, 2.0], (np.float32(0), np.int8(2)), (Fraction(0), Fraction(4, 2))]
    assert len({tuple(drawn(STAIRCASE, clip)) for clip in same}) == 1
    assert len({tuple(drawn(GEOMETRIC, clip, int)) for clip in [(0, 2), (np.int8(0), 2)]}) == 1
    assert drawn(STAIRCASE, (-np.inf, np.inf)) == drawn(STAIRCASE, None)
    assert drawn(GEOMETRIC, (-np.inf, np.inf), int) == drawn(GEOMETRIC, None, int)


def test_perturb__dtype_shape_and_container_do_not_count(stream):
    expected = STAIRCASE.sample(6, stream=stream.at(0))
    zeros = [np.zeros(6), np.zeros((2, 3)), np.zeros(6, int), [0.0] * 6, pd.Series(np.zeros(6))]
    for x in zeros:
        got = STAIRCASE.perturb(x, stream=stream.at(0))
        assert np.asarray(got).reshape(-1).tolist() == expected.tolist()
    kept = STAIRCASE.perturb(np.zeros(6), stream=stream.at(0), nan="keep")
    assert kept.tolist() == expected.tolist()
    integers = GEOMETRIC.sample(6, stream=stream.at(0)).tolist()
    for kind in (np.int32, np.int64, np.int16):
        clipped = GEOMETRIC.perturb(np.zeros(6, kind), stream=stream.at(0), clip=(-5, 5))
        assert (
            clipped.tolist()
            == GEOMETRIC.perturb(np.zeros(6, int), stream=stream.at(0), clip=(-5, 5)).tolist()
        )
        assert GEOMETRIC.perturb(np.zeros(6, kind), stream=stream.at(0)).tolist() == integers


def test_identity__does_not_hang_on_repr(stream, monkeypatch):
    expected = STAIRCASE.sample(6, stream=stream.at(0)).tolist()
    monkeypatch.setattr(fn.Staircase, "__repr__", lambda self: "something else")
    assert STAIRCASE.sample(6, stream=stream.at(0)).tolist() == expected


def test_identity__a_gamma_one_bit_away_is_the_same_law(stream):
    """A machine whose libm differs in the last bit draws the same noise."""
    near = fn.Staircase(epsilon=1.0, gamma=float(np.nextafter(STAIRCASE.gamma, 1)))
    drawn = [m.sample(6, stream=stream.at(0)).tolist() for m in (STAIRCASE, near)]
    assert drawn[0] == drawn[1]


def test_identity__classes_and_textbook_noise_never_share(stream):
    laws = [
        fn.Geometric(1.0),
        fn.DiscreteStaircase(1.0, 1),
        fn.DiscreteLaplace(1.0, 1),
    ]
    drawn = [m.sample(64, stream=stream.at(0)).tolist() for m in laws]
    assert all(one != other for one, other in itertools.combinations(drawn, 2))
    with pytest.warns(fn.TextbookNoiseWarning):
        textbook = [
            fn.Staircase(1.0, width).perturb(np.zeros(8), stream=stream.at(0), grid=None) / width
            for width in (1.0, 2.0, 3.0)
        ]
    assert apart(textbook)


# --- ids of people --------------------------------------------------------------------------------

TEXT = "c0ffee00-1234-4abc-8def-0123456789ab"
PERSON = uuid.UUID(TEXT)
SAME = {
    "small integers": [
        pa.array([7, 8, 9]),
        pa.array([7, 8, 9], pa.uint8()),
        pa.array([7, 8, 9], pa.uint64()),
        pa.array(["7", "8", "9"]),
        pa.array(["7", "8", "9"], pa.large_string()),
        pa.array(["7", "8", "9"], pa.string_view()),
        pa.array(["7", "8", "9"]).dictionary_encode(),
        pa.array([7, 8, 9]).dictionary_encode(),
        pa.array([7, 8, 9], pa.decimal128(38, 0)),
        pa.chunked_array([[7], [], [8, 9]]),
    ],
    "negative and large integers": [
        pa.array([-7, -(2**63), 0]),
        pa.array(["-7", "-9223372036854775808", "0"]),
    ],
    "integers beyond signed ones": [
        pa.array([2**63, 2**64 - 1], pa.uint64()),
        pa.array(["9223372036854775808", "18446744073709551615"]),
    ],
    "UUIDs": [
        pa.array([PERSON.bytes], pa.uuid()),
        pa.array([TEXT]),
        pa.array([TEXT.upper()]),
        pa.array([TEXT.replace("-", "")]),
        pa.array([TEXT.replace("-", "").upper()]).dictionary_encode(),
        pa.array([PERSON]),
    ],
    "texts": [
        pa.array(["Ann", "Žofie", ""]),
        pa.array(["Ann", "Žofie", ""], pa.large_string()),
        pa.array(["Ann", "Žofie", ""]).dictionary_encode(),
    ],
    "dates": [
        pa.array([date(2026, 11, 18)]),
        pa.array([date(2026, 11, 18)], pa.date64()),
        pa.array(["2026-11-18"]),
    ],
}


def noise_of(ids, stream, **others):
    columns = {"income": np.zeros(len(ids)), "id": ids, **others}
    data = pd.DataFrame(columns) if isinstance(ids, pd.Series) else pa.table(columns)
    return released(plan(release="a", key=["id", *others]), stream, data)


@pytest.mark.parametrize("kind", SAME)
def test_ids__one_person_has_one_address_however_typed(kind, stream):
    first, *others = (noise_of(ids, stream) for ids in SAME[kind])
    assert apart([first])
    assert all(other == first for other in others)
    companions = [pa.array([f"x{i}" for i in range(len(ids))]) for ids in SAME[kind]]
    pairs = [
        noise_of(ids, stream, other=other)
        for ids, other in zip(SAME[kind], companions, strict=True)
    ]
    assert all(pair == pairs[0] for pair in pairs)
    assert apart([first, pairs[0]])


def test_ids__that_look_alike_are_different_people(stream):
    texts = ["7", "007", "+7", "7.0", " 7", "7 ", "-0", "0", "00", "7e0", "18446744073709551616"]
    texts += ["\N{ARABIC-INDIC DIGIT SEVEN}", f"{{{TEXT}}}", f"urn:uuid:{TEXT}", TEXT, TEXT[:-1]]
    texts += [TEXT.replace("-", "", 1), "a", "A", "á", "a\N{COMBINING ACUTE ACCENT}", "", " "]
    assert apart([noise_of(pa.array(texts), stream)])


def test_ids__a_small_integer_is_the_row_of_that_number(stream):
    from fastnoise.etl.tables import Run

    one = plan(release="a", key="id")
    (entry_stream,) = Run(one, stream).streams.values()
    (entry,) = one.entries
    drawn = entry.mechanism.perturb(np.zeros(3), stream=entry_stream, rows=[7, 0, 2**63 - 1])
    assert noise_of(pa.array([7, 0, 2**63 - 1]), stream) == drawn.tolist()


def test_ids__composites_keep_their_borders(stream):
    left, right = ["ab", "a", "", "abc", "1", "11"], ["c", "bc", "abc", "", "11", "1"]
    assert apart([noise_of(pa.array(left), stream, other=pa.array(right))])


def test_ids__from_other_frames(stream):
    expected = noise_of(pa.array([7, 8, 9]), stream)
    one = plan(release="a", key="id")
    for ids in ([7, 8, 9], ["7", "8", "9"]):
        frames = [
            pd.DataFrame({"income": np.zeros(3), "id": ids}),
            pl.DataFrame({"income": np.zeros(3), "id": ids}),
        ]
        for frame in frames:
            assert one.perturb(frame, stream=stream)["income"].to_list() == expected
    polars = pl.DataFrame({"income": np.zeros(3), "id": ["7", "8", "9"]})
    for kind in (pl.Categorical, pl.Enum(["9", "8", "7"])):
        noisy = one.perturb(polars.with_columns(pl.col("id").cast(kind)), stream=stream)
        assert noisy["income"].to_list() == expected
    people = pd.DataFrame({"income": [0.0], "id": [PERSON]})
    assert one.perturb(people, stream=stream)["income"].tolist() == noise_of(
        pa.array([TEXT]), stream
    )


def dictionary(values, indices):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), values)


@pytest.mark.parametrize(
    ("texts", "chunks"),
    [
        (["a", "b"], [dictionary(pa.array(["a", None]), [0]), dictionary(pa.array(["b"]), [0])]),
        (
            ["a", "b"],
            [dictionary(pa.array([name]).dictionary_encode(), [0]) for name in ("a", "b")],
        ),
        (
            [TEXT, TEXT[:-1] + "0"],
            [
                dictionary(pa.array([uuid.UUID(text).bytes], pa.uuid()), [0])
                for text in (TEXT, TEXT[:-1] + "0")
            ],
        ),
        (
            [f"person {i}" for i in range(200)],
            [
                dictionary(pa.array([f"person {i}" for i in range(first, first + 100)]), range(100))
                for first in (0, 100)
            ],
        ),
    ],
    ids=["a null that nobody has", "nested", "UUIDs", "more than their indices can tell apart"],
)
def test_ids__of_chunks_with_dictionaries_of_their_own(texts, chunks, stream):
    assert noise_of(pa.chunked_array(chunks), stream) == noise_of(pa.array(texts), stream)


REFUSED = {
    "objects of several types": (pd.Series([1, TEXT], dtype=object), "several types.*texts"),
    "objects that are no ids": (pd.Series([(1, TEXT), 2], dtype=object), "several types"),
    "floats": (pa.array([1.0, 2.0]), "float|double"),
    "floats that pandas made of integers with nulls": (
        pd.Series([1, None]),
        "float|double|missing",
    ),
    "binary": (pa.array([b"a", b"b"]), "binary"),
    "sixteen bytes that are no UUID": (pa.array([bytes(16)] * 2, pa.binary(16)), "binary"),
    "booleans": (pa.array([True, False]), "bool"),
    "timestamps": (pa.array([0, 1], pa.timestamp("us")), "timestamp"),
    "decimals with digits behind the point": (pa.array([1, 2], pa.decimal128(9, 2)), "decimal"),
    "integers of more than 64 bits": (pa.array([2**64, 1], pa.decimal128(38, 0)), "2\\*\\*64 - 1"),
    "nulls": (pa.array(["a", None]), "1 missing"),
    "null in a dictionary": (pa.array(["a", None]).dictionary_encode(), "1 missing"),
    "null in a dictionary, which somebody has": (
        dictionary(pa.array(["a", None]), [0, 1]),
        "1 missing",
    ),
    "repeated": (pa.array(["a", "a"]), "repeats an id"),
    "repeated, typed in two ways": (pa.array([TEXT, TEXT.upper()]), "repeats an id"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_ids__that_address_nobody_are_refused_without_showing_them(case, stream):
    ids, message = REFUSED[case]
    with pytest.raises((TypeError, ValueError), match=f"key 'id'.*({message})") as caught:
        noise_of(ids, stream)
    assert TEXT not in str(caught.value)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (pa.array([86_400_000 * 7, 1234567], pa.int64()).view(pa.date64()), "whole days"),
        (pd.Series([1234567 << 60, 1], dtype=object), "64 bits"),
        (pa.array([{"1234567": 1}, {}]), "struct"),
    ],
    ids=["hours in a date", "objects beyond 64 bits", "structs"],
)
def test_ids__that_arrow_cannot_convert_are_refused_without_showing_them(ids, message, stream):
    with pytest.raises((TypeError, ValueError), match=f"key 'id'.*{message}") as caught:
        noise_of(ids, stream)
    assert "1234567" not in str(caught.value)


def test_plans__keys_that_cannot_be_meant():
    for key in ([], ["id", "id"], [1], "", 7, ["id", ""]):
        with pytest.raises((TypeError, ValueError), match=r"^plan: key"):
            plan(key=key)
    with pytest.raises(ValueError, match="key 'income' is a column that is perturbed"):
        plan(key=["id", "income"])


# --- test vectors of version 2 --------------------------------------------------------------------
# What is here is what receipts call identity version 2. It never changes: other bytes, another
# version.

ENCODED = {
    None: "6e0000000000000000",
    -7: "6902000000000000002d37",
    "é": "730200000000000000c3a9",
    b"\x00": "62010000000000000000",
    ("a", 1): "7414000000000000007301000000000000006169010000000000000031",
}


@pytest.mark.parametrize("name", ENCODED)
def test_vectors__encoding(name):
    assert encoded(name).hex() == ENCODED[name]


def test_vectors__encoding_is_as_written_down():
    """Kind, length in 8 bytes, body; a tuple's body is its parts."""
    inner = b"s" + (1).to_bytes(8, "little") + b"a" + b"i" + (1).to_bytes(8, "little") + b"1"
    assert encoded(("a", 1)) == b"t" + len(inner).to_bytes(8, "little") + inner


LAWS = {
    fn.Geometric(1.0): "dc7b1940800a5173",
    fn.Staircase(1.0): "060c29aca6944258",
    fn.Laplace(0.5, 2.0): "11ff6fb9844f4360",
    fn.L2Laplace(1.0, 3): "30dc87b2f1b24317",
    fn.L1Staircase(1.0, 4): "fd3d70a5e34ad0d5",
    fn.BoxStaircase(1.0, (1.0, 4.0)): "558d6d090ae08310",
    fn.TruncatedDiscreteLaplace(0.5, 1e-6, 3): "44afcce180dec2b1",
}


@pytest.mark.parametrize("mechanism", LAWS, ids=lambda m: type(m).__name__)
def test_vectors__noise(mechanism):
    drawn = mechanism._law(mechanism.grid)
    assert shown(noise_identity(mechanism, drawn, (0, 1))) == LAWS[mechanism]


def test_vectors__choice_and_entries():
    choice = fn.StaircaseChoice(1.0)
    assert shown(noise_identity(choice, drawn_law(choice))) == CHOICE
    assert shown(entry_identity(None, (), "column:a", ("a",))) == BY_POSITION
    assert shown(entry_identity("r", ("c", "id"), "vector:v", ("x", "y"))) == BY_IDS
    assert shown(ids_identity("r", ("c", "id"))) == IDS


def shown(identity: bytes) -> str:
    return sha256(identity).hexdigest()[:16]


CHOICE = "45a97edab94a6cbd"
BY_POSITION = "238779c5bbdb7d4f"
BY_IDS = "cc40f944f9c10c06"
IDS = "3a0700626c681b8d"

ADDRESSES = {
    (7,): 7,
    (2**63 - 1,): 2**63 - 1,
    (2**63,): 0x9619FD998DBDEED8C1039273,
    (-1,): 0xB3856840DDDC6EC7E8F92D30,
    (PERSON.bytes,): 0xBD91F62E5980B41D832AFC75,
    ("Ann",): 0xAD3AB80F1EAFCCB03E268A66,
    ("",): 0xE2F22561D52564E61E9BCC19,
    (7, "Ann"): 0xE9026E56EC29A47B42F43B9B,
    ("Ann", 7): 0x831841BDA7BF53EA0929F712,
}


@pytest.mark.parametrize("ids", ADDRESSES, ids=str)
def test_vectors__addresses(ids):
    assert address(ids, bytes(range(32))) == ADDRESSES[ids]


def test_vectors__addresses_are_as_written_down():
    """CBC-MAC by another library: a block of kind and length, the body, 95 bits of what comes."""

    def tag(kind, body):
        message = kind.ljust(8, b"\0") + len(body).to_bytes(8, "little") + body
        cipher = Cipher(algorithms.AES(bytes(range(32))), modes.CBC(bytes(16))).encryptor()
        return cipher.update(message + bytes(-len(message) % 16))[-16:]

    seven, ann = tag(b"i", (7).to_bytes(16, "little")), tag(b"s", b"Ann")
    for found, ids in ((ann, ("Ann",)), (tag(b"t", seven + ann), (7, "Ann"))):
        assert ADDRESSES[ids] == int.from_bytes(found, "little") % 2**95 + 2**95
