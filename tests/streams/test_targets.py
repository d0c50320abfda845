"""Are the bits the same on every kind of processor, with each way to run AES, and uncompiled?"""

import json
from pathlib import Path

import pytest
from interpreters import interpreter, run

from bench.suite.targets import TARGETS, environment, runs_here

pytestmark = pytest.mark.long
DIGESTS = Path(__file__).parents[1] / "digests.py"
OTHERS = [name for name, (cpu, _) in TARGETS.items() if cpu]
# Kernels of integers, of floats that are added, and of l2 arithmetic.
FEW = ("staircase", "plane")


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """What a target has, and its digests of families; each is compiled in a folder of its own."""
    folder, found = tmp_path_factory.mktemp("targets"), {}

    def of(target, *families):
        if (target, families) not in found:
            variables = {
                "FASTNOISE_CACHE_DIR": str(folder / target),
                "NUMBA_NUM_THREADS": "1",
                **environment(target),
            }
            made = json.loads(interpreter(str(DIGESTS), *families, **variables))
            found[target, families] = made["has"], made["digests"]
        return found[target, families]

    return of


@pytest.mark.parametrize("families", [FEW, pytest.param((), marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", OTHERS)
def test_same_bits_on(target, families, digests):
    if not runs_here(target):
        pytest.skip(f"this processor cannot run what is compiled for {target}")
    has, made = digests(target, *families)
    assert made == digests("this processor", *families)[1]
    features = set(TARGETS[target][1])
    assert {name for name, there in has.items() if there} == features & set(has)


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
