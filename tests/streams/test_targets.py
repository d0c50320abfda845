"""Are the bits the same on every kind of processor, and with each way to run AES?"""

import json
from pathlib import Path

import pytest
from interpreters import interpreter

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
