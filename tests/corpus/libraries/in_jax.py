"""Models of flax, equinox and haiku, as their guides write them."""

from typing import Any

import jax
import jax.numpy as jnp

from tests.corpus.models.in_jax import cross_entropy, data
from tests.corpus.models.table import Run

KEY = jax.random.key(0)


def flax_run(model: Any, x: jax.Array) -> Run:
    given = model.init({"params": KEY, "dropout": KEY}, x)
    parameters, state = given["params"], {k: v for k, v in given.items() if k != "params"}

    def loss(parameters: Any, x: jax.Array) -> jax.Array:
        out, _ = model.apply(
            {"params": parameters, **state}, x, mutable=list(state), rngs={"dropout": KEY}
        )
        return cross_entropy(out)

    return Run(loss, (parameters, x), argnums=0)


def mlp_with_layer_norm() -> Run:
    from flax import linen as nn

    parts = nn.Dense(16), nn.relu, nn.LayerNorm(), nn.Dense(5)
    return flax_run(nn.Sequential(parts), data(8, 12))


def convolutions_with_batch_norm() -> Run:
    from flax import linen as nn

    parts = (
        nn.Conv(4, (3, 3)),
        nn.BatchNorm(use_running_average=False),
        nn.relu,
        nn.Dropout(0.2, deterministic=False),
        lambda x: x.reshape(len(x), -1),
        nn.Dense(5),
    )
    return flax_run(nn.Sequential(parts), data(6, 6, 6, 1))


def self_attention() -> Run:
    from flax import linen as nn

    parts = (
        nn.Dense(16),
        nn.MultiHeadDotProductAttention(num_heads=4),
        nn.LayerNorm(),
        lambda x: x.mean(1),
        nn.Dense(5),
    )
    return flax_run(nn.Sequential(parts), data(4, 6, 8))


def lstm() -> Run:
    from flax import linen as nn

    parts = nn.RNN(nn.LSTMCell(8)), lambda x: x[:, -1], nn.Dense(3)
    return flax_run(nn.Sequential(parts), data(4, 10, 5))


def nnx_mlp() -> Run:
    from flax import nnx

    rngs = nnx.Rngs(0)
    model = nnx.Sequential(nnx.Linear(12, 16, rngs=rngs), nnx.gelu, nnx.Linear(16, 5, rngs=rngs))
    graph, state = nnx.split(model)
    return Run(
        lambda state, x: cross_entropy(nnx.merge(graph, state)(x)), (state, data(8, 12)), argnums=0
    )


def equinox_run(model: Any, x: jax.Array) -> Run:
    import equinox as eqx

    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    return Run(
        lambda arrays, x: cross_entropy(jax.vmap(eqx.combine(arrays, rest))(x)),
        (arrays, x),
        argnums=0,
    )


def mlp() -> Run:
    import equinox as eqx

    return equinox_run(eqx.nn.MLP(12, 5, 16, 2, key=KEY), data(8, 12))


def convolutions() -> Run:
    import equinox as eqx

    parts = (
        eqx.nn.Conv2d(1, 4, 3, key=KEY),
        eqx.nn.Lambda(jax.nn.relu),
        eqx.nn.Lambda(jnp.ravel),
        eqx.nn.Linear(64, 5, key=KEY),
    )
    return equinox_run(eqx.nn.Sequential(parts), data(6, 1, 6, 6))


def gru() -> Run:
    import equinox as eqx

    cell, head = eqx.nn.GRUCell(4, 8, key=KEY), eqx.nn.Linear(8, 3, key=KEY)
    arrays, rest = eqx.partition((cell, head), eqx.is_inexact_array)

    def loss(arrays: Any, xs: jax.Array) -> jax.Array:
        cell, head = eqx.combine(arrays, rest)

        def last(x: jax.Array) -> jax.Array:
            return jax.lax.scan(lambda h, i: (cell(i, h), None), jnp.zeros(8), x)[0]

        return cross_entropy(jax.vmap(lambda x: head(last(x)))(xs))

    return Run(loss, (arrays, data(4, 10, 4)), argnums=0)


def haiku_run(call: Any, x: jax.Array) -> Run:
    import haiku

    network = haiku.transform_with_state(call)
    parameters, state = network.init(KEY, x)
    return Run(
        lambda parameters, x: cross_entropy(network.apply(parameters, state, KEY, x)[0]),
        (parameters, x),
        argnums=0,
    )


def mlp_with_dropout() -> Run:
    import haiku

    return haiku_run(lambda x: haiku.nets.MLP([16, 5])(x, 0.2, haiku.next_rng_key()), data(8, 12))


def residual_block() -> Run:
    import haiku

    def call(x: jax.Array) -> jax.Array:
        inner = jax.nn.relu(
            haiku.BatchNorm(True, True, 0.9)(haiku.Conv2D(4, 3)(x), is_training=True)
        )
        return haiku.Linear(5)(haiku.Flatten()(haiku.Conv2D(4, 1)(x) + haiku.Conv2D(4, 3)(inner)))

    return haiku_run(call, data(4, 6, 6, 1))


def core_over_time() -> Run:
    import haiku

    def call(x: jax.Array) -> jax.Array:
        core = haiku.LSTM(8)
        return haiku.Linear(3)(haiku.dynamic_unroll(core, x, core.initial_state(4))[0][-1])

    return haiku_run(call, data(10, 4, 5))


BUILDS = {
    "flax": (mlp_with_layer_norm, convolutions_with_batch_norm, self_attention, lstm, nnx_mlp),
    "equinox": (mlp, convolutions, gru),
    "haiku": (mlp_with_dropout, residual_block, core_over_time),
}
