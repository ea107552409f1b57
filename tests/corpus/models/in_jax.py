"""Models of JAX, faulty and sound: pytrees of parameters, vmap, scan, custom rules."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from tests.corpus.models.table import Row, Run

Array = jax.Array
Layers = list[dict[str, Array]]


def layers(*widths: int, scale: float = 1.0) -> Layers:
    keys = jax.random.split(jax.random.key(0), len(widths))
    return [
        {"w": scale * jax.random.normal(key, (m, n)) / jnp.sqrt(m), "b": jnp.zeros(n)}
        for key, m, n in zip(keys, widths, widths[1:], strict=False)
    ]


def data(*shape: int) -> Array:
    return jax.random.normal(jax.random.key(1), shape)


def cross_entropy(logits: Array) -> Array:
    labels = jnp.arange(len(logits)) % logits.shape[-1]
    return -jax.nn.log_softmax(logits)[jnp.arange(len(logits)), labels].mean()


def affine(x: Array, layer: dict[str, Array]) -> Array:
    return x @ layer["w"] + layer["b"]


def halves(between: Callable[[Array], Array] = lambda h: h, used: int = -1) -> Run:
    """Classify by two layers of three, with something between them."""

    def loss(parameters: Layers, x: Array) -> Array:
        return cross_entropy(affine(between(jnp.tanh(affine(x, parameters[0]))), parameters[used]))

    return Run(loss, (layers(4, 8, 8, 3)[:: 2 if used == -1 else 1], data(5, 4)), argnums=0)


def rows_zero() -> Run:
    def loss(scale: Array, x: Array) -> Array:
        length = jnp.sqrt(((x * scale) ** 2).sum(1))
        return jnp.where(length > 0.5, length, 1.0).sum()

    return Run(loss, (jnp.ones(2), jnp.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])), argnums=0)


def recurrent(steps: int, scale: float) -> Run:
    """Read a sequence by `scan` from a state that is learnt, too."""
    parameters = {
        "start": data(6),
        "u": scale * jax.random.orthogonal(jax.random.key(2), 6),
        "w": jax.random.normal(jax.random.key(3), (3, 6)) / 2,
    }

    def loss(p: dict[str, Array], xs: Array) -> Array:
        step = lambda state, x: (jnp.tanh(state @ p["u"] + x @ p["w"]), None)  # noqa: E731
        return (jax.lax.scan(step, p["start"], xs)[0] ** 2).sum()

    return Run(loss, (parameters, data(steps, 3)), argnums=0)


def twenty_sigmoids() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        for layer in parameters:
            x = jax.nn.sigmoid(affine(x, layer))
        return (x**2).mean()

    return Run(loss, (layers(*[8] * 21), data(5, 8)), argnums=0)


@jax.custom_vjp
def wave(x: Array, y: Array) -> Array:
    """Return sin(x) y, with a sign that is wrong in the second gradient."""
    return jnp.sin(x) * y


wave.defvjp(
    lambda x, y: (jnp.sin(x) * y, (x, y)),
    lambda kept, g: (jnp.cos(kept[0]) * kept[1] * g, -jnp.sin(kept[0]) * g),
)


@jax.custom_vjp
def matvec(matrix: Array, vector: Array) -> Array:
    """Return a product whose rule leaves out the vector."""
    return matrix @ vector


matvec.defvjp(
    lambda matrix, vector: (matrix @ vector, vector),
    lambda vector, g: (jnp.outer(g, vector), jnp.zeros_like(vector)),
)


def left_out() -> Run:
    matrix = data(2, 4)
    return Run(lambda x: (matvec(matrix, x) ** 2).sum(), (data(4),), argnums=0)


FAULTY: dict[str, Row] = {
    "twenty sigmoid layers": Row(twenty_sigmoids, "vanishing", ("parameters[",)),
    "vanishing through time": Row(lambda: recurrent(40, 0.4), "vanishing", ("step",)),
    # dm-haiku/issues/442; docs.jax.dev stop_gradient; speechbrain/pull/713
    "argmax between": Row(
        lambda: halves(lambda h: jax.nn.one_hot(h.argmax(1), 8)),
        "no gradient", ("parameters[0]", "0[0]")),
    "stop_gradient after the first layer": Row(
        lambda: halves(jax.lax.stop_gradient), "no gradient", ("parameters[0]", "0[0]")),
    "layer that is not used": Row(
        lambda: halves(used=2), "no gradient", ("parameters[1]", "0[1]")),
    # jax/issues/347, 21723, 13048, 17496
    "where after a root": Row(rows_zero, "not finite", ("sqrt",)),
    "norm squared at zero": Row(
        lambda: Run(lambda x: jnp.linalg.norm(x) ** 2 + x.sum(), (jnp.zeros(3),), argnums=0),
        "not finite", ("sqrt",)),
    "rule with a wrong sign": Row(
        lambda: Run(lambda x, y: wave(x, y).sum(), (data(4), data(4) + 1), argnums=(0, 1)),
        "wrong gradient", ("y",)),
    "rule that leaves out the vector": Row(left_out, "wrong gradient", ("x",), "zero"),
}  # fmt: skip


def straight_through(h: Array) -> Array:
    return h + jax.lax.stop_gradient(jnp.round(4 * h) / 4 - h)


def over_examples() -> Run:
    one = lambda p, x: affine(jax.nn.softplus(affine(x, p[0])), p[1]).sum() ** 2  # noqa: E731
    loss = lambda p, xs: jax.vmap(one, in_axes=(None, 0))(p, xs).mean()  # noqa: E731
    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)


def where_on_both_sides() -> Run:
    def loss(scale: Array, x: Array) -> Array:
        z = scale * x
        return (jnp.where(z > 0, jnp.log(jnp.where(z > 0, z, 1.0)), 0.0) ** 2).sum()

    return Run(loss, (jnp.float32(1.5), jnp.array([-1.0, 0.0, 0.7, 2.0])), argnums=0)


def computed_again() -> Run:
    @jax.checkpoint
    def block(x: Array, layer: dict[str, Array]) -> Array:
        spread = x.std(-1, keepdims=True) + 1e-5
        return x + jax.nn.gelu(affine((x - x.mean(-1, keepdims=True)) / spread, layer))

    def loss(parameters: dict[str, Array], x: Array) -> Array:
        end = jax.lax.scan(lambda x, layer: (block(x, layer), None), x, parameters)[0]
        return cross_entropy(end)

    stacked = jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *layers(5, 5, 5, 5))
    return Run(loss, (stacked, data(4, 5)), argnums=0)


SOUND: dict[str, Row] = {
    name: Row(build)
    for name, build in {
        "parameters in a pytree": halves,
        "straight-through rounding": lambda: halves(straight_through),
        "vmap over examples": over_examples,
        "scan over six steps": lambda: recurrent(6, 1.0),
        "where on both sides": where_on_both_sides,
        "residual blocks computed again": computed_again,
    }.items()
}
