"""A constructor that caches nodes by value: two leaves of the same number are one object, which gets both gradients."""

import weakref


class Interned(type):
    cache = weakref.WeakValueDictionary()

    def __call__(cls, value, op=None, src=()):
        key = (value, op, tuple(id(s) for s in src))
        node = Interned.cache.get(key)
        if node is None:
            node = super().__call__(value, op, src)
            Interned.cache[key] = node
        return node


class UOp(metaclass=Interned):
    def __init__(self, value, op, src):
        self.value = value
        self.op = op
        self.src = src
        self.grad = 0.0

    @property
    def data(self):
        return self.value

    def __add__(self, other):
        o = uop(other)
        return UOp(self.value + o.value, "+", (self, o))

    def __mul__(self, other):
        o = uop(other)
        return UOp(self.value * o.value, "*", (self, o))

    def __neg__(self):
        return UOp(-self.value, "neg", (self,))

    def __sub__(self, other):
        return self + -uop(other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return uop(other) - self

    def slopes(self):
        if self.op == "+":
            return 1.0, 1.0
        if self.op == "*":
            return self.src[1].value, self.src[0].value
        return (-1.0,) if self.op == "neg" else ()

    def backward(self):
        order, seen, stack = [], set(), [(self, False)]
        while stack:
            u, done = stack.pop()
            if done:
                order.append(u)
            elif u not in seen:
                seen.add(u)
                stack.append((u, True))
                stack.extend((s, False) for s in u.src)
        for u in order:
            if u.src:
                u.grad = 0.0
        self.grad = 1.0
        for u in reversed(order):
            for s, slope in zip(u.src, u.slopes()):
                s.grad += slope * u.grad


def uop(x):
    return x if isinstance(x, UOp) else UOp(x)
