"""Functions with right gradients that differences cannot confirm, and functions with wrong ones.

Each has a name and gives a function, its inputs, and in PyTorch the module that it trains.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.utils.checkpoint
from torch import nn

Case = tuple[Callable[..., Any], tuple[Any, ...], Any]
Made = Callable[[], Case]
HEALTHY: dict[str, Made] = {}
WRONG: dict[str, Made] = {}
HEALTHY_IN_JAX: dict[str, Made] = {}
WRONG_IN_JAX: dict[str, Made] = {}


def case(where: dict[str, Made]) -> Callable[[Made], Made]:
    def enter(make: Made) -> Made:
        where[make.__name__.strip("_").replace("_", " ")] = make
        return make

    return enter


def leaf(*entries: float, dtype: Any = None) -> Any:
    return torch.tensor(entries, requires_grad=True, dtype=dtype)


# --- kinks --------------------------------------------------------------------------------------


@case(HEALTHY)
def relu_at_0_of_zero_biases_and_padding_rows() -> Case:
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    nn.init.zeros_(model[0].bias)
    x = torch.randn(6, 3)
    x[3:] = 0.0
    return lambda x: nn.functional.cross_entropy(model(x), torch.tensor([0, 1] * 3)), (x,), model


@case(HEALTHY)
def relu_of_zeros_in_two_layers() -> Case:
    model = nn.Sequential(*(m for _ in range(3) for m in (nn.Linear(6, 6), nn.ReLU())))
    for layer in model[::2]:
        nn.init.zeros_(layer.bias)
    return (
        lambda x: model(x).sum(),
        (torch.randn(4, 6).relu() * torch.tensor([[0.0], [1]] * 2),),
        model,
    )


@case(HEALTHY)
def relus_at_0_whose_corners_cancel() -> Case:
    return lambda w: (w.relu() - (-w).relu()).sum() + w.square().sum(), (leaf(0.0, 1.0),), None


@case(HEALTHY)
def max_pool_of_equal_pixels() -> Case:
    pixels = torch.full((1, 1, 4, 4), 0.5, requires_grad=True)
    conv = nn.Conv2d(1, 2, 1)
    return lambda x: nn.functional.max_pool2d(conv(x), 2).square().sum(), (pixels,), conv


@case(HEALTHY)
def a_hinge_at_its_corner() -> Case:
    w = leaf(1.0, -1.0, 0.5)
    return lambda w: (1 - w * torch.tensor([1.0, -1.0, 1.0])).clamp(min=0).sum(), (w,), None


@case(HEALTHY)
def the_median_of_ties() -> Case:
    return (
        lambda w: w.median() * 3 + w.max() * 2 + w.min() + w.sum(),
        (leaf(1.0, 2, 2, 2, 3),),
        None,
    )


@case(HEALTHY)
def absolute_values_and_a_norm_at_0() -> Case:
    return lambda w: w.abs().sum() + (3 * w[:2]).norm() + w.sum(), (leaf(0.0, 0.0, 1.0),), None


@case(HEALTHY)
def sorted_ties() -> Case:
    weights = torch.tensor([1.0, 2.0, 4.0])
    return lambda w: (w.sort().values * weights).sum(), (leaf(1.0, 1.0, 0.0),), None


@case(HEALTHY)
def a_kink_beside_the_point() -> Case:
    w = leaf(5e-7, 2e-8, 1.0, dtype=torch.float64)
    return lambda w: (w.relu() * 3).sum() + w.square().sum(), (w,), None


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 2, 3, padding=1), nn.Conv2d(2, 2, 3, padding=1)
        self.first, self.last = nn.BatchNorm2d(2), nn.BatchNorm2d(2)
        nn.init.zeros_(self.last.weight)

    def forward(self, x: Any) -> Any:
        return (self.last(self.b(self.first(self.a(x)).relu())) + x).relu()


@case(HEALTHY)
def a_residual_block_that_starts_as_the_identity() -> Case:
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), Block(), Block(), nn.Flatten(), nn.Linear(72, 3)
    )
    labels = torch.randint(3, (4,))
    return (
        lambda x: nn.functional.cross_entropy(model(x), labels),
        (torch.randn(4, 1, 8, 8),),
        model,
    )


# --- single precision, asked for ----------------------------------------------------------------


class RMSNorm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Any) -> Any:
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([RMSNorm(width), RMSNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norms[0](x)).chunk(3, -1)
        mask = torch.full((x.shape[1],) * 2, torch.finfo(x.dtype).min, dtype=x.dtype).triu(1)
        scores = q @ k.transpose(-1, -2) / x.shape[-1] ** 0.5 + mask
        x = x + self.out(nn.functional.softmax(scores, -1, dtype=torch.float32).to(x.dtype) @ v)
        return x + self.mlp(self.norms[1](x))


class Language(nn.Module):
    """A causal language model whose logits and norms ask for single precision."""

    def __init__(self, checkpointed: bool) -> None:
        super().__init__()
        self.embed, self.checkpointed = nn.Embedding(11, 8), checkpointed
        self.layers = nn.ModuleList([Layer(8), Layer(8)])
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Any) -> Any:
        place = torch.arange(tokens.shape[1], dtype=torch.float32)[:, None]
        x = self.embed(tokens) + torch.sin(place / torch.arange(1, 9, dtype=torch.float32))
        for layer in self.layers:
            if self.checkpointed:
                x = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        logits = self.head(x).float()
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


@case(HEALTHY)
def a_causal_language_model() -> Case:
    model = Language(checkpointed=False)
    return model, (torch.randint(11, (2, 6)),), model


@case(HEALTHY)
def a_causal_language_model_with_checkpoints() -> Case:
    model = Language(checkpointed=True)
    return model, (torch.randint(11, (2, 6)),), model


@case(HEALTHY)
def sums_and_constants_in_single_precision() -> Case:
    model = nn.Linear(4, 3)
    scale = torch.rand(3)

    def loss(x: Any) -> Any:
        y = model(x).type(torch.FloatTensor)
        y = y * torch.tensor([1.0, 2.0, 3.0], dtype=torch.float32) + torch.zeros(
            3, dtype=torch.float32
        )
        y = y @ torch.from_numpy(np.eye(3, dtype=np.float32)) + scale
        return y.log_softmax(-1, dtype=torch.float32).sum(dtype=torch.float32)

    return loss, (torch.randn(5, 4),), model


@case(HEALTHY)
def a_workspace_in_single_precision() -> Case:
    model, held = nn.Linear(4, 3), [torch.zeros(5, 3)]  # not to be found in the function

    def loss(x: Any) -> Any:
        rows = held[0].detach()
        rows[1:4] = model(x)[1:4]
        return rows.square().sum()

    return loss, (torch.randn(5, 4),), model


class InNumPy(torch.autograd.Function):
    """A right function, in single precision where no mode of PyTorch sees it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.from_numpy(np.tanh(x.detach().numpy().astype(np.float32)) + np.float32(5)).to(
            x
        )

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * (1 - x.tanh() ** 2)


@case(HEALTHY)
def single_precision_in_numpy() -> Case:
    model = nn.Linear(3, 2)
    return lambda x: InNumPy.apply(model(x)).sum(), (torch.randn(4, 3),), model


# --- state and hooks ----------------------------------------------------------------------------


class Counting(nn.Linear):
    calls, cache = 0, 0.0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        self.cache = 0.9 * self.cache + super().forward(x).detach().mean()
        return super().forward(x) * self.calls + self.cache


@case(HEALTHY)
def a_module_with_a_cache_and_a_counter() -> Case:
    model = Counting(3, 2)
    return lambda x: model(x).square().mean(), (torch.randn(4, 3),), model


@case(HEALTHY)
def a_list_that_grows() -> Case:
    model, seen = nn.Linear(3, 2), []

    def loss(x: Any) -> Any:
        seen.append(model(x))
        return torch.stack([y.detach() for y in seen]).mean() * seen[-1].sum()

    return loss, (torch.randn(4, 3),), model


@case(HEALTHY)
def numbers_of_a_generator_of_its_own() -> Case:
    model, generator = nn.Linear(3, 2), np.random.default_rng(0)
    return lambda x: model(x).square().mean() * generator.random(), (torch.randn(4, 3),), model


@case(HEALTHY)
def a_hook_that_clips() -> Case:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))

    def loss(x: Any) -> Any:
        h = model[1](model[0](x))
        h.register_hook(lambda grad: grad.clamp(-0.01, 0.01))
        return model[2](h).square().sum()

    return loss, (torch.randn(4, 3),), model


@case(HEALTHY)
def a_hook_of_a_parameter_that_clips() -> Case:
    model = nn.Linear(3, 4)
    model.weight.register_hook(lambda grad: grad.clamp(-0.01, 0.01))
    return lambda x: model(x).square().sum(), (torch.randn(4, 3),), model


@case(HEALTHY)
def a_hook_of_a_module_that_scales() -> Case:
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model[1].register_full_backward_hook(lambda module, given, sent: (given[0] * 0.1,))
    return lambda x: model(x).square().sum(), (torch.randn(4, 3),), model


# --- gradients that are no derivatives, by design -----------------------------------------------


class Rounded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return (x * 8).round() / 8

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


@case(HEALTHY)
def a_straight_through_estimator() -> Case:
    model = nn.Linear(3, 2)
    return lambda x: Rounded.apply(model(x)).square().sum(), (torch.randn(4, 3),), model


@case(HEALTHY)
def a_straight_through_estimator_by_detach() -> Case:
    model = nn.Linear(3, 2)

    def loss(x: Any) -> Any:
        h = model(x)
        return (h + (h.round() - h).detach()).square().sum()

    return loss, (torch.randn(4, 3),), model


@case(HEALTHY)
def quantization_that_the_framework_fakes() -> Case:
    model = nn.Linear(3, 2)

    def loss(x: Any) -> Any:
        return torch.fake_quantize_per_tensor_affine(model(x), 0.1, 0, -128, 127).square().sum()

    return loss, (torch.randn(4, 3),), model


@case(HEALTHY)
def an_embedding_whose_padding_gets_no_gradient() -> Case:
    embed = nn.Embedding(5, 3, padding_idx=0)
    nn.init.normal_(embed.weight)
    return lambda t: embed(t).square().sum(), (torch.tensor([[1, 0, 0, 2], [3, 4, 0, 0]]),), embed


@case(HEALTHY)
def an_embedding_scaled_by_frequency() -> Case:
    embed = nn.Embedding(5, 3, scale_grad_by_freq=True)
    return lambda t: embed(t).square().sum(), (torch.tensor([[1, 0, 0, 2], [3, 4, 0, 0]]),), embed


@case(HEALTHY)
def an_embedding_of_bounded_norm() -> Case:
    embed = nn.Embedding(5, 3, max_norm=0.5)
    return lambda t: embed(t).exp().sum(), (torch.tensor([[1, 0, 2], [3, 4, 0]]),), embed


@case(HEALTHY)
def samples_of_a_gamma_distribution() -> Case:
    w = leaf(0.5, 1.0, 2.0)
    return (
        lambda w: torch.distributions.Gamma(w.exp(), w.exp()).rsample().square().sum(),
        (w,),
        None,
    )


@case(HEALTHY)
def quantized_vectors() -> Case:
    model, book = nn.Linear(3, 2), nn.Parameter(torch.randn(5, 2))

    def loss(x: Any) -> Any:
        z = model(x)
        nearest = book[torch.cdist(z, book).argmin(1)]
        through = z + (nearest - z).detach()
        return (through - 1).square().sum() + (nearest - z.detach()).square().sum()

    return loss, (torch.randn(4, 3),), model


# --- hard numbers -------------------------------------------------------------------------------


@case(HEALTHY)
def complex_parameters() -> Case:
    w = torch.randn(4, dtype=torch.complex64, requires_grad=True)
    x = torch.randn(4, dtype=torch.complex64)
    return lambda w: (torch.fft.ifft(torch.fft.fft(w) * x) * w).abs().square().sum(), (w,), None


@case(HEALTHY)
def a_stiff_layer_norm() -> Case:
    model = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6, eps=1e-12), nn.Linear(6, 1))
    with torch.no_grad():
        model[0].weight *= 1e-7
        model[0].bias.fill_(0.3)
    return lambda x: model(x).sum(), (torch.randn(5, 4),), model


@case(HEALTHY)
def a_recurrence_that_explodes() -> Case:
    cell = nn.RNNCell(2, 6, nonlinearity="relu")
    cell.weight_hh.data = torch.eye(6) * 6

    def loss(x: Any) -> Any:
        h = torch.zeros(3, 6)
        for row in x:
            h = cell(row, h)
        return h.square().mean()

    return loss, (torch.rand(12, 3, 2),), cell


@case(HEALTHY)
def a_chaotic_recurrence() -> Case:
    model = nn.RNN(2, 8)
    model.weight_hh_l0.data *= 40
    return lambda x: model(x)[0][-1].sum(), (torch.randn(40, 2, 2),), model


@case(HEALTHY)
def a_large_constant_in_the_loss() -> Case:
    model = nn.Linear(3, 2)
    return lambda x: model(x).square().sum() * 1e-6 + 1e6, (torch.randn(4, 3),), model


@case(HEALTHY)
def a_logarithm_beside_0() -> Case:
    return lambda w: w.log().sum(), (leaf(2e-7, 1.0),), None


@case(HEALTHY)
def an_attention_that_drops_weights() -> Case:
    model = nn.MultiheadAttention(4, 2, dropout=0.3, batch_first=True)
    return lambda x: model(x, x, x)[0].square().sum(), (torch.randn(2, 5, 4),), model


@case(HEALTHY)
def a_spectral_norm() -> Case:
    model = torch.nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))
    return lambda x: model(x).square().sum(), (torch.randn(4, 3),), model


# --- wrong --------------------------------------------------------------------------------------


def function(forward: Any, backward: Any) -> Any:
    """An autograd.Function of one operand, by its result and what it multiplies by."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return backward(ctx.saved_tensors[0], grad)

    return Function.apply


BACKWARDS = {
    "a cube times 2 x²": (lambda x: x**3, lambda x, g: g * 2 * x * x),
    "a tanh without the square": (torch.tanh, lambda x, g: g * (1 - x.tanh())),
    "the wrong sign": (torch.cos, lambda x, g: g * x.sin()),
    "one in a hundred too large": (torch.exp, lambda x, g: g * x.exp() * 1.01),
    "a relu that lets all through": (torch.relu, lambda x, g: g),
    "a forgotten product": (lambda x: 3 * x, lambda x, g: g),
    "a softmax without its sum": (lambda x: x.softmax(-1), lambda x, g: g * x.softmax(-1)),
    "transposed": (lambda x: x @ x.t(), lambda x, g: g @ x),
    "zeros": (lambda x: x.sigmoid(), lambda x, g: torch.zeros_like(g)),
    "detached within": (lambda x: x * x, lambda x, g: g * x),
}


def broken(name: str) -> Made:
    def make() -> Case:
        f = function(*BACKWARDS[name])
        before, after = nn.Linear(3, 4), nn.Linear(5 if name == "transposed" else 4, 2)
        model = nn.ModuleList([before, after])
        return lambda x: after(f(before(x))).square().sum(), (torch.randn(5, 3),), model

    return make


WRONG |= {name: broken(name) for name in BACKWARDS}


@case(WRONG)
def a_wrong_function_beside_kinks() -> Case:
    f = function(torch.tanh, lambda x, g: g * (1 - x.tanh()))
    model = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 2))
    nn.init.zeros_(model[0].bias)
    x = torch.randn(6, 3)
    x[4:] = 0.0
    return lambda x: model[2](f(model[1](model[0](x)))).square().sum(), (x,), model


@case(WRONG)
def a_wrong_function_in_a_model_with_single_precision() -> Case:
    f = function(torch.tanh, lambda x, g: g * (1 - x.tanh()))
    model = nn.Sequential(nn.Linear(3, 4), RMSNorm(4), nn.Linear(4, 2))
    return (
        lambda x: model[2](f(model[1](model[0](x)))).float().square().sum(),
        (torch.randn(5, 3),),
        model,
    )


@case(WRONG)
def a_wrong_function_of_complex_numbers() -> Case:
    f = function(lambda z: z * z, lambda z, g: g * 2 * z)  # without the conjugate
    w = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    return lambda w: (f(w) * (1 + 2j)).real.sum(), (w,), None


@case(WRONG)
def memory_that_is_changed_behind_the_graph() -> Case:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))

    def loss(x: Any) -> Any:
        h = model[0](x).tanh()
        y = model[1](h)
        h.data.mul_(3.0)
        return y.square().sum()

    return loss, (torch.randn(5, 3),), model


@case(WRONG)
def memory_that_is_zeroed_behind_the_graph() -> Case:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))

    def loss(x: Any) -> Any:
        h = model[0](x)
        h.data.zero_()
        return (model[1](h) - 1).square().sum()

    return loss, (torch.randn(5, 3),), model


# --- in JAX -------------------------------------------------------------------------------------


def normals(*shapes: tuple[int, ...]) -> list[Any]:
    generator = np.random.default_rng(0)
    return [jnp.asarray(generator.standard_normal(shape), jnp.float32) for shape in shapes]


@case(HEALTHY_IN_JAX)
def kinks() -> Case:
    def loss(w: Any) -> Any:
        return jax.nn.relu(w).sum() + jnp.abs(w - 1).sum() + jnp.maximum(w, 2.0).sum() + w.max()

    return loss, (jnp.array([0.0, 1.0, 2.0, 2.0]),), None


@case(HEALTHY_IN_JAX)
def a_cond_at_its_border() -> Case:
    def loss(w: Any) -> Any:
        return jax.lax.cond(w.sum() > 0, lambda w: 1e-3 + w, lambda w: w**2, w).sum()

    return loss, (jnp.array([1.0, -1.0]),), None


@case(HEALTHY_IN_JAX)
def padding_rows() -> Case:
    w, v, x = normals((3, 5), (5, 2), (4, 3))
    p = {"w": w, "b": jnp.zeros(5), "v": v}

    def loss(p: Any, x: Any) -> Any:
        return jnp.square(jax.nn.relu(x @ p["w"] + p["b"]) @ p["v"]).mean()

    return loss, (p, x.at[2:].set(0.0)), None


@case(HEALTHY_IN_JAX)
def single_precision_that_is_asked_for() -> Case:
    w, v, u, x = normals((3, 5), (5, 4), (4, 4), (6, 3))

    def loss(p: Any, x: Any) -> Any:
        h = jnp.dot(x, p["w"], preferred_element_type=jnp.float32)
        h = jax.nn.silu(
            h.astype(jnp.float32) * jax.lax.rsqrt(jnp.square(h).mean(-1, keepdims=True))
        )
        h = jax.nn.gelu(h @ p["v"].astype(jnp.float32))

        def step(state: Any, row: Any) -> Any:
            state = jnp.tanh(state @ p["u"].astype(jnp.float32) + row)
            return state, state.sum(dtype=jnp.float32)

        h, sums = jax.lax.scan(step, jnp.zeros(4, jnp.float32), h)
        h = jax.checkpoint(jnp.sin)(h) + jax.random.normal(jax.random.key(0), (4,), jnp.float32)
        h = jax.lax.cond(h[0] > 0, lambda h: h * 2, lambda h: h * 3, h)
        h = h.at[1].add(jax.lax.fori_loop(0, 3, lambda _, y: y * 2, h[0]))
        return -jax.nn.log_softmax(h)[0] + sums.mean()

    return loss, ({"w": w, "v": v, "u": u}, x), None


@jax.custom_jvp
def softened(x: Any) -> Any:
    return jnp.logaddexp(x, 0.0).astype(jnp.float32)


@softened.defjvp
def _softened(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return softened(x), (t * jax.nn.sigmoid(x)).astype(jnp.float32)


@jax.custom_vjp
def doubled(x: Any, n: Any) -> Any:
    return (x * 2 * n).astype(jnp.float32)


doubled.defvjp(
    lambda x, n: (doubled(x, n), n),
    lambda n, g: ((2 * n * g).astype(jnp.float32), np.zeros((), jax.dtypes.float0)),
)


@case(HEALTHY_IN_JAX)
def rules_of_their_own_in_single_precision() -> Case:
    (w,) = normals((4,))

    def loss(w: Any) -> Any:
        return (doubled(softened(w.astype(jnp.float32)), 3) * w.astype(jnp.float32)).sum()

    return loss, (w,), None


@case(HEALTHY_IN_JAX)
def precision_that_is_reduced() -> Case:
    (w,) = normals((4,))
    return lambda w: jnp.square(jax.lax.reduce_precision(w, 8, 7)).sum(), (w,), None


@case(HEALTHY_IN_JAX)
def a_callback_with_numbers_of_its_own() -> Case:
    (w,), generator = normals((4,)), np.random.default_rng(0)

    def noise() -> Any:
        return jax.pure_callback(
            lambda: generator.random((), np.float32), jax.ShapeDtypeStruct((), jnp.float32)
        )

    return lambda w: jnp.square(w).sum() * noise(), (w,), None


@jax.custom_vjp
def rounded(x: Any) -> Any:
    return jnp.round(x)


rounded.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))


@case(HEALTHY_IN_JAX)
def a_straight_through_rule() -> Case:
    (w,) = normals((4,))
    return lambda w: jnp.square(rounded(w * 3)).sum(), (w,), None


@case(HEALTHY_IN_JAX)
def gamma_samples() -> Case:
    return (
        lambda w, key: jnp.square(jax.random.gamma(key, jnp.exp(w))).sum(),
        (jnp.array([0.1, 1.0]), jax.random.key(1)),
        None,
    )


@case(HEALTHY_IN_JAX)
def complex_arrays() -> Case:
    a, b, x, y = normals((4,), (4,), (4,), (4,))

    def loss(w: Any, x: Any) -> Any:
        return jnp.square(jnp.abs(jnp.fft.ifft(jnp.fft.fft(w) * x) * w)).sum()

    return loss, (a + 1j * b, x + 1j * y), None


@jax.custom_vjp
def wrong(x: Any) -> Any:
    return jnp.tanh(x)


wrong.defvjp(lambda x: (jnp.tanh(x), x), lambda x, g: (g * (1 - jnp.tanh(x)),))


@jax.custom_jvp
def wrong_forward(x: Any) -> Any:
    return x * x


@wrong_forward.defjvp
def _wrong_forward(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return x * x, t * x


@case(WRONG_IN_JAX)
def a_wrong_pullback() -> Case:
    w, v, x = normals((3, 5), (5, 2), (4, 3))
    return lambda p, x: (wrong(x @ p["w"]) @ p["v"]).sum(), ({"w": w, "v": v}, x), None


@case(WRONG_IN_JAX)
def a_wrong_rule_of_tangents() -> Case:
    (w,) = normals((4,))
    return lambda w: wrong_forward(w).sum(), (w,), None


@case(WRONG_IN_JAX)
def a_wrong_rule_in_single_precision() -> Case:
    w, x = normals((3, 5), (4, 3))
    return lambda w, x: wrong((x @ w).astype(jnp.float32)).sum(), (w, x), None


@case(WRONG_IN_JAX)
def a_wrong_rule_in_a_scan() -> Case:
    (w,) = normals((4, 4))

    def loss(w: Any) -> Any:
        step = lambda h, _: (wrong(h @ w.astype(jnp.float32)), None)  # noqa: E731
        return jax.lax.scan(step, jnp.ones(4, jnp.float32), None, length=4)[0].sum()

    return loss, (w,), None
