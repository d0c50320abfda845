"""Quotes in CSV files: closed at the end of their fields, or the file is refused.

PyArrow reads on to the next quote, wherever it is. One that is never closed takes the rows after it
into a text, which is released as it is, raw numbers and all.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from pathlib import Path

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 20
LONGEST_ROW = 1 << 24  # bytes, quoted fields included: the blocks that PyArrow reads


def refuse_stray_quotes(path: Path, delimiter: str) -> None:
    """A ValueError if a field that begins with a quote does not end with the one that closes it."""
    end = rb"[%b\r\n]" % delimiter.encode()
    field = re.compile(rb'(?<=%b)"(?:[^"]++|"")*+(?P<closed>"(?=%b))?' % (end, end))
    with path.open("rb") as file:
        if file.read(len(BOM)) != BOM:
            file.seek(0)
        text = b"\n"
        for block in chain(iter(partial(file.read, BLOCK), b""), [b"\n"]):
            text = _open_field(field, text + block)
    if len(text) > 1:
        raise _stray()


def _open_field(field: re.Pattern[bytes], text: bytes) -> bytes:
    """The text from the byte before a field that is not closed in it; or its last byte."""
    for found in field.finditer(text) if b'"' in text else ():
        if found["closed"] is None:
            if found.end() < len(text) - 1 or len(text) - found.start() > LONGEST_ROW:
                raise _stray()
            return text[found.start() - 1 :]
    return text[-1:]


def _stray() -> ValueError:
    return ValueError("a text in quotes has no closing quote at the end of its field")
