"""The one way from numba to LLVM: functions that write instructions, called like any other.

    @intrinsic
    def high_product(here, a: uint64, b: uint64) -> uint64: ...

A parameter that names a numba type is converted to it by the caller; any other is what it comes as.
The body runs when a caller is compiled, with `Number`s for numbers, `Pointer`s for arrays, and
tuples of those for tuples, named ones by their names. No result means that nothing comes back.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic as numba_intrinsic

from fastnoise_kernels import lanes
from fastnoise_kernels.lanes import FLOAT_LANES, I64, Floats, Lanes, Number
from fastnoise_kernels.pointers import Pointer


class Here(NamedTuple):
    """Where instructions go, and the processor that they are for."""

    context: Any
    builder: ir.IRBuilder

    def number(self, value: int, kind: ir.Type = I64) -> Number:
        return Number(self.builder, ir.Constant(kind, value))

    def lanes(self, value: int, kind: ir.VectorType) -> Lanes:
        return Lanes(self.builder, ir.Constant(kind, [value] * kind.count))

    def floats(self, value: float) -> Floats:
        return Floats(self.builder, ir.Constant(FLOAT_LANES, [value] * FLOAT_LANES.count))

    @property
    def fuses(self) -> bool:
        return lanes.fuses(self.context)

    @property
    def has_avx512(self) -> bool:
        return lanes.has_avx512(self.context)


def intrinsic(build: Callable[..., Any]) -> Any:
    """`build` writes the instructions of a call; its first parameter is `Here`."""
    form = inspect.signature(build, eval_str=True)
    _, *parameters = form.parameters.values()
    empty = inspect.Signature.empty
    result = types.void if form.return_annotation is empty else form.return_annotation

    @functools.wraps(build)
    def define(typing: Any, *given: Any, **named: Any) -> tuple[Any, Callable[..., Any]]:
        found = form.bind(None, *given, **named).arguments
        kinds = [found[p.name] if p.annotation is empty else p.annotation for p in parameters]
        for parameter, kind in zip(parameters, kinds, strict=True):
            if isinstance(kind, types.Array) and kind.layout != "C":
                raise TypingError(f"{build.__name__}: {parameter.name} must be contiguous: {kind}")

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> ir.Value:
            here = Here(context, builder)
            values = map(functools.partial(_value, here), signature.args, arguments)
            written = build(here, *values)
            return context.get_dummy_value() if written is None else written.value

        return result(*kinds), codegen

    return numba_intrinsic(define)


def _value(here: Here, kind: Any, value: ir.Value) -> Any:
    """An argument as `build` sees it."""
    context, builder = here
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        return Pointer(builder, array.data, Number(builder, array.nitems))
    if isinstance(kind, types.BaseTuple):
        parts = (builder.extract_value(value, i) for i in range(len(kind)))
        values = map(functools.partial(_value, here), kind, parts)
        return kind.instance_class(*values) if hasattr(kind, "instance_class") else tuple(values)
    return Number(builder, value)


def common_function(
    here: Here, name: str, kinds: list[ir.Type], write: Callable[..., None]
) -> ir.Function:
    """A function of that name, written once in a module, however many callers it has."""
    module = here.builder.module
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    function.linkage = "linkonce_odr"
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    write(builder, *function.args)
    builder.ret_void()
    return function
