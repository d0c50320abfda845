"""Scripts in interpreters of their own: an abort or a hang there fails one test, not all."""

import importlib.util
import os
import subprocess
import sys
import textwrap


def importable(name: str) -> bool:
    """Whether a threading layer of numba can load here (omp needs the system's libgomp)."""
    if importlib.util.find_spec(f"numba.np.ufunc.{name}") is None:
        return False
    probe = [sys.executable, "-c", f"import numba.np.ufunc.{name}"]
    return subprocess.run(probe, capture_output=True).returncode == 0


LAYERS = ["workqueue", *(["omp"] if importable("omppool") else [])]


def run(script: str, **environment: str) -> str:
    return interpreter("-W", "error", "-c", textwrap.dedent(script), **environment)


def interpreter(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
