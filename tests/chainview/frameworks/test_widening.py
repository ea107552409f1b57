"""Jaxprs that ask for single precision, and the same in double precision."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun

from chainview.frameworks._widening import narrows, widened
from tests.chainview.frameworks import corpus
from tests.support import sampled

pytestmark = pytest.mark.slow


def layers(x: Any, dtype: Any) -> Any:
    h = jnp.dot(x, x.T, preferred_element_type=dtype)
    return jax.nn.softmax(jax.nn.relu(h.astype(dtype)) + jnp.arange(3, dtype=dtype), axis=-1)


def loops(x: Any, dtype: Any) -> Any:
    h, rows = jax.lax.scan(lambda h, r: (jnp.sin(h + r), h), jnp.zeros(3, dtype), x.astype(dtype))
    h = jax.lax.fori_loop(0, 4, lambda i, h: h * 1.25, h)
    h = jax.lax.while_loop(lambda h: h.sum() < 9, lambda h: h * h + 1, jax.lax.stop_gradient(h)) + h
    return rows.sum(dtype=dtype) + jax.lax.cond(h[0] > 0, jnp.sin, jnp.cos, h)


def indices(x: Any, dtype: Any) -> Any:
    y = x.astype(dtype)
    y = y.at[1].add(y[0]).at[0].max(y[2]).at[:, 0].multiply(2.0)
    y = jnp.take_along_axis(y, jnp.argsort(y, axis=1), axis=1)
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (2, 2), (1, 1), "VALID").cumsum(0)


def algebra(x: Any, dtype: Any) -> Any:
    spd = (x @ x.T + 3 * jnp.eye(3)).astype(dtype)
    return jnp.linalg.solve(spd, jnp.linalg.cholesky(spd)) + jnp.fft.fft(x.astype(dtype)).imag


def checkpoints(x: Any, dtype: Any) -> Any:
    inside = jax.checkpoint(lambda y: jnp.sin(jnp.exp(y.astype(dtype))))
    return jax.vmap(jax.jit(inside))(x)


def rules(x: Any, dtype: Any) -> Any:
    @jax.custom_jvp
    def one(x: Any) -> Any:
        return jnp.logaddexp(x, 0).astype(dtype)

    @one.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return one(x), (t * jax.nn.sigmoid(x)).astype(dtype)

    @jax.custom_vjp
    def other(x: Any, n: Any) -> Any:
        return (x * n).astype(dtype), n + 1

    other.defvjp(lambda x, n: (other(x, n), n), lambda n, g: ((5 * g[0] * n).astype(dtype), None))
    return other(one(x.astype(dtype)), 3)[0]


@pytest.mark.parametrize(
    "f", sampled([layers, loops, indices, algebra, checkpoints, rules], layers, rules)
)
def test_what_asks_for_single_precision_is_what_asks_for_double(f):
    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(0).standard_normal((3, 3)))
        single, double = (
            jax.make_jaxpr(lambda x, dtype=dtype: f(x, dtype).sum())(x)
            for dtype in (jnp.float32, jnp.float64)
        )
        assert narrows(single)
        assert not narrows(double)
        wide = widened(single)
        assert not narrows(wide)
        assert {a.dtype for a in wide.out_avals} == {np.dtype(np.float64)}
        for loss in (lambda run: run, jax.grad):
            ours, right = (
                loss(lambda x, closed=closed: jaxpr_as_fun(closed)(x)[0])(x)
                for closed in (wide, double)
            )
            np.testing.assert_allclose(ours, right, rtol=1e-12, atol=1e-12)


def test_a_rule_of_its_own_stays():
    f, (w, x), _ = corpus.WRONG_IN_JAX["a wrong rule in single precision"]()
    with jax.enable_x64(True):
        w, x = (jnp.asarray(a, jnp.float64) for a in (w, x))
        run = jaxpr_as_fun(widened(jax.make_jaxpr(f)(w, x)))
        h = np.tanh(x @ w)
        np.testing.assert_allclose(jax.grad(lambda w: run(w, x)[0])(w), x.T @ (1 - h), rtol=1e-12)


def test_random_numbers_that_are_made_of_bits_stay():
    def f(x: Any) -> Any:
        return (x.astype(jnp.float32) * jax.random.normal(jax.random.key(0), (3,), "float32")).sum()

    x = jnp.ones(3)
    single = jax.random.normal(jax.random.key(0), (3,), "float32").sum()
    with jax.enable_x64(True):
        wide = widened(jax.make_jaxpr(f)(x.astype(jnp.float64)))
        assert not narrows(wide)
        (loss,) = jaxpr_as_fun(wide)(x.astype(jnp.float64))
    assert loss == pytest.approx(float(single), rel=1e-6)


def test_precision_that_is_reduced_on_purpose_is_narrow_in_any_case():
    with jax.enable_x64(True):
        x = jnp.ones(3, jnp.float64)
        closed = jax.make_jaxpr(lambda x: jax.lax.reduce_precision(x, 8, 7).sum())(x)
        assert narrows(closed)
        assert narrows(widened(closed))
        assert narrows(jax.make_jaxpr(lambda x: x.astype(jnp.bfloat16).sum())(x))
        assert narrows(widened(jax.make_jaxpr(lambda x: x.astype(jnp.bfloat16).sum())(x)))
        assert not narrows(
            jax.make_jaxpr(lambda x: (x.astype(jnp.int32) * jnp.float32(2)).sum())(x)
        )
