"""Models of PyTorch as somebody described them in public: faulty ones, and sound ones.

Most are a base and what somebody does in it: `halves` puts a function between an encoder and a
head, `trained` a loss over any module.
"""

import math
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional

from tests.corpus.models.table import REFUSED, Row, Run

LABELS = torch.arange(5) % 3
Change = Callable[[Tensor], Any]


def module(**parts: Any) -> nn.Module:
    made = nn.Module()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def halves(between: Change = lambda h: h, **more: Any) -> Callable[[], Run]:
    """Classify by an encoder and a head; what stands ``between`` may read the model's ``more``."""

    def build() -> Run:
        torch.manual_seed(0)
        parts = {name: part() if callable(part) else part for name, part in more.items()}
        encoder = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
        model = module(enc=encoder, head=nn.Linear(8, 3), **parts)
        given = [model] * (between.__code__.co_argcount - 1)
        return Run(
            lambda x: functional.cross_entropy(model.head(between(model.enc(x), *given)), LABELS),
            (torch.randn(5, 4),),
            model,
        )

    return build


def trained(
    make: Callable[[], nn.Module], loss: Callable[[nn.Module, Tensor], Tensor], *shape: int
) -> Callable[[], Run]:
    """Take a loss of a module and of random inputs."""

    def build() -> Run:
        torch.manual_seed(0)
        model, x = make(), torch.randn(shape)
        return Run(lambda x: loss(model, x), (x,), model)

    return build


def stack(*layers: nn.Module) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*map(_anew, layers))


def _anew(layer: nn.Module) -> nn.Module:
    """Copy a layer with other weights, as if it were made now."""
    layer = deepcopy(layer)
    for inner in layer.modules():
        getattr(inner, "reset_parameters", lambda: None)()
    return layer


def classes(model: nn.Module, x: Tensor) -> Tensor:
    return functional.cross_entropy(model(x), torch.arange(len(x)) % 3)


def square(model: nn.Module, x: Tensor) -> Tensor:
    return (model(x) - 1).square().mean()


def without_grad(h: Tensor) -> Tensor:
    with torch.no_grad():
        return (h / h.norm(dim=1, keepdim=True)).requires_grad_()


def written_under_no_grad(h: Tensor) -> Tensor:
    h = h + 0.0
    with torch.no_grad():
        h[h < 0] = 0.0
    return h


def zeroed_by_data(h: Tensor) -> Tensor:
    gate = h.sigmoid()
    out = gate * h
    gate.data.zero_()
    return out


def initialized(make: Callable[[], nn.Module], change: Callable[[Any], Any]) -> Any:
    def build() -> nn.Module:
        model = make()
        with torch.no_grad():
            change(model)
        return model

    return build


class Square(Function):
    """x², with a backward that lacks a factor of 2."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * ctx.saved_tensors[0]


class Scaling(Function):
    """x times a scale, without a gradient for the scale."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(scale)
        return x * scale

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad * ctx.saved_tensors[0], None


class Reversed(Function):
    """The identity, with a gradient of the other sign."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return -0.3 * grad


def remembering(first: Tensor, steps: int, scale: float) -> Callable[[], Run]:
    """Put the first symbol into the state, read more, then ask for the first."""

    def build() -> Run:
        torch.manual_seed(0)
        parts = module(first=nn.Linear(3, 8), cell=nn.RNNCell(3, 8), head=nn.Linear(8, 3))
        nn.init.orthogonal_(parts.cell.weight_hh).data.mul_(scale)

        def loss(xs: Tensor) -> Tensor:
            state = parts.first(xs[0]).tanh()
            for x in xs[1:]:
                state = parts.cell(x, state)
            return functional.cross_entropy(parts.head(state), LABELS)

        return Run(loss, (functional.one_hot(torch.randint(0, 3, (steps, 5)), 3).float(),), parts)

    return build


def attending(keep_padding: bool) -> Callable[[], Run]:
    """Attend with -inf at padding, among queries and keys alike."""

    def build() -> Run:
        torch.manual_seed(0)
        model = module(q=nn.Linear(4, 4), k=nn.Linear(4, 4), v=nn.Linear(4, 4))
        real = torch.arange(5) < torch.tensor([5, 3])[:, None]

        def loss(x: Tensor) -> Tensor:
            allowed = real[:, :, None] & real[:, None, :]
            scores = (model.q(x) @ model.k(x).mT / 2).masked_fill(~allowed, -math.inf)
            mixed = scores.softmax(-1) @ model.v(x)
            return (mixed if keep_padding else mixed[real]).square().mean()

        return Run(loss, (torch.randn(2, 5, 4),), model)

    return build


def pairs(z: Tensor) -> Tensor:
    return (z[:, None] - z).pow(2).sum(-1).sqrt().mean()


def unit(z: Tensor) -> Tensor:
    return z / z.norm(dim=1, keepdim=True)


def entropy(model: nn.Module, x: Tensor) -> Tensor:
    p = model(x).relu()
    p = p / p.sum(1, keepdim=True)
    return -(p * p.log()).sum(1).mean()


def by_hand(model: nn.Module, x: Tensor) -> Tensor:
    scores = model(300 * x).exp()
    return -(scores / scores.sum(1, keepdim=True))[torch.arange(5), LABELS].log().mean()


def rule_without_its_factor() -> Run:
    torch.manual_seed(0)
    W = torch.randn(4, requires_grad=True)
    return Run(lambda x: (Square.apply(W) * x).sum(), (torch.randn(4),), leaves={"W": W})


def state_with_an_earlier_graph() -> Run:
    torch.manual_seed(0)
    model, x = (
        module(rnn=nn.GRU(4, 8, batch_first=True), head=nn.Linear(8, 3)),
        torch.randn(5, 6, 4),
    )
    kept: list[Any] = [None]

    def loss(x: Tensor) -> Tensor:
        out, kept[0] = model.rnn(x, kept[0])
        return functional.cross_entropy(model.head(out[:, -1]), LABELS)

    loss(x).backward()
    return Run(loss, (x,), model)


def half_precision() -> Run:
    torch.manual_seed(0)
    model = module(wi=nn.Linear(4, 32).half(), wo=nn.Linear(32, 3).half())
    model.wo.weight.data.mul_(100)
    x = (3000 * torch.randn(5, 4)).half()
    return Run(
        lambda x: functional.cross_entropy(model.wo(model.wi(x).relu()).float(), LABELS),
        (x,),
        model,
    )


def latents_read_by_a_hook() -> Run:
    torch.manual_seed(0)
    vit, kept = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 8)), list[Tensor]()
    vit[2].register_forward_hook(lambda *call: kept.append(call[2].clone().detach()))
    model = module(vit=vit, head=nn.Linear(8, 3))

    def loss(x: Tensor) -> Tensor:
        model.vit(x)
        return functional.cross_entropy(model.head(kept.pop()), LABELS)

    return Run(loss, (torch.randn(5, 4),), model)


def weighed(model: nn.Module, x: Tensor) -> Tensor:
    h = model.enc(x).tanh()
    losses = model.a(h).square().mean(), (model.b(h) - 1).square().mean()
    scales = zip(losses, model.log_scale, strict=True)
    return sum(loss * math.exp(-s.item()) + s.item() for loss, s in scales)


def uncertain() -> nn.Module:
    log_scale = nn.Parameter(torch.tensor([0.1, -0.2]))
    return module(enc=nn.Linear(4, 8), a=nn.Linear(8, 1), b=nn.Linear(8, 1), log_scale=log_scale)


def sigmoids(count: int) -> Callable[[], nn.Module]:
    layers = [layer for _ in range(count) for layer in (nn.Linear(16, 16), nn.Sigmoid())]
    return stack(*layers, nn.Linear(16, 1))


def large(model: nn.Module) -> None:
    for parameter in model.parameters():
        nn.init.normal_(parameter)


def zero(model: nn.Module) -> None:
    for parameter in model.parameters():
        nn.init.zeros_(parameter)


def biased(model: Any, layer: int, bias: float, *units: int) -> None:
    model[layer].bias[list(units) or slice(None)] = bias


ENC = ("enc",)
TWO = stack(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
RELU = stack(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
FAULTY: dict[str, Row] = {
    # github.com/juebrauer/code_jb; thanasis457.github.io; aryan1113.github.io
    "twenty sigmoid layers": Row(trained(sigmoids(20), square, 4, 16), "vanishing", ("0.weight",)),
    "weights of variance one": Row(
        trained(
            initialized(
                stack(*(x for _ in range(15) for x in (nn.Linear(32, 32), nn.ReLU())),
                      nn.Linear(32, 1)), large),
            square, 4, 32),
        "exploding", ("0.weight", "28")),
    "vanishing through time": Row(remembering(LABELS, 41, 0.5), "vanishing", ("cell", "first")),
    # speechbrain/pull/713
    "layer that is not used": Row(
        halves(spare=lambda: nn.Linear(8, 8)), "no gradient", ("spare",)),
    # speechbrain/issues/1396; PyTorch-Tutorial/issues/57; torchlogix/pull/17; Lightning/19517
    "features detached": Row(halves(lambda h: h.detach()), "no gradient", ENC),
    "features read by data": Row(halves(lambda h: h.data), "no gradient", ENC),
    "features through NumPy": Row(
        halves(lambda h: torch.from_numpy(h.detach().numpy().clip(-0.5, 0.5))), "no gradient", ENC),
    "normalized under no_grad": Row(halves(without_grad), "no gradient", ENC),
    "uncertainty read with item": Row(
        trained(uncertain, weighed, 5, 4), "no gradient", ("log_scale",)),
    # discuss.pytorch.org/t/23261; zennit/pull/185; CoCa-pytorch/issues/6; yangz.site no_argmax
    "latents read by a hook": Row(latents_read_by_a_hook, "no gradient", ("vit",)),
    "rule that returns None": Row(
        halves(lambda h, m: Scaling.apply(h, m.step),
               step=lambda: nn.Parameter(torch.full((8,), 0.5))), "no gradient", ("step",)),
    # Theano/issues/1460; geeksforgeeks.org
    "rounded before the loss": Row(halves(lambda h: (3 * h).round()), "zero", ENC),
    "binary activations": Row(halves(lambda h: h.sign()), "zero", ENC),
    # stats.stackexchange.com/q/481881; CycleGAN/issues/55; topoin.info; iq.opengenus.org; cs231n
    "softmax over one unit": Row(
        trained(stack(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Softmax(dim=-1)),
                lambda m, x: (m(x)[:, 0] - 0.3).square().mean(), 5, 4), "zero", ("0", "2")),
    "normalization of equal rows": Row(
        trained(stack(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)),
                lambda m, x: classes(m, x[:1].expand(5, 4)), 5, 4), "zero", ("0", "in 1")),
    "three dead channels": Row(
        trained(initialized(stack(nn.Conv1d(2, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(96, 3)),
                            lambda m: biased(m, 0, -20.0, 1, 4, 5)), classes, 5, 2, 14),
        "dead units", ("0.weight", "Relu")),
    "all weights zero": Row(
        trained(initialized(TWO, zero), classes, 5, 4), "zero", ("0", "2.weight")),
    "output clamped above one": Row(
        trained(initialized(TWO, lambda m: biased(m, 2, 5.0)),
                lambda m, x: (m(x).clamp(0, 1) - 0.7).square().mean(), 5, 4), "zero", ("0", "2")),
    "saturated discriminator": Row(
        trained(initialized(stack(nn.Linear(4, 1), nn.Sigmoid()), lambda m: biased(m, 0, 200.0)),
                lambda m, x: -(1 - m(x)).clamp_min(1e-38).log().mean(), 5, 4), "zero", ("0",)),
    # pytorch/pull/2775; /issues/184575, 24933, 187297, 103749, 8069; nGPT/11; Automodel/3850
    "distance of a point to itself": Row(
        trained(stack(nn.Linear(4, 2)), lambda m, x: pairs(m(x)), 5, 4), "not finite", ("Sqrt",)),
    "zero divided by its norm": Row(
        trained(stack(nn.Linear(4, 2, bias=False)),
                lambda m, x: unit(m(x * (torch.arange(5) != 2)[:, None])).sum(), 5, 4),
        "not finite", ("Div",)),
    "entropy with a probability of zero": Row(
        trained(stack(nn.Linear(4, 6)), entropy, 5, 4), "not finite", ("Log", "Mul")),
    "root in the branch not taken": Row(
        trained(stack(nn.Linear(4, 3)),
                lambda m, x: torch.where(m(x) > 0, m(x).sqrt(), m(x)).square().mean(), 5, 4),
        "not finite", ("Sqrt",)),
    "attention row fully masked": Row(attending(True), "not finite", ("Softmax",)),
    "attention row masked and not read": Row(attending(False), "not finite", ("Softmax",)),
    "angle of equal directions": Row(
        trained(initialized(stack(nn.Linear(3, 1, bias=False)), lambda m: m[0].weight.copy_(
            torch.tensor([[1.0, 0.0, 0.0]]))), lambda m, x: m(torch.eye(3)).acos().mean(), 1),
        "not finite", ("Acos",)),
    # transformers/issues/5651; cs231n linear-classify
    "half precision that overflows": Row(half_precision, "not finite", ("in wo",)),
    "softmax by hand": Row(trained(stack(nn.Linear(4, 3)), by_hand, 5, 4), "not finite", ("Exp",)),
    # jax/pull/29485; imgclsmob/issues/13; blog.csdn.net/104212325
    "rule without its factor": Row(rule_without_its_factor, "wrong gradient", ("W",)),
    "relu written under no_grad": Row(halves(written_under_no_grad), "wrong gradient", ENC),
    "gate zeroed by data after use": Row(halves(zeroed_by_data), "wrong gradient", ENC, "zero"),
    # cnslab_fmri/issues/4; open_clip/issues/573
    "state with an earlier graph": Row(state_with_an_earlier_graph, REFUSED, ("before the run",)),
}  # fmt: skip


# --- sound --------------------------------------------------------------------------------------


class Residual(nn.Module):
    """A residual block whose last normalization starts at 0, so that it starts as identity."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + self.norm(self.conv(x)))


def padded_keys(model: nn.Module, x: Tensor) -> Tensor:
    padded = torch.arange(5) >= torch.tensor([5, 3, 2])[:, None]
    scores = (model.q(x) @ model.k(x).mT).masked_fill(padded[:, None, :], -math.inf)
    mixed = scores.softmax(-1) @ model.v(x)
    return classes(lambda h: h.masked_fill(padded[..., None], 0.0).sum(1), mixed)


def codes(model: nn.Module, x: Tensor) -> Tensor:
    """Round to the nearest code, and pass the gradient straight through."""
    z = model.enc(x)
    q = model.codes[torch.cdist(z, model.codes).argmin(1)]
    commit = (q - z.detach()).square().mean() + 0.25 * (z - q.detach()).square().mean()
    return functional.mse_loss(model.dec(z + (q - z).detach()), x) + commit


def low_rank(model: nn.Module, x: Tensor) -> Tensor:
    return classes(lambda x: model.base(x) + 8 * (x @ model.a.T @ model.b.T), x)


def scaled(model: nn.Module, x: Tensor) -> Tensor:
    h = model.first(x)
    return classes(model.head, h + model.gamma * model.inner(h).tanh())


def statistics(model: Any, x: Tensor) -> Tensor:
    """Keep a running mean in a buffer, and a copy of the weights for later."""
    with torch.no_grad():
        model.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
    weights = model.q(x - model.mean).softmax(-1)
    model.kept = {"weights": weights.detach()}
    return classes(lambda h: h, weights * model.v(x))


def target(model: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        wanted = 0.99 * model[1](x).max(1).values
    return functional.mse_loss(model[0](x)[:, 0], wanted)


def variational(model: nn.Module, x: Tensor) -> Tensor:
    mu, logvar = model.enc(x).tanh().chunk(2, -1)
    out = model.dec(mu + torch.randn_like(mu) * (0.5 * logvar).exp())
    return functional.mse_loss(out, x) - 0.5 * (1 + logvar - mu.square() - logvar.exp()).mean()


def contrastive(model: nn.Module, x: Tensor) -> Tensor:
    z = functional.normalize(model(torch.cat([x, x + 0.1])))
    n = len(x)
    logits = (z @ z.T / 0.5).masked_fill(torch.eye(2 * n, dtype=torch.bool), -math.inf)
    return functional.cross_entropy(logits, (torch.arange(2 * n) + n) % (2 * n))


def packed(model: nn.Module, x: Tensor) -> Tensor:
    lengths = torch.tensor([2, 5, 3])
    rows = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    return classes(model.head, model.rnn(rows)[1][0][0])


class Experts(nn.Module):
    """A sparse mixture: each row goes to its best expert, and some expert gets none."""

    def __init__(self, empty: bool) -> None:
        super().__init__()
        self.gate, self.empty = nn.Linear(4, 6, bias=False), empty
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(6))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).max(-1)
        out = x
        for number, expert in enumerate(self.experts):
            (row,) = (chosen == number).nonzero(as_tuple=True)
            if len(row) or self.empty:
                out = out.index_add(0, row, expert(x[row]) * weights[row, None])
        return out


def skipping(model: nn.Module, x: Tensor) -> Tensor:
    torch.manual_seed(1)
    for layer in model.layers:
        if torch.rand([]) < 0.5:
            x = x + torch.tanh(layer(x))
    return classes(model.head, x)


def dropped(model: nn.Module, x: Tensor) -> Tensor:
    """Take out a branch at random, as stochastic depth does."""
    return classes(model[1], x + model[0](x).tanh() * torch.bernoulli(torch.zeros(len(x), 1)))


def item(model: nn.Module, x: Tensor) -> Tensor:
    """Scale by the largest entry, and weigh two losses, each as a number."""
    h = model(x)
    large, small = classes(lambda h: h / (h.abs().max().item() / 127), h), h.square().mean()
    return large / large.item() + small / float(small)


def hooked() -> nn.Module:
    model = TWO()
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
    return model


def linears(*widths: int) -> Callable[[], nn.Module]:
    return lambda: nn.ModuleList(nn.Linear(m, n) for m, n in pairwise(widths))


def complex_weights() -> Run:
    torch.manual_seed(0)
    weight = torch.randn(9, dtype=torch.cfloat, requires_grad=True)
    return Run(
        lambda x: (torch.fft.irfft(torch.fft.rfft(x) * weight, n=16) - 1).square().mean(),
        (torch.randn(4, 16),), leaves={"weight": weight},
    )  # fmt: skip


def plain_tensors() -> Run:
    torch.manual_seed(0)
    x = torch.linspace(-1.5, 1.5, 20)
    a, b, c = (torch.randn((), requires_grad=True) for _ in range(3))
    return Run(lambda a, b, c: (a + b * x + c * x**2 - x.sin()).square().mean(), (a, b, c))


SOUND: dict[str, Row] = {
    name: Row(build)
    for name, build in {
        # cs231n neural-networks-2; examples/mnist; torchvision resnet; transformer/issues/10
        "zero bias and padding rows": trained(
            initialized(RELU, lambda m: biased(m, 0, 0.0)),
            lambda m, x: classes(m, x * (torch.arange(6) < 4)[:, None]), 6, 4),
        "ties in max pool": trained(
            stack(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)),
            lambda m, x: classes(m, functional.pad(x[..., 2:6, 2:6], (2, 2, 2, 2))), 3, 1, 8, 8),
        "zero-init last normalization": trained(
            lambda: nn.Sequential(nn.Conv2d(1, 4, 3), Residual(), nn.Flatten(), nn.Linear(64, 3)),
            classes, 6, 1, 6, 6),
        "attention over padded keys": trained(
            lambda: module(q=nn.Linear(8, 8), k=nn.Linear(8, 8), v=nn.Linear(8, 3)),
            padded_keys, 3, 5, 8),
        # vector-quantize-pytorch; word_language_model; LoRA; ConvNeXt; nanoGPT; mixtral
        "codes with a straight-through gradient": trained(
            lambda: module(enc=nn.Linear(4, 2), dec=nn.Linear(2, 4),
                           codes=nn.Parameter(torch.randn(5, 2))), codes, 6, 4),
        "low-rank update of zero": trained(
            lambda: module(base=nn.Linear(4, 3).requires_grad_(False),
                           a=nn.Parameter(torch.randn(2, 4)), b=nn.Parameter(torch.zeros(3, 2))),
            low_rank, 5, 4),
        "layer scale of a millionth": trained(
            lambda: module(first=nn.Linear(4, 8), inner=nn.Linear(8, 8), head=nn.Linear(8, 3),
                           gamma=nn.Parameter(1e-6 * torch.ones(8))), scaled, 5, 4),
        "buffer and cache": trained(
            lambda: module(q=nn.Linear(4, 3), v=nn.Linear(4, 3), mean=torch.zeros(4)),
            statistics, 5, 4),
        "experts without rows": trained(lambda: Experts(True), square, 4, 4),
        "experts that aren't run": trained(lambda: Experts(False), square, 4, 4),
        "layers skipped at random": trained(
            lambda: module(layers=linears(6, 6, 6, 6, 6)(), head=nn.Linear(6, 3)), skipping, 5, 6),
        "a branch dropped at random": trained(linears(6, 6, 3), dropped, 5, 6),
        # DANN; pytorch docs
        "gradient reversal": halves(lambda h: Reversed.apply(h)),
        "numbers read with item": trained(TWO, item, 5, 4),
        "hooks that clip gradients": trained(hooked, lambda m, x: 9 * classes(m, x), 5, 4),
        "complex weights": complex_weights,
        "plain tensors as parameters": plain_tensors,
        "target network": trained(
            lambda: nn.ModuleList([RELU(), RELU().requires_grad_(False)]), target, 6, 4),
        "embedding with padding": trained(
            stack(nn.Embedding(6, 4, padding_idx=0), nn.Flatten(), nn.Linear(16, 3)),
            lambda m, x: classes(m, torch.arange(12).reshape(3, 4) % 6), 1),
        "sparse gradients": trained(
            stack(nn.EmbeddingBag(50, 4, sparse=True), nn.Linear(4, 3)),
            lambda m, x: classes(m, torch.arange(12).reshape(3, 4)), 1),
        "variational autoencoder": trained(
            lambda: module(enc=nn.Linear(6, 4), dec=nn.Linear(2, 6)), variational, 5, 6),
        "contrastive loss": trained(stack(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4)),
                                    contrastive, 4, 6),
        "packed sequences": trained(
            lambda: module(rnn=nn.LSTM(4, 5, batch_first=True), head=nn.Linear(5, 3)),
            packed, 3, 5, 4),
    }.items()
}  # fmt: skip
