"""What noise is made of, as receipts tell it."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

import numpy as np

from fastnoise.release import Release

VERSION: Final = 1


def law_digest(release: Release) -> str:
    """Of the words of the law that is drawn, and of its grid: the same on every machine."""
    grids = np.asarray(release.grid if release.grids is None else release.grids, "<f8")
    digest = sha256(f"{release.law.dtype.str} {release.law.shape} {grids.shape} ".encode())
    digest.update(np.ascontiguousarray(release.law).tobytes())
    digest.update(grids.tobytes())
    return digest.hexdigest()
