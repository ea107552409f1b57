"""Why no share of a gradient reached a tensor of PyTorch, and where its way was cut."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from chainview.frameworks.recorded import Leaf, Operation, Source, has_gradient
from chainview.frameworks.run import reached
from chainview.read.lines import Line

NUMBER = "_local_scalar_dense"  # what reads a tensor as Python's
# How the reader detaches a result. Else it's an operation that keeps a copy of its own result.
DETACHING = {
    "detach": "",
    "__get__": " by .data",
    "tensor": " by torch.tensor",
    "new_tensor": " by new_tensor",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class Cut(NamedTuple):
    """Why no share comes through, and the module and line where that is so."""

    why: str
    where: str = ""
    line: Line | None = None


class Cuts:
    """What each thing was used for, in all that ran."""

    def __init__(
        self,
        loss: Source,
        sources: Callable[[Operation], Iterable[Source]],
        operations: Iterable[Operation],
    ) -> None:
        self._uses = _uses(loss, sources)
        self._operations = list(operations)
        self._children: dict[Source, list[Source]] = defaultdict(list)
        for operation in self._operations:
            for operand in operation.operands:
                self._children[operand].append(operation)

    def elsewhere(self) -> Iterator[Cut]:
        """Yield where a value that takes a gradient goes on without it, as somebody asked for.

        A number that was read with `item` may go on into the loss, or into a log: we can't see.
        """
        for operation in self._operations:
            is_end = operation.function is None and any(map(has_gradient, operation.operands))
            if not is_end or operation.in_custom:
                continue
            is_read = operation.name == NUMBER
            is_cut = _leaves_the_graph(operation) or not operation.recorded
            if is_read or (is_cut and operation.floating and operation in self._uses):
                yield Cut(_reason(operation), operation.call.name, operation.line)

    def rewritten(self, values: Iterable[Source]) -> Iterator[tuple[Operation, Operation]]:
        """Yield results with a gradient that were written to and it wasn't recorded, and by what.

        Also where the write comes after the last use: what an operation keeps has changed.
        """
        owners = {
            entry.key: thing
            for thing in values
            if isinstance(thing, Operation) and thing.function is not None
            for entry in thing.results.values()
            if entry.held is not None  # of a summary the memory may be another's by now
        }
        for operation in self._operations:
            if operation.function is None and not operation.in_custom:
                for key in operation.writes:
                    if key in owners and owners[key].ran < operation.ran:
                        yield owners.pop(key), operation

    def of(self, leaf: Leaf) -> Cut:
        """Say why no share reached a leaf that the run read."""
        thing: Source = leaf
        if thing not in self._uses:
            return self._without_way(leaf)
        while thing in self._uses:
            source, thing = thing, self._uses[thing]
            if has_gradient(source) and thing.function is None:
                return Cut(_reason(thing), thing.call.name, thing.line)
        return Cut("an operation on the way sent it no gradient")

    def _without_way(self, leaf: Leaf) -> Cut:
        """Name the last thing that came of a leaf from which nothing leads to the loss."""
        start: Source = leaf
        after = reached(start, self._children.__getitem__)
        made = sorted((x for x in after if isinstance(x, Operation)), key=lambda x: x.ran)
        for thing in made:
            if _leaves_the_graph(thing):
                why = f"{_reason(thing)}, and nothing that PyTorch recorded leads on to the loss"
                return Cut(why, thing.call.name, thing.line)
        last = next((thing for thing in reversed(made) if not _is_kept(thing)), made[-1])
        why = (
            f"nothing that PyTorch recorded leads from {last.name}, which it went into, to the loss"
        )
        return Cut(why, last.call.name, last.line)


def _uses(
    loss: Source, sources: Callable[[Operation], Iterable[Source]]
) -> dict[Source, Operation]:
    """Map each thing that the loss was computed from in any way to one that was made from it."""
    uses: dict[Source, Operation] = {}
    todo: list[Source] = [loss]
    while todo:
        thing = todo.pop()
        if isinstance(thing, Operation):
            for source in (*sources(thing), *thing.operands):
                if source not in uses and source is not loss:
                    uses[source] = thing
                    todo.append(source)
    return uses


def _is_kept(thing: Operation) -> bool:
    """Return whether it's the copy that an operation keeps of its own result."""
    return thing.name == "detach" and thing.called not in DETACHING


def _leaves_the_graph(thing: Operation) -> bool:
    is_read = thing.name == NUMBER or (thing.name == "detach" and thing.called in DETACHING)
    return is_read and any(map(has_gradient, thing.operands))


def _reason(thing: Operation) -> str:
    if not thing.recorded:
        return "used under no_grad"
    if thing.name == NUMBER:
        return "read as Python numbers, as by .item()"
    if thing.name == "detach":
        return f"the result is detached{DETACHING.get(thing.called, '')}"
    if thing.name in COMPARISONS:
        return "only compared, which gives truth values"
    if not thing.floating:
        name = "a conversion" if thing.name == "_to_copy" else thing.name
        return f"{name} makes whole numbers or truth values"
    return f"{thing.name} has no gradient"
