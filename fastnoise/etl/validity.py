"""Arrays that were read without looking.

PyArrow believes offsets, lengths and indices of a file. What they lead to may lie beside the data
in memory; it is written into the output, or the process ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def refuse_invalid(table: Any, which: Callable[[Any], bool] = lambda kind: True) -> None:
    """Look at the columns of these types. PyArrow's own messages show values."""
    for name, column in zip(table.schema.names, table.columns, strict=True):
        if which(column.type):
            try:
                column.validate(full=True)
            except ValueError:
                what = "its offsets, lengths, indices or texts are not what Arrow allows"
                raise ValueError(f"column {name!r} is damaged: {what}") from None
