"""Does every row fall to a thread that rounds to nearest and knows denormal floats?"""

from __future__ import annotations

from fastnoise.verify.kernels import thread_counts, using
from fastnoise.verify.outcome import Row, Tally

ROWS = 100_000  # enough for every thread


def rows() -> list[Row]:
    return [Row("floats", "rounding and denormals", check_threads, thread_counts())]


def check_threads(threads: int, tally: Tally) -> None:
    from fastnoise_kernels.workers import odd_rows

    with using(threads):
        odd = odd_rows(ROWS)
    tally.add(ROWS, [f"{odd:,} of {ROWS:,} rows in threads that compute otherwise"] if odd else [])
