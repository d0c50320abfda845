"""Do streams give each call its own rows, and refuse what would repeat noise?"""

import threading
import warnings

import numpy as np
import pytest
from conftest import KEY

import fastnoise as fn

MECHANISM = fn.Staircase(epsilon=1.0)


def noise(stream, n=8, mechanism=MECHANISM):
    return mechanism.sample(n, stream=stream).tolist()


def test_position__moves_by_the_rows_used(stream):
    MECHANISM.sample((3, 4), stream=stream)
    assert stream.position == 12
    MECHANISM.perturb(1.0, stream=stream)
    assert stream.position == 13
    MECHANISM.perturb(np.zeros((0, 5)), stream=stream)
    assert stream.position == 13
    MECHANISM.perturb(np.zeros(4), stream=stream, rows=[9, 2, 5, 7])
    assert stream.position == 13


def test_position__continues_where_it_stopped(stream):
    whole = noise(stream.at(0), 20)
    assert noise(stream, 7) + noise(stream, 13) == whole


def test_at__is_a_view_of_its_own(stream):
    view = stream.at(5)
    noise(view, 3)
    assert (view.position, stream.position) == (8, 0)


def test_same_key_same_noise__other_key_other_noise():
    assert noise(fn.Stream.from_key(KEY)) == noise(fn.Stream.from_key(bytearray(KEY)))
    assert noise(fn.Stream.from_key(KEY)) != noise(fn.Stream.from_key(KEY[::-1]))


def test_children__are_independent_of_each_other_and_of_types(stream):
    names = [0, 1, -1, "1", "", "a", b"a", b"1", "é"]
    seen = {tuple(noise(stream.child(name))) for name in names}
    seen.add(tuple(noise(stream)))
    assert len(seen) == len(names) + 1
    assert noise(stream.child("a")) == noise(fn.Stream.from_key(KEY).child("a"))
    assert noise(stream.child(1).child(2)) != noise(stream.child(2).child(1))
    assert noise(stream.child(np.int64(1))) == noise(stream.child(1))


def test_seeds__int_str_and_bytes_differ():
    seeds = [0, 1, -1, 2**200, "1", b"1", "", b""]
    assert len({tuple(noise(fn.Stream(seed))) for seed in seeds}) == len(seeds)
    assert noise(fn.Stream(7)) == noise(fn.Stream(7))


def test_mechanisms__never_share_noise(stream):
    """Same key, same rows: any parameter, and the grid, gives other noise, not other scaling."""
    mechanisms = [
        fn.Staircase(1.0),
        fn.Staircase(1.0, 2.0),
        fn.Staircase(1.0, gamma=0.5),
        fn.Staircase(np.nextafter(1.0, 2.0)),
    ]
    draws = [m.sample(64, stream=stream.at(0)) / m.sensitivity for m in mechanisms]
    draws.append(mechanisms[0].perturb(np.zeros(64), stream=stream.at(0), grid=2.0**-19))
    signs = {tuple(np.sign(draw)) for draw in draws}
    assert len(signs) == len(draws)


def test_no_stream__never_repeats():
    calls = [tuple(MECHANISM.sample(4)) for _ in range(200)]
    assert len(set(calls)) == 200


def test_warns_of_seeds__once_a_stream_and_only_when_perturbing():
    stream = fn.Stream(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noise(stream)
        noise(fn.Stream.from_key(KEY))
        MECHANISM.perturb(1.0, stream=fn.Stream.from_key(KEY))
    with pytest.warns(fn.InsecureStreamWarning, match="from_key") as caught:
        MECHANISM.perturb(1.0, stream=stream)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MECHANISM.perturb(1.0, stream=stream)
        MECHANISM.perturb(1.0, stream=stream.child("x"))
        MECHANISM.perturb(1.0, stream=stream.at(4))


def test_repr__never_shows_the_key(stream):
    for shown in (repr(stream), repr(stream.child("a")), repr(fn.Stream("secret"))):
        assert "secret key" in shown or "of a seed" in shown
        assert KEY.hex() not in shown
        assert "'secret'" not in shown


def test_threads__share_a_stream_without_sharing_rows(stream):
    parts = []

    def work():
        for _ in range(50):
            parts.append(tuple(noise(stream, 10)))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert stream.position == 4000
    assert len(set(parts)) == 400
    whole = noise(stream.at(0), 4000)
    assert sorted(parts) == sorted(tuple(whole[i : i + 10]) for i in range(0, 4000, 10))


def test_rows_run_out__at_2_to_63(stream):
    last = stream.at(2**63 - 4)
    assert len(noise(last, 4)) == 4
    with pytest.raises(ValueError, match=r"2\*\*63"):
        noise(last, 1)
    assert last.position == 2**63


@pytest.mark.parametrize("key", [b"", bytes(31), bytes(33), "x" * 32, None, 5])
def test_bad_key__is_not_shown(key):
    with pytest.raises((ValueError, TypeError), match="key must be 32 secret bytes") as caught:
        fn.Stream.from_key(key)
    assert "xxxx" not in str(caught.value)


@pytest.mark.parametrize("bad", [None, 1.5, True, [1], (1,)])
def test_bad_seed_and_name(bad, stream):
    with pytest.raises(TypeError, match="seed must be an int, bytes or str"):
        fn.Stream(bad)
    with pytest.raises(TypeError, match="child must be an int, bytes or str"):
        stream.child(bad)


@pytest.mark.parametrize("row", [-1, 2**63, 1.0, "1", None])
def test_bad_row(row, stream):
    with pytest.raises((TypeError, ValueError), match="row must be"):
        stream.at(row)
