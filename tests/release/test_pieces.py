"""Do pieces of odd arrays hold what the arrays hold, and go back to where they came from?"""

import numpy as np
import pytest

import fastnoise as fn
from fastnoise.pieces import Lines, Part, Present, pieces

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


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_lines__are_read_and_written(layout, compiled, rng, monkeypatch):
    monkeypatch.setattr("fastnoise.pieces.compiles", lambda: compiled)
    for dtype in ("<f8", ">f8", "<f4", ">f4", *INTEGERS):
        x = rng.integers(0, 256, 3600 * 8, np.uint8).view(dtype)[:3600]
        array = LAYOUTS[layout](x)
        start, end = sorted(rng.integers(0, 3600, 2).tolist())
        native = np.dtype(dtype).newbyteorder("=")
        working = native if native.kind == "f" else np.dtype(f"{native.kind}8")
        kinds = {working} if working.kind == "f" else {working, np.dtype(np.float64)}
        for kind in kinds:
            values = np.empty(end - start, kind)
            Lines.of(array).read(start, values)
            assert values.tobytes() == array.reshape(-1)[start:end].astype(kind).tobytes(), dtype
        if layout != "the same line":
            check_writing(array, start, x[::-1][start:end].astype(working))


def check_writing(array, start, values):
    before = array.reshape(-1).copy()
    Lines.of(array).write(start, values)
    before[start : start + values.size] = values
    assert array.tobytes() == before.tobytes()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("first", [0, 3, 8])
def test_missing_values__are_blank(first, compiled, rng, monkeypatch):
    monkeypatch.setattr("fastnoise.pieces.compiles", lambda: compiled)
    there = rng.random(500) < 0.7
    bits = np.packbits(np.concatenate([np.zeros(first, bool), there]), bitorder="little")
    for dtype in (np.float64, np.float32, np.int64):
        x = np.arange(1, 501).astype(dtype)
        for start in (0, 5, 64):
            values = np.empty(500 - start, dtype)
            Part(x, Present(bits, first)).read(start, values)
            assert np.array_equal(values, np.where(there, x, 0)[start:])


def test_pieces__are_whole_vectors_and_lines(monkeypatch):
    monkeypatch.setattr("fastnoise.pieces.VALUES", 100)
    monkeypatch.setattr("fastnoise.pieces._threads", lambda: 1)
    array = np.zeros((100, 64))[:, ::2]
    found = list(pieces(8, Lines.of(array)))
    assert [piece.start for piece in found[:3]] == [0, 96, 192]
    assert found[-1].stop == array.size


def test_fresh_noise__needs_no_identity(monkeypatch):
    def refuse(*_):
        raise AssertionError("computed, and thrown away")

    monkeypatch.setattr("fastnoise.dispatch.noise_identity", refuse)
    for x in (np.ones(3), np.ones(6)[::2], np.ones((70_000, 2))):
        fn.Staircase(1.0).perturb(x)
    fn.Staircase(1.0).sample(3)
    with pytest.raises(AssertionError):
        fn.Staircase(1.0).sample(3, stream=fn.Stream(1))
