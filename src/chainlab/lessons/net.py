"""The net library of *A neural network*, line for line as on that page."""

from chainlab.lessons.engine import Node


class Parameter(Node):
    """A leaf that training may move."""


class Module:
    """Anything that has parameters, in its attributes or in lists stored there."""

    def parameters(self):
        return list(dict.fromkeys(find(self)))  # each once

    def zero_grad(self):
        for p in self.parameters():
            p.grad = 0.0


def find(thing):
    if isinstance(thing, Parameter):
        yield thing
    elif isinstance(thing, Module):
        yield from find(list(vars(thing).values()))
    elif isinstance(thing, list):
        for item in thing:
            yield from find(item)


class Neuron(Module):
    def __init__(self, n_in, rng, activation=Node.tanh):
        bound = 1 / n_in**0.5
        *weights, bias = rng.uniform(-bound, bound, n_in + 1).tolist()
        self.weights = [Parameter(w) for w in weights]
        self.bias, self.activation = Parameter(bias), activation

    def __call__(self, x):
        total = self.bias
        for w, x_i in zip(self.weights, x):
            total = total + w * x_i
        return self.activation(total) if self.activation else total


class Layer(Module):
    def __init__(self, n_in, n_out, rng, activation=Node.tanh):
        self.neurons = [Neuron(n_in, rng, activation) for _ in range(n_out)]

    def __call__(self, x):
        return [neuron(x) for neuron in self.neurons]


class MLP(Module):
    def __init__(self, n_in, sizes, rng, activation=Node.tanh):
        self.layers = []
        for n_out in sizes:
            is_last = len(self.layers) == len(sizes) - 1
            self.layers.append(Layer(n_in, n_out, rng, None if is_last else activation))
            n_in = n_out  # the next layer's inputs

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x[0] if len(x) == 1 else x
