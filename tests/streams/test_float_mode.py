"""Is noise unaffected by how threads round, or refused before any of it is drawn?

Rounding mode and the flushing of denormal floats are settings of a thread, which any library may
change; a new thread has those of the one that started it.
"""

import platform

import pytest
from interpreters import LAYERS, run

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "AMD64"), reason="sets a register of x86 processors"
    ),
]

MODES = {
    "upward": 0x4000,
    "downward": 0x2000,
    "towards zero": 0x6000,
    "results flushed": 0x8000,
    "arguments flushed": 0x0040,
    "both flushed": 0x8040,
}
ROUNDING = ("upward", "downward", "towards zero")

SETTER = """
import ctypes
import llvmlite.binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
code = llvm.parse_assembly('''
    declare void @llvm.x86.sse.ldmxcsr(ptr)
    define void @put(i32 %value) {
        %place = alloca i32
        store i32 %value, ptr %place
        call void @llvm.x86.sse.ldmxcsr(ptr %place)
        ret void
    }
''')
machine = llvm.Target.from_default_triple().create_target_machine()
engine = llvm.create_mcjit_compiler(code, machine)
engine.finalize_object()
put = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(engine.get_function_address("put"))

def set_mode(mode):
    put(0x1F80 | mode)
"""

CALLS = """
import warnings
import numpy as np, fastnoise as fn
from mechanisms import CHOICES, DRAWN, INTEGERS

warnings.simplefilter("ignore", fn.TextbookNoiseWarning)
stream = fn.Stream.from_key(bytes(32))
drawn = list({type(mechanism): mechanism for mechanism in DRAWN}.values())
assert len(drawn) == 11, len(drawn)

def data(m, values):
    dim = getattr(m, "dim", 1)
    x = np.linspace(-3, 3, values // dim * dim).reshape(-1, *m._row_shape)
    return x.astype(np.int64) if m in INTEGERS else x

calls = [lambda: stream.keystream(100), lambda: fn.Staircase(0.123).gamma]
for m in drawn:
    few, many = data(m, 200), data(m, 40_000)  # in one thread, in several
    calls.append(lambda m=m, x=many: m.perturb(x, stream=stream.at(5)).tobytes())
    calls.append(lambda m=m, x=few: m.perturb(x, stream=stream, rows=range(len(x))).tobytes())
    calls.append(lambda m=m: m.sample(100, stream=stream.at(3)).tobytes())
    calls.append(lambda m=m: str(m.certificate()))
    if m not in INTEGERS:
        calls.append(lambda m=m, x=many: m.perturb(x, grid=None, stream=stream.at(5)).tobytes())
for m in CHOICES:
    costs = np.linspace(0, 9, 70_000).reshape(-1, 7)
    calls.append(lambda m=m, costs=costs: m.choose(costs, stream=stream.at(1)).tobytes())
    calls.append(lambda m=m: str(m.certificate()))

def what_comes(call):
    try:
        return call()
    except RuntimeError as problem:
        return problem
"""

COMPARE = """
usual = [call() for call in calls]
fresh = fn.Laplace(0.321), fn.Staircase(0.321), fn.L2Laplace(0.321, 2)  # without tables yet
x = np.linspace(0, 1, 100)
refused = []
for mode in {modes}:
    set_mode(mode)
    now = [what_comes(call) for call in calls]
    grids = [what_comes(lambda m=m: m.grid) for m in fresh]
    inside = x.copy()
    what_comes(lambda: fresh[0].perturb(inside, out=inside, stream=stream))
    set_mode(0)
    assert [call() for call in calls] == usual
    assert [m.grid for m in fresh] == [2.0**-33, 2.0**-20, 2.0**-20]
    assert stream.position == 0 and (inside == x).all()
    wrong = [i for i, what in enumerate(now) if what != usual[i] and type(what) != RuntimeError]
    assert not wrong, (mode, wrong)
    refused += [what for what in now if type(what) == RuntimeError]
print(len(usual) * {count} == len(refused), *sorted(set(map(str, refused))), sep="|")
"""


def here(script: str, **environment: str) -> str:
    return run(SETTER + script, **environment)


IN_MODE = "the floating-point rounding mode of this thread is not to-nearest"
FLUSHED = "this thread flushes denormal floats to zero"


@pytest.mark.parametrize("modes", [ROUNDING, [m for m in MODES if m not in ROUNDING]])
def test_odd_mode__is_refused_before_any_noise(modes):
    script = CALLS + COMPARE.format(modes=[MODES[mode] for mode in modes], count=len(modes))
    all_refused, *messages = here(script).split("|")
    assert all_refused == "True"
    assert len(messages) == 1
    assert messages[0].startswith(IN_MODE if "upward" in modes else FLUSHED)


def test_fesetround__is_noticed():
    """As C libraries set it."""
    script = """
libm = ctypes.CDLL(None)
import fastnoise as fn
mechanism = fn.Staircase(1.0)
for mode in (0x400, 0x800, 0xC00):
    assert libm.fesetround(mode) == 0
    try:
        print(mechanism.sample())
    except RuntimeError as problem:
        print(str(problem)[:20])
    libm.fesetround(0)
mechanism.sample()
"""
    assert here(script).splitlines() == [IN_MODE[:20]] * 3


@pytest.mark.parametrize("mode", MODES)
def test_import__in_an_odd_mode_changes_no_constant(mode):
    """A float that is read or computed while modules are imported stays as it is."""
    draw = """
stream = fn.Stream.from_key(bytes(32))
print(fn.L2Laplace(1.0, 5).sample(3, stream=stream).tolist())
"""
    script = f"""
set_mode({MODES[mode]})
import fastnoise as fn
try:
    fn.L2Laplace
    print("imported")
except RuntimeError as problem:
    print("refused")
set_mode(0)
"""
    found = here(script + draw, PYTHONDONTWRITEBYTECODE="1")
    assert found == "refused\n" + here("import fastnoise as fn\n" + draw)


ODD_WORKERS = """
import numba, numpy as np

@numba.njit(parallel=True)
def sums(ones, tinies):
    found = np.empty(len(ones))
    for i in numba.prange(len(ones)):
        found[i] = ones[i] + tinies[i]
    return found

set_mode({mode})
numba.set_num_threads(2)
ones, tinies = np.ones(1_000_000), np.full(1_000_000, {tiny})
sums(ones, tinies)  # starts threads in that mode
set_mode(0)
assert (ones[0] + tinies[0] == 1.0)
odd = (sums(ones, tinies) != 1.0).sum()
"""
DRAW_IN_PLACE = """
import hashlib
from fastnoise_kernels.threads import exactly
digest = hashlib.sha256()
for m in drawn:
    x = data(m, 40_000)
    with exactly(2):
        m.perturb(x, out=x, stream=stream.at(7))
    digest.update(x.tobytes())
for call in calls:
    digest.update(str(call()).encode())
print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def expected():
    return here(CALLS + DRAW_IN_PLACE, NUMBA_NUM_THREADS="1")


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("mode", ["upward", "downward"])
def test_worker_threads__in_an_odd_mode_leave_the_noise_alone(mode, layer, expected):
    """Someone else's kernel started them while the mode was odd; and in place no row is lost."""
    two = {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    workers = ODD_WORKERS.format(
        mode=MODES[mode], tiny=2.0**-60 if mode == "upward" else -(2.0**-60)
    )
    found = here(workers + CALLS + DRAW_IN_PLACE + "print(odd > 0)", **two)
    assert found.splitlines() == [expected, "True"]


def test_verify__looks_at_the_threads_that_kernels_run_in():
    """Of one that is odd nothing is hidden; of odd workers nothing is to be seen."""
    script = f"""
from fastnoise.verify.run import verify
print(verify(["floats"]).passed)
for mode in {list(MODES.values())}:
    set_mode(mode)
    report = verify(["floats"])
    set_mode(0)
    print(report.passed, report.outcomes[0].detail)
"""
    told = here(script, NUMBA_NUM_THREADS="1").splitlines()
    odd = "False 1: 400,000 of 400,000 rows in threads that compute otherwise"
    assert told == ["True", *[odd] * len(MODES)]
    workers = ODD_WORKERS.format(mode=MODES["upward"], tiny=2.0**-60)
    look = "from fastnoise.verify.run import verify\nprint(odd > 0, verify(['floats']).passed)"
    assert here(workers + look, NUMBA_NUM_THREADS="2") == "True True"


@pytest.mark.parametrize("mode", ["downward", "both flushed"])
def test_command__looks(mode):
    """In a thread of an odd mode one line says so, and nothing is verified."""
    script = f"""
import io, contextlib
from fastnoise.cli import main
set_mode({MODES[mode]})
with contextlib.redirect_stderr(io.StringIO()) as said:
    status = main(["verify", "--only", "keystream"])
set_mode(0)
print(status, said.getvalue())
"""
    message = FLUSHED if "flushed" in mode else IN_MODE
    assert here(script).startswith(f"1 fastnoise verify: {message}")
