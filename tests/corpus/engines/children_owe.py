"""A book's engine: a node counts all children it ever had and sends when the last has paid, so that one outside the loss holds it up. Gradients are tensors."""

import itertools
import numpy as np


class Tensor:
    ids = itertools.count()

    def __init__(self, data, autograd=True, creators=None, creation_op=None):
        self.data = np.array(data, dtype=float)
        self.autograd = autograd
        self.creators = creators
        self.creation_op = creation_op
        self.grad = None
        self.children = {}
        self.id = next(Tensor.ids)
        for c in creators or ():
            c.children[self.id] = c.children.get(self.id, 0) + 1

    def all_children_grads_accounted_for(self):
        return all(owed == 0 for owed in self.children.values())

    def backward(self, grad=None, grad_origin=None):
        if not self.autograd:
            return
        if grad is None:
            grad = Tensor(np.ones_like(self.data), autograd=False)
        if grad_origin is not None:
            if self.children[grad_origin.id] == 0:
                raise Exception("cannot backprop more than once")
            self.children[grad_origin.id] -= 1
        self.grad = (
            grad if self.grad is None else Tensor(self.grad.data + grad.data, autograd=False)
        )
        if self.creators and (self.all_children_grads_accounted_for() or grad_origin is None):
            a, b = self.creators[0], self.creators[-1]
            g = self.grad.data
            if self.creation_op == "add":
                a.backward(Tensor(g, autograd=False), self)
                b.backward(Tensor(g, autograd=False), self)
            if self.creation_op == "sub":
                a.backward(Tensor(g, autograd=False), self)
                b.backward(Tensor(-g, autograd=False), self)
            if self.creation_op == "mul":
                a.backward(Tensor(g * b.data, autograd=False), self)
                b.backward(Tensor(g * a.data, autograd=False), self)
            if self.creation_op == "neg":
                a.backward(Tensor(-g, autograd=False), self)

    def __add__(self, other):
        return Tensor(self.data + other.data, True, [self, other], "add")

    def __sub__(self, other):
        return Tensor(self.data - other.data, True, [self, other], "sub")

    def __mul__(self, other):
        return Tensor(self.data * other.data, True, [self, other], "mul")

    def __neg__(self):
        return Tensor(-self.data, True, [self], "neg")
