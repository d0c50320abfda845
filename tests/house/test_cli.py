"""Does the `fastnoise` command do what it says, and fail with one clear line?"""

import os
import re
import subprocess
import sys

import pytest

from fastnoise.cli import main
from fastnoise.etl.demo import demo
from fastnoise.progress import progress

pytestmark = pytest.mark.long


def test_demo__reports_errors_near_theory(capsys):
    assert main(["demo", "--rows", "200000"]) == 0
    out = capsys.readouterr().out
    for name in ("income", "visits", "age", "x_km", "y_km"):
        found = re.search(rf"^{name} +([\d,.]+) +([\d,.]+)", out, re.MULTILINE)
        measured, theory = (float(text.replace(",", "")) for text in found.groups())
        assert abs(measured / theory - 1) < 0.02, name
    assert "rows a second" in out
    assert "release demo" in out
    assert "epsilon 2, delta 0 for one person, in all" in out


def test_demo__saves_a_picture(tmp_path):
    picture = tmp_path / "noise.png"
    demo(20_000, str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_demo__without_matplotlib_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["demo", "--rows", "1000", "--png", str(tmp_path / "x.png")]) == 1
    assert "pip install 'fastnoise[plot]'" in capsys.readouterr().err


def test_demo__of_nobody(capsys):
    assert main(["demo", "--rows", "0"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "rows must be at least 1" in error


# Every mechanism, in one thread and in several, in every way that has a kernel of its own.
USE = """
import warnings
import numpy as np, fastnoise as fn
import pyarrow as pa
from mechanisms import CHOICES, DRAWN, INTEGERS, VECTORS

warnings.simplefilter("ignore", fn.TextbookNoiseWarning)
ONE = {"epsilon": 1.0, "sensitivity": 1.0}
s = fn.Stream.from_key(bytes(32))
for count in (3, 40_000):
    for m in DRAWN:
        n = 4 * count // m.dim if count > 3 and m in VECTORS else count
        kinds = ("i8", "u8", "i2", "u1", ">i8") if m in INTEGERS else ("f8", "f4", ">f8", "i4")
        for kind in kinds:
            x = np.zeros((n, *m._row_shape), kind)
            m.perturb(x)
            m.perturb(x[::-1], nan="keep", clip=(0, 1), stream=s, rows=np.arange(n)[::-1])
        m.sample(n)
        m.sample(n, dtype="u1" if m in INTEGERS else "f4")
        if m not in INTEGERS:
            m.perturb(x, grid=None)
    for m in CHOICES:
        for kind in ("f8", "f4", "i8"):
            m.choose(np.zeros((count, 3), kind))
            m.choose(np.zeros((count, 3), kind), stream=s, rows=np.arange(count)[::-1])
    s.keystream(count * 16)
    fn.Laplace(1.0).perturb(np.zeros(count), stream=s, rows=np.arange(count)[::-1] << 40)
    plan = {"key": ["id"], "release": "a", "columns": {"x": {"mechanism": "laplace", **ONE}}}
    for key in (["id"], ["id", "number"]):
        table = {"x": np.zeros(count), "number": np.arange(count) - 9}
        table["id"] = [f"person {i}" for i in range(count)]
        fn.Plan(plan | {"key": key}).perturb(pa.table(table), stream=s)
"""


def test_warmup__leaves_nothing_to_compile(tmp_path):
    path = os.pathsep.join(sys.path)
    environment = {"FASTNOISE_CACHE_DIR": str(tmp_path), "PYTHONPATH": path}
    environment |= {"NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-m", "fastnoise", "warmup"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert re.match(r"\d+ kernels ready in [\d.]+ s", done.stdout), done.stderr
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert len(before) >= 8  # three kernels with two twins, and the staircase's filler
    subprocess.run([sys.executable, "-c", USE], env=environment, check=True, timeout=240)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert sorted(path.name for path in after if after[path] != before.get(path)) == []


def test_progress__only_on_a_terminal(capsys, monkeypatch):
    items = [("one", 1), ("two", 2)]
    assert list(progress(items)) == [1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert list(progress(items)) == [1, 2]
    assert "1/2 two" in capsys.readouterr().err


def test_unknown_command__exits_with_usage(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["nonsense"])
    assert "usage: fastnoise" in capsys.readouterr().err
