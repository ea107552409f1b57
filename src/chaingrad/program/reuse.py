"""The same program in less memory: results are written over what is no longer needed."""

from collections.abc import Sequence

import numpy as np

from chaingrad.program.line import Line
from chaingrad.program.source import MADE, Writer, memory_of
from chaingrad.program.tape import Recorded


class Reuser(Writer):
    """Gives each array a line, which writes over an array of its form that nobody reads any more.

    An operation on entries may write over its own operand; a matrix product may not.
    """

    def find_twins(self) -> dict[Recorded, Recorded]:
        """Find none: a view of an array would keep what is to be written over."""
        return {}

    def _write(self, values: Sequence[Recorded]) -> None:
        if not self.lines:
            self._at = {x: i for i, x in enumerate(self.order)}
            self._last = self._last_reads()
            self._free: dict[str, Recorded] = {}
        for x in values:
            if x in self._demands:
                self._demand(x)
            if x in self.name or self._is_trivial(x) or not self._uses[x]:
                continue
            if not any(memory_of(y).shape for y in x.args):
                super()._write([x])
            elif not x.shape or x.op in MADE or memory_of(x) is not x:
                self._line(x)
            else:
                self._reuse(x)

    def _last_reads(self) -> dict[Recorded, int]:
        """Find when the memory of each value is last read, by the order of the values."""
        last = {memory_of(y): i for i, x in enumerate(self.order) for y in x.args}
        # What a function of NumPy gave may show an operand, as long as anybody reads it.
        called = {y for x in self.order if x.op == "call" for y in (x, *x.args)}
        kept = (*self.outputs, *self.inputs, *called)
        return last | {memory_of(x): len(self.order) for x in kept}

    def _reuse(self, x: Recorded) -> None:
        function = getattr(np, x.op, None)
        over = None
        if isinstance(function, np.ufunc):
            over = next((name for name, y in self._free.items() if self._may_take(x, y)), None)
        if over is None:
            self._line(x)
            self._free[self.name[x]] = x
            return
        label = self.labels.get(x) or self._of_adjoint(x)
        comment = f"{label + ' ' if label else ''}{x.shape}{', again' if x.region else ''}"
        text = f"np.{x.op}({self.listed(x.args)}, out={over})"
        self.name[x] = over
        self.lines.append(Line(x, over, text, self._covered(x), comment, makes_new=False))
        self._free[over] = x

    def _of_adjoint(self, x: Recorded) -> str:
        of = self.labels.get(self.adjoint_of.get(x, x))
        return f"d{of}" if of else ""

    def _may_take(self, x: Recorded, y: Recorded) -> bool:
        """Return whether ``x`` may be written over ``y``, which an array holds."""
        read, now = self._last.get(y, 0), self._at[x]
        if x.shape != y.shape or x.dtype != y.dtype or read > now:
            return False
        if read < now:
            return True
        return x.op != "matmul" and all(z is y or memory_of(z) is not y for z in x.args)
