"""Laws made of tables that no mechanism has, and what tests ask of laws."""

import numpy as np

from fastnoise.compiled import read_only
from fastnoise.laws.l2.law import L2Law
from fastnoise.laws.l2.reader import L2Reader
from fastnoise.laws.layers.law import BallLaw, BoxLaw
from fastnoise.laws.layers.reader import BallReader, BoxReader
from fastnoise.laws.line.law import StaircaseLaw

READERS = {"box_staircase": BoxReader, "l1_staircase": BallReader, "l2_laplace": L2Reader}


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
