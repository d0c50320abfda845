"""Is every mechanism a value, which refuses the parameters that it cannot have?"""

import copy
import dataclasses
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from law_cases import EVERY_LAW, law_name, once
from mechanisms import DRAWN, EVERY

import fastnoise as fn
from fastnoise.registry import REGISTRY

ALL = [*(m for entry in REGISTRY.values() for m in entry.build()), *EVERY, *EVERY_LAW]
VALUES = once([*ALL, fn.Staircase(0.5, 2.0, cost="l2")])


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
    assert mechanism != repr(mechanism)
    assert EVERY.count(mechanism) <= 1
    for name in (*fields, "grid", "surprise"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, 1.0)
    with pytest.raises(AttributeError):
        delattr(mechanism, next(iter(fields)))


@pytest.mark.parametrize("mechanism", DRAWN, ids=law_name)
def test_every_mechanism__draws_the_same_from_its_twin(mechanism, stream):
    twin = eval(repr(mechanism), {**vars(fn), "Fraction": Fraction})
    ours, theirs = (m.sample(5, stream=stream.at(0)) for m in (mechanism, twin))
    assert ours.tolist() == theirs.tolist()


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

NOT_POSITIVE = [0, -1, 0.0, -1.0, inf, -inf, nan, "1", True, None, 1j, 10**400]
NOT_POSITIVE += [np.array([1.0]), [1.0]]
NOT_WHOLE = [0, -1, 2.0, 1.5, nan, True, "1", "2", None, 2**58]
NO_SHARE = [0, 0.0, 1.0, 1, 2, -0.1, nan, inf, Fraction(0), Fraction(3, 2), "0.1", True, None]


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
    wrong_kind = isinstance(bad, str | bool | complex | list | np.ndarray | None) or (
        words.startswith("an integer") and isinstance(bad, float)
    )
    pattern = f"{field} must be {words}.*not {re.escape(repr(bad)[:50])}"
    with pytest.raises(TypeError if wrong_kind else ValueError, match=pattern):
        entry.cls(**{**entry.examples[0], field: bad})


@pytest.mark.parametrize("value", [-0.1, 1.1, nan, inf, "best", 1j, True, [0.5], np.array(0.5)])
def test_gamma__must_be_in_0_1(value):
    with pytest.raises((ValueError, TypeError), match="gamma must be a number in"):
        fn.Staircase(1.0, gamma=value)


def test_parameters__of_every_real_type():
    expected = fn.Staircase(2.0, 0.5)
    for two in (2, Fraction(2), np.float32(2), np.int8(2)):
        assert fn.Staircase(two, np.float64(0.5)) == expected
    with pytest.raises(TypeError, match="epsilon"):
        fn.Staircase(Decimal(2))


def test_privacy__grows_with_distance():
    privacy = fn.Staircase(0.5, 2.0).privacy
    assert [privacy.at(d) for d in (0, 1e-9, 2.0, 2.0000001, 6)] == [0, 0.5, 0.5, 1.0, 1.5]
    assert privacy.at(inf) == inf
    assert (privacy.adjacency, privacy.lipschitz, privacy.sensitivity) == ("element", None, 2.0)
    for bad in (-1, nan, "1", None):
        with pytest.raises((ValueError, TypeError), match="distance"):
            privacy.at(bad)


def test_messages__of_numbers_too_long_to_print():
    with pytest.raises(ValueError, match="epsilon must be a positive finite number"):
        fn.Staircase(10**5000)


def test_fractions__are_values_too():
    uniform = fn.DiscreteUniform(Fraction(1, 30), 3)
    again = eval(repr(uniform), {"DiscreteUniform": fn.DiscreteUniform, "Fraction": Fraction})
    assert again == uniform
    assert hash(again) == hash(uniform)
    assert uniform != fn.DiscreteUniform(1 / 30, 3)  # a float means its shortest decimal
    assert fn.DiscreteUniform(Fraction(1, 10)).pmf(0) == fn.DiscreteUniform(0.1).pmf(0)
