"""How many threads do calls use, what do they wait for, and is noise the same however many?"""

import os
import subprocess
import sys
from math import inf
from pathlib import Path

import numba
import numpy as np
import pytest
from fastnoise_kernels import jit, threads
from fastnoise_kernels.processors import quota, rounded_up
from fastnoise_kernels.threads import count_in, openmp_limit
from fastnoise_kernels.waiting import Waiting
from interpreters import LAYERS, run

import fastnoise as fn

SETTINGS = ("FASTNOISE_NUM_THREADS", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    yield
    threads.set_count(None)


# --- quotas ---------------------------------------------------------------------------------------


def group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text + "\n")


def process(folder: Path, groups: str, *mounts: str) -> Path:
    """What /proc/self has of a process with these control groups and mounts."""
    lines = [f"3{i} 23 0:2{i} {mount}" for i, mount in enumerate(mounts)]
    group(folder / "proc", cgroup=groups, mountinfo="\n".join(lines))
    return folder / "proc"


def unified(folder: Path, root: str = "/") -> str:
    return f"{root} {folder} rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate"


def version_1(folder: Path, root: str = "/", controllers: str = "cpu,cpuacct") -> str:
    return f"{root} {folder} rw,relatime - cgroup cgroup rw,{controllers}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000", inf),
        ("150000 100000", 1.5),
        ("5000 20000", 0.25),
        ("800000 100000", 8),
        ("garbage", inf),
        ("100000 0", inf),
        ("", inf),
    ],
)
def test_quota__of_version_2(tmp_path, text, expected):
    group(tmp_path / "v2/a/b", cpu_max=text)
    assert quota(process(tmp_path, "0::/a/b", unified(tmp_path / "v2"))) == expected


@pytest.mark.parametrize(
    ("share", "period", "expected"),
    [("-1", "100000", inf), ("250000", "100000", 2.5), ("x", "1", inf), ("1", "0", inf)],
)
def test_quota__of_version_1(tmp_path, share, period, expected):
    group(tmp_path / "v1/a", cpu_cfs_quota_us=share, cpu_cfs_period_us=period)
    groups = "5:memory:/other\n3:cpu,cpuacct:/a\n0::/"
    memory = version_1(tmp_path / "no", controllers="memory")
    assert quota(process(tmp_path, groups, memory, version_1(tmp_path / "v1"))) == expected


def test_quota__is_the_least_of_nested_groups(tmp_path):
    group(tmp_path / "v2/a", cpu_max="200000 100000")
    group(tmp_path / "v2/a/b", cpu_max="max 100000")
    group(tmp_path / "v2/a/b/c", cpu_max="300000 100000")
    assert quota(process(tmp_path, "0::/a/b/c", unified(tmp_path / "v2"))) == 2


def test_quota__in_a_container_that_sees_its_own_group_alone(tmp_path):
    """Without a namespace the group has its path on the host, which is the root of the mount."""
    group(tmp_path / "v1", cpu_cfs_quota_us="50000", cpu_cfs_period_us="100000")
    mount = version_1(tmp_path / "v1", root="/docker/1a2b")
    assert quota(process(tmp_path, "3:cpu,cpuacct:/docker/1a2b", mount)) == 0.5
    group(tmp_path / "v1/app", cpu_cfs_quota_us="20000", cpu_cfs_period_us="100000")
    quota.cache_clear()
    assert quota(process(tmp_path, "3:cpu,cpuacct:/docker/1a2b/app", mount)) == 0.2


def test_quota__is_rounded_up():
    assert [rounded_up(share) for share in (0.25, 1.0, 1.01, 2.5)] == [1, 1, 2, 3]
    assert rounded_up(inf) == sys.maxsize


@pytest.mark.parametrize("path", ["/elsewhere", "/../sibling"])
def test_quota__of_a_group_that_is_not_in_the_mount(tmp_path, path):
    group(tmp_path / "v2", cpu_max="100000 100000")
    assert quota(process(tmp_path, f"0::{path}", unified(tmp_path / "v2", "/"))) == 1


def test_quota__below_a_folder_with_spaces(tmp_path):
    group(tmp_path / "my groups/a", cpu_max="100000 50000")
    mount = unified(Path(str(tmp_path / "my groups").replace(" ", r"\040")))
    assert quota(process(tmp_path, "0::/a", mount)) == 2


def test_quota__where_there_is_none(tmp_path):
    assert quota(tmp_path / "nothing") == inf
    assert quota(process(tmp_path, "0::/", "/ / rw - ext4 /dev/root rw")) == inf


@pytest.fixture
def half_a_processor():
    """A real control group with a quota of half a processor, where tests may make one."""
    folder = Path(f"/sys/fs/cgroup/cpu/fastnoise-test-{os.getpid()}")
    if not folder.parent.is_dir():
        folder = Path(f"/sys/fs/cgroup/fastnoise-test-{os.getpid()}")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("may make no control group")
    try:
        if (folder / "cpu.max").exists():
            (folder / "cpu.max").write_text("50000 100000")
        elif (folder / "cpu.cfs_quota_us").exists():
            (folder / "cpu.cfs_quota_us").write_text("50000")
        else:
            pytest.skip("control groups limit no processors here")
        yield folder
    finally:
        folder.rmdir()


def test_quota__of_a_real_group(half_a_processor):
    code = "import sys; sys.stdin.read(); from fastnoise_kernels import processors as p; "
    code += "print(p.quota(), p.available())"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=with_path()) as child:
        (half_a_processor / "cgroup.procs").write_text(str(child.pid))
        assert child.communicate()[0] == "0.5 1\n"


def with_path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity__is_respected():
    code = """
        import os
        from fastnoise_kernels.processors import available
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        print(available())
        """
    assert run(code) == "1"


# --- what is asked for ----------------------------------------------------------------------------

# What a large call would use where three processors are allowed, whatever this machine has.
ASKED = """
    import os
    from fastnoise_kernels import processors, threads
    processors.available = lambda: 3
    import fastnoise as fn
    """


def asked(code: str = "", **environment: str) -> str:
    return run(f"{ASKED}\n    {code}\n    print(threads.wanted())", **environment)


@pytest.mark.parametrize(
    ("expected", "code", "environment"),
    [
        ("3", "", {}),
        ("2", "", {"FASTNOISE_NUM_THREADS": "2"}),
        ("3", "", {"FASTNOISE_NUM_THREADS": "64"}),
        ("3", "", {"FASTNOISE_NUM_THREADS": ""}),
        ("1", "", {"OMP_NUM_THREADS": "1"}),
        ("2", "", {"OMP_NUM_THREADS": "2,1"}),
        ("3", "", {"OMP_NUM_THREADS": "dynamic"}),
        ("2", "", {"OMP_NUM_THREADS": "1", "FASTNOISE_NUM_THREADS": "2"}),
        ("2", "fn.set_threads(2)", {"OMP_NUM_THREADS": "1"}),
        ("2", "fn.set_threads(9)", {"FASTNOISE_NUM_THREADS": "2"}),
        ("3", "fn.set_threads(1); fn.set_threads(None)", {}),
    ],
)
def test_count__is_the_least_of_all_that_is_said(expected, code, environment):
    assert asked(code, **environment) == expected


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "\u00b2", " 2", "1e3"])
def test_variable__that_is_no_count_is_refused_by_name(value):
    with pytest.raises(ValueError, match="FASTNOISE_NUM_THREADS must be an integer from 1 up"):
        count_in({"FASTNOISE_NUM_THREADS": value})


def test_variable__is_refused_before_anything_is_drawn():
    out = run(
        """
        import numpy as np
        import fastnoise as fn
        for _ in range(2):
            try:
                fn.Staircase(epsilon=1.0)
            except ValueError as problem:
                print(problem)
        from fastnoise.cli import main
        """,
        FASTNOISE_NUM_THREADS="many",
    )
    assert out == "\n".join(["FASTNOISE_NUM_THREADS must be an integer from 1 up, not 'many'"] * 2)


@pytest.mark.parametrize("n", [0, -1, 1.0, "2", True, np.float64(2)])
def test_set_threads__refuses_what_is_no_count(n):
    with pytest.raises((TypeError, ValueError), match="n must be an integer"):
        fn.set_threads(n)


def test_set_threads__takes_numpy_integers_and_imports_no_numba():
    out = run(
        """
        import sys
        import numpy as np
        import fastnoise as fn
        fn.set_threads(np.int8(2))
        print("numba" in sys.modules)
        """
    )
    assert out == "False"


@pytest.mark.parametrize("limit", ["fn.set_threads(1)", "numba.set_num_threads(1)"])
def test_one_thread__starts_no_other(limit):
    out = run(
        f"""
        import os
        import numba, numpy as np
        import fastnoise as fn
        {limit}
        from fastnoise_kernels import jit
        calls = []
        jit.Kernel._shared = lambda *given: calls.append(given) or 0
        fn.Staircase(epsilon=1.0).perturb(np.zeros(1_000_000))
        print(len(calls))
        """
    )
    assert out == "0"


WORKER = """
import multiprocessing, sys
import fastnoise_kernels.threads as threads
threads.processors.available = lambda: 3

def count(_):
    return threads.wanted()

def told(_):
    import fastnoise as fn
    fn.set_threads(2)
    return threads.wanted()

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(count(0), *pool.map(count, range(1)), *pool.map(told, range(1)))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers__have_one_thread_unless_told_otherwise(tmp_path, method):
    (tmp_path / "script.py").write_text(WORKER)
    command = [sys.executable, tmp_path / "script.py", method]
    done = subprocess.run(command, env=with_path(), capture_output=True, text=True, timeout=240)
    assert done.stdout.split() == ["3", "1", "2"], done.stderr


def test_at_most__holds_inside_and_in_one_python_thread():
    before = threads.wanted()
    with threads.at_most(1), threads.at_most(9):
        assert threads.wanted() == 1
    assert threads.wanted() == before


def test_openmp_limit__of_what_openmp_would_not_understand():
    assert openmp_limit("0") == openmp_limit("") == openmp_limit("x,2") == sys.maxsize


# --- waiting --------------------------------------------------------------------------------------


def test_waiting__that_is_short_costs_nothing():
    waiting = Waiting()
    waiting.add(0.2, call=1.0)
    assert not waiting.owes


def test_waiting__is_paid_by_sixteen_times_as_much_on_one_thread():
    waiting = Waiting()
    waiting.add(0.002, call=0.004)
    assert waiting.owed == pytest.approx(16 * 0.001)
    with waiting.paid():
        pass
    assert waiting.owes
    waiting.add(3600.0, call=3600.0)
    assert waiting.owed == waiting.MOST


def test_calls__that_owe_run_on_one_thread(monkeypatch):
    shared = []
    monkeypatch.setattr(jit, "threads_now", lambda: 2)
    monkeypatch.setattr(jit.Kernel, "_shared", lambda *given: shared.append(given) or 0)
    monkeypatch.setattr(jit.waiting, "owed", 1e-9)
    for _ in range(2):
        fn.Staircase(epsilon=1.0).perturb(np.zeros(300_000))
    assert len(shared) == 1  # the first call paid


def test_threads__that_have_nothing_to_do_are_not_woken():
    seen = []
    kernel = jit.Kernel(lambda start, stop: 0)
    kernel.__dict__["parallel"] = lambda *given: seen.append(numba.get_num_threads()) or 0
    before = numba.get_num_threads()
    kernel._shared(100, 50, 1, ())
    assert seen == [1]
    assert numba.get_num_threads() == before


def test_waiting__is_seen_by_who_waits():
    """The second thread comes a tenth of a second late, in someone else's kernel for instance."""
    out = run(
        """
        import numpy as np
        from fastnoise_kernels import jit
        from fastnoise_kernels.float_mode import usual_floats
        from fastnoise_kernels.threads import exactly
        from fastnoise_kernels.turns import nanoseconds

        @jit.kernel
        def late(start, stop):
            until = nanoseconds() + (200_000_000 if start == 0 else 0)
            while nanoseconds() < until:
                pass
            return stop - start

        with exactly(2):
            print(late(100), jit.waiting.owed > 0)
        """,
        NUMBA_NUM_THREADS="2",
    )
    assert out == "100 True"


@pytest.mark.skipif("omp" not in LAYERS, reason="GNU OpenMP is not there")
@pytest.mark.parametrize("setting", [{}, {"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "active"}])
def test_openmp__sleeps_soon_unless_the_user_has_chosen(setting):
    """OMP_DISPLAY_ENV has GNU OpenMP say what it read; the environment stays what it was."""
    out = run(
        """
        import os, sys
        before = dict(os.environ)
        os.dup2(1, 2)  # where OpenMP writes to
        import fastnoise_kernels.jit
        import numba.np.ufunc.omppool
        assert dict(os.environ) == before
        """,
        OMP_DISPLAY_ENV="verbose",
        **setting,
    )
    expected = {} if setting else {"GOMP_SPINCOUNT": "2000"}
    for name, value in (setting or expected).items():
        assert f"{name} = '{value.upper()}'" in out


# --- the same bits --------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_pieces__have_the_same_noise_on_every_layer(layer):
    """Of rows that no piece divides, in place, and with fewer threads than numba has."""
    out = run(
        """
        import os
        import numba, numpy as np
        import fastnoise as fn
        from fastnoise_kernels.threads import exactly

        stream, seen = fn.Stream.from_key(bytes(32)), set()
        x = np.linspace(-1e3, 1e3, 300_007)
        for count in (1, 2, 3, 5):
            y = x.copy()
            with exactly(count):
                for mechanism in (fn.Staircase(1.0), fn.Laplace(1.0)):
                    mechanism.perturb(y, out=y, stream=stream.at(3))
            seen.add(y.tobytes())
        assert numba.threading_layer() == os.environ["NUMBA_THREADING_LAYER"]
        print(len(seen), numba.get_num_threads())
        """,
        NUMBA_THREADING_LAYER=layer,
        NUMBA_NUM_THREADS="5",
    )
    assert out == "1 5"
