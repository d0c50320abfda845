"""Make the environments, measure in each, print the table, write `.bench/peers.json`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from typing import Any

from .environments import FOLDER, ROOT, Environment, prepare
from .table import Row, in_order, rows_of, table, unmeasured

HERE = "bench/peers"
# OpenMP's threads would spin on after a call of ours, and take a core from the peer's two threads.
SETTINGS = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0", "MKL_NUM_THREADS": "1"}


def measure(environment: Environment) -> tuple[list[Row], list[dict[str, str]]]:
    """Rows of one environment, and what failed in it."""
    path = FOLDER / "peers" / f"{environment.name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    done = subprocess.run(
        [*command(environment), f"--benchmark-json={path}"],
        cwd=ROOT,
        env={**os.environ, **SETTINGS, "COLUMNS": "300"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    recorded = path.read_text() if path.exists() else ""
    rows = list(rows_of(json.loads(recorded), environment.name)) if recorded else []
    return rows, list(unmeasured(rows, environment.peers, done.stdout))


def command(environment: Environment) -> list[str]:
    """-P: the project that is installed there, not the one in this folder."""
    pytest = [environment.python, "-P", "-m", "pytest", "-q", "--tb=line"]
    peers = f"--peers={','.join(environment.peers)}"
    return [*pytest, "-c", f"{HERE}/pytest.ini", f"{HERE}/side_by_side.py", peers]


def results() -> dict[str, Any]:
    """What `.bench/peers.json` holds."""
    environments, missing = prepare()
    rows: list[Row] = []
    for environment in environments:
        print(f"measuring in {environment.name}: {', '.join(environment.peers)}", flush=True)
        measured, failed = measure(environment)
        rows += measured
        missing += failed
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "rows": in_order(rows),
        "missing": missing,
    }


def main() -> None:
    found = results()
    (FOLDER / "peers.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"epsilon 1, sensitivity 1; {found['machine']}, Python {found['python']}:\n")
    print(*table(found["rows"], found["missing"]), sep="\n")


if __name__ == "__main__":
    main()
