"""Models of JAX, sound and faulty: pytrees of parameters, vmap, scan, custom rules."""

import jax
import jax.numpy as jnp

from tests.corpus.models.table import (
    Run,
    agrees,
    faulty,
    finite_loss,
    nan,
    smaller,
    sound,
    wrong,
    zero,
)

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


@sound("https://github.com/jax-ml/jax/blob/main/examples/mnist_classifier_fromscratch.py")
def jax_parameters_in_a_pytree() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        for layer in parameters[:-1]:
            x = jnp.tanh(x @ layer["w"] + layer["b"])
        return cross_entropy(x @ parameters[-1]["w"] + parameters[-1]["b"])

    return Run(loss, (layers(4, 8, 8, 3), data(5, 4)), argnums=0)


@sound("https://docs.jax.dev/en/latest/automatic-vectorization.html")
def jax_vmap_over_examples() -> Run:
    def one(parameters: Layers, x: Array) -> Array:
        hidden = jax.nn.softplus(x @ parameters[0]["w"] + parameters[0]["b"])
        return (hidden @ parameters[1]["w"] + parameters[1]["b"]).sum() ** 2

    def loss(parameters: Layers, xs: Array) -> Array:
        return jax.vmap(one, in_axes=(None, 0))(parameters, xs).mean()

    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)


def recurrent(steps: int, scale: float) -> Run:
    """Read a sequence by `scan` from a state that is learnt, too."""
    parameters = {
        "start": data(6),
        "u": scale * jax.random.orthogonal(jax.random.key(2), 6),
        "w": jax.random.normal(jax.random.key(3), (3, 6)) / 2,
    }

    def loss(parameters: dict[str, Array], xs: Array) -> Array:
        def step(state: Array, x: Array) -> tuple[Array, None]:
            return jnp.tanh(state @ parameters["u"] + x @ parameters["w"]), None

        return (jax.lax.scan(step, parameters["start"], xs)[0] ** 2).sum()

    return Run(loss, (parameters, data(steps, 3)), argnums=0)


@sound("https://github.com/google-deepmind/dm-haiku/blob/main/haiku/_src/recurrent.py")
def jax_scan_over_six_steps() -> Run:
    return recurrent(6, 1.0)


@sound("https://docs.jax.dev/en/latest/advanced-autodiff.html", smooth=False)
def jax_straight_through_rounding() -> Run:
    def rounded(x: Array) -> Array:
        return x + jax.lax.stop_gradient(jnp.round(x) - x)

    def loss(parameters: Layers, x: Array) -> Array:
        hidden = rounded(jnp.tanh(x @ parameters[0]["w"]) * 4) / 4 + parameters[0]["b"]
        return cross_entropy(hidden @ parameters[1]["w"] + parameters[1]["b"])

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@sound("https://docs.kidger.site/equinox/api/debug")
def jax_where_on_both_sides() -> Run:
    def loss(scale: Array, x: Array) -> Array:
        z = scale * x
        return (jnp.where(z > 0, jnp.log(jnp.where(z > 0, z, 1.0)), 0.0) ** 2).sum()

    return Run(loss, (jnp.float32(1.5), jnp.array([-1.0, 0.0, 0.7, 2.0])), argnums=0)


@sound("https://docs.jax.dev/en/latest/gradient-checkpointing.html")
def jax_residual_blocks_computed_again() -> Run:
    @jax.checkpoint
    def block(x: Array, layer: dict[str, Array]) -> Array:
        mean, spread = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        return x + jax.nn.gelu((x - mean) / (spread + 1e-5) @ layer["w"] + layer["b"])

    def loss(parameters: dict[str, Array], x: Array) -> Array:
        end = jax.lax.scan(lambda x, layer: (block(x, layer), None), x, parameters)[0]
        return cross_entropy(end)

    stacked = jax.tree_util.tree_map(lambda *leaves: jnp.stack(leaves), *layers(5, 5, 5, 5))
    return Run(loss, (stacked, data(4, 5)), argnums=0)


@faulty(
    "https://www.mohdvasim.com/blog/deep-learning/03-activations/01-vanishing-gradient",
    "vanishing",
    "parameters|logistic",
    smaller("0[0]['w']", "0[19]['w']"),
)
def jax_twenty_sigmoid_layers() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        for layer in parameters:
            x = jax.nn.sigmoid(x @ layer["w"] + layer["b"])
        return (x**2).mean()

    return Run(loss, (layers(*[8] * 21), data(5, 8)), argnums=0)


@faulty(
    "https://aryan1113.github.io/guides/ml/adv/training_rnn",
    "vanishing",
    "start|scan",
    smaller("0['start']", "0['w']"),
)
def jax_vanishing_through_time() -> Run:
    return recurrent(40, 0.4)


@faulty(
    "https://github.com/google-deepmind/dm-haiku/issues/442",
    "cut",
    "argmax|integers|parameters[0]",
    zero("0[0]['w']", "0[0]['b']", "0[1]['w']", "0[1]['b']"),
)
def jax_argmax_in_the_loss() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        hidden = jnp.tanh(x @ parameters[0]["w"] + parameters[0]["b"])
        chosen = jnp.argmax(hidden @ parameters[1]["w"] + parameters[1]["b"], axis=1)
        return ((chosen - jnp.arange(5) % 3).astype(float) ** 2).mean()

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/jax-ml/jax/issues/347",
    "nan",
    "sqrt",
    nan("0"),
    finite_loss,
)
def jax_where_after_a_root() -> Run:
    def loss(w: Array, x: Array) -> Array:
        length = jnp.sqrt(((x * w) ** 2).sum(1))
        return jnp.where(length > 0.5, length, 1.0).sum()

    return Run(loss, (jnp.ones(2), jnp.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])), argnums=0)


@faulty("https://github.com/jax-ml/jax/issues/21723", "nan", "norm|sqrt", nan("0"), finite_loss)
def jax_norm_squared_at_zero() -> Run:
    return Run(lambda x: jnp.linalg.norm(x) ** 2 + x.sum(), (jnp.zeros(3),), argnums=0)


@jax.custom_vjp
def wave(x: Array, y: Array) -> Array:
    """Return sin(x) y, with a sign that is wrong in the second gradient."""
    return jnp.sin(x) * y


wave.defvjp(
    lambda x, y: (jnp.sin(x) * y, (x, y)),
    lambda kept, g: (jnp.cos(kept[0]) * kept[1] * g, -jnp.sin(kept[0]) * g),
)


@faulty(
    "https://github.com/jax-ml/jax/issues/13048",
    "wrong rule",
    "wave|y",
    wrong("1"),
)
def jax_rule_with_a_wrong_sign() -> Run:
    return Run(
        lambda x, y: wave(x, y).sum(), (data(4), jnp.array([1.0, 2.0, -1.0, 0.5])), argnums=(0, 1)
    )


@jax.custom_vjp
def matvec(matrix: Array, vector: Array) -> Array:
    """Return a product whose rule leaves out the vector."""
    return matrix @ vector


matvec.defvjp(
    lambda matrix, vector: (matrix @ vector, vector),
    lambda vector, g: (jnp.outer(g, vector), jnp.zeros_like(vector)),
)


@faulty(
    "https://github.com/jax-ml/jax/issues/17496",
    "wrong rule",
    "matvec|parameters['first']",
    zero("0['first']"),
    wrong("0['first']"),
)
def jax_rule_that_leaves_out_the_vector() -> Run:
    parameters = {"first": data(4, 3) / 2, "second": data(2, 4)}

    def loss(parameters: dict[str, Array], x: Array) -> Array:
        return (matvec(parameters["second"], jnp.tanh(matvec(parameters["first"], x))) ** 2).sum()

    return Run(loss, (parameters, jnp.array([0.5, -1.0, 2.0])), argnums=0)


@faulty(
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html",
    "cut",
    "stop_gradient|parameters[0]",
    zero("0[0]['w']", "0[0]['b']"),
    wrong("0[0]['w']"),
)
def jax_stop_gradient_after_the_first_layer() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        hidden = jax.lax.stop_gradient(jnp.tanh(x @ parameters[0]["w"] + parameters[0]["b"]))
        return cross_entropy(hidden @ parameters[1]["w"] + parameters[1]["b"])

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/speechbrain/speechbrain/pull/713",
    "unused",
    "parameters[1]",
    zero("0[1]['w']", "0[1]['b']"),
    agrees,
)
def jax_layer_that_is_not_used() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        x = jnp.tanh(x @ parameters[0]["w"] + parameters[0]["b"])
        return cross_entropy(x @ parameters[2]["w"] + parameters[2]["b"])

    return Run(loss, (layers(4, 8, 8, 3), data(5, 4)), argnums=0)


def classifier(parameters: Layers, x: Array) -> Array:
    hidden = jnp.tanh(x @ parameters[0]["w"] + parameters[0]["b"])
    return hidden @ parameters[1]["w"] + parameters[1]["b"]


def sums_over_rows(logs: Array) -> Array:
    return jnp.exp(logs).sum(0)


@sound("https://github.com/huggingface/transformers/pull/11920")
def jax_log_softmax_twice() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        return cross_entropy(jax.nn.log_softmax(classifier(parameters, x)))

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@sound("https://github.com/openai/CLIP/issues/83")
def jax_pairs_in_both_directions() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        near = classifier(parameters, x) @ classifier(parameters, x[::-1]).T
        rows = jnp.arange(len(x))
        return -sum(jax.nn.log_softmax(near, axis)[rows, rows].mean() for axis in (0, 1))

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@sound("https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_sigmoid.html")
def jax_two_classes_of_logits() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        z, y = classifier(parameters, x)[:, 0], jnp.arange(len(x)) % 2
        return -(y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z)).mean()

    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)


@sound("https://docs.jax.dev/en/latest/rank_promotion_warning.html")
def jax_each_output_against_each_point() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        return ((classifier(parameters, x) - jnp.linspace(-1, 1, len(x))[None, :]) ** 2).mean()

    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/runame/laplace-redux/pull/1",
    "two softmaxes",
    "softmax",
    lambda run: bool(run.f(*run.inputs) > 0.55),  # of 3 classes, with answers that are certain
)
def jax_softmax_before_cross_entropy() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        return cross_entropy(jax.nn.softmax(classifier(parameters, x)))

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/fxia22/pointnet.pytorch/issues/27",
    "softmax over the batch",
    "log_softmax",
    lambda run: bool(
        jnp.allclose(sums_over_rows(jax.nn.log_softmax(classifier(*run.inputs), axis=0)), 1)
    ),
)
def jax_log_softmax_over_the_batch() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        wanted = jax.nn.one_hot(jnp.arange(len(x)) % 3, 3)
        return -(wanted * jax.nn.log_softmax(classifier(parameters, x), axis=0)).sum(1).mean()

    return Run(loss, (layers(4, 8, 3), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/lopuhin/kaggle-imet-2019/issues/3",
    "two sigmoids",
    "sigmoid",
    lambda run: bool(run.f(*run.inputs) > 0.31),  # -log 0.7311
)
def jax_sigmoid_before_a_loss_of_logits() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        z = jax.nn.sigmoid(classifier(parameters, x)[:, 0])
        y = jnp.arange(len(x)) % 2
        return -(y * jax.nn.log_sigmoid(z) + (1 - y) * jax.nn.log_sigmoid(-z)).mean()

    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)


@faulty(
    "https://github.com/jax-ml/jax/issues/2697",
    "broadcast loss",
    "sub|pow",
    lambda run: classifier(*run.inputs).shape == (5, 1),
)
def jax_column_against_a_row() -> Run:
    def loss(parameters: Layers, x: Array) -> Array:
        return ((classifier(parameters, x) - jnp.linspace(-1, 1, len(x))) ** 2).mean()

    return Run(loss, (layers(4, 8, 1), data(5, 4)), argnums=0)
