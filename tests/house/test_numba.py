"""Is what we use of numba beyond its public API still there; and what is built on it?

A rename would be silent: compiled kernels would no longer be kept, or a forked child would enter a
parallel kernel and be killed.
"""

from importlib import import_module
from pathlib import Path

import numba
import numpy as np
import pytest
from conftest import ROOT
from fastnoise_kernels import sloping_lanes
from fastnoise_kernels.intrinsics import intrinsic
from fastnoise_kernels.staircase_lanes import ShortSizes
from interpreters import run
from numba import int64, njit
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.errors import TypingError
from numba.core.registry import cpu_target

PRIVATE = [
    ("numba.core.caching", "NullCache.load_overload"),
    ("numba.core.caching", "NullCache.save_overload"),
    ("numba.core.ccallback", "CFunc.compile"),
    ("numba.core.ccallback", "CFunc.address"),
    ("numba.core.codegen", "CPUCodegen.magic_tuple"),
    ("numba.core.codegen", "CodeLibrary.has_dynamic_globals"),
    ("numba.core.compiler", "CompileResult._rebuild"),
    ("numba.core.compiler", "CompileResult._reduce"),
    ("numba.core.cgutils", "alloca_once_value"),
    ("numba.core.cpu", "CPUContext.refresh"),
    ("numba.core.cpu", "CPUContext.codegen"),
    ("numba.core.serialize", "dumps"),
    ("numba.core.typing.templates", "_IntrinsicTemplate.generic"),
    ("numba.np.ufunc.parallel", "_is_initialized"),
]


@pytest.mark.parametrize(("module", "name"), PRIVATE, ids=lambda part: part)
def test_private__is_still_there(module, name):
    found = import_module(module)
    for part in name.split("."):
        assert hasattr(found, part), f"numba {numba.__version__} has no {module}.{name}"
        found = getattr(found, part)


class Recorder(NullCache):
    def __init__(self):
        self.asked = []

    def load_overload(self, signature, target_context):
        self.asked.append("load")

    def save_overload(self, signature, data):
        self.asked.append("save")


def increased(x):
    return x + 1


@pytest.mark.parametrize(
    "compilation",
    [njit(increased), CFunc(increased, ((int64,), int64), {}, {})],
    ids=["njit", "CFunc"],
)
def test_private__compilation_asks_the_cache_that_is_set(compilation):
    compilation._cache = Recorder()
    compilation.compile(*[(int64,)] * (not isinstance(compilation, CFunc)))
    assert compilation._cache.asked == ["load", "save"]


def test_private__processor_features_are_last_in_the_magic_tuple():
    features = cpu_target.target_context.codegen().magic_tuple()[-1]
    assert all(part[:1] in "+-" for part in str(features).split(",") if part)


def test_private__numba_says_that_its_threads_have_started():
    """What `forks` looks at, before and after."""
    out = run(
        """
        import numba, numba.np.ufunc.parallel
        from fastnoise_kernels import forks
        before = forks._numba_has_started_threads()
        numba.get_num_threads()
        print(before, forks._numba_has_started_threads())
        """
    )
    assert out == "False True"


# --- intrinsics -----------------------------------------------------------------------------------


@intrinsic
def weigh(here, sizes, weights, at: int64) -> int64:
    return sizes.steps * weights[at] + weights.size + sizes.rest_side


@njit
def weighed(sizes, weights, at):
    return weigh(sizes, weights, at), weigh(at=at, weights=weights, sizes=sizes)


def test_intrinsic__arguments_have_names():
    """Tuples by theirs, arrays as pointers with a size, numbers converted to what is annotated."""
    sizes = ShortSizes(*map(np.int64, (1, 2, 30, 4, 5, 6)))
    weights = np.array([7, 8, 9])
    assert weighed(sizes, weights, np.uint8(2)) == (30 * 9 + 3 + 6,) * 2


def test_intrinsic__an_array_with_gaps_is_refused():
    sizes = ShortSizes(*map(np.int64, (1, 2, 30, 4, 5, 6)))
    with pytest.raises(TypingError, match="weights must be contiguous"):
        weighed(sizes, np.arange(6)[::2], 0)


def test_intrinsic__a_wrong_call_names_the_parameter():
    @njit
    def too_few(weights):
        return weigh(weights=weights, at=0)

    with pytest.raises(TypeError, match="sizes"):
        too_few(np.arange(3))


# --- what a reader is told ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["staircase", "box_staircase", "l1_staircase", "l2_laplace"])
def test_fillers__say_what_the_words_of_a_row_mean(name):
    filler = getattr(import_module(f"fastnoise_kernels.{name}"), f"fill_{name}")
    assert "words" in filler.function.__doc__


def test_page_on_kernels__walks_through_the_builder_as_it_is():
    page = ROOT / "docs" / "kernels.md"
    blocks = page.read_text().split("```python\n")[1:]
    walked = [line for block in blocks for line in block.split("```")[0].splitlines()]
    source = Path(sloping_lanes.__file__).read_text()
    code = source[source.index("@intrinsic") :].splitlines()
    docstring = slice(*(i for i, line in enumerate(code) if '    """' in line))
    del code[docstring.start : docstring.stop + 1]
    assert walked == code
