"""Is every mechanism a value, which refuses the parameters that it cannot have?"""

import copy
import dataclasses
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest
from law_cases import EVERY_LAW, law_name, once
from mechanisms import EVERY

import fastnoise as fn
from fastnoise.registry import REGISTRY

VALUES = once([*(m for entry in REGISTRY.values() for m in entry.build()), *EVERY, *EVERY_LAW])


@pytest.mark.parametrize("mechanism", VALUES, ids=law_name)
def test_mechanism__is_a_value(mechanism):
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism == copy.deepcopy(mechanism)
    assert len({mechanism, again}) == 1
    names = {name: getattr(fn, name) for name in REGISTRY} | {"Fraction": Fraction}
    assert eval(repr(mechanism), names) == mechanism
    fields = {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}
    listed = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    assert repr(mechanism) == f"{type(mechanism).__name__}({listed})"
    for name in fields:
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 1.0)


@pytest.mark.parametrize("name", REGISTRY)
def test_mechanism__numpy_numbers_are_python_numbers(name):
    """Whole floats may be given as integers, but not integers as floats."""
    for example, mechanism in zip(REGISTRY[name].examples, REGISTRY[name].build(), strict=True):
        of_numpy = {
            key: {int: np.int64, float: np.float64}.get(type(value), lambda x: x)(value)
            for key, value in example.items()
        }
        again = REGISTRY[name].cls(**of_numpy)
        assert again == mechanism
        assert hash(again) == hash(mechanism)
        assert repr(again) == repr(mechanism)


# --- refusals -------------------------------------------------------------------------------------

NOT_POSITIVE = [0, 0.0, -1.0, math.inf, math.nan, "1", True, None, 1j, 10**400]
NOT_WHOLE = [0, -1, 2.0, 1.5, True, "1", None]
NO_SHARE = [0.0, 1.0, 1, -0.1, math.nan, Fraction(0), Fraction(3, 2), "0.1", True, None]


def bad_parameters():
    """(mechanism, parameter, bad value, what it must be) of all that are registered."""
    for name, entry in REGISTRY.items():
        fields = set(entry.cls.__dataclass_fields__)
        whole = {"dim", "sensitivity"} if entry.takes == "integers" else {"dim"}
        for field in sorted(fields & {"epsilon", "sensitivity", "delta", "dim"}):
            if field in whole:
                bad, words = NOT_WHOLE, "an integer (from |in .)1"
            elif field == "delta":
                bad, words = NO_SHARE, ".*between 0 and 1"
            else:
                bad, words = NOT_POSITIVE, "a positive finite number"
            yield from ((name, field, value, words) for value in bad)


@pytest.mark.parametrize(
    ("name", "field", "bad", "words"), list(bad_parameters()), ids=lambda x: str(x)[:40]
)
def test_mechanism__bad_parameter_is_named(name, field, bad, words):
    entry = REGISTRY[name]
    wrong_kind = isinstance(bad, str | bool | complex | None) or (
        words.startswith("an integer") and isinstance(bad, float)
    )
    pattern = f"{field} must be {words}.*not {re.escape(repr(bad)[:50])}"
    with pytest.raises(TypeError if wrong_kind else ValueError, match=pattern):
        entry.cls(**{**entry.examples[0], field: bad})
