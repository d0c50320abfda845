"""Every wording of a bad-argument error: the argument, the value, what is allowed.

Values of parameters are shown, values of data never: of `x`, `costs` and `rows`, types, counts and
places only.

Comparisons are written so that NaN fails them: `not (value > 0)`, never `value <= 0`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from fastnoise_kernels.layout import EXACT_FLOAT

from fastnoise.arithmetic.floats import float_toward

NO_NUMBERS = (bool, np.bool_, np.timedelta64)  # though Python or NumPy count them among integers
SHOWN = 80  # characters of a value that a message repeats


def refusal(name: str, value: object, allowed: str, why: str = "") -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python will print
        text = f"a number of {type(value).__name__} with thousands of digits"
    text = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return f"{name} must be {allowed}, not {text}" + (f": {why}" if why else "")


def data_refusal(name: str, data: object, allowed: str) -> str:
    """The same for what is protected: its type alone. Messages end up in logs."""
    kind = type(data).__name__
    if isinstance(data, np.ndarray):
        kind = f"{kind} of {data.dtype.type.__name__}"  # str_, not how long the longest is
    return f"{name} must be {allowed}, not a value of type {kind}"


def data_array(name: str, data: Any, allowed: str) -> npt.NDArray[Any]:
    """`data` as an array of some dtype; numpy's own words about it may quote it.

    Integers beyond 2**53 among floats would be rounded to some, neighbours away from each other.
    """
    try:
        array = np.asarray(data)
    except MemoryError:
        raise
    except Exception:  # of any container
        raise ValueError(data_refusal(name, data, allowed)) from None
    if isinstance(data, list | tuple) and _holds_rounded_integers(data, array):
        why = "integers beyond 2**53 among others would become floats: pass an array of integers"
        raise ValueError(f"{data_refusal(name, data, allowed)} in which {why}")
    return array


def _holds_rounded_integers(data: Any, array: npt.NDArray[Any]) -> bool:
    if array.dtype.kind not in "fO" or not array.size:
        return False
    if array.dtype.kind == "f" and not np.any(np.abs(array) >= EXACT_FLOAT):
        return False
    given = np.asarray(data, object).flat
    return any(isinstance(value, Integral) and abs(int(value)) > EXACT_FLOAT for value in given)


def number(
    name: str, value: Any, allowed: str = "a real number", side: float | None = None
) -> float:
    """`value` as a float; bools, strings, complex numbers and arrays are not numbers here.

    side: where to round what is no float, inf or -inf; without it, to the nearest.
    """
    if isinstance(value, NO_NUMBERS) or not isinstance(value, Real):
        raise TypeError(refusal(name, value, allowed))
    try:
        return float(value) if side is None else float_toward(value, side)
    except OverflowError:
        raise ValueError(refusal(name, value, allowed)) from None


def exact(name: str, value: Any) -> Fraction | float:
    """A rational number as it is; of any other, the float at it or the next one up."""
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    return number(name, value, side=math.inf)


def epsilon_below(value: Any) -> float:
    """An epsilon, never more than is given."""
    return positive("epsilon", value, -math.inf)


def sensitivity_above(value: Any, name: str = "sensitivity") -> float:
    """A sensitivity, never less than is given."""
    return positive(name, value, math.inf)


def positive(name: str, value: Any, side: float) -> float:
    allowed = "a positive finite number"
    result = number(name, value, allowed, side)
    if not (0 < result < math.inf):
        raise ValueError(refusal(name, value, allowed))
    return result


def fraction(name: str, value: Any) -> float:
    allowed = "a number in [0, 1]"
    result = number(name, value, allowed)
    if not (0 <= result <= 1):
        raise ValueError(refusal(name, value, allowed))
    return result + 0.0  # -0.0 is 0.0, and must have its noise


def whole(name: str, value: Any, low: int, high: int) -> int:
    """An integer in [low, high)."""
    allowed = f"an integer in [{low}, {high})" if high < 1 << 53 else f"an integer from {low} up"
    if isinstance(value, NO_NUMBERS) or not isinstance(value, Integral):
        raise TypeError(refusal(name, value, allowed))
    result = int(value)
    if not (low <= result < high):
        raise ValueError(refusal(name, value, allowed))
    return result


def bounds(name: str, value: Any) -> tuple[float, float]:
    """(low, high) to clip to, rounded inwards, so that it is no wider; None means no clipping."""
    if value is None:
        return -math.inf, math.inf
    allowed = "a pair (low, high) of numbers with low <= high"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(refusal(name, value, allowed))
    low, high = (
        number(name, value[0], allowed, math.inf),
        number(name, value[1], allowed, -math.inf),
    )
    if not (value[0] <= value[1]) or low == math.inf or high == -math.inf:
        raise ValueError(refusal(name, value, allowed))
    return low, max(low, high)  # between two floats, it is one of them


def shape(name: str, value: Any) -> tuple[int, ...]:
    """NumPy's meaning of a size: None for a scalar, an integer, or a tuple of them."""
    lengths = () if value is None else value if isinstance(value, tuple | list) else (value,)
    allowed = "None, an integer or a tuple of integers, none of them negative"
    for length in lengths:
        if isinstance(length, NO_NUMBERS) or not isinstance(length, Integral):
            raise TypeError(refusal(name, value, allowed))
        if not (int(length) >= 0):
            raise ValueError(refusal(name, value, allowed))
    return tuple(int(length) for length in lengths)


def floats(name: str, value: Any, low: float, high: float) -> npt.NDArray[np.float64]:
    """Numbers in [low, high], as an array; NaN is not among them."""
    allowed = f"in [{low}, {high}]"
    try:
        result = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(refusal(name, value, f"numbers {allowed}")) from None
    if not np.all((result >= low) & (result <= high)):
        raise ValueError(refusal(name, value, allowed))
    return result


def integer_bounds(name: str, value: Any, least: int, most: int) -> tuple[int, int]:
    """(low, high) to clip integers of a dtype to; infinities and None mean no clipping."""
    allowed = "a pair (low, high) of integers with low <= high"
    if value is None:
        return least, most
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise TypeError(refusal(name, value, allowed))
    for bound in value:
        infinite = isinstance(bound, float) and math.isinf(bound)
        if isinstance(bound, NO_NUMBERS) or not (infinite or isinstance(bound, Integral)):
            raise TypeError(refusal(name, value, allowed))
    low, high = (bound if isinstance(bound, float) else int(bound) for bound in value)
    if not (low <= high) or low == math.inf or high == -math.inf:
        raise ValueError(refusal(name, value, allowed))
    return int(min(max(low, least), most)), int(min(max(high, least), most))


def one_of(name: str, value: Any, *choices: str) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(refusal(name, value, " or ".join(f'"{choice}"' for choice in choices)))


def power_of_two(name: str, value: Any) -> float:
    allowed = 'a power of two, "auto" or None'
    result = number(name, value, allowed, math.inf)
    exact = result == number(name, value, allowed, -math.inf)
    if not (exact and 0 < result < math.inf and math.frexp(result)[0] == 0.5):
        raise ValueError(refusal(name, value, allowed))
    return result
