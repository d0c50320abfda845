"""Scripts in interpreters of their own: an abort or a hang there fails one test, not all."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

DRAW = """
import fastnoise as fn
stream = fn.Stream.from_key(bytes(32))
print(fn.Staircase(epsilon=1.0).sample(3, stream=stream).tolist())
"""


def importable(name: str) -> bool:
    """Whether a threading layer of numba can load here (omp needs the system's libgomp)."""
    if importlib.util.find_spec(f"numba.np.ufunc.{name}") is None:
        return False
    probe = [sys.executable, "-c", f"import numba.np.ufunc.{name}"]
    return subprocess.run(probe, capture_output=True).returncode == 0


LAYERS = ["workqueue", *(["omp"] if importable("omppool") else [])]


def run(script: str, **environment: str) -> str:
    return interpreter("-W", "error", "-c", textwrap.dedent(script), **environment)


def output(code: str, root: Path | None = None, **environment: str) -> str:
    """Of code that finds the packages there, if it is said where."""
    place = {"PYTHONPATH": str(root)} if root else {}
    return interpreter("-W", "error", "-c", code, **place, **environment)


def interpreter(*arguments: str, **environment: str) -> str:
    """What it prints; it starts at the root, where no packages are."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        cwd="/",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
