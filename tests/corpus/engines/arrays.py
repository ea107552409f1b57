"""Arrays with closures that add, and with the loop of training that its author ran."""

import numpy as np


def back_to(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1 != g.shape[i]:
            g = g.sum(axis=i, keepdims=True)
    return g


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, parents=()):
        self.data = np.array(data, dtype=float)
        self.grad = np.zeros_like(self.data)
        self.parents = parents
        self.send = lambda: None

    def __add__(self, other):
        other = wrap(other)
        out = Tensor(self.data + other.data, (self, other))

        def send():
            self.grad = self.grad + back_to(out.grad, self.data.shape)
            other.grad = other.grad + back_to(out.grad, other.data.shape)

        out.send = send
        return out

    def __mul__(self, other):
        other = wrap(other)
        out = Tensor(self.data * other.data, (self, other))

        def send():
            self.grad = self.grad + back_to(out.grad * other.data, self.data.shape)
            other.grad = other.grad + back_to(out.grad * self.data, other.data.shape)

        out.send = send
        return out

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -wrap(other)

    def __rsub__(self, other):
        return wrap(other) - self

    def __pow__(self, n):
        out = Tensor(self.data**n, (self,))

        def send():
            self.grad = self.grad + (n * self.data ** (n - 1.0) * out.grad if n else 0 * out.grad)

        out.send = send
        return out

    def __truediv__(self, other):
        return self * wrap(other) ** -1

    def __rtruediv__(self, other):
        return wrap(other) / self

    def relu(self):
        out = Tensor(np.maximum(self.data, 0), (self,))

        def send():
            self.grad = self.grad + (self.data > 0) * out.grad

        out.send = send
        return out

    def exp(self):
        out = Tensor(np.exp(self.data), (self,))

        def send():
            self.grad = self.grad + out.data * out.grad

        out.send = send
        return out

    def log(self):
        out = Tensor(np.log(self.data), (self,))

        def send():
            self.grad = self.grad + out.grad / self.data

        out.send = send
        return out

    def softmax(self, axis=-1):
        e = np.exp(self.data - self.data.max(axis=axis, keepdims=True))
        s = e / e.sum(axis=axis, keepdims=True)
        out = Tensor(s, (self,))

        def send():
            g = out.grad - (s * out.grad).sum(axis=axis, keepdims=True)
            self.grad = self.grad + s * g

        out.send = send
        return out

    def __matmul__(self, other):
        out = Tensor(self.data @ other.data, (self, other))

        def send():
            self.grad = self.grad + out.grad @ other.data.T
            other.grad = other.grad + self.data.T @ out.grad

        out.send = send
        return out

    def sum(self, axis=None, keepdims=False):
        out = Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,))

        def send():
            g = out.grad if axis is None or keepdims else np.expand_dims(out.grad, axis)
            self.grad = self.grad + np.broadcast_to(g, self.data.shape)

        out.send = send
        return out

    def mean(self):
        n = self.data.size
        out = Tensor(self.data.sum() / n, (self,))

        def send():
            self.grad = self.grad + np.ones_like(self.data) * out.grad / n

        out.send = send
        return out

    def max(self, axis=None, keepdims=False):
        out = Tensor(self.data.max(axis=axis, keepdims=keepdims), (self,))
        top = self.data.max(axis=axis, keepdims=True)

        def send():
            ties = self.data == top
            g = out.grad.reshape(top.shape) / ties.sum(axis=axis, keepdims=True)
            self.grad = self.grad + ties * g

        out.send = send
        return out

    def reshape(self, *shape):
        out = Tensor(self.data.reshape(*shape), (self,))

        def send():
            self.grad = self.grad + out.grad.reshape(self.data.shape)

        out.send = send
        return out

    @property
    def T(self):
        out = Tensor(self.data.T, (self,))

        def send():
            self.grad = self.grad + out.grad.T

        out.send = send
        return out

    def __getitem__(self, i):
        out = Tensor(self.data[i], (self,))

        def send():
            g = np.zeros_like(self.data)
            np.add.at(g, i, out.grad)
            self.grad = self.grad + g

        out.send = send
        return out

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            t, done = stack.pop()
            if done:
                order.append(t)
            elif id(t) not in seen:
                seen.add(id(t))
                stack.append((t, True))
                stack.extend((p, False) for p in t.parents)
        for t in order:
            if t.parents:
                t.grad = np.zeros_like(t.data)
        self.grad = self.grad + np.ones_like(self.data)
        for t in reversed(order):
            t.send()


def wrap(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def train(x, labels, weights, rate, steps):
    """Train a net of one hidden layer with cross-entropy; return the losses and the weights."""
    W = [Tensor(w) for w in weights]
    hot = np.eye(weights[2].shape[1])[labels]
    losses = []
    for _ in range(steps):
        scores = (Tensor(x) @ W[0] + W[1]).relu() @ W[2] + W[3]
        shifted = scores - scores.data.max(axis=1, keepdims=True)
        loss = (
            shifted.exp().sum(axis=1, keepdims=True).log()
            - (shifted * hot).sum(axis=1, keepdims=True)
        ).sum() * (1.0 / len(labels))
        for w in W:
            w.grad = np.zeros_like(w.data)
        loss.backward()
        losses.append(float(loss.data))
        for w in W:
            w.data = w.data - rate * w.grad
    return losses, [w.data for w in W]
