"""Environments of the peers: as few as pip can manage, each made once."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .catalogue import REQUIREMENTS

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".bench"
MADE = FOLDER / "env" / "made.json"
TOOLS = ["pytest", "pytest-benchmark"]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Failed(Exception):
    """Why, in a line."""


@dataclass
class Environment:
    """A virtual environment with the project and some peers."""

    name: str
    peers: list[str] = field(default_factory=list)
    run: Run = subprocess.run

    @property
    def python(self) -> str:
        return str(FOLDER / "env" / self.name / "bin" / "python")

    def make(self) -> None:
        self._checked([sys.executable, "-m", "venv", str(FOLDER / "env" / self.name)])
        self._pip(str(ROOT), *TOOLS)

    def add(self, peer: str) -> None:
        """Installs and imports; everything that is in the environment must stay satisfied."""
        wanted = [r for one in (*self.peers, peer) for r in REQUIREMENTS[one][0]]
        if wanted:
            self._pip(*TOOLS, *_project_needs(), *wanted)
        self._checked([self.python, "-P", "-c", f"import {REQUIREMENTS[peer][1]}"])
        self.peers.append(peer)

    def _pip(self, *requirements: str) -> None:
        self._checked([self.python, "-m", "pip", "install", "--quiet", *requirements])

    def _checked(self, command: list[str]) -> None:
        done = self.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(one_line(done.stderr or done.stdout))


def _project_needs() -> list[str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def one_line(text: str) -> str:
    """The error in a program's output: pip's first ERROR, or the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines[-1:] or ["failed without a word"])[0][:200]


def prepare(run: Run = subprocess.run) -> tuple[list[Environment], list[dict[str, str]]]:
    """All peers, in one environment if they fit; those that do not get their own, or a reason."""
    if known := _remembered():
        return [Environment(name, peers, run) for name, peers in known.items()], []
    shared = Environment("shared", run=run)
    shared.make()
    environments, missing = [shared], []
    for peer in REQUIREMENTS:
        try:
            shared.add(peer)
        except Failed:
            try:
                environments.append(_alone(peer, run))
            except Failed as failure:
                missing.append({"peer": peer, "reason": str(failure)})
    if not missing:
        _remember(environments)
    return environments, missing


def _alone(peer: str, run: Run) -> Environment:
    own = Environment(peer, run=run)
    own.make()
    own.add(peer)
    return own


def _state() -> str:
    """What the environments depend on: the interpreter, the requirements, the project."""
    digest = hashlib.sha256(f"{sys.version} {REQUIREMENTS} {TOOLS}".encode())
    for path in [
        ROOT / "pyproject.toml",
        *sorted(ROOT.glob("fastnoise/**/*.py")),
        *sorted(ROOT.glob("kernels/**/*.py")),
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _remembered() -> dict[str, list[str]]:
    made = json.loads(MADE.read_text()) if MADE.exists() else {}
    return made["environments"] if made.get("state") == _state() else {}


def _remember(environments: list[Environment]) -> None:
    made = {"state": _state(), "environments": {e.name: e.peers for e in environments}}
    MADE.write_text(json.dumps(made, indent=1))
