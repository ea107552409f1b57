"""Models of libraries by name: random weights by a configuration, nothing from the network.

They train as they stand, so that any symptom is a false finding, at the start and after fifty
steps.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tests.corpus.models.in_jax import cross_entropy, data
from tests.corpus.models.table import Run

WIDTH = {"vocab_size": 64, "hidden_size": 32, "intermediate_size": 64,
         "num_hidden_layers": 2, "num_attention_heads": 4}  # fmt: skip
IMAGE = {"image_size": 16, "patch_size": 4, "num_channels": 1, "num_labels": 5}
TRANSFORMERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Bert": ("ForSequenceClassification", {**WIDTH, "num_labels": 3}),
    "GPT2": ("LMHeadModel", {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}),
    "Llama": ("ForCausalLM", {**WIDTH, "num_key_value_heads": 2}),
    "Mixtral": ("ForCausalLM", {**WIDTH, "num_key_value_heads": 2, "num_local_experts": 4}),
    "Mamba": ("ForCausalLM", {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2}),
    "ViT": ("ForImageClassification", {**WIDTH, **IMAGE}),
}
TIMM: dict[str, dict[str, Any]] = {
    "resnet10t": {},
    "mobilenetv3_small_050": {},
    "convnext_atto": {},
    "cait_xxs24_224": {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 48},
}


def transformer(name: str) -> Run:
    """Return a run of a model of transformers, in training mode."""
    library = importlib.import_module("transformers")
    task, options = TRANSFORMERS[name]
    torch.manual_seed(0)
    config = getattr(library, f"{name}Config")(**options)
    model = getattr(library, name + task)(config).train()
    if name == "ViT":
        labels = torch.arange(6) % 5
        images = torch.randn(6, 1, 16, 16)
        return Run(lambda x: functional.cross_entropy(model(x).logits, labels), (images,), model)
    ids = torch.randint(5, 64, (4, 12))
    labels = torch.arange(4) % 3 if "Sequence" in task else ids
    return Run(lambda ids: model(input_ids=ids, labels=labels).loss, (ids,), model)


def vision(name: str) -> Run:
    """Return a run of a model of timm on small images."""
    torch.manual_seed(0)
    create = importlib.import_module("timm").create_model
    model = create(name, pretrained=False, num_classes=5, **TIMM[name]).train()
    labels, x = torch.arange(4), torch.randn(4, 3, 32, 32)
    return Run(lambda x: functional.cross_entropy(model(x), labels), (x,), model)


def over_a_graph(name: str) -> Run:
    """Return a run of a network of PyTorch Geometric over a random graph."""
    torch.manual_seed(0)
    library = importlib.import_module("torch_geometric.nn")
    model = getattr(library, name)(8, 16, 2, out_channels=4).train()
    x, edges, labels = torch.randn(30, 8), torch.randint(30, (2, 120)), torch.arange(30) % 4
    return Run(
        lambda x, edges: functional.cross_entropy(model(x, edges), labels), (x, edges), model
    )


def flax() -> Run:
    import jax
    from flax import linen as nn

    parts = (nn.Dense(16), nn.MultiHeadDotProductAttention(num_heads=4), nn.LayerNorm(),
             lambda x: x.mean(1), nn.Dense(5))  # fmt: skip
    model, x = nn.Sequential(parts), data(4, 6, 8)
    parameters = model.init(jax.random.key(0), x)
    return Run(lambda p, x: cross_entropy(model.apply(p, x)), (parameters, x), argnums=0)


def equinox() -> Run:
    import equinox as eqx
    import jax

    arrays, rest = eqx.partition(
        eqx.nn.MLP(12, 5, 16, 2, key=jax.random.key(0)), eqx.is_inexact_array
    )
    return Run(
        lambda arrays, x: cross_entropy(jax.vmap(eqx.combine(arrays, rest))(x)),
        (arrays, data(8, 12)),
        argnums=0,
    )


LIBRARY_MODELS: dict[tuple[str, str], Callable[[], Run]] = {
    **{("transformers", name): partial(transformer, name) for name in TRANSFORMERS},
    **{("timm", name): partial(vision, name) for name in TIMM},
    **{("torch_geometric", name): partial(over_a_graph, name) for name in ("GCN", "GAT")},
    ("flax", "attention"): flax,
    ("equinox", "MLP"): equinox,
}
