"""Sound models of many kinds, each with a loss: what `chainview.frameworks` is tried on."""

from collections.abc import Callable
from typing import Any

import torch
import torch.utils.checkpoint
from torch import nn

Case = tuple[Callable[..., Any], tuple[Any, ...], nn.Module]


def mlp() -> Case:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    labels = torch.randint(3, (16,))
    return lambda x: nn.functional.cross_entropy(model(x), labels), (torch.randn(16, 4),), model


def cnn() -> Case:
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Linear(4 * 9, 5),
    )
    labels = torch.randint(5, (6,))
    return (
        lambda x: nn.functional.cross_entropy(model(x), labels),
        (torch.randn(6, 1, 8, 8),),
        model,
    )


def rnn() -> Case:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell, self.head = nn.RNNCell(3, 6), nn.Linear(6, 1)

        def forward(self, x: Any) -> Any:
            h = torch.zeros(x.shape[1], 6)
            for step in x:
                h = self.cell(step, h)
            return self.head(h)

    model = Model()
    return lambda x: model(x).square().mean(), (torch.randn(20, 2, 3),), model


def fused_rnn() -> Case:
    model = nn.LSTM(3, 5, num_layers=2)
    return (
        lambda x: model(x)[0].square().mean() + model(x)[1][1].mean(),
        (torch.randn(7, 2, 3),),
        model,
    )


def transformer() -> Case:
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    target = torch.randn(2, 5, 8)
    return lambda x: (model(x) - target).square().mean(), (torch.randn(2, 5, 8),), model


def tied() -> Case:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.mix, self.head = nn.Embedding(7, 4), nn.Linear(4, 4), nn.Linear(4, 7)
            self.head.weight = self.embed.weight

        def forward(self, tokens: Any) -> Any:
            h = self.embed(tokens)
            return self.head(self.mix(h).tanh() + h)

    model = Model()
    tokens = torch.randint(7, (3, 5))
    return (
        lambda t: nn.functional.cross_entropy(model(t)[:, :-1].flatten(0, 1), t[:, 1:].flatten()),
        (tokens,),
        model,
    )


def in_place() -> Case:
    model = nn.Linear(3, 3)

    def loss(x: Any) -> Any:
        h = model(x)
        h.mul_(2.0)
        h.relu_()
        out = torch.zeros(4, 3)
        out[1:] = h[1:] * 3
        out[0].add_(h[0])
        return (out - 1).square().sum()

    return loss, (torch.randn(4, 3),), model


def views() -> Case:
    model = nn.Linear(4, 6)

    def loss(x: Any) -> Any:
        a, b, c = model(x).chunk(3, dim=-1)
        return (a.t() @ b).sum() + c.reshape(-1)[::2].exp().sum() + x.unbind(0)[1].sum()

    return loss, (torch.randn(5, 4, requires_grad=True),), model


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x


def custom() -> Case:
    model = nn.Linear(3, 2)
    return lambda x: Cube.apply(model(x)).mean(), (torch.randn(4, 3),), model


def checkpointed() -> Case:
    model = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def loss(x: Any) -> Any:
        inside = lambda h: nn.functional.dropout(model[0](h), 0.4).tanh()  # noqa: E731
        h = torch.utils.checkpoint.checkpoint(inside, x, use_reentrant=False)
        return model[1](h).square().sum()

    return loss, (torch.randn(3, 4, requires_grad=True),), model


def autocast() -> Case:
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 1))

    def loss(x: Any) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x).float().square().mean()

    return loss, (torch.randn(5, 8),), model


CASES: dict[str, Callable[[], Case]] = {
    "mlp": mlp,
    "cnn": cnn,
    "rnn": rnn,
    "fused rnn": fused_rnn,
    "transformer": transformer,
    "weight tying": tied,
    "in place": in_place,
    "views": views,
    "custom function": custom,
    "checkpoint": checkpointed,
    "autocast": autocast,
}


def made(name: str) -> Case:
    """A case, the same each time."""
    torch.manual_seed(0)
    return CASES[name]()
