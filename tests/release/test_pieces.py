"""Do pieces of odd arrays hold what the arrays hold, and go back to where they came from?"""

import numpy as np
import pytest

import fastnoise as fn
from fastnoise.pieces import Part, Piece, Present, in_threads, write

INTEGERS = [f"{order}{kind}{size}" for order in "<>" for kind in "iu" for size in (1, 2, 4, 8)]
LAYOUTS = {
    "plain": lambda x: x.reshape(12, 10, 30),
    "every other": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1],
    "Fortran": lambda x: np.asfortranarray(x.reshape(60, 60)),
    "few columns": lambda x: np.asfortranarray(x.reshape(1200, 3)),
    "three axes": lambda x: x.reshape(12, 10, 30).transpose(1, 2, 0),
    "gaps": lambda x: np.repeat(x.reshape(120, 30), 2, axis=1)[:, ::2],
    "the same line": lambda x: np.broadcast_to(x[:30], (120, 30)),
}


@pytest.mark.parametrize("most", [1, 7, 100, 5000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pieces__are_read_and_written(layout, most, rng, monkeypatch):
    """Each in its place, whatever the layout, as numpy converts them."""
    monkeypatch.setattr("fastnoise.pieces.VALUES", most)
    for dtype in ("<f8", ">f8", "<f4", ">f4", *INTEGERS):
        x = rng.integers(0, 256, 3600 * 8, np.uint8).view(dtype)[:3600]
        array = LAYOUTS[layout](x)
        native = np.dtype(dtype).newbyteorder("=")
        working = native if native.kind == "f" else np.dtype(f"{native.kind}8")
        part = Part(array)
        found = [part.read(piece, working) for piece in part.pieces()]
        assert np.concatenate(found).tobytes() == array.reshape(-1).astype(working).tobytes()
        if layout != "the same line":
            others = x[::-1].copy()
            for piece in part.pieces():
                write(piece, others[piece.range].astype(working), array)
            assert array.tobytes() == others.tobytes()
        if most > 1:
            break


@pytest.mark.parametrize("first", [0, 3, 8])
def test_missing_values__are_blank(first, rng, monkeypatch):
    monkeypatch.setattr("fastnoise.pieces.VALUES", 77)
    there = rng.random(500) < 0.7
    bits = np.packbits(np.concatenate([np.zeros(first, bool), there]), bitorder="little")
    for dtype in (np.float64, np.float32, np.int64):
        x = np.arange(1, 501).astype(dtype)
        part = Part(x, Present(bits, first))
        found = np.concatenate([part.read(piece, x.dtype) for piece in part.pieces()])
        assert np.array_equal(found, np.where(there, x, 0))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1000,), (100, 32), (3, 4, 50), (2, 130)])
def test_pieces__are_all_values_once(shape, monkeypatch):
    """In order, and vectors stay whole where they fit."""
    monkeypatch.setattr("fastnoise.pieces.VALUES", 100)
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    found = list(Part(array).pieces())
    assert [i for piece in found for i in range(piece.start, piece.start + piece.size)] == [
        *range(array.size)
    ]
    assert all(piece.size <= 100 for piece in found)
    if shape and shape[-1] <= 100:
        assert all(piece.start % shape[-1] == 0 for piece in found)


def test_threads__leave_what_has_not_begun_when_one_fails(threads):
    threads(2)
    begun = []

    def work(piece):
        begun.append(piece.start)
        if piece.start == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(work, (Piece((), i, 1) for i in range(10_000))))
    assert len(begun) < 10_000


def test_fresh_noise__needs_no_identity(monkeypatch):
    def refuse(*_):
        raise AssertionError("computed, and thrown away")

    monkeypatch.setattr("fastnoise.dispatch.noise_identity", refuse)
    for x in (np.ones(3), np.ones(6)[::2], np.ones((70_000, 2))):
        fn.Staircase(1.0).perturb(x)
    fn.Staircase(1.0).sample(3)
    with pytest.raises(AssertionError):
        fn.Staircase(1.0).sample(3, stream=fn.Stream(1))
