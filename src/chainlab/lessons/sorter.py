"""The transformer of *A transformer that learns to sort*, line for line as on that page."""

import numpy as np

from chaingrad import no_grad
from chaingrad.losses import cross_entropy, softmax
from chaingrad.nn import Module, Parameter
from chaingrad.optim import Adam

WIDTH, HEADS = 32, 2


def parameter(array):
    return Parameter(np.asarray(array, np.float32))


class Dense(Module):
    def __init__(self, n_in, n_out, rng):
        W = rng.normal(size=(n_out, n_in))
        self.W = parameter(W / n_in**0.5)
        self.b = parameter(np.zeros(n_out))

    def forward(self, x):
        return x @ self.W.T + self.b


class Norm(Module):
    def __init__(self):
        self.gain = parameter(np.ones(WIDTH))
        self.shift = parameter(np.zeros(WIDTH))

    def forward(self, x):
        x = x - x.mean(-1, keepdims=True)
        variance = (x**2).mean(-1, keepdims=True)
        x_hat = x / (variance + 1e-5) ** 0.5
        return self.gain * x_hat + self.shift


class Attention(Module):
    def __init__(self, rng):
        self.qkv = Dense(WIDTH, 3 * WIDTH, rng)
        self.out = Dense(WIDTH, WIDTH, rng)

    def mask(self, places):
        later = np.triu(np.ones((places, places)), 1)
        return np.float32(-1e9) * later.astype("f4")

    def forward(self, x):
        n, places, _ = x.shape
        size = WIDTH // HEADS
        x = self.qkv(x)
        x = x.reshape(n, places, 3, HEADS, size)
        q, k, v = x.transpose(2, 0, 3, 1, 4)
        S = q @ k.mT / size**0.5 + self.mask(places)
        P = softmax(S)
        self.map = P.data  # for our pictures
        heads = (P @ v).transpose(0, 2, 1, 3)
        return self.out(heads.reshape(n, places, WIDTH))


class Block(Module):
    def __init__(self, rng):
        self.norms = [Norm(), Norm()]
        self.attention = Attention(rng)
        self.up = Dense(WIDTH, 2 * WIDTH, rng)
        self.down = Dense(2 * WIDTH, WIDTH, rng)

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        h = self.up(self.norms[1](x)).relu()
        return x + self.down(h)


class Transformer(Module):
    def __init__(self, rng, places=11):
        self.digit = parameter(rng.normal(size=(10, WIDTH)))
        self.place = parameter(rng.normal(size=(places, WIDTH)))
        self.blocks = [Block(rng), Block(rng)]
        self.norm = Norm()
        self.head = Dense(WIDTH, 10, rng)

    def forward(self, line):
        x = self.digit[line] + self.place[: line.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def examples(rng, n=64, size=6, task=np.sort):
    digits = rng.integers(0, 10, (n, size))
    answer = task(digits)
    return np.hstack([digits, answer[:, :-1]]), answer


def loss_of(net, line, answer):
    scores = net(line)[:, -answer.shape[1] :]
    scores = scores.reshape(answer.size, 10)
    return cross_entropy(scores, answer.ravel())


def train(net, steps=300, rate=0.01, task=np.sort):
    rng = np.random.default_rng(1)
    optimizer = Adam(net.parameters(), rate)
    for step in range(steps):
        optimizer.lr = rate * (1 - step / steps)
        loss = loss_of(net, *examples(rng, task=task))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield float(loss.data)


def answers(net, digits):
    line = digits
    with no_grad():
        for _ in range(digits.shape[1]):
            scores = net(line).data[:, -1]
            line = np.column_stack([line, scores.argmax(1)])
    return line[:, digits.shape[1] :]
