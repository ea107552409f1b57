"""Read from an engine how it is spoken to: how leaves are made, and what it calls its parts.

An engine with micrograd's names is taken as it is. Of another one we make leaves and a product, run
what looks like its pass, and look where the numbers are. What we find becomes the text of an
`Adapter`. The doctor runs that text, so a reader can copy it into a file as it stands.
"""

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import methodcaller
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from chainlab.doctor.probe import as_numbers
from chainview.read.words import joined

_DATA = (
    "data", "val", "value", "_data", "array", "v", "x", "primal", "item()", "numpy()", "value()",
)  # fmt: skip
_GRADS = (
    "grad", "gradient", "g", "derivative", "deriv", "adjoint", "adj", "grad_value", "_grad", "dv",
    "grad()", "gradient()",
)  # fmt: skip
_PASS = re.compile(r"back|grad|diff|propagat|adjoint|reverse", re.IGNORECASE)
_NO_PASS = re.compile(
    r"^_|zero|clear|reset|check|no_?grad|numeric|finite|descent|test|main|train|plot|draw|show|"
    r"broad|requires|retain|_$",
    re.IGNORECASE,
)
_ZERO = re.compile(r"^(zero|clear|reset)_?grad(ient)?s?$|^zero$", re.IGNORECASE)
_LABEL = re.compile(r"label|name|^id$|^key$", re.IGNORECASE)
_ASKS = re.compile(r"requires?_?grad|track|autograd|differentiable|trainable", re.IGNORECASE)
_OTHERS = re.compile(r"parent|child|prev|creator|input|operand|kids|depend|args", re.IGNORECASE)
_NUMBER_OF_LEAF = "f'leaf{next(self.labels)}'"
_labels = itertools.count()  # labels stay unique in an engine that outlives an adapter


@dataclass(frozen=True)
class Conventions:
    """How an engine is spoken to: expressions of Python, as they stand in an adapter.

    Attributes:
        leaf: makes a leaf of ``value``.
        data: comes after a node and is its number, as ``.data``.
        grad: comes after a leaf and is its gradient; empty if the pass returns gradients.
        inner: comes after the gradient where that is a node, and is its number.
        run: runs the pass from ``root``.
        cleared: sets the gradient of ``leaf`` to 0; empty where ``leaf.grad = 0.0`` does.
        is_whole: whether leaves, data, the pass and gradients were all found.
        of_arrays: whether the data of a number are an array of NumPy's.
    """

    leaf: str
    data: str = ".data"
    grad: str = ".grad"
    inner: str = ""
    run: str = "root.backward()"
    cleared: str = ""
    is_whole: bool = False
    of_arrays: bool = False

    def told(self, engine: str) -> str:
        """Return in words what was read that differs from micrograd."""
        usual = Conventions(f"{engine}(value)")
        after = f"{self.grad}{self.inner}" or "what the pass returns"
        told = [
            f"`{self.leaf}` as a leaf" * (self.leaf != usual.leaf),
            f"`{self.data}` as the data" * (self.data != usual.data),
            f"`{after}` as the gradient" * (after != usual.grad),
            f"`{self.run}` as the pass" * (self.run != usual.run),
        ]
        return joined([text for text in told if text])

    def as_adapter(self, engine: str, failing: Mapping[str, str] = MappingProxyType({})) -> str:
        """Return the text of an adapter, to be put below the engine.

        Args:
            engine: its name.
            failing: what came of methods that are still to be filled in, by name.
        """
        gradient = f"return leaf{self.grad}"
        if self.inner:
            gradient = (
                f"grad = leaf{self.grad}\n        return grad if grad is None else grad{self.inner}"
            )
        elif not self.grad:
            gradient = "return self.found.get(leaf)"
        methods = {
            "leaf(self, value)": f"return {self.leaf}",
            "value(self, node)": f"return node{self.data}",
            "backward(self, root)": self.run if self.grad else f"self.found = {self.run}",
            "gradient(self, leaf)": gradient,
            "clear(self, leaf)": self.cleared,
        }
        if self.data != ".data" and not self.data.endswith("()"):
            new = f"np.full_like(leaf{self.data}, value)" if self.of_arrays else "value"
            methods["update(self, leaf, value)"] = f"leaf{self.data} = {new}"
        if failing:
            methods["clear(self, leaf)"] = self.cleared or f"leaf{self.grad} = 0.0"
        elif not self.cleared:  # the base class knows how
            del methods["clear(self, leaf)"]
        for head, what in methods.items():
            name = head.partition("(")[0]
            if came := failing.get(name):
                methods[head] = f"# Still to fill in: this {came}\n        {what}"
            elif "backward" in failing and name in ("gradient", "clear"):
                methods[head] = f"# A guess, not tried yet\n        {what}"
        body = "\n\n".join(f"    def {head}:\n        {what}" for head, what in methods.items())
        state = "    labels = itertools.count()\n\n" * ("self.labels" in self.leaf)
        state += "    found = {}  # gradients, by leaf\n\n" * (not self.grad)
        imports = "import itertools\n\n" * ("self.labels" in self.leaf)
        imports += "import numpy as np\n\n" * ("np." in body)
        begins = f"{imports}from chainlab.doctor import Adapter\n\n\n"
        return f"{begins}class {_adapter_name(engine)}(Adapter):\n{state}{body}\n"

    def adapter(self, engine: Any) -> Any:
        """Return the adapter of an engine: its text, run where the engine's names are known."""
        name = name_of(engine)
        space = _names_beside(engine) | {name: engine}
        exec(self.as_adapter(name), space)
        kind = space[_adapter_name(name)]
        if hasattr(kind, "labels"):
            kind.labels = _labels
        return kind(engine)


def read_conventions(engine: Any) -> Conventions | None:
    """Return how an engine is spoken to; None if that's as micrograd is, as far as one can see."""
    if _is_usual(engine):
        return None
    found = next(_made_alike(engine), None)
    return found if found and found.told(name_of(engine)) else None


def name_of(engine: Any) -> str:
    """Return what an engine is called in its file."""
    return str(getattr(engine, "__name__", "Value"))


def _adapter_name(engine: str) -> str:
    return f"{engine[:1].upper()}{engine[1:]}Adapter"


def _names_beside(engine: Any) -> dict[str, Any]:
    module = sys.modules.get(getattr(engine, "__module__", None) or "")
    return dict(vars(module)) if isinstance(module, ModuleType) else {}


# --- leaves -------------------------------------------------------------------------------------


def _is_usual(engine: Any) -> bool:
    """Return whether leaves have `data`, `grad` and a `backward` that nothing else rivals.

    No operation of the engine is tried for this: it may not come to an end.
    """
    try:
        leaves = [(engine(x), x) for x in (3.0, 5.0)]
    except Exception:
        return False
    leaf = leaves[0][0]
    passes = [run for run, _ in _passes(engine, leaf)]
    asks = any(_ASKS.search(name) and p.default is False for name, p in _parameters(engine).items())
    return (
        all(_is(leaf, ".data", x) for leaf, x in leaves)
        and _number(leaf, ".grad") is not None
        and passes[:1] in (["root.backward()"], [])
        and len(passes) < 2
        and not asks
        and ("backward" not in getattr(leaf, "__dict__", {}))
    )


def _parameters(engine: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters after the first one."""
    try:
        found = dict(inspect.signature(engine).parameters)
    except (TypeError, ValueError):
        return {}
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {k: p for k, p in list(found.items())[1:] if p.kind not in kinds}


def _makers(engine: Any) -> Iterator[str]:
    """Yield expressions that may make a leaf, the simplest first."""
    more: list[str] = []
    labels: list[str] = []
    for name, p in _parameters(engine).items():
        is_required = p.default is p.empty
        if _ASKS.search(name) and p.default in (False, None, p.empty):
            more.append(f"{name}=True")
        elif _LABEL.search(name):
            (more if is_required else labels).append(f"{name}={_NUMBER_OF_LEAF}")
        elif is_required:
            more.append(f"{name}={'()' if _OTHERS.search(name) else None}")
    name = name_of(engine)
    for extra in (more, [*more, *labels], [*more, "requires_grad=True"]):
        for value in ("value", "np.array(value)"):
            yield f"{name}({', '.join([value, *extra])})"
    yield f"{name}({_NUMBER_OF_LEAF}, value)"


def _made_alike(engine: Any) -> Iterator[Conventions]:
    """Yield what was read, by the first way of making leaves that leads to gradients."""
    partly = []
    for leaf in _makers(engine):
        found = Conventions(leaf)
        try:
            leaves = [(found.adapter(engine).leaf(x), x) for x in (3.0, 5.0)]
        except Exception:
            continue
        for data in _suffixes(leaves[0][0], _DATA):
            if all(_is(leaf, data, x) for leaf, x in leaves):
                of_arrays = isinstance(_get(leaves[0][0], data), np.ndarray)
                partly.append(replace(found, data=data, of_arrays=of_arrays))
                yield from _with_pass(engine, partly[-1])
                break
    yield from partly[:1]


# --- the pass, and gradients --------------------------------------------------------------------


def _with_pass(engine: Any, found: Conventions) -> Iterator[Conventions]:
    """Yield the conventions with each pass after which a leaf has a gradient."""
    adapter = found.adapter(engine)
    for run, call in _passes(engine, adapter.leaf(3.0)):
        for operation in ("__mul__", "__add__"):
            try:
                a, b = adapter.leaf(3.0), adapter.leaf(5.0)
                returned = call(getattr(a, operation)(b))
            except Exception:
                continue
            if isinstance(returned, Mapping) and a in returned:
                yield replace(found, run=run, grad="", cleared="self.found = {}", is_whole=True)
            for grad in _suffixes(a, _GRADS, besides=found.data):
                is_known = grad.removeprefix(".") in _GRADS
                for inner in ("", found.data):
                    g = _number(a, grad + inner)
                    if g and (is_known or _is_slope(adapter, call, grad + inner)):
                        fresh = adapter.leaf(3.0)
                        cleared = _clearing(fresh, a, grad, inner)
                        yield replace(
                            found, run=run, grad=grad, inner=inner, cleared=cleared, is_whole=True
                        )
                        break


def _is_slope(adapter: Any, call: Callable[[Any], Any], suffix: str) -> bool:
    """Return whether an attribute of a leaf is the other factor of a product, for two of them.

    An index on a tape or a count of nodes may happen to be one of them.
    """
    for factor in (5.0, 0.75):
        a = adapter.leaf(3.0)
        try:
            call(a * adapter.leaf(factor))
        except Exception:
            return False
        if _number(a, suffix) != factor:
            return False
    return True


def _passes(engine: Any, leaf: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Yield what may run a pass from a root: methods of nodes, then functions beside the class."""
    kind, module = type(leaf), getattr(type(leaf), "__module__", None)
    names = [name for name in dir(kind) if may_be_pass(name) and callable(getattr(kind, name, 0))]
    for name in sorted(names, key=lambda name: (name != "backward", "back" not in name, name)):
        asked = _asked(getattr(kind, name))
        if isinstance(inspect.getattr_static(kind, name, None), staticmethod):
            if asked == 1:
                yield f"{kind.__name__}.{name}(root)", getattr(kind, name)
        elif name not in getattr(leaf, "__dict__", {}):
            if asked == 1:
                yield f"root.{name}()", methodcaller(name)
            elif asked == 2:
                for text, seed in (("1.0", 1.0), ("np.array(1.0)", np.array(1.0))):
                    yield f"root.{name}({text})", methodcaller(name, seed)
    for name, f in _names_beside(engine).items():
        is_own = isinstance(f, FunctionType) and f.__module__ == module and may_be_pass(name)
        if is_own and _asked(f) == 1:
            yield f"{name}(root)", f


def may_be_pass(name: str) -> bool:
    """Return whether a name is like that of a backward pass."""
    return bool(_PASS.search(name)) and not _NO_PASS.search(name)


def is_asked_nothing(kind: type, name: str) -> bool:
    """Return whether a method can be called without arguments."""
    is_static = isinstance(inspect.getattr_static(kind, name, None), staticmethod | classmethod)
    method = getattr(kind, name, None)
    return callable(method) and not is_static and _asked(method) == 1


def _asked(f: Any) -> int | None:
    """Return how many arguments a function cannot do without; None if that is not known."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )


def _clearing(fresh: Any, used: Any, grad: str, inner: str) -> str:
    """Return what sets a gradient as it is in a fresh leaf."""
    zeroing = [name for name in dir(type(used)) if _ZERO.search(name)]
    if _get(fresh, grad) is None and not grad.endswith("()"):
        return f"leaf{grad} = None"
    if inner or grad.endswith("()"):
        return f"leaf.{zeroing[0]}()" if zeroing else f"leaf{grad}{inner} *= 0.0"
    return "" if grad == ".grad" else f"leaf{grad} = 0.0 * leaf{grad}"


# --- attributes ---------------------------------------------------------------------------------


def _suffixes(node: Any, known: tuple[str, ...], besides: str = "") -> Iterator[str]:
    """Yield what may stand after a node: names that engines have, then its other attributes."""
    own = [*getattr(node, "__dict__", {}), *getattr(type(node), "__slots__", ())]
    there = [name for name in known if hasattr(node, name.removesuffix("()"))]
    for name in dict.fromkeys([*there, *own]):
        if f".{name}" != besides and name.removesuffix("()").isidentifier():
            yield f".{name}"


def _get(node: Any, suffix: str) -> Any:
    """Return what an expression such as ``node.data`` or ``node.grad.item()`` gives."""
    for name in suffix.split(".")[1:]:
        node = getattr(node, name.removesuffix("()"), None)
        if name.endswith("()"):
            node = node() if callable(node) else None
    return node


def _number(node: Any, suffix: str) -> float | None:
    try:
        found = _get(node, suffix)
        numbers = None if found is None else as_numbers(found)
    except Exception:
        return None
    return None if numbers is None or numbers.size != 1 else float(numbers.reshape(()))


def _is(node: Any, suffix: str, x: float) -> bool:
    return _number(node, suffix) == x
