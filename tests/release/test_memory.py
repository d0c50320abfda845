"""Does perturbing need memory for the data only?"""

import pytest
from interpreters import run


def grown(body: str) -> float:
    """Megabytes that the peak grows by, in a process of its own, after a first small call."""
    script = """
        import resource
        import numpy as np
        import fastnoise as fn

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        mechanism = fn.Staircase(epsilon=1.0)
        stream = fn.Stream.from_key(bytes(32))
        mechanism.perturb(np.ones(100_000))
        mechanism.perturb(np.ones((100, 100))[:, ::2])
        users, choice = fn.MultiUserLaplace(1.0, 16), fn.StaircaseChoice(1.0)
        users.perturb(np.ones((10_000, 16)))
        choice.choose(np.ones((10_000, 16)))
        {body}
        """
    return float(run(script.format(body=body)))


CASES = {
    "in place, 800 MB": ("x = np.ones(100_000_000)", "mechanism.perturb(x, out=x)", 100),
    "strided in place": (
        "x = np.ones((20_000_000, 2))",
        "mechanism.perturb(x[:, 0], out=x[:, 0])",
        50,
    ),
    "strided to float64": ("x = np.ones((20_000_000, 2))", "mechanism.perturb(x[:, 0])", 160 + 50),
    "big-endian in place": ("x = np.ones(20_000_000, '>f8')", "mechanism.perturb(x, out=x)", 50),
    "integers": ("x = np.ones(20_000_000, np.int64)", "mechanism.perturb(x)", 160 + 50),
    "rows": (
        "x = np.ones(20_000_000)",
        "mechanism.perturb(x, out=x, stream=stream, rows=range(20_000_000))",
        50,
    ),
    "users in place": ("x = np.ones((1_000_000, 16))", "users.perturb(x, out=x)", 100),
    "users, strided": (
        "x = np.ones((1_000_000, 32))",
        "users.perturb(x[:, ::2], out=x[:, ::2])",
        50,
    ),
    "choices": ("x = np.ones((1_000_000, 16))", "choice.choose(x)", 8 + 50),
    "sample": ("x = None", "mechanism.sample(20_000_000)", 160 + 50),
}


@pytest.mark.parametrize("case", CASES)
def test_extra_memory(case):
    make, call, allowed = CASES[case]
    assert grown(f"{make}; before = peak(); y = {call}; print(peak() - before)") < allowed
