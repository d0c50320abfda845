"""All checks, one after the other, and what they come to: a table, or JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

from fastnoise.compiled import compiles
from fastnoise.progress import progress
from fastnoise.validation import one_of
from fastnoise.verify import (
    attack,
    certificates,
    duplicates,
    kernels,
    keystream,
    laws,
    ratios,
    slices,
    tables,
)
from fastnoise.verify.fit import ALPHA
from fastnoise.verify.outcome import Outcome
from fastnoise.version import VERSION

CHECKS = {
    "floats": kernels.float_rows,
    "keystream": keystream.rows,
    "tables": tables.rows,
    "kernels": kernels.rows,
    "fit": laws.rows,
    "ratios": ratios.rows,
    "attack": attack.rows,
    "duplicates": duplicates.rows,
    "slices": slices.rows,
    "certificates": certificates.rows,
}


class Report(NamedTuple):
    """What came of all that was tried."""

    outcomes: list[Outcome]
    seconds: float

    @property
    def passed(self) -> bool:
        return all(outcome.passed for outcome in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "version": VERSION,
            "machine": machine(),
            "passed": self.passed,
            "seconds": round(self.seconds, 3),
            "alpha": ALPHA,
            "outcomes": [
                {**outcome._asdict(), "seconds": round(outcome.seconds, 3)}
                for outcome in self.outcomes
            ],
        }

    def __str__(self) -> str:
        here = machine()
        software = ", ".join(f"{name} {here[name]}" for name in ("python", "numpy", "numba"))
        head = f"fastnoise {VERSION} on {here['processor']}, {here['threads']} threads; {software}"
        lines = [head, "", f"{'check':13}{'what':27}{'tried':>10}  outcome"]
        for outcome in self.outcomes:
            word = "ok" if outcome.passed else "FAILED"
            row = f"{outcome.check:13}{outcome.family:27}{outcome.tried:10,}  {word}"
            lines.append(f"{row}: {outcome.detail}" if outcome.detail else row)
        return "\n".join([*lines, "", self._closing()])

    def _closing(self) -> str:
        failed = sum(not outcome.passed for outcome in self.outcomes)
        tried = sum(outcome.tried for outcome in self.outcomes)
        verdict = f"{failed} of {len(self.outcomes)} rows FAILED" if failed else "all hold"
        chance = f"a test of fit fails by chance once in {1 / ALPHA:,.0f}"
        return f"{tried:,} trials in {self.seconds:.1f} s: {verdict} ({chance})"


def command(options: argparse.Namespace) -> int:
    report = verify(options.only)
    print(json.dumps(report.to_dict(), indent=2) if options.json else report)
    return 0 if report.passed else 1


def verify(only: Sequence[str] = ()) -> Report:
    """Try everything, or these checks, on this machine with this install."""
    for name in only:
        one_of("only", name, *CHECKS)
    if not compiles():
        raise ValueError("NUMBA_DISABLE_JIT is set: there are no compiled kernels to verify")
    started = perf_counter()
    rows = [row for name in only or CHECKS for row in CHECKS[name]()]
    outcomes = [row.ask() for row in progress([(f"{r.check}: {r.family}", r) for r in rows])]
    return Report(outcomes, perf_counter() - started)


def machine() -> dict[str, Any]:
    """What results may depend on, and nothing that names it."""
    import llvmlite.binding
    import numba
    import numpy as np
    from fastnoise_kernels.jit import threads_now

    return {
        "processor": f"{platform.machine()} ({llvmlite.binding.get_host_cpu_name()})",
        "system": platform.system(),
        "cores": os.cpu_count(),
        "threads": threads_now(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
