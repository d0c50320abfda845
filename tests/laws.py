"""Laws made of tables that no mechanism has, and what tests ask of laws."""

import numpy as np

from fastnoise.compiled import read_only
from fastnoise.laws.l2 import law as laws_of_l2
from fastnoise.laws.l2.law import L2Law
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.layers.law import BallLaw, BoxLaw
from fastnoise.laws.layers.reader import BallReader, BoxReader
from fastnoise.laws.line.law import StaircaseLaw

READERS = {"box_staircase": BoxReader, "l1_staircase": BallReader, "l2_laplace": L2Reader}
STAIRCASES = [  # epsilon, steps, radius
    (1.0, 2**20, 395_882),
    (1.0, 1, 1),
    (0.5, 10, 3),
    (2.0, 1_048_577, 1_048_577),
    (0.01, 2**20, 1),
    (0.0045, 1_000_003, 400_000),
    (1e-3, 2**20, 2**19),
    (1e-6, 2**30, 5),
    (1e-8, 2**20, 2**19),
    (5.0, 2**21, 159_000),
    (20.0, 2**35, 1_560_000),
    (50.0, 2**56, 2**20),
    (100.0, 2**57, 1),
    (1000.0, 2**57, 3),
    (1e5, 2**57, 2**57),
    (1e300, 2**20, 1),
]


def drawn_law(mechanism):
    """What a mechanism draws on its own grid."""
    return mechanism._law(mechanism.grid)


def line_law(tables, grid=1.0, integers=False):
    """A law on the line with these tables; what it claims to be does not matter."""
    law = StaircaseLaw(grid=grid, integers=integers, epsilon=1.0, steps=1, radius=1)
    return law.with_tables(tables)


def vector_law(filler, tables, grids):
    """A law of vectors with these tables, drawn by that filler."""
    fields = {
        "grid": grids[0],
        "coordinate_grids": read_only(np.array(grids)),
        "dim": len(grids),
        "epsilon": 1.0,
    }
    kinds = {
        "box_staircase": (BoxLaw, {"steps": (1,), "radii": (1,)}),
        "l1_staircase": (BallLaw, {"steps": 1, "radius": 1}),
        "l2_laplace": (L2Law, {"sensitivity": 1.0, "users": 1, "scale": 1.0}),
    }
    kind, more = kinds[filler]
    return kind(**fields, **more).with_tables(tables)


def l2_law(dim: int, scale: float, fine: int, monkeypatch):
    """A law with cells of so many bits, be they sensible or not."""
    with monkeypatch.context() as patch:
        patch.setattr(laws_of_l2, "fine_bits", lambda dim, scale: fine)
        tables = laws_of_l2.l2_tables(dim, scale)
    return vector_law("l2_laplace", tables, [1.0] * dim)
