"""What *The backward pass in JAX* draws: its programs and numbers are those of JAX."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from chainlab.lessons.jax_backward_pass import PROGRAMS, RECORDED, STEP, Y, values
from tests.support import each


def wave(x: jax.Array, y: jax.Array) -> jax.Array:
    return y * jnp.sin(x) + x


def operations(jaxpr: Any) -> list[str]:
    return [equation.primitive.name.removesuffix("_any") for equation in jaxpr.eqns]


@each("x", (0.0, 0.7, 2.9))
def test_the_programs_are_those_of_jax(x: float) -> None:
    _, push = jax.linearize(wave, x, Y)
    pull = jax.linear_transpose(push, x, Y)
    theirs = jax.make_jaxpr(wave)(x, Y), jax.make_jaxpr(push)(1.0, 1.0), jax.make_jaxpr(pull)(1.0)
    for jaxpr, (_, _, lines, _) in zip(theirs, PROGRAMS, strict=True):
        assert operations(jaxpr) == [operation for _, operation, _, _ in lines]
    v = values(x, "x")
    for jaxpr in theirs[1:]:
        np.testing.assert_allclose(sorted(map(float, jaxpr.consts)), sorted((v["c"], v["s"])), 1e-6)
    np.testing.assert_allclose(v["r"], wave(x, Y), rtol=1e-6)
    for changes, slope in zip("xy", pull(1.0), strict=True):
        found = values(x, changes)
        adjoint = {"x": "x̄", "y": "ȳ"}[changes]
        np.testing.assert_allclose([found["dr"], found[adjoint]], slope, 1e-6)


def test_the_recorded_gradients_are_those_of_jax() -> None:
    for k, recorded in enumerate(RECORDED):
        x = k * STEP
        found = jax.grad(wave, argnums=(0, 1))(x, Y)
        np.testing.assert_allclose(recorded, found, atol=6e-5)
        v = values(x, "x")
        np.testing.assert_allclose(recorded, (v["x̄"], v["ȳ"]), atol=6e-5)
