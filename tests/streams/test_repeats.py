"""Is an address that comes twice always found, and never one that does not?"""

import numpy as np
import pytest
from conftest import KEY

import fastnoise as fn
from fastnoise import repeats
from fastnoise.etl.seen import Seen
from fastnoise.repeats import has_repeats
from fastnoise.rows import Rows, by_the_first

MANY = 150_000  # several parts, several pieces
CASES = {
    "few": lambda rng: np.array([5, 3, 9]),
    "dense": lambda rng: rng.permutation(MANY) + 2**62,
    "dense and few": lambda rng: rng.permutation(100),
    "a third of all": lambda rng: rng.permutation(3 * MANY)[:MANY],
    "any": lambda rng: np.unique(rng.integers(0, 2**63 - 1, MANY))[::-1],
    "multiples": lambda rng: rng.permutation(2**17) << 45,
    "high bits alone": lambda rng: rng.permutation(2**17) << 20 | 7,
    "in order": lambda rng: np.cumsum(rng.integers(1, 9, MANY)),
}


@pytest.mark.parametrize("case", CASES)
def test_repeats__one_among_many_is_found(case, rng):
    ids = CASES[case](rng)
    assert not has_repeats(ids)
    size = len(ids)
    for one, other in ((0, size - 1), (0, 1), (size - 2, size - 1), (size // 2, 0)):
        twice = ids.copy()
        twice[one] = twice[other]
        assert has_repeats(twice)


@pytest.mark.parametrize("case", CASES)
def test_repeats__of_96_bits(case, rng):
    ids = CASES[case](rng)
    tops = rng.integers(0, 2**32, len(ids)).astype(np.uint32)
    assert not has_repeats(ids, tops)
    ids[0] = ids[-1]
    tops[0] = tops[-1] ^ 1
    assert not has_repeats(ids, tops)  # half of an address is not it
    tops[0] = tops[-1]
    assert has_repeats(ids, tops)
    ids[:] = 7
    assert not has_repeats(ids, np.arange(len(ids), dtype=np.uint32))


def test_repeats__without_kernels_are_the_same(rng, monkeypatch):
    monkeypatch.setattr(repeats, "compiles", lambda: False)
    ids, tops = rng.permutation(100), np.ones(100, np.uint32)
    assert repeats.least_and_most(ids) == (0, 99)
    assert not has_repeats(ids)
    assert not has_repeats(ids, tops)
    ids[3] = ids[70]
    assert has_repeats(ids)
    assert has_repeats(ids, tops)
    tops[3] = 2
    assert not has_repeats(ids, tops)


def test_repeats__threads_make_no_difference(threads, rng):
    for ids in (rng.permutation(MANY), rng.integers(0, 2**63 - 1, MANY)):
        for count in (1, 2):
            threads(count)
            assert not has_repeats(ids)
            assert has_repeats(np.concatenate([ids, ids[:1]]))


def test_rows__that_follow_each_other_are_known_by_the_first():
    assert by_the_first(Rows(-1, np.arange(5, 9))) == Rows(5)
    for ids in ([5, 6, 8], [5, 7, 6, 8], [8, 7, 6, 5]):
        rows = Rows(-1, np.array(ids))
        assert by_the_first(rows) is rows
    hashed = Rows.of([2**95 + 5, 2**95 + 6])
    assert by_the_first(hashed) is hashed


def test_rows__are_checked_once_per_call(stream, monkeypatch):
    """A plan has checked the rows of a batch; its columns take them as they are."""
    calls = []
    right = repeats.has_repeats
    for module in ("fastnoise.rows", "fastnoise.etl.seen"):
        monkeypatch.setattr(
            f"{module}.has_repeats", lambda *a, **k: calls.append(1) or right(*a, **k)
        )
    column = {"mechanism": "laplace", "epsilon": 1.0, "sensitivity": 1.0}
    columns = dict.fromkeys("abc", column)
    plan = fn.Plan({"key": "id", "release": "a", "columns": columns})
    table = pytest.importorskip("pyarrow").table(
        {"id": [3, 1, 2]} | {name: np.zeros(3) for name in "abc"}
    )
    plan.perturb(table, stream=stream)
    assert len(calls) == 1


def seen(*batches) -> Seen:
    found = Seen("'id'")
    for batch in batches:
        found.add(Rows.of(batch))
    return found


HASH = 2**95


def test_seen__addresses_that_share_64_bits_are_others():
    low = 12345
    seen([low, HASH + low, HASH + 2**64 + low])
    seen([low], [HASH + low], [HASH + 2**64 + low])
    seen([3, low, 5], [HASH + low, HASH + 3], [HASH + 2**64 + low, HASH + 2**65 + low, 9])
    seen([1], [HASH + 2**64 + low, HASH + low, HASH + 2**65 + low])


@pytest.mark.parametrize(
    "batches",
    [
        [[7, 7]],
        [[HASH + 7, HASH + 7]],
        [[7], [7]],
        [[HASH + 7], [7], [HASH + 7]],
        [[1], [HASH + 7, HASH + 2**64 + 7, HASH + 7]],
        [[HASH + 7, HASH + 2**64 + 7], [1, 2], [3], [HASH + 2**64 + 7]],
        [[5], [], [6], [5]],
        [[], [5], [5]],
    ],
    ids=str,
)
def test_seen__an_address_that_comes_again_is_refused(batches):
    with pytest.raises(ValueError, match="key 'id' repeats an id: each row needs an id of its own"):
        seen(*batches)


def test_seen__among_many_batches(rng):
    """Runs that double in size keep what they hold."""
    numbers = rng.permutation(2_000)
    hashes = [HASH + (int(n) << 60) for n in rng.permutation(2_000)]
    batches = [[*numbers[i : i + 50].tolist(), *hashes[i : i + 50]] for i in range(0, 2_000, 50)]
    found = seen(*batches)
    assert sum(run.ids.size for run in found.runs) == 4_000
    assert len(found.runs) <= 12
    for again in (int(numbers[77]), hashes[1_234], hashes[-1]):
        with pytest.raises(ValueError, match="repeats an id"):
            found.add(Rows.of([again]))


def test_noise__of_ids_is_that_of_their_rows(stream):
    mechanism, rows = fn.Laplace(1.0), [9, 2**62, 4, 2**62 + 1, 77]
    noise = mechanism.perturb(np.zeros(5), stream=fn.Stream.from_key(KEY), rows=rows)
    alone = [mechanism.perturb(np.zeros(1), stream=stream, rows=[row])[0] for row in rows]
    assert noise.tolist() == alone
