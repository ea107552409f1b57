"""Names that PyTorch, NumPy, JAX and HIPS autograd have, answered with what they are here."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

_MODULES = ("nn", "losses", "optim")

NODE = {
    "numpy": "say x.data",
    "value": "say x.data",
    "tolist": "say x.data.tolist()",
    "copy": "say x.data.copy()",
    "clone": "say x.data.copy()",
    "any": "say x.data.any()",
    "all": "say x.data.all()",
    "argsort": "say np.argsort(x.data)",
    "numel": "say x.size",
    "dim": "say x.ndim",
    "is_leaf": "say not x.parents",
    "grad_fn": "say x.op, x.parents",
    "view": "say x.reshape(1, -1)",
    "unsqueeze": "say x.expand_dims(0)",
    "permute": "say x.transpose(1, 0)",
    "t": "say x.T",
    "mm": "say x @ y",
    "matmul": "say x @ y",
    "pow": "say x**2",
    "square": "say x**2",
    "clamp": "say x.clip(0, 1)",
    "softmax": "say chaingrad.losses.softmax(x)",
    "log_softmax": "say chaingrad.losses.log_softmax(x)",
    "to": "say x.astype(np.float32)",
    "float": "say x.astype(np.float32)",
    "double": "say x.astype(np.float64)",
    "detach_": "say x.detach()",
    "requires_grad_": "set x.requires_grad = True",
    "zero_grad": "set x.grad = 0.0",
    "add_": "change a leaf's data, x.data += step",
    "sub_": "change a leaf's data, x.data -= step",
    "mul_": "change a leaf's data, x.data *= factor",
    "retain_grad": "every backward pass sets the grad of interior nodes, too",
}
PACKAGE = {
    "tensor": "say chaingrad.Node(data)",
    "Tensor": "say chaingrad.Node(data)",
    "Variable": "say chaingrad.Node(data)",
    "numpy": "NumPy's own functions take nodes, as np.exp(x)",
    "elementwise_grad": "say chaingrad.grad(lambda x: f(x).sum())",
    "deriv": "say chaingrad.grad(f)",
    "make_vjp": "say chaingrad.vjp",
    "make_jvp": "say chaingrad.jvp",
    "make_hvp": "say chaingrad.hvp",
    "jit": "say chaingrad.program(f)",
    "jacrev": "say chaingrad.jacobian(f)",
    "jacfwd": "say chaingrad.jacobian(f)",
    "stop_gradient": "say x.detach()",
    "inference_mode": "say chaingrad.no_grad()",
    "set_grad_enabled": "say chaingrad.no_grad()",
    "manual_seed": "give a module its seed, as in chaingrad.nn.Linear(2, 1, rng=0)",
    "vmap": "compute with arrays, an example a row",
}
NN = {
    "CrossEntropyLoss": "say chaingrad.losses.cross_entropy",
    "MSELoss": "say chaingrad.losses.mse_loss",
    "BCEWithLogitsLoss": "say chaingrad.losses.binary_cross_entropy_with_logits",
    "Softmax": "say chaingrad.losses.softmax",
    "LogSoftmax": "say chaingrad.losses.log_softmax",
    "functional": "losses are in chaingrad.losses, activations are methods, as x.relu()",
    "utils": "say chaingrad.optim.clip_grad_norm",
    "init": 'say chaingrad.nn.Linear(2, 1, init="he")',
    "LayerNorm": "it's written in five lines on the course's page on normalization",
    "BatchNorm1d": "it's written in five lines on the course's page on normalization",
    "Embedding": "index a parameter with an array of whole numbers: table[tokens]",
    "MultiheadAttention": "it is written in twenty lines on the page of the sorting transformer",
    "GELU": "say chaingrad.gelu",
    "SiLU": "say chaingrad.silu",
    "ModuleList": "a list of modules in an attribute does",
    "ModuleDict": "a dictionary of modules in an attribute does",
}
OPTIM = {
    "clip_grad_norm_": "say chaingrad.optim.clip_grad_norm",
    "clip_grad_value_": "say chaingrad.optim.clip_grad_value",
    "lr_scheduler": "set optimizer.lr between steps, as in optimizer.lr = cosine(0.1, 100)(step)",
}


class Elsewhere:
    """A name that nodes do not have, and what to say instead."""

    def __init__(self, name: str, hint: str) -> None:
        self.name, self.hint = name, hint

    def __get__(self, node: Any, owner: type) -> Any:
        raise AttributeError(f"a node has no {self.name!r}: {self.hint}")


def make_getattr(module: str, hints: dict[str, str], node: type) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module, which says what to write for a name it lacks."""

    def missing(name: str) -> Any:
        hint = hints.get(name) or ("" if name.startswith("_") else _search(module, name, node))
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}" + (f": {hint}" if hint else "")
        )

    return missing


def _search(module: str, name: str, node: type) -> str:
    """Say where else in the package, or in NumPy, you can find a name."""
    for other in _MODULES:
        there = f"chaingrad.{other}"
        if there != module and name in vars(importlib.import_module(there)):
            return f"say {there}.{name}"
    if name in vars(node) and name not in NODE:
        return f"it is a method of nodes, x.{name}(…)"
    return f"say np.{name}" if callable(getattr(np, name, None)) else ""
