"""A kernel that looks at the threads it runs in, for `fastnoise verify`."""

from fastnoise_kernels.float_mode import usual_floats
from fastnoise_kernels.jit import kernel


@kernel
def odd_rows(start, stop):
    """How many rows fell to a thread in which floats are not as usual."""
    return 0 if usual_floats() else stop - start
