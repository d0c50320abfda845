"""Is noise the same on every processor, and without a compiler?

Each case runs in an interpreter of its own, for which kernels are compiled anew.
"""

import pytest
from conftest import needs_avx2, needs_avx512
from interpreters import run

pytestmark = pytest.mark.long

EVERY_LAW = """
    import numpy as np
    import fastnoise as fn
    stream = fn.Stream.from_key(bytes(32))
    x = np.linspace(-1e3, 1e3, 4_800)
    parts = [fn.Staircase(e).perturb(x, stream=stream) for e in (1e-3, 0.01, 1.0, 20.0)]
    laws = [fn.Laplace(1.0), fn.Laplace(1e-3, 7.0)]
    laws += [fn.L2Laplace(1.0, dim) for dim in (2, 3, 4, 5, 16)]
    laws += [fn.L1Staircase(1.0, 4), fn.L1Staircase(1e-5, 5)]
    laws += [fn.BoxStaircase(2.0, (1.0, 9.0, 3.0))]
    for law in laws:
        dim = getattr(law, "dim", None)
        rows = x[: len(x) // dim * dim].reshape(-1, dim) if dim else x
        parts.append(law.perturb(rows, stream=stream))
    parts.append(fn.StaircaseChoice(0.1).choose(x.reshape(-1, 12), stream=stream))
    from fastnoise_kernels import lanes
    from numba.core.registry import cpu_target
    has = [lanes.has(cpu_target.target_context, name) for name in ("fma", "avx512f")]
    print(hash(b"".join(part.tobytes() for part in parts)), *has)
"""
# What kernels may use, as they ask for it: of its name alone, numba knows no features.
HASWELL = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe"


def noise_on(folder, **processor: str) -> list[str]:
    """A hash of the noise of every law, then whether it was made with FMA and with AVX-512."""
    environment = {"PYTHONHASHSEED": "1", "FASTNOISE_CACHE_DIR": str(folder)}
    return run(
        EVERY_LAW, **(environment if processor else {"PYTHONHASHSEED": "1"}), **processor
    ).split()


@pytest.fixture(scope="module")
def plain_noise(tmp_path_factory):
    """Compiled for SSE2, which every processor of this kind has."""
    folder = tmp_path_factory.mktemp("plain")
    noise, *has = noise_on(folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert has == ["False", "False"]
    return noise


@needs_avx2
def test_same_noise_with_wider_vectors(plain_noise, tmp_path):
    noise, *has = noise_on(tmp_path, NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES=HASWELL)
    assert has == ["True", "False"]
    assert noise == plain_noise


@needs_avx512
def test_same_noise_with_the_widest_vectors(plain_noise, tmp_path):
    noise, *has = noise_on(tmp_path)
    assert has == ["True", "True"]
    assert noise == plain_noise


def test_without_a_compiler__the_same_noise_slowly():
    """NUMBA_DISABLE_JIT, which people set to debug their own kernels."""
    script = """
        import numpy as np
        import pyarrow as pa
        import fastnoise as fn
        stream = fn.Stream.from_key(bytes(32))
        x = np.linspace(-9, 9, 100)
        bad = np.where(np.arange(100) == 3, np.nan, x)
        for mechanism in (fn.Staircase(1.0), fn.Staircase(20.0, 0.3), fn.Laplace(0.1)):
            for y in (bad, bad.astype("f4"), bad[::-3]):
                print(mechanism.perturb(y, stream=stream, clip=(-5, 5), nan="keep").tolist())
        try:
            mechanism.perturb(bad)
        except ValueError as problem:
            print(problem)
        print(fn.DiscreteLaplace(0.1, 50).perturb(x.astype(np.int8), stream=stream).tolist())
        for law in (fn.L2Laplace(1.0, 2), fn.L2Laplace(1.0, 3), fn.L2Laplace(1.0, 5)):
            print(law.perturb(x[:90].reshape(-1, law.dim), stream=stream).tolist())
        print(fn.L1Staircase(1.0, 4).perturb(x.reshape(-1, 4), stream=stream).tolist())
        print(fn.BoxStaircase(1.0, (1.0, 9.0)).perturb(x.reshape(-1, 2), stream=stream).tolist())
        print(fn.StaircaseChoice(1.0).choose(x.reshape(-1, 4), stream=stream).tolist())
        print(stream.keystream(100).hex())
        print(fn.Staircase(1.0).perturb(x, stream=stream, rows=range(600, 0, -6)).tolist())
        try:
            fn.Staircase(1.0).perturb(x, stream=stream, rows=[7] * 100)
        except ValueError as problem:
            print(problem)
        column = {"mechanism": "laplace", "epsilon": 1.0, "sensitivity": 1.0}
        ids = {"id": [5, 7, 2**63 - 1], "texts": ["Ann", "-7", "c0ffee" * 5 + "00"]}
        for key in ("id", "texts", ["texts", "id"]):
            plan = fn.Plan({"key": key, "release": "a", "columns": {"x": column}})
            table = pa.table({"x": [0.0, 1.0, 2.0], **ids})
            print(plan.perturb(table, stream=stream)["x"].to_pylist())
        """
    assert run(script, NUMBA_DISABLE_JIT="1") == run(script)
