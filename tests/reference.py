"""What tests of ideal laws share: the reference rows, a strict comparison, costs to refuse."""

import json
import math

import pytest
from conftest import DATA

ROWS = json.loads((DATA / "reference_values.json").read_text())

BAD_COSTS = [
    *["l3", "L1", "", 0, -1, 201, True, -0.5, 100.5, math.nan, None, ["interval", 0.9]],
    *[("interval", c) for c in (0.0, 1.0, -0.1, 95, math.nan, "0.9", None, True)],
    *[(), ("interval",), ("interval", 0.9, 1), ("box", 0.9), (0.9, "interval")],
]


def near(value, rel):
    """pytest.approx without its default absolute tolerance, which would hide small numbers."""
    return pytest.approx(value, rel=rel, abs=0.0)
