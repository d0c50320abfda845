"""Every mechanism, once.

Public names, plans, `verify`, `warmup`, benchmarks, tests and the README take their lists from
here, and a test names the place for whatever a mechanism lacks. Examples are the shapes that the
code tells apart: they are verified, warmed up and tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

Kind = Literal["additive", "channel"]
Takes = Literal["floats", "integers", "vectors", "costs"]


@dataclass(frozen=True)
class Registered:
    """A mechanism by its name, and where its class is: nothing is imported before it is used.

    noise: in the words of the README's table.
    benchmarked: what is timed, by what tells it apart: the parameters besides epsilon.
    """

    name: str
    module: str
    takes: Takes
    noise: str
    examples: tuple[Mapping[str, Any], ...]
    extremes: tuple[Mapping[str, Any], ...] = ()
    benchmarked: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"": {}})

    @property
    def kind(self) -> Kind:
        return "channel" if self.takes == "costs" else "additive"

    @property
    def plan_name(self) -> str:
        """As plans have it: TruncatedDiscreteLaplace is truncated-discrete-laplace."""
        return "".join(f"-{c.lower()}" if c.isupper() else c for c in self.name).lstrip("-")

    @property
    def home(self) -> str:
        return f"fastnoise.mechanisms.{self.module}"

    @property
    def cls(self) -> Any:
        return getattr(import_module(self.home), self.name)

    def build(self) -> list[Any]:
        """One of each example."""
        return [self.cls(**example) for example in self.examples]

    def build_extremes(self) -> list[Any]:
        """As far as it goes: the least and the largest epsilon, sensitivity and scale."""
        return [self.cls(**extreme) for extreme in self.extremes]


_ENTRIES = (
    Registered(
        "Staircase",
        "staircase",
        "floats",
        "least expected cost for one number",
        (
            {"epsilon": 1.0},  # short rows
            {"epsilon": 0.005, "sensitivity": 0.3},  # long rows
            {"epsilon": 20.0, "sensitivity": 1000.0},
            {"epsilon": 1e-3, "sensitivity": 2.0, "cost": "l2"},  # two digits of levels
            {"epsilon": 0.5, "gamma": 0.0},
        ),
        (
            {"epsilon": 1e-6, "sensitivity": 1e-9},
            {"epsilon": 50.0, "sensitivity": 7e12, "gamma": 0.5},
        ),
    ),
    Registered(
        "Laplace",
        "laplace",
        "floats",
        "the l1 classic, on a grid that leaks nothing",
        (
            {"epsilon": 1.0},  # sloping rows
            {"epsilon": 1e-3, "sensitivity": 0.3},
            {"epsilon": 20.0, "sensitivity": 1000.0},
        ),
        ({"epsilon": 1e-6, "sensitivity": 1e-9}, {"epsilon": 50.0, "sensitivity": 7e12}),
    ),
    Registered(
        "L2Laplace",
        "l2_laplace",
        "vectors",
        "Gamma radius, uniform direction",
        tuple({"epsilon": 0.5, "dim": dim, "sensitivity": 3.0} for dim in (1, 2, 3, 5, 16)),
        benchmarked={"dim 2": {"dim": 2}},
    ),
    Registered(
        "MultiUserLaplace",
        "l2_laplace",
        "vectors",
        "the n x m composite: one vector per user",
        (
            *({"epsilon": 2.0, "dim": dim} for dim in (1, 2, 5)),
            {"epsilon": 1e-3, "dim": 5},
        ),
        benchmarked={"dim 16": {"dim": 16}, "dim 128": {"dim": 128}},
    ),
    Registered(
        "L1Staircase",
        "l1_staircase",
        "vectors",
        "staircase of the l1 norm on vectors",
        (
            *({"epsilon": 2.0, "dim": dim, "sensitivity": 0.7} for dim in (1, 2, 4, 16)),
            {"epsilon": 0.01, "dim": 3, "gamma": 0.25},  # several coins for a layer
        ),
        (
            {"epsilon": 1e-6, "dim": 2},
            {"epsilon": 50.0, "dim": 3, "sensitivity": 1e-9},
            {"epsilon": 20.0, "dim": 64},
        ),
        benchmarked={"dim 4": {"dim": 4}},
    ),
    Registered(
        "BoxStaircase",
        "box_staircase",
        "vectors",
        "staircase of boxes, one width per coordinate",
        (
            {"epsilon": 1.0, "widths": (3.0,)},
            {"epsilon": 1.0, "widths": (1.0, 2.0, 4.0, 8.0)},
            {"epsilon": 0.01, "widths": (1.0, 10.0), "core": (0.1, 1.0)},
            {"epsilon": 1.0, "widths": (1.0, 3.0), "core": (0, 3)},
        ),
        ({"epsilon": 1e-6, "widths": (1.0, 2.0, 3.0)}, {"epsilon": 50.0, "widths": (1.0, 1e9)}),
        benchmarked={"dim 4": {"widths": (1.0, 2.0, 3.0, 10.0)}},
    ),
    Registered(
        "Geometric",
        "discrete_staircase",
        "integers",
        "least expected cost for counts",
        ({"epsilon": 1.0}, {"epsilon": 0.01}),
        ({"epsilon": 1e-6}, {"epsilon": 50.0}),
    ),
    Registered(
        "DiscreteStaircase",
        "discrete_staircase",
        "integers",
        "least expected cost on the integers",
        ({"epsilon": 0.5, "sensitivity": 10}, {"epsilon": 1e-3, "sensitivity": 1000, "r": 1000}),
        ({"epsilon": 1e-6, "sensitivity": 2**30}, {"epsilon": 50.0, "sensitivity": 2**40}),
        benchmarked={
            "sensitivity 10": {"sensitivity": 10},
            "sensitivity 10**6": {"sensitivity": 1_000_000},
        },
    ),
    Registered(
        "DiscreteLaplace",
        "discrete_laplace",
        "integers",
        "two-sided geometric",
        (
            {"epsilon": 1.0},
            {"epsilon": 0.3, "sensitivity": 7},
            {"epsilon": 1e-3, "sensitivity": 1000},
        ),
        ({"epsilon": 2.0**-12, "sensitivity": 2**40}, {"epsilon": 50.0, "sensitivity": 2**40}),
        benchmarked={"sensitivity 10": {"sensitivity": 10}},
    ),
    Registered(
        "DiscreteUniform",
        "discrete_uniform",
        "integers",
        "flat, (0, delta)-DP",
        ({"delta": 0.01, "sensitivity": 3}, {"delta": 0.07}),
        ({"delta": 2.0**-50, "sensitivity": 3}, {"delta": 0.99, "sensitivity": 5}),
        benchmarked={"delta 0.01": {"delta": 0.01}},
    ),
    Registered(
        "TruncatedDiscreteLaplace",
        "truncated_discrete_laplace",
        "integers",
        "Laplace with an end, (epsilon, delta)-DP",
        (
            {"epsilon": 0.5, "delta": 1e-4, "sensitivity": 3},
            {"epsilon": 2.0, "delta": 1e-6},
            {"epsilon": 1.0, "delta": 0.01, "sensitivity": 2**20},
        ),
        (
            {"epsilon": 1e-6, "delta": 0.1, "sensitivity": 2**32},
            {"epsilon": 50.0, "delta": 1e-3},
            {"epsilon": 1.0, "delta": 1e-30, "sensitivity": 2**40},
        ),
        benchmarked={"delta 10**-6": {"delta": 1e-6}},
    ),
    Registered(
        "StaircaseChoice",
        "staircase_choice",
        "costs",
        "picks candidates by cost, 2 epsilon-DP",
        ({"epsilon": 0.5}, {"epsilon": 2.0, "sensitivity": 3.0, "gamma": 0.25}),
    ),
)
REGISTRY = {entry.name: entry for entry in _ENTRIES}
