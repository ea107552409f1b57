"""Models of transformers, timm and PyTorch Geometric, small and by configuration."""

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from tests.corpus.models.table import Run

WIDTH = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
IMAGE = {"image_size": 16, "patch_size": 4, "num_channels": 1, "num_labels": 5}
Feed = Callable[[Any], Run]


def tokens(count: int = 4, length: int = 12) -> Tensor:
    return torch.randint(5, 64, (count, length))


def sentences(model: Any) -> Run:
    """Feed padded sentences, to be classified."""
    ids, mask = tokens(), torch.ones(4, 12, dtype=torch.long)
    mask[0, 8:] = 0
    labels = torch.arange(4) % 3
    return Run(
        lambda ids, mask: model(input_ids=ids, attention_mask=mask, labels=labels).loss,
        (ids, mask),
        model,
    )


def text(model: Any) -> Run:
    """Feed text whose next tokens are predicted."""
    return Run(lambda ids: model(input_ids=ids, labels=ids).loss, (tokens(),), model)


def pairs(model: Any) -> Run:
    """Feed pairs of texts, the second to be written from the first."""
    wanted = tokens(4, 7)
    return Run(lambda ids: model(input_ids=ids, labels=wanted).loss, (tokens(),), model)


def images(model: Any) -> Run:
    """Feed images, to be classified."""
    labels = torch.arange(6) % 5
    return Run(
        lambda x: functional.cross_entropy(model(x).logits, labels),
        (torch.randn(6, 1, 16, 16),),
        model,
    )


def speech(model: Any) -> Run:
    """Feed spectrograms, to be written down."""
    wanted = tokens(2, 8)
    return Run(
        lambda x: model(input_features=x, labels=wanted).loss, (torch.randn(2, 16, 40),), model
    )


def captions(model: Any) -> Run:
    """Feed images and captions, to be matched."""
    ids = tokens(4, 8)
    ids[:, -1] = 2
    return Run(
        lambda ids, x: model(input_ids=ids, pixel_values=x, return_loss=True).loss,
        (ids, torch.randn(4, 3, 16, 16)),
        model,
    )


TRANSFORMERS: dict[str, tuple[str, str, dict[str, Any], Feed]] = {
    "bert": ("Bert", "ForSequenceClassification", {**WIDTH, "num_labels": 3}, sentences),
    "roberta": (
        "Roberta",
        "ForSequenceClassification",
        {**WIDTH, "num_labels": 3, "pad_token_id": 1},
        sentences,
    ),
    "electra": (
        "Electra",
        "ForSequenceClassification",
        {**WIDTH, "num_labels": 3, "embedding_size": 16},
        sentences,
    ),
    "deberta": (
        "DebertaV2",
        "ForSequenceClassification",
        {**WIDTH, "num_labels": 3, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
        sentences,
    ),
    "gpt2": (
        "GPT2",
        "LMHeadModel",
        {"vocab_size": 64, "n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 4},
        text,
    ),
    "llama": ("Llama", "ForCausalLM", {**WIDTH, "num_key_value_heads": 2}, text),
    "qwen2": ("Qwen2", "ForCausalLM", {**WIDTH, "num_key_value_heads": 2}, text),
    "mixtral": (
        "Mixtral",
        "ForCausalLM",
        {
            **WIDTH,
            "num_key_value_heads": 2,
            "num_local_experts": 2,
            "num_experts_per_tok": 2,
            "output_router_logits": True,
        },
        text,
    ),
    "mamba": (
        "Mamba",
        "ForCausalLM",
        {"vocab_size": 64, "hidden_size": 16, "state_size": 4, "num_hidden_layers": 2, "expand": 2},
        text,
    ),
    "t5": (
        "T5",
        "ForConditionalGeneration",
        {
            "vocab_size": 64,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 64,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
            "pad_token_id": 0,
        },
        pairs,
    ),
    "bart": (
        "Bart",
        "ForConditionalGeneration",
        {
            "vocab_size": 64,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_position_embeddings": 32,
        },
        pairs,
    ),
    "vit": ("ViT", "ForImageClassification", {**WIDTH, **IMAGE}, images),
    "resnet": (
        "ResNet",
        "ForImageClassification",
        {
            "num_channels": 1,
            "embedding_size": 8,
            "hidden_sizes": [8, 16],
            "depths": [1, 1],
            "layer_type": "basic",
            "num_labels": 5,
        },
        images,
    ),
    "swin": (
        "Swin",
        "ForImageClassification",
        {
            "image_size": 16,
            "patch_size": 2,
            "num_channels": 1,
            "embed_dim": 8,
            "depths": [1, 1],
            "num_heads": [2, 4],
            "window_size": 4,
            "num_labels": 5,
        },
        images,
    ),
    "whisper": (
        "Whisper",
        "ForConditionalGeneration",
        {
            "vocab_size": 64,
            "num_mel_bins": 16,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "d_model": 32,
            "encoder_ffn_dim": 64,
            "decoder_ffn_dim": 64,
            "max_source_positions": 20,
            "max_target_positions": 20,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
        },
        speech,
    ),
    "clip": ("CLIP", "Model", {}, captions),
}


def transformer(name: str) -> Run:
    """Return a run of a model of transformers, in training mode."""
    library = importlib.import_module("transformers")
    family, task, options, feed = TRANSFORMERS[name]
    torch.manual_seed(0)
    config = _clip(library) if name == "clip" else getattr(library, f"{family}Config")(**options)
    return feed(getattr(library, family + task)(config).train())


def _clip(library: Any) -> Any:
    writing = {**WIDTH, "max_position_embeddings": 16, "eos_token_id": 2, "pad_token_id": 0}
    seeing = {**WIDTH, "image_size": 16, "patch_size": 4}
    del seeing["vocab_size"]
    return library.CLIPConfig(text_config=writing, vision_config=seeing, projection_dim=16)


VISION: dict[str, dict[str, Any]] = {
    "resnet10t": {},
    "mobilenetv3_small_050": {},
    "regnetx_002": {},
    "ghostnet_050": {},
    "convnext_atto": {},
    "vit_tiny_patch16_224": {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 48},
    "mixer_s16_224": {"img_size": 32},
    "cait_xxs24_224": {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 48},
}


def vision(name: str) -> Run:
    """Return a run of a model of timm on small images."""
    torch.manual_seed(0)
    create = importlib.import_module("timm").create_model
    model = create(name, pretrained=False, num_classes=5, **VISION[name]).train()
    labels = torch.arange(4)
    return Run(
        lambda x: functional.cross_entropy(model(x), labels), (torch.randn(4, 3, 32, 32),), model
    )


GRAPHS = ("GCN", "GAT", "GraphSAGE", "GIN", "EdgeCNN")


def graph(name: str) -> Run:
    """Return a run of a network of PyTorch Geometric over a random graph."""
    torch.manual_seed(0)
    library = importlib.import_module("torch_geometric.nn")
    model = getattr(library, name)(8, 16, 2, out_channels=4).train()
    x, edges, labels = torch.randn(30, 8), torch.randint(30, (2, 120)), torch.arange(30) % 4
    return Run(
        lambda x, edges: functional.cross_entropy(model(x, edges), labels), (x, edges), model
    )
