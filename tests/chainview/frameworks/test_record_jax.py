"""JAX's functions, walked by its own rules: sums of shares against ``jax.grad``."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chaingrad.account import saved_bytes
from chaingrad.messages import Message
from chainview import draw_graph
from chainview.frameworks import diagnose, watch_jax
from chainview.frameworks.run import Summary, summary
from chainview.player.watch import written_by
from tests.support import sampled

pytestmark = pytest.mark.slow


def randoms(*shapes, seed=0):
    generator = np.random.default_rng(seed)
    return [jnp.asarray(generator.standard_normal(shape)) for shape in shapes]


def mlp(p, x):
    h = jax.nn.relu(x @ p["w"] + p["b"])
    return -jax.nn.log_softmax(h @ p["v"])[:, 0].mean()


def rnn(p, x):
    def step(h, row):
        h = jnp.tanh(row @ p["w"] + h @ p["u"])
        return h, h.sum()

    h, sums = jax.lax.scan(step, jnp.zeros((2, 4)), x)
    return (h**2).sum() + sums[::2].sum()


def attention(p, x):
    with jax.named_scope("block"):
        q, k, v = (x @ p[name] for name in "qkv")
        a = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 2.0)
        y = a @ v + x
    return (y * y.mean(-1, keepdims=True)).sum()


@jax.custom_vjp
def clipped(x):
    return x * 2


clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g, -0.5, 0.5),))


@jax.custom_jvp
def softplus(x):
    return jnp.logaddexp(x, 0.0)


softplus.defjvp(lambda x, t: (softplus(x[0]), t[0] * jax.nn.sigmoid(x[0])))


def many(p, x):
    y = jax.jit(lambda x: softplus(x) * clipped(x))(x @ p["w"])
    y = jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)))(y)
    y = jax.vmap(lambda row: row[jnp.argsort(row)] * row)(y)
    y = jax.lax.cond(y.sum() > 0, lambda y: y * 3, lambda y: y**2, y)
    y = jax.lax.conv(y[None, None], p["c"], (1, 1), "SAME")
    return jnp.sort(y.ravel())[-3:].prod() + jax.lax.stop_gradient(y).sum() * y[0, 0, 0, 0]


def long_scan(p, x):
    return jax.lax.scan(lambda h, _: (jnp.tanh(h @ p["w"]), None), x, None, length=60)[0].sum()


def backward_scan(p, x):
    return jax.lax.scan(lambda h, r: (h * p["w"] + r, h), 0.0, x, reverse=True)[1].sum()


CASES = {
    "mlp": (mlp, {"w": (3, 5), "b": (5,), "v": (5, 4)}, (6, 3)),
    "rnn": (rnn, {"w": (3, 4), "u": (4, 4)}, (20, 2, 3)),
    "attention": (attention, {"q": (4, 4), "k": (4, 4), "v": (4, 4)}, (2, 5, 4)),
    "many": (many, {"w": (3, 5), "c": (1, 1, 2, 2)}, (4, 3)),
    "long scan": (long_scan, {"w": (3, 3)}, (2, 3)),
    "backward scan": (backward_scan, {"w": ()}, (7,)),
}


def made(name):
    f, shapes, shape = CASES[name]
    arrays = randoms(*shapes.values(), shape)
    return f, dict(zip(shapes, arrays, strict=False)), arrays[-1]


@pytest.mark.parametrize(
    ("name", "wide"),
    sampled(
        [*((name, True) for name in CASES), ("mlp", False), ("attention", False)],
        ("mlp", True),
        ("attention", False),
    ),
)
def test_shares_add_up_to_the_gradient_that_jax_finds(name, wide):
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        f, p, x = made(name)
        watched = watch_jax(f, p, x, argnums=(0, 1))
        value, (dp, dx) = jax.value_and_grad(f, (0, 1))(p, x)
        tolerance = 1e-12 if wide else 1e-5
        np.testing.assert_allclose(watched.loss.data, value, rtol=tolerance)
        for label, right in [*((f"p['{k}']", g) for k, g in dp.items()), ("x", dx)]:
            leaf = watched[label]
            assert leaf.grad.dtype == right.dtype
            scale = float(jnp.abs(right).max())
            np.testing.assert_allclose(leaf.grad, right, rtol=0, atol=tolerance * scale)
            shares = [
                e.share for e in watched.events if isinstance(e, Message) and e.parent is leaf
            ]
            np.testing.assert_allclose(sum(shares), right, rtol=0, atol=tolerance * scale)


def rnn_written_out(p, x):
    h, total = jnp.zeros((2, 4)), 0.0
    for i in range(len(x)):
        row = jax.lax.dynamic_index_in_dim(x, i, keepdims=False)
        h = jnp.tanh(row @ p["w"] + h @ p["u"])
        total = total + h.sum() if i % 2 == 0 else total
    return (h**2).sum() + total


KEPT = [name for name in CASES if name not in ("rnn", "backward scan")]


@pytest.mark.parametrize("argnums", [0, pytest.param((0, 1), marks=pytest.mark.full)])
@pytest.mark.parametrize("name", sampled(KEPT, "mlp"))
def test_kept_bytes_are_those_of_the_pullback(name, argnums):
    f, p, x = made(name)
    watched = watch_jax(f, p, x, argnums=argnums)
    found = saved_bytes(f, p, x) if argnums else saved_bytes(lambda p: f(p, x), p, given=[x])
    # jax.vjp keeps numbers written into the function, too
    assert watched.kept == pytest.approx(found, abs=8)
    assert watched.kept > 0


def test_an_unrolled_scan_keeps_what_its_steps_do_when_written_out():
    f, p, x = made("rnn")
    assert jnp.allclose(rnn_written_out(p, x), f(p, x), rtol=1e-5)
    assert watch_jax(f, p, x).kept == saved_bytes(lambda p: rnn_written_out(p, x), p, given=[x])


def test_each_equation_keeps_what_its_rule_reads_and_nothing_twice():
    def f(w, x):
        h = jnp.tanh(x @ w)
        return (h * jnp.exp(h)).sum() + jax.lax.stop_gradient(jnp.sin(h)).sum()

    watched = watch_jax(f, jnp.ones((3, 5)), jnp.ones((2, 3)))
    kept = {value.op: value.kept for value in watched.values if value.parents}
    assert {op for op, size in kept.items() if size} == {"tanh", "exp"}  # sin has no way back
    assert kept["exp"] == 2 * 5 * 4  # its result, which the product reads, too


def test_a_checkpoint_keeps_what_it_is_given():
    def f(w, x, policy=None):
        inside = lambda y: jnp.sin(jnp.sin(jnp.exp(y @ w)) @ w.T)  # noqa: E731
        return jax.checkpoint(inside, policy=policy)(jnp.sin(x @ w) @ w.T).sum()

    w, x = jnp.ones((3, 5)), jnp.ones((2, 3))
    watched = watch_jax(f, w, x)
    assert watched.kept == saved_bytes(lambda w: f(w, x), w, given=[x])
    chosen = lambda w: f(w, x, jax.checkpoint_policies.dots_saveable)  # noqa: E731
    boxes = watch_jax(chosen, w)
    assert any(value.op.startswith("<lambda> (") for value in boxes.values)
    assert boxes.kept == saved_bytes(chosen, w, given=[x]) > watched.kept


def test_what_has_a_rule_of_its_own_is_one_box_that_says_so():
    f, p, x = made("many")
    boxes = {value.op: value.note for value in watch_jax(f, p, x).values if value.note}
    assert set(boxes) == {"softplus (custom_jvp_call)", "clipped (custom_vjp_call)"}
    assert set(boxes.values()) == {"one function, with a rule of its own"}


def test_only_what_is_asked_for_is_differentiated():
    f, p, x = made("mlp")
    watched = watch_jax(f, p, x)
    assert watched["x"].grad is None
    assert not watched["x"].requires_grad
    assert watch_jax(f, p, x, argnums=1)["p['w']"].grad is None


def test_a_while_loop_goes_forward_alone():
    def root(x, y):
        return jax.lax.while_loop(lambda v: v < 10.0, lambda v: v * 2, x) * y

    assert watch_jax(root, 1.0, 3.0, argnums=1)["y"].grad == 16.0
    with pytest.raises(ValueError, match=r"while_loop.*scan"):
        watch_jax(root, 1.0, 3.0)


def test_keys_are_no_numbers_and_can_be_inputs():
    def noisy(w, key):
        return (w * jax.random.normal(key, (3,))).sum()

    key = jax.random.key(1)
    watched = watch_jax(noisy, jnp.ones(3), key)
    np.testing.assert_allclose(watched["w"].grad, jax.grad(noisy)(jnp.ones(3), key), rtol=1e-6)


@pytest.mark.walk
@pytest.mark.parametrize("split", [False, True])
def test_keys_of_the_closure_are_no_numbers_either(split):
    key = jax.random.key(1)

    def noisy(w):
        own = jax.random.split(key)[0] if split else key
        return (w * jax.random.normal(own, (3,))).sum()

    watched = watch_jax(noisy, jnp.ones(3))
    np.testing.assert_allclose(watched["w"].grad, jax.grad(noisy)(jnp.ones(3)), rtol=1e-6)
    assert diagnose(watched).is_sound
    draw_graph(jax.make_jaxpr(noisy)(jnp.ones(3)))


def test_above_a_number_of_bytes_only_summaries_are_kept():
    f, p, x = made("mlp")
    whole, summed = watch_jax(f, p, x), watch_jax(f, p, x, most=200)
    assert whole.complete
    assert not summed.complete
    for one, other in zip(whole.events, summed.events, strict=True):
        one, other = (summary(written_by(event)[1]) for event in (one, other))
        assert one.norm == pytest.approx(other.norm, rel=1e-6)
    assert any(isinstance(written_by(event)[1], Summary) for event in summed.events)


def test_losses_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"float32\[2\].*mean"):
        watch_jax(lambda x: x * 2, jnp.ones(2))
    with pytest.raises(TypeError, match="gives 2 arrays"):
        watch_jax(lambda x: (x, x), 1.0)
    with pytest.raises(ValueError, match="argnums names argument 2; there are 1"):
        watch_jax(lambda x: x, 1.0, argnums=2)
    with pytest.raises(ValueError, match="stop_gradient"):
        watch_jax(lambda x: jax.lax.stop_gradient(x) * 2.0, 1.0)
