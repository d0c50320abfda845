"""The option that says which peers an environment holds."""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--peers", default="", help="packages to measure, with commas")
