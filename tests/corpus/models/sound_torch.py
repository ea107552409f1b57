"""Sound models of PyTorch: at kinks, masked, recurrent, tied, frozen or detached on purpose."""

import math

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import FunctionCtx
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from tests.corpus.models.table import Run, sound

PYTORCH = "https://docs.pytorch.org/docs/stable"
EXAMPLES = "https://github.com/pytorch/examples/blob/main"


def classify(model: nn.Module, *shape: int, classes: int = 3) -> Run:
    """Return a run of cross entropy on random inputs of a shape."""
    x, labels = torch.randn(shape), torch.arange(shape[0]) % classes
    return Run(lambda x: functional.cross_entropy(model(x), labels), (x,), model)


@sound("https://cs231n.github.io/neural-networks-2/", smooth=False)
def zero_bias_and_padding_rows() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.zeros_(model[0].bias)
    x = torch.randn(6, 4)
    x[4:] = 0.0
    return Run(lambda x: functional.cross_entropy(model(x), torch.arange(6) % 3), (x,), model)


@sound(f"{EXAMPLES}/mnist/main.py", smooth=False)
def ties_in_max_pool() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    image = torch.zeros(3, 1, 8, 8)
    image[:, :, 2:6, 2:6] = torch.randn(3, 1, 4, 4)
    return Run(lambda x: functional.cross_entropy(model(x), torch.arange(3)), (image,), model)


@sound("https://github.com/karpathy/micrograd/blob/master/demo.ipynb", smooth=False)
def hinge_at_its_corner() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 0.0]]))
        model.bias.zero_()
    x = torch.tensor([[1.0, 0.3], [0.4, -1.0], [-1.0, 2.0], [0.2, 0.5]])  # the 1st: margin of 1
    side = torch.tensor([1.0, 1.0, -1.0, 1.0])
    return Run(lambda x: functional.relu(1 - side * model(x)[:, 0]).mean(), (x,), model)


class Residual(nn.Module):
    """A residual block whose last normalization starts at 0, so that it starts as identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(x + self.bn2(self.conv2(inner)))


@sound(
    "https://github.com/pytorch/vision/blob/main/torchvision/models/resnet.py",
    "1.conv1.weight 1.conv1.bias 1.bn1.weight 1.bn1.bias 1.conv2.weight 1.conv2.bias",
    smooth=False,
)
def zero_init_last_normalization() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), Residual(4), nn.Flatten(), nn.Linear(64, 3))
    return classify(model, 6, 1, 6, 6)


class Attention(nn.Module):
    """One head over a padded batch, with -inf at the keys that are padding."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 3)

    def forward(self, x: Tensor, padded: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).mT / math.sqrt(x.shape[-1])
        scores = scores.masked_fill(padded[:, None, :], -math.inf)
        mixed = scores.softmax(-1) @ self.v(x)
        return self.out(mixed.masked_fill(padded[..., None], 0.0).sum(1))


@sound("https://github.com/hyunwoongko/transformer/issues/10", "k.bias")
def attention_over_padded_keys() -> Run:
    torch.manual_seed(0)
    model = Attention(8)
    with torch.no_grad():
        model.q.bias.zero_()
    x = torch.randn(3, 5, 8)
    padded = torch.arange(5) >= torch.tensor([5, 3, 2])[:, None]
    labels = torch.arange(3)
    return Run(
        lambda x, padded: functional.cross_entropy(model(x, padded), labels), (x, padded), model
    )


class TiedLanguageModel(nn.Module):
    """A decoder that shares the encoder's weight, as in the word language model."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(7, 6)
        self.rnn = nn.GRU(6, 6, batch_first=True)
        self.decoder = nn.Linear(6, 7)
        self.decoder.weight = self.encoder.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.decoder(self.rnn(self.encoder(tokens))[0])


@sound(f"{EXAMPLES}/word_language_model/model.py")
def tied_weights_and_gru() -> Run:
    torch.manual_seed(0)
    model = TiedLanguageModel()
    tokens = torch.randint(0, 7, (2, 6))
    return Run(
        lambda tokens: functional.cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:]),
        (tokens,),
        model,
    )


class Quantizer(nn.Module):
    """Round to the nearest code, and pass the gradient straight through."""

    def __init__(self) -> None:
        super().__init__()
        self.enc, self.dec = nn.Linear(4, 2), nn.Linear(2, 4)
        self.codes = nn.Parameter(torch.randn(5, 2))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.enc(x)
        q = self.codes[torch.cdist(z, self.codes).argmin(1)]
        commit = (q - z.detach()).square().mean() + 0.25 * (z - q.detach()).square().mean()
        return self.dec(z + (q - z).detach()), commit


@sound(
    "https://github.com/lucidrains/vector-quantize-pytorch/blob/master/"
    "vector_quantize_pytorch/vector_quantize_pytorch.py",
    smooth=False,
)
def codes_with_a_straight_through_gradient() -> Run:
    torch.manual_seed(0)
    model = Quantizer()

    def loss(x: Tensor) -> Tensor:
        out, commit = model(x)
        return functional.mse_loss(out, x) + commit

    return Run(loss, (torch.randn(6, 4),), model)


class NameReader(nn.Module):
    """An RNNCell over the letters of a name; the last state decides."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = nn.RNNCell(5, 8), nn.Linear(8, 3)

    def forward(self, letters: Tensor) -> Tensor:
        state = torch.zeros(letters.shape[1], 8)
        for letter in letters:
            state = self.cell(letter, state)
        return self.head(state)


@sound(
    "https://github.com/pytorch/tutorials/blob/main/intermediate_source/"
    "char_rnn_classification_tutorial.py"
)
def recurrent_cell_in_a_loop() -> Run:
    torch.manual_seed(0)
    model = NameReader()
    letters = functional.one_hot(torch.randint(0, 5, (6, 3)), 5).float()
    return Run(lambda x: functional.cross_entropy(model(x), torch.arange(3)), (letters,), model)


@sound(
    "https://github.com/huggingface/transformers/blob/main/src/transformers/loss/loss_utils.py",
    smooth=False,
)
def logits_made_float_in_the_loss() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(9, 8), nn.LayerNorm(8), nn.Linear(8, 9)).bfloat16()
    tokens = torch.randint(0, 9, (2, 6))

    def loss(tokens: Tensor) -> Tensor:
        logits = model(tokens).float()[:, :-1]
        labels = functional.pad(tokens, (0, 1), value=-100)[:, 1:-1]
        return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)

    return Run(loss, (tokens,), model)


class LowRank(nn.Module):
    """A frozen layer and a low-rank update, whose second factor starts at 0."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs).requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(2, inputs))
        self.lora_B = nn.Parameter(torch.zeros(outputs, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + 8 * (x @ self.lora_A.T @ self.lora_B.T)


@sound(
    "https://github.com/microsoft/LoRA/blob/main/loralib/layers.py",
    "0.lora_A 2.lora_A",
)
def low_rank_update_of_zero() -> Run:
    torch.manual_seed(0)
    return classify(nn.Sequential(LowRank(4, 8), nn.Tanh(), LowRank(8, 3)), 5, 4)


class Scaled(nn.Module):
    """A residual branch times a learnt scale that starts at a millionth."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.up, self.down = (
            nn.LayerNorm(width),
            nn.Linear(width, 16),
            nn.Linear(16, width),
        )
        self.gamma = nn.Parameter(1e-6 * torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.gamma * self.down(functional.gelu(self.up(self.norm(x))))


@sound(
    "https://github.com/facebookresearch/ConvNeXt/blob/main/models/convnext.py",
)
def layer_scale_of_a_millionth() -> Run:
    torch.manual_seed(0)
    return classify(nn.Sequential(nn.Linear(4, 8), Scaled(8), Scaled(8), nn.Linear(8, 3)), 5, 4)


def checkpointed(reentrant: bool) -> Run:
    torch.manual_seed(0)
    first, middle, last = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)
    model = nn.ModuleList([first, middle, last])

    def loss(x: Tensor) -> Tensor:
        h = checkpoint(lambda h: middle(h).tanh(), first(x), use_reentrant=reentrant)
        return functional.cross_entropy(last(h), torch.arange(5) % 3)

    return Run(loss, (torch.randn(5, 4),), model)


@sound("https://github.com/pytorch/pytorch/blob/main/torch/utils/checkpoint.py")
def checkpoint_without_reentry() -> Run:
    return checkpointed(reentrant=False)


@sound("https://github.com/pytorch/pytorch/blob/main/torch/utils/checkpoint.py")
def checkpoint_with_reentry() -> Run:
    return checkpointed(reentrant=True)


class Counting(nn.Module):
    """A causal mask and running statistics as buffers, a counter and a cache as attributes."""

    mask: Tensor
    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.qk, self.v = nn.Linear(4, 8, bias=False), nn.Linear(4, 4)
        self.register_buffer("mask", torch.ones(5, 5).tril())
        self.register_buffer("mean", torch.zeros(4))
        self.calls, self.cache = 0, {}

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        with torch.no_grad():
            self.mean.mul_(0.9).add_(x.mean((0, 1)), alpha=0.1)
        q, k = self.qk(x).chunk(2, -1)
        scores = (q @ k.mT).masked_fill(self.mask == 0, -math.inf)
        self.cache["weights"] = scores.softmax(-1).detach()
        return scores.softmax(-1) @ self.v(x)


@sound("https://github.com/karpathy/nanoGPT/blob/master/model.py")
def buffers_cache_and_counter() -> Run:
    torch.manual_seed(0)
    model = Counting()
    return Run(lambda x: model(x).square().mean(), (torch.randn(2, 5, 4),), model)


@sound(f"{EXAMPLES}/mnist/main.py", smooth=False)
def dropout() -> Run:
    torch.manual_seed(0)
    layers = nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3)
    return classify(nn.Sequential(*layers), 8, 4)


@sound(f"{PYTORCH}/complex_numbers.html", smooth=False)
def complex_weights() -> Run:
    torch.manual_seed(0)
    weight = torch.randn(9, dtype=torch.cfloat, requires_grad=True)
    signal, wanted = torch.randn(4, 16), torch.randn(4, 16)

    def loss(signal: Tensor) -> Tensor:
        passed = torch.fft.irfft(torch.fft.rfft(signal) * weight, n=16)
        return functional.mse_loss(passed, wanted)

    return Run(loss, (signal,), leaves={"weight": weight})


class Product(Function):
    """A linear layer as a function of one's own, with its three gradients."""

    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return x @ weight.T + bias

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        return grad @ weight, grad.T @ x, grad.sum(0)


@sound("https://gist.github.com/anonymous/866455c6bdb88403d23d8c862b3b9233")
def function_of_ones_own() -> Run:
    torch.manual_seed(0)
    first, last = nn.Linear(4, 6), nn.Linear(6, 3)
    model = nn.ModuleList([first, last])

    def loss(x: Tensor) -> Tensor:
        h = Product.apply(x, first.weight, first.bias).tanh()
        out = Product.apply(h, last.weight, last.bias)
        return functional.cross_entropy(out, torch.arange(5) % 3)

    return Run(loss, (torch.randn(5, 4),), model)


@sound(
    "https://github.com/pytorch/tutorials/blob/main/beginner_source/examples_autograd/"
    "polynomial_autograd.py"
)
def plain_tensors_as_parameters() -> Run:
    torch.manual_seed(0)
    x = torch.linspace(-1.5, 1.5, 20)
    a, b, c, d = (torch.randn((), requires_grad=True) for _ in range(4))
    return Run(
        lambda a, b, c, d: (a + b * x + c * x**2 + d * x**3 - x.sin()).square().mean(), (a, b, c, d)
    )


@sound("https://github.com/pytorch/pytorch/issues/6468", smooth=False)
def batch_of_one_image() -> Run:
    torch.manual_seed(0)
    layers = nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()
    return classify(nn.Sequential(*layers, nn.Linear(144, 3)), 1, 1, 8, 8)


@sound(
    "https://github.com/pytorch/tutorials/blob/main/beginner_source/transfer_learning_tutorial.py"
)
def frozen_backbone() -> Run:
    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
    backbone.requires_grad_(False)
    return classify(nn.Sequential(backbone, nn.Linear(8, 3)), 5, 4)


@sound(f"{EXAMPLES}/dcgan/main.py", smooth=False)
def discriminator_step_on_detached_fakes() -> Run:
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 4))
    critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
    bce = functional.binary_cross_entropy_with_logits
    noise, real = torch.randn(5, 2), torch.randn(5, 4)

    def loss(real: Tensor) -> Tensor:
        fake = critic(generator(noise).detach())
        return bce(critic(real), torch.ones(5, 1)) + bce(fake, torch.zeros(5, 1))

    return Run(loss, (real,), critic)


@sound("https://github.com/vwxyzjn/cleanrl/blob/master/cleanrl/dqn.py", smooth=False)
def target_network() -> Run:
    torch.manual_seed(0)
    online, target = (nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)) for _ in "ab")
    target.load_state_dict(online.state_dict())
    now, later, reward = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6)
    action = torch.arange(6)[:, None] % 2

    def loss(now: Tensor) -> Tensor:
        with torch.no_grad():
            wanted = reward + 0.99 * target(later).max(1).values
        return functional.mse_loss(online(now).gather(1, action)[:, 0], wanted)

    return Run(loss, (now,), online)


@sound(f"{PYTORCH}/generated/torch.Tensor.register_hook.html", smooth=False)
def hooks_that_clip_gradients() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    for parameter in model.parameters():
        parameter.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
    return Run(lambda x: model(x).square().mean(), (3 * torch.randn(5, 4),), model)


@sound(f"{PYTORCH}/notes/amp_examples.html", smooth=False)
def autocast() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))

    def loss(x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return functional.cross_entropy(model(x), torch.arange(8) % 3)

    return Run(loss, (torch.randn(8, 4),), model)


@sound(f"{PYTORCH}/generated/torch.nn.Embedding.html", smooth=False)
def embedding_with_padding() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(6, 4, padding_idx=0), nn.Flatten(), nn.Linear(16, 3))
    tokens = torch.tensor([[1, 2, 0, 0], [3, 4, 5, 0], [5, 0, 0, 0]])
    return Run(lambda t: functional.cross_entropy(model(t), torch.arange(3)), (tokens,), model)


@sound(f"{PYTORCH}/generated/torch.nn.Embedding.html")
def embedding_with_sparse_gradients() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.EmbeddingBag(50, 4, sparse=True), nn.Linear(4, 3))
    tokens = torch.randint(0, 50, (3, 4))
    return Run(lambda t: functional.cross_entropy(model(t), torch.arange(3)), (tokens,), model)


@sound("https://d2l.ai/chapter_linear-regression/weight-decay.html")
def weight_decay_in_the_loss() -> Run:
    torch.manual_seed(0)
    model = nn.Linear(20, 1)
    x, y = torch.randn(5, 20), torch.randn(5, 1)
    return Run(
        lambda x: functional.mse_loss(model(x), y) + 1.5 * model.weight.square().sum(), (x,), model
    )


class Autoencoder(nn.Module):
    """A variational autoencoder with noise that is drawn anew in each pass."""

    def __init__(self) -> None:
        super().__init__()
        self.enc, self.mu, self.logvar = nn.Linear(6, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.dec = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 6), nn.Sigmoid())

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        h = self.enc(x).relu()
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(mu + torch.randn_like(mu) * (0.5 * logvar).exp()), mu, logvar


@sound(f"{EXAMPLES}/vae/main.py", smooth=False)
def variational_autoencoder() -> Run:
    torch.manual_seed(0)
    model = Autoencoder()

    def loss(x: Tensor) -> Tensor:
        out, mu, logvar = model(x)
        divergence = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum()
        return functional.binary_cross_entropy(out, x, reduction="sum") + divergence

    return Run(loss, (torch.rand(5, 6),), model)


@sound("https://github.com/sthalles/SimCLR/blob/master/simclr.py")
def contrastive_loss() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
    x = torch.randn(4, 6)
    views = torch.cat([x + 0.1 * torch.randn(4, 6), x + 0.1 * torch.randn(4, 6)])
    partner = (torch.arange(8) + 4) % 8

    def loss(views: Tensor) -> Tensor:
        z = functional.normalize(model(views))
        logits = (z @ z.T / 0.5).masked_fill(torch.eye(8, dtype=torch.bool), -math.inf)
        return functional.cross_entropy(logits, partner)

    return Run(loss, (views,), model)


class Packed(nn.Module):
    """A bidirectional LSTM over sequences of different lengths; each ends where it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 4, padding_idx=0)
        self.rnn = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 3)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed(tokens), lengths, batch_first=True, enforce_sorted=False
        )
        last = self.rnn(packed)[1][0]
        return self.head(torch.cat([last[0], last[1]], 1))


@sound(f"{PYTORCH}/generated/torch.nn.utils.rnn.pack_padded_sequence.html", smooth=False)
def packed_sequences_of_three_lengths() -> Run:
    torch.manual_seed(0)
    model, lengths = Packed(), torch.tensor([2, 5, 3])
    tokens = torch.randint(1, 9, (3, 5)) * (torch.arange(5) < lengths[:, None])
    return Run(
        lambda tokens: functional.cross_entropy(model(tokens, lengths), torch.arange(3)),
        (tokens,),
        model,
    )


class Experts(nn.Module):
    """A sparse mixture: each row goes to its two best experts, and some expert gets none."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 6, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 8), nn.SiLU(), nn.Linear(8, 4)) for _ in range(6)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.gate(x).softmax(-1).topk(2)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            row, rank = (chosen == number).nonzero(as_tuple=True)
            out = out.index_add(0, row, expert(x[row]) * weights[row, rank, None])
        return x + out


@sound(
    "https://github.com/huggingface/transformers/blob/main/src/transformers/models/mixtral/"
    "modeling_mixtral.py",
    "experts.2.0.weight experts.2.0.bias experts.2.2.weight experts.2.2.bias",
    smooth=False,
)
def experts_that_get_no_rows() -> Run:
    torch.manual_seed(0)
    model = Experts()
    return Run(lambda x: model(x).square().mean(), (torch.randn(4, 4),), model)


@sound(f"{PYTORCH}/generated/torch.nn.CTCLoss.html")
def alignment_of_unequal_lengths() -> Run:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 5))
    labels = torch.tensor([[1, 2, 2, 4], [3, 1, 0, 0]])

    def loss(frames: Tensor) -> Tensor:
        return functional.ctc_loss(model(frames).log_softmax(2), labels, (10, 7), (4, 2))

    return Run(loss, (torch.randn(10, 2, 6),), model)


class Aligned(nn.Module):
    """Warp the picture before reading it; the warp starts as the identity, with weights of 0."""

    def __init__(self) -> None:
        super().__init__()
        self.locate = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.Tanh())
        self.warp, self.head = nn.Linear(8, 6), nn.Linear(64, 3)
        nn.init.zeros_(self.warp.weight)
        with torch.no_grad():
            self.warp.bias.copy_(torch.tensor([0.97, 0.02, 0.01, 0.03, 0.96, 0.02]))

    def forward(self, x: Tensor) -> Tensor:
        theta = self.warp(self.locate(x)).view(-1, 2, 3)
        grid = functional.affine_grid(theta, list(x.shape), align_corners=False)
        seen = functional.grid_sample(x, grid, align_corners=False)
        return self.head(seen.flatten(1))


@sound(
    "https://github.com/pytorch/tutorials/blob/main/intermediate_source/"
    "spatial_transformer_tutorial.py",
    "locate.1.weight locate.1.bias",
    smooth=False,
)
def warp_that_starts_as_the_identity() -> Run:
    torch.manual_seed(0)
    return classify(Aligned(), 4, 1, 8, 8)


class Skipping(nn.Module):
    """Residual layers, each of which is skipped in half of all runs."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(4))
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            if not self.training or torch.rand([]) < 0.5:
                x = x + torch.tanh(layer(x))
        return self.head(x)


@sound(
    "https://github.com/pytorch/pytorch/issues/90171",
    "layers.0.weight layers.0.bias layers.3.weight layers.3.bias",
    smooth=False,
)
def layers_skipped_at_random() -> Run:
    torch.manual_seed(0)
    run = classify(Skipping(), 5, 6)
    torch.manual_seed(1)  # which layers are skipped
    return run


@sound("https://proceedings.mlr.press/v37/jozefowicz15.html")
def forget_gates_that_start_open() -> Run:
    torch.manual_seed(0)
    model = nn.ModuleDict({"lstm": nn.LSTM(3, 8), "head": nn.Linear(8, 1)})
    nn.init.constant_(model["lstm"].bias_ih_l0[8:16], 3.0)
    x = torch.randn(40, 4, 3)
    return Run(lambda x: (model["head"](model["lstm"](x)[0][-1]) - 1).square().mean(), (x,), model)
