"""Sound, but its attributes are called ``val`` and ``gradient``, and its operators take nodes alone."""


class Scalar:
    def __init__(self, val, made_of=()):
        self.val, self.gradient, self.made_of, self.push = val, 0, tuple(made_of), lambda: None

    def __add__(self, other):
        out = Scalar(self.val + other.val, (self, other))

        def push():
            self.gradient += out.gradient
            other.gradient += out.gradient

        out.push = push
        return out

    def __sub__(self, other):
        out = Scalar(self.val - other.val, (self, other))

        def push():
            self.gradient += out.gradient
            other.gradient -= out.gradient

        out.push = push
        return out

    def __mul__(self, other):
        out = Scalar(self.val * other.val, (self, other))

        def push():
            self.gradient += other.val * out.gradient
            other.gradient += self.val * out.gradient

        out.push = push
        return out

    def backward(self):
        done, order, agenda = set(), [], [(self, 0)]
        while agenda:
            node, leaving = agenda.pop()
            if leaving:
                order.append(node)
            elif node not in done:
                done.add(node)
                agenda.append((node, 1))
                agenda += [(m, 0) for m in node.made_of]
        for node in order:
            if node.made_of:
                node.gradient = 0
        self.gradient = 1
        for node in order[::-1]:
            node.push()
