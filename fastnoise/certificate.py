"""What is really drawn: the epsilon and delta of the law that is implemented."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any, NamedTuple

LINE = 88
# What certificates of several laws say.
READ_BACK = (
    "the probabilities, which are integers over a power of two, read back from the tables that "
    "kernels draw from; "
)
BOUNDED = "the total variation, in interval arithmetic, table by table"


class Guarantee(NamedTuple):
    """What is proved of a law, rounded up; and on what grounds."""

    epsilon: float
    delta: float
    total_variation: float
    basis: str
    exact: str
    bounded: str
    changed: int | None = None


@dataclass(frozen=True)
class Certificate:
    """The guarantee of a mechanism as implemented, on its own grid or another.

    epsilon, delta: of the numbers that are drawn, rounded up; never above what was asked for,
        unless more elements or users change than noise is made for. inf: nothing is proved.
    total_variation: at most this far from the ideal law on the same grid.
    grid, released_sensitivity: what data is snapped to, and the sensitivity that noise on it
        covers; of boxes, one for each coordinate.
    changed: how many elements, users or coordinates may change together; None where only one draw
        may, or where it makes no difference.
    basis: "exact", from integer tables, or "bounded", from errors that are bounded by a proof.
    exact, bounded: in words, what is known exactly and what is bounded.

    >>> import fastnoise as fn
    >>> certificate = fn.Geometric(epsilon=0.5).certificate()
    >>> certificate.epsilon, certificate.delta, certificate.total_variation < 1e-60
    (0.5, 0.0, True)
    >>> certificate.to_dict()["basis"]
    'exact'
    """

    mechanism: str
    adjacency: str
    epsilon: float
    delta: float
    total_variation: float
    grid: float | tuple[float, ...]
    released_sensitivity: float | tuple[float, ...]
    changed: int | None
    basis: str
    exact: str
    bounded: str

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        """A short page.

        >>> import fastnoise as fn
        >>> print(fn.DiscreteUniform(delta=0.25).certificate())
        DiscreteUniform(delta=0.25, sensitivity=1)
          epsilon               0.0
          delta                 0.25
          adjacency             l1
          total variation       0.0
          grid                  1.0
          released sensitivity  1
          basis                 exact
          Exact: the probabilities, which are integers over a power of two, read back from the
            tables that kernels draw from; delta, which is the sensitivity times the largest of
            them; the total variation.
          Bounded: nothing.
        """
        numbers = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency,
            "changed together": self.changed,
            "total variation": self.total_variation,
            "grid": _range(self.grid),
            "released sensitivity": _range(self.released_sensitivity),
            "basis": self.basis,
        }
        lines = [f"  {name:22}{value}" for name, value in numbers.items() if value is not None]
        words = [f"Exact: {self.exact}", f"Bounded: {self.bounded}"]
        wrapped = [
            fill(text, LINE, initial_indent="  ", subsequent_indent="    ") for text in words
        ]
        return "\n".join([fill(self.mechanism, LINE, subsequent_indent="    "), *lines, *wrapped])


def _range(values: float | tuple[float, ...]) -> str:
    if not isinstance(values, tuple):
        return str(values)
    least, most = min(values), max(values)
    return str(least) if least == most else f"{least} to {most}"
