"""In which order to compare, whatever is sorted."""

from collections.abc import Iterator


def sorting_network(size: int) -> Iterator[tuple[int, int]]:
    """Batcher's odd-even merge exchange, for any number of elements (Knuth 5.2.2 M)."""
    top = 1 << max(0, (size - 1).bit_length() - 1)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(size - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q // 2, p
        p //= 2
