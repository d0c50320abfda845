"""Does it work, and never repeat noise, in threads, forks, pools and spawned workers?

Each case runs in an interpreter of its own: an abort or a hang there fails one test, not all.
"""

import textwrap

import pytest
from interpreters import LAYERS, interpreter, run

pytestmark = pytest.mark.long


@pytest.mark.parametrize("layer", LAYERS)
def test_forked_pool_after_a_parallel_kernel(layer):
    out = run(
        """
        import multiprocessing, os
        import numpy as np
        import fastnoise as fn
        import numba

        numba.set_num_threads(2)
        mechanism = fn.Staircase(epsilon=1.0)
        mechanism.perturb(np.zeros(1_000_000))  # threads are running now
        assert numba.threading_layer() == os.environ["NUMBA_THREADING_LAYER"]

        def work(i):
            return tuple(mechanism.perturb(np.zeros(100_000))[:20])

        with multiprocessing.get_context("fork").Pool(4) as pool:
            noise = pool.map(work, range(24), chunksize=1)
        assert len(set(noise)) == 24
        mechanism.perturb(np.zeros(1_000_000))  # and the parent's threads still answer
        print("different", len(noise))
        """,
        NUMBA_THREADING_LAYER=layer,
        NUMBA_NUM_THREADS="2",
    )
    assert out == "different 24"


@pytest.mark.parametrize("layer", LAYERS)
def test_eight_threads_at_once(layer):
    out = run(
        """
        import os, threading
        import numpy as np
        import fastnoise as fn
        import numba

        mechanism = fn.Staircase(epsilon=1.0)
        stream = fn.Stream.from_key(bytes(32))
        expected = mechanism.perturb(np.zeros(200_000), stream=stream.at(0))
        seen, wrong = [], []

        def work():
            for _ in range(20):
                seen.append(tuple(mechanism.perturb(np.zeros(200_000))[:8]))
                again = mechanism.perturb(np.zeros(200_000), stream=stream.at(0))
                wrong.append(not np.array_equal(again, expected))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert numba.threading_layer() == os.environ["NUMBA_THREADING_LAYER"]
        print(len(seen), len(set(seen)), any(wrong))
        """,
        NUMBA_THREADING_LAYER=layer,
        NUMBA_NUM_THREADS="2",
    )
    assert out == "160 160 False"


def test_spawned_workers_and_pickled_mechanisms(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing
            import fastnoise as fn

            def work(task):
                mechanism, stream = task
                return tuple(mechanism.sample(8, stream=stream))

            if __name__ == "__main__":
                mechanism, stream = fn.Staircase(epsilon=1.0), fn.Stream.from_key(bytes(32))
                fresh = [(mechanism, None)] * 6
                views = [(mechanism, stream.at(8 * i)) for i in range(6)]
                with multiprocessing.get_context("spawn").Pool(2) as pool:
                    unkeyed, keyed = pool.map(work, fresh), pool.map(work, views)
                whole = mechanism.sample(48, stream=stream)
                assert [n for part in keyed for n in part] == whole.tolist()
                print(len(set(unkeyed)), len(set(keyed)))
            """
        )
    )
    assert interpreter(str(script)).split() == ["6", "6"]


def test_fork_before_any_kernel():
    """Both sides compile and draw for themselves."""
    out = run(
        """
        import os
        import fastnoise as fn

        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, fn.Staircase(epsilon=1.0).sample(4).tobytes())
            os._exit(0)
        mine, theirs = fn.Staircase(epsilon=1.0).sample(4).tobytes(), os.read(read, 32)
        os.wait()
        print(len(theirs), mine != theirs)
        """
    )
    assert out == "32 True"


def test_one_thread_asked_for__no_threads_started():
    out = run(
        """
        import numpy as np, threading, os
        import fastnoise as fn
        fn.Staircase(epsilon=1.0).perturb(np.zeros(1_000_000))
        print(len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1)
        """,
        NUMBA_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
    )
    assert out == "1"


def test_any_number_of_threads():
    """More threads than cores, in one process after another: the same bits."""
    script = """
        import numpy as np
        import fastnoise as fn
        stream = fn.Stream.from_key(bytes(32))
        x = np.linspace(-1e3, 1e3, 300_001)
        parts = [fn.Staircase(e).perturb(x, stream=stream.at(2**62)) for e in (1e-3, 1.0, 20.0)]
        print(hash(b"".join(part.tobytes() for part in parts)))
        """
    counts = ("1", "2", "3", "5", "16")
    assert len({run(script, NUMBA_NUM_THREADS=n, PYTHONHASHSEED="1") for n in counts}) == 1


PREFORK = """
    import os
    import numba, numpy as np

    @numba.njit(parallel=True)
    def theirs(n):
        total = 0
        for i in numba.prange(n):
            total += i
        return total

    {early}
    numba.set_num_threads(2)
    theirs(1000)  # threads of someone else's are running
    read, write = os.pipe()
    if os.fork() == 0:
        import fastnoise as fn
        os.write(write, b"x" * len(fn.Staircase(epsilon=1.0).perturb(np.zeros(200_000))[:4]))
        os._exit(0)
    os.wait()
    os.close(write)
    print(len(os.read(read, 99)))
"""


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("early", ["", "import fastnoise"])
def test_fork_after_threads_of_someone_else(layer, early):
    script = PREFORK.format(early=early)
    out = run(script, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2")
    assert out == "4"


def test_workqueue__beside_kernels_of_someone_else():
    out = run(
        """
        import threading, time
        import numba, numpy as np
        import fastnoise as fn

        @numba.njit(parallel=True, nogil=True)
        def theirs(n):
            total = 0
            for i in numba.prange(n):
                total += i
            return total

        theirs(10)
        mechanism, stop = fn.Staircase(epsilon=1.0), time.time() + 3
        def work():
            while time.time() < stop:
                theirs(1_000_000)
        thread = threading.Thread(target=work)
        thread.start()
        while time.time() < stop:
            mechanism.perturb(np.zeros(100_000))
        thread.join()
        print("alive")
        """,
        NUMBA_THREADING_LAYER="workqueue",
        NUMBA_NUM_THREADS="2",
    )
    assert out == "alive"


def test_warmup_beside_other_threads__leaves_their_noise_alone():
    out = run(
        """
        import threading
        import fastnoise as fn
        from fastnoise.warmup import warmup

        mechanism, stream = fn.Staircase(epsilon=1.0), fn.Stream.from_key(bytes(32))
        expected = mechanism.sample(6, stream=stream.at(0)).tolist()
        warming = threading.Thread(target=lambda: [warmup() for _ in range(3)])
        warming.start()
        wrong = 0
        while warming.is_alive():
            wrong += mechanism.sample(6, stream=stream.at(0)).tolist() != expected
        print(wrong)
        """
    )
    assert out == "0"


def test_first_calls_at_once():
    """Eight threads compile and draw at the same time."""
    out = run(
        """
        import threading
        import fastnoise as fn

        stream, seen = fn.Stream.from_key(bytes(32)), []
        start = threading.Barrier(8)
        def work():
            start.wait()
            seen.append(tuple(fn.Staircase(epsilon=1.0).sample(4, stream=stream.at(0))))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(seen), len(set(seen)))
        """
    )
    assert out == "8 1"


def test_import__is_light():
    out = run(
        """
        import sys
        import fastnoise as fn
        print([m for m in ("numpy", "decimal", "multiprocessing") if m in sys.modules])
        fn.Staircase(epsilon=1.0, cost=2).interval(0.5), fn.DiscreteStaircase(1.0, 5)
        print([m for m in ("numba", "llvmlite", "scipy", "matplotlib") if m in sys.modules])
        """
    )
    assert out == "[]\n[]"


def test_public_names__are_all_there():
    out = run(
        """
        import fastnoise as fn
        assert sorted(fn.__all__) == dir(fn)
        print([name for name in fn.__all__ if not hasattr(fn, name)], hasattr(fn, "Nonsense"))
        from fastnoise import *
        Staircase, Stream, Geometric
        """
    )
    assert out == "[] False"


def test_kernels__never_import_the_layer_above():
    out = run(
        """
        import pkgutil, sys
        import fastnoise_kernels
        for module in pkgutil.iter_modules(fastnoise_kernels.__path__):
            __import__(f"fastnoise_kernels.{module.name}")
        print([m for m in sys.modules if m == "fastnoise" or m.startswith("fastnoise.")])
        """
    )
    assert out == "[]"


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_odd_layouts__in_forks_and_threads_have_the_same_noise(layer):
    """Pieces of strided values go through a pool of threads, wherever the call is made."""
    script = """
        import os, threading
        import numpy as np
        import fastnoise as fn
        law, x = fn.Staircase(1.0), np.arange(600_000.0)[::2]
        def noisy(x):
            return law.perturb(x, stream=fn.Stream.from_key(bytes(32)).at(0))
        expected, found = noisy(x.copy()), []
        def compare():
            found.append(np.array_equal(noisy(x), expected))
        compare()
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(noisy(x.astype(">f8")), expected) else 1)
        threads = [threading.Thread(target=compare) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(os.waitpid(child, 0)[1], found)
    """
    assert run(script, NUMBA_THREADING_LAYER=layer) == f"0 {[True] * 5}"
