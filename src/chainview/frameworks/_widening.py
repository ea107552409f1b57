"""A jaxpr of JAX in double precision, where it asks for single precision, too."""

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

WIDE = {np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128)}
RULES = ("custom_jvp_call", "custom_vjp_call")
# what takes and gives bits, or arrays of somebody else's, of the types that it was written for
FIXED = ("bitcast_convert_type", "pure_callback", "io_callback", "ffi_call")


def narrows(jaxpr: Any) -> bool:
    """Return whether an equation turns double precision into less."""
    for equation in _open(jaxpr).eqns:
        given = any(_is_double(x.aval) for x in equation.invars)
        if given and any(_is_inexact(x.aval) and not _is_double(x.aval) for x in equation.outvars):
            return True
        if equation.primitive.name == "reduce_precision" and given:
            return True
        if any(map(narrows, _jaxprs(equation.params))):
            return True
    return False


def widened(closed: Any) -> Any:
    """Return the same jaxpr with double precision in place of single precision everywhere."""
    given = [_wide_type(variable.aval) for variable in _open(closed).invars]
    return jax.make_jaxpr(lambda *arrays: _run(closed, arrays))(*given)


def _run(jaxpr: Any, arrays: Sequence[Any]) -> list[Any]:
    """Run a jaxpr's equations in double precision."""
    body = _open(jaxpr)
    constants = jaxpr.consts if isinstance(jaxpr, ClosedJaxpr) else []
    known = dict(
        zip([*body.constvars, *body.invars], map(_wide, [*constants, *arrays]), strict=True)
    )

    def read(atom: Any) -> Any:
        return _wide(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in body.eqns:
        results = _equation(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, map(_wide, results), strict=True))
    return [read(atom) for atom in body.outvars]


def _equation(equation: Any, arrays: list[Any]) -> Sequence[Any]:
    primitive, params = equation.primitive, equation.params
    if primitive.name in RULES:
        return _with_its_rule(equation, arrays)
    if primitive.name in FIXED:
        arrays = [
            jnp.asarray(x, v.aval.dtype) for x, v in zip(arrays, equation.invars, strict=True)
        ]
    else:
        params = _wide_parameter(params)
    with equation.ctx.manager:
        results = primitive.bind(*arrays, **primitive.get_bind_params(params))
    return results if primitive.multiple_results else [results]


def _with_its_rule(equation: Any, arrays: list[Any]) -> Sequence[Any]:
    """Call a function that has its own derivative rule, with the pullback of that rule."""
    types = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in equation.invars]
    real = [i for i, each in enumerate(types) if jnp.issubdtype(each.dtype, jnp.inexact)]

    def called(*arrays: Any) -> list[Any]:
        with equation.ctx.manager:
            bound = equation.primitive.get_bind_params(equation.params)
            return list(equation.primitive.bind(*arrays, **bound))

    def pulled_back(arrays: Sequence[Any], cotangents: Sequence[Any]) -> Any:
        def of_real(*some: Any) -> list[Any]:
            given = dict(enumerate(arrays)) | dict(zip(real, some, strict=True))
            return [x for x in called(*given.values()) if _is_inexact(jax.typeof(x))]

        return jax.vjp(of_real, *(arrays[i] for i in real))[1](list(cotangents))

    outputs = [v.aval for v in equation.outvars if _is_inexact(v.aval)]
    cotangents = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in outputs]
    backward = jax.make_jaxpr(pulled_back)(types, cotangents)

    @jax.custom_vjp
    def wide(*arrays: Any) -> list[Any]:
        return _run(equation.params["call_jaxpr"], arrays)

    def back(arrays: Sequence[Any], received: Sequence[Any]) -> tuple[Any, ...]:
        floating = [x for x in received if x.dtype != jax.dtypes.float0]
        found = dict(zip(real, _run(backward, [*arrays, *floating]), strict=True))
        return tuple(found.get(i) for i in range(len(arrays)))

    wide.defvjp(lambda *arrays: (wide(*arrays), arrays), back)
    return wide(*arrays)


# --- types --------------------------------------------------------------------------------------


def _open(jaxpr: Any) -> Any:
    return jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr


def _jaxprs(x: Any) -> Iterator[Any]:
    """Yield the jaxprs among the parameters of an equation."""
    if isinstance(x, ClosedJaxpr | Jaxpr):
        yield x
    elif isinstance(x, dict | list | tuple):
        for part in x.values() if isinstance(x, dict) else x:
            yield from _jaxprs(part)


def _wide_parameter(x: Any) -> Any:
    if isinstance(x, ClosedJaxpr | Jaxpr):
        wide = widened(x)
        return wide if isinstance(x, ClosedJaxpr) else _without_constants(wide)
    if isinstance(x, np.dtype):
        return WIDE.get(x, x)
    if isinstance(x, dict):
        return {key: _wide_parameter(part) for key, part in x.items()}
    if isinstance(x, tuple):
        parts = map(_wide_parameter, x)
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    return x


def _without_constants(closed: Any) -> Any:
    if closed.consts:
        raise TypeError("a jaxpr within an equation has constants of its own")
    return closed.jaxpr


def _wide_type(aval: Any) -> Any:
    return jax.ShapeDtypeStruct(aval.shape, WIDE.get(aval.dtype, aval.dtype))


def _wide(x: Any) -> Any:
    dtype = jnp.result_type(x)
    return jnp.asarray(x, WIDE[dtype]) if dtype in WIDE else x


def _is_inexact(aval: Any) -> bool:
    return bool(jnp.issubdtype(aval.dtype, jnp.inexact))


def _is_double(aval: Any) -> bool:
    return aval.dtype in WIDE.values()
