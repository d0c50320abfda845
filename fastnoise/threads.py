"""How many threads kernels may use, said in a program; numba is not imported for it."""

from __future__ import annotations

from fastnoise_kernels.threads import set_count

from fastnoise.validation import whole


def set_threads(n: int | None) -> None:
    """Let every call in this process use at most `n` threads from now on.

    None takes that back. Noise does not depend on it. No call uses more threads than the process
    has processors, nor more than FASTNOISE_NUM_THREADS says. Without either of the two, a worker of
    multiprocessing uses one thread: say more there if the other processors would be idle.

    >>> import fastnoise as fn
    >>> fn.set_threads(1)  # say, because every processor has a process of its own
    >>> noisy = fn.Staircase(epsilon=1.0).perturb([1.0, 2.0, 3.0])
    >>> fn.set_threads(None)
    """
    set_count(None if n is None else whole("n", n, 1, 1 << 53))
