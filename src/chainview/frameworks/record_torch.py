"""One run of PyTorch, watched: operations by a dispatch mode, shares by hooks on ``grad_fn``."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.nn.parameter import is_lazy
from torch.utils.checkpoint import CheckpointFunction

from chaingrad.graph import toposort
from chaingrad.messages import Message
from chainview.frameworks.cuts import Cut, Cuts
from chainview.frameworks.private import (
    applied_by,
    begun_before,
    has_post_accumulate_hooks,
    made_by,
    name_of,
    next_sequence_number,
    packing_hook,
    saved_tensors,
    storage_key,
    without_modes,
    written,
)
from chainview.frameworks.reachable import in_attributes, in_variables, named_inputs, roots
from chainview.frameworks.recorded import (
    CustomCall,
    Leaf,
    Operation,
    Source,
    StoredTensor,
    TensorStore,
    has_gradient,
    refuse_several_arrays,
    same,
)
from chainview.frameworks.restoring import Functions, Operations, Restoring, guarded, tensors_in
from chainview.frameworks.run import (
    UNREAD,
    Missed,
    ModuleCall,
    WatchedNode,
    in_run_order,
    resolve_event,
)
from chainview.frameworks.watched import Watched
from chainview.player.watch import Event, Written
from chainview.read.lines import Line, line_here, owner_of
from chainview.read.tensors import edges, operation
from chainview.read.words import listed

BLANK = ("empty", "new_empty")  # operations whose results hold what was there before


def watch(f: Callable[..., Any], inputs: Sequence[Any], model: Any, most: int) -> Watched:
    """Run ``f`` and its backward pass, and record what happens."""
    if not callable(f):
        raise TypeError(
            f"watch_torch: expected a function that computes the loss, and got {type(f).__name__}; "
            "a result that already exists cannot be watched: give lambda: criterion(model(x), y)"
        )
    run = _Forward(f, inputs, model, most)
    with run.restoring.restoring():
        loss = _loss(run, f, inputs)
        graph = _Graph(run, loss)
        events = _Backward(run, graph, loss).events
        grads = {leaf: leaf.tensor.grad for leaf in run.leaves.values()}
        for leaf, grad in grads.items():
            if leaf in graph.values and grad is not None:
                graph.values[leaf].grad = run.tensors.store(grad)
        missed = list(_without_share(run, grads))
        return graph.result(events, missed)


# --- forward ------------------------------------------------------------------------------------


class _Forward:
    """The forward pass: what each operation took and gave, and the module that it was in."""

    def __init__(self, f: Callable[..., Any], inputs: Sequence[Any], model: Any, most: int) -> None:
        known = roots(f, model)
        self.tensors = TensorStore(most)
        self.restoring = Restoring(known)
        self.names = _Names(f, inputs, known, self.restoring)
        self.leaves: dict[int, Leaf] = {}
        self.functions: dict[int, Operation] = {}  # by the identity of a grad_fn
        self.operations: list[Operation] = []
        self.earlier: dict[int, Operation] = {}  # read from a graph of before the run
        self.custom: list[CustomCall] = []
        self.going_back = False
        self._trained = None if model is None else {id(p) for p in model.parameters()}
        self._start = next_sequence_number()
        self._plain: dict[tuple[Any, ...], Source] = {}  # tensors without a gradient
        self._settling: list[tuple[Operation, Sequence[Any]]] = []
        # Where the run is: the module, the operation and its line, and what the reader called.
        self._call = ModuleCall()
        self._calls: list[ModuleCall] = []
        self._turns: Counter[str] = Counter()
        self._ran = 0
        self._line: Line | None = None
        self._function = ""
        self._in_custom = False

    def is_trained(self, tensor: Any) -> bool:
        """Return whether a gradient should reach a tensor: a parameter only if the model has it."""
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        return self._trained is None or not is_parameter or id(tensor) in self._trained

    def is_new(self, leaf: Leaf) -> bool:
        """Return whether a leaf is a parameter that the run made, of a layer made in forward."""
        return isinstance(leaf.tensor, torch.nn.Parameter) and self.restoring.is_made(leaf.tensor)

    def run(self, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        with (
            warnings.catch_warnings(),
            self._modules(),
            applied_by(self._apply),
            Functions(self.called),
            Operations(self.operation),
        ):
            warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global")
            result = f(*inputs)
        self._resolve_results()
        for call in self._calls:
            call.turns = self._turns[call.path]
        return result

    # --- operations ---------------------------------------------------------------------------

    def called(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run a function that the reader calls, which may take several operations."""
        self._function = getattr(function, "__name__", "")
        try:
            return function(*args, **kwargs)
        finally:
            self._function = ""

    def _apply(self, function: Any, run: Callable[..., Any], args: Sequence[Any]) -> Any:
        """Run a function with a backward of its own, and record what it was given."""
        if function is CheckpointFunction:
            raise RuntimeError(
                "watch_torch: a reentrant checkpoint runs a backward pass of its own, whose shares "
                "cannot be seen; give checkpoint use_reentrant=False"
            )
        code = getattr(function.forward, "__code__", None)
        is_engines = code is None or owner_of(code.co_filename) == "engine"
        if self.going_back or self._in_custom or is_engines:
            return run(*args)
        places = [i for i, x in enumerate(args) if isinstance(x, torch.Tensor) and x.requires_grad]
        with without_modes():
            stored = [self.tensors.store(x) if isinstance(x, torch.Tensor) else x for x in args]
            state = torch.get_rng_state()
        self._in_custom = True
        try:
            results = run(*args)
        finally:
            self._in_custom = False
        made = [grad_fn for x in tensors_in([results]) if (grad_fn := made_by(x)) is not None]
        if made:
            self.custom.append(CustomCall(function, stored, places, state, made[0]))
        return results

    def operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run an operation of the dispatch mode and record it."""
        self._resolve_results()
        if not self.going_back:
            self._ran, self._line = self._ran + 1, line_here()
        given = [] if self.going_back else tensors_in([args, kwargs])
        operands = [self._source(tensor) for tensor in given]
        changed = [storage_key(tensor) for tensor in written(function, args, kwargs)]
        for key in changed:
            self.tensors.before_change(key)
        result = guarded(self.restoring, function, args, kwargs)
        if name_of(function).startswith(BLANK) and result.layout == torch.strided:
            result.zero_()  # otherwise what is drawn of it would differ from run to run
        if not self.going_back:
            made = self.operation_now(name_of(function), operands)
            if made.packed is not None:
                sources = zip(given, operands, strict=True)
                made.given = [tensor for tensor, source in sources if _is_given(source, made)]
            made.recorded, made.writes = torch.is_grad_enabled(), changed
            made.in_custom = self._in_custom
            self.operations.append(made)
            self._settling.append((made, tensors_in(result)))
        return result

    def operation_now(self, name: str, operands: Sequence[Source] = ()) -> Operation:
        """Return an operation that runs at this moment."""
        made = Operation(name, operands, self._call, packed=packing_hook())
        made.ran, made.line, made.called = self._ran, self._line, self._function
        return made

    def _resolve_results(self) -> None:
        """Look at the last results, which have their ``grad_fn`` by now."""
        for made, results in self._settling:
            for tensor in results:
                if made_by(tensor) is not None:
                    self._record(tensor, made)
            for tensor in results:
                if made_by(tensor) is None:
                    self._plain[_view(tensor)] = self._without_gradient(tensor, made)
        self._settling = []

    def _without_gradient(self, tensor: Any, made: Operation) -> Operation:
        """Return the operation for a result without a gradient; its other results may have one."""
        if made.function is not None or made.results:
            made = replace(made, operands=[made], function=None, results={})
            self.operations.append(made)
        if made.name.startswith(BLANK):
            made.operands = ()
        else:
            made.results[0] = self.tensors.store(tensor)
        made.floating = tensor.is_floating_point() or tensor.is_complex()
        return made

    def _record(self, tensor: Any, made: Operation | None = None) -> Operation:
        function = made_by(tensor)
        known = self.functions.get(id(function))
        if known is None:
            known = made if made is not None and made.function is None else None
            if known is None:
                known = self.operation_now("")
                if begun_before(function, self._start):
                    self.earlier[id(function)] = known
            known.name, known.function = operation(function), function
            self.functions[id(function)] = known
        if tensor.output_nr not in known.results:
            known.results[tensor.output_nr] = self.tensors.store(tensor)
        return known

    def _source(self, tensor: Any) -> Source:
        """Return what stands for a tensor that an operation takes."""
        if made_by(tensor) is not None:
            return self._record(tensor)
        key = _view(tensor)
        known = self._plain.get(key)
        if tensor.requires_grad and not (known and _is_view_under_no_grad(known)):
            return self.leaf(tensor)
        if key not in self._plain:
            self._plain[key] = self._new_leaf(tensor)
        return self._plain[key]

    def leaf(self, tensor: Any) -> Leaf:
        """Return what stands for a tensor that requires a gradient and that no operation made."""
        if id(tensor) not in self.leaves:
            self.restoring.leaf(tensor)
            self.leaves[id(tensor)] = self._new_leaf(tensor)
        return self.leaves[id(tensor)]

    def _new_leaf(self, tensor: Any) -> Leaf:
        name, entry = self.names.of(tensor), self.tensors.store(tensor)
        return Leaf(tensor, entry, name, self._call, self._ran, self._line)

    # --- modules --------------------------------------------------------------------------------

    @contextmanager
    def _modules(self) -> Iterator[None]:
        hooks = torch.nn.modules.module
        with (
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
        ):
            yield

    def _enter(self, module: Any, args: Any) -> None:
        if self.going_back:
            return
        path = self.names.enter(module)
        _refuse(module)
        self._turns[path] += 1
        self._call = ModuleCall(path, type(module).__name__, self._call, self._turns[path])
        self._calls.append(self._call)

    def _leave(self, module: Any, args: Any, result: Any) -> None:
        if not self.going_back and self._call.outer is not None:
            self._call = self._call.outer


class _Names:
    """The names of modules and tensors, as the reader would say them."""

    def __init__(
        self, f: Callable[..., Any], inputs: Sequence[Any], known: Sequence[Any], saving: Restoring
    ) -> None:
        self._saving = saving
        self._names: dict[int, tuple[Any, str]] = {}  # with the tensors, so that no id is reused
        self._variables: dict[int, tuple[Any, str]] = {}  # for what no module names, in the end
        self._paths: dict[int, str] = {}
        self.parameters: dict[str, Any] = {}
        self.inputs: set[int] = set()
        self.unregistered: set[int] = set()  # what modules hold and don't register
        for module in known:
            _refuse(module)
            if id(module) not in self._paths:
                self._module(module)
        for name, tensor in named_inputs(f, inputs):
            _refuse_computed(name, tensor)
            self.inputs.add(id(tensor))
            self._name(tensor, name)
        for module, path in [(m, self._paths[id(m)]) for root in known for m in root.modules()]:
            self.unregistered |= self._found(in_attributes(path, module), self._names)
        self._found(in_variables(f), self._variables)

    def of(self, tensor: Any) -> str:
        """Return a tensor's name, or nothing."""
        known = self._names.get(id(tensor)) or self._variables.get(id(tensor))
        return known[1] if known else ""

    def enter(self, module: Any) -> str:
        """Return a module's path, and name it and its tensors if that's still to do."""
        if id(module) not in self._paths:
            self._saving.module(module)
            self._module(module)
        path = self._paths[id(module)]
        for name, parameter in module.named_parameters(path, recurse=False):
            self._name(parameter, name)  # functional_call may have put it in another's place
        return path

    def _name(self, tensor: Any, name: str) -> None:
        self._names.setdefault(id(tensor), (tensor, name))

    def _module(self, root: Any, prefix: str = "") -> None:
        """Name a module and everything in it; the names in the first root have no prefix."""
        if self._paths and not prefix:
            prefix = _unused(type(root).__name__.lower(), self._paths)
        for path, module in root.named_modules(prefix=prefix):
            self._paths.setdefault(id(module), path)
        for path, parameter in root.named_parameters(prefix=prefix):
            self._name(parameter, path)
            self.parameters.setdefault(path, parameter)
        for path, buffer in root.named_buffers(prefix=prefix):
            self._name(buffer, path)

    def _found(
        self, things: Iterable[tuple[str, Any]], names: dict[int, tuple[Any, str]]
    ) -> set[int]:
        """Name tensors and modules that aren't named yet, and return their parameters."""
        new: set[int] = set()
        for name, thing in things:
            if isinstance(thing, torch.Tensor):
                if thing.requires_grad and thing.is_leaf and id(thing) not in self._names:
                    names.setdefault(id(thing), (thing, name))
                    new.add(id(thing))
            elif id(thing) not in self._paths:
                self._saving.module(thing)
                self._module(thing, name)
                new.update(id(p) for p in thing.parameters())
        return new


def _refuse_computed(name: str, tensor: Any) -> None:
    if tensor.grad_fn is not None:
        raise ValueError(
            f"watch_torch: {name} was computed before the run, by {operation(tensor.grad_fn)}; "
            "pass it detached, with requires_grad_() where its gradient is wanted, or compute "
            "it within the function"
        )


def _loss(run: _Forward, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    loss = run.run(f, inputs)
    if not isinstance(loss, torch.Tensor):
        raise TypeError(
            f"watch_torch: the function gave {type(loss).__name__}, and not a tensor; give the "
            "loss alone"
        )
    if loss.numel() != 1:
        raise ValueError(
            f"watch_torch: the function gave a tensor of shape {tuple(loss.shape)}; a backward "
            "pass starts from one number, so reduce it, with .mean() or .sum()"
        )
    if loss.grad_fn is None:
        raise ValueError(
            "watch_torch: no gradient leads from the loss to any tensor; "
            + _cut_everywhere(run, loss)
        )
    for leaf in run.leaves.values():
        if has_post_accumulate_hooks(leaf.tensor):
            raise RuntimeError(
                f"watch_torch: {leaf.label or 'a leaf'} has a post-accumulate hook, which may "
                "change parameters while the backward pass runs; remove it for this run"
            )
    return loss


def _cut_everywhere(run: _Forward, loss: Any) -> str:
    """Say where the ways from the leaves to a loss without a graph are cut."""
    cuts = Cuts(run._source(loss), lambda thing: thing.operands, run.operations)
    found: dict[Cut, list[str]] = {}
    for leaf in run.leaves.values():
        if leaf.tensor is not loss:
            found.setdefault(cuts.of(leaf), []).append(leaf.label or "a leaf")
    if not found:
        return "nothing that it was computed from requires one: are the parameters frozen?"
    return "; ".join(
        f"{listed(names, 3)}: {cut.why}{f' ({cut.line})' if cut.line else ''}"
        for cut, names in list(found.items())[:3]
    )


def _refuse(module: Any) -> None:
    """Refuse a module whose parameters have no shape yet, or are no array."""
    for path, parameter in module.named_parameters():
        if is_lazy(parameter):
            raise RuntimeError(
                f"watch_torch: {path} has no shape yet, as a lazy module gets its parameters when "
                "it first runs; run the model once first"
            )
        refuse_several_arrays(parameter)


def _view(tensor: Any) -> tuple[Any, ...]:
    """Return a key for a view of memory."""
    if tensor.layout != torch.strided or tensor.is_nested:
        return (id(tensor),)
    place = tensor.storage_offset(), tuple(tensor.shape), tensor.stride()
    return storage_key(tensor), tensor.dtype, *place


def _unused(name: str, taken: dict[int, str]) -> str:
    count = sum(path.partition(".")[0].rstrip("0123456789") == name for path in taken.values())
    return f"{name}{count + 1}" if count else name


# --- the graph ----------------------------------------------------------------------------------


class _Graph:
    """The values that the loss depends on, along the edges of ``grad_fn`` and of other operands."""

    def __init__(self, run: _Forward, loss: Any) -> None:
        self._run = run
        self.loss = run._record(loss)
        self.sources: dict[Source, list[Source]] = {}
        self.positions: dict[Source, dict[int, int]] = {}
        loss_thing: Source = self.loss
        kept: set[int] = set()
        self.values: dict[Source, WatchedNode] = {}
        order = toposort(loss_thing, self._sources)[::-1]
        for thing in in_run_order(order, self._sources, lambda thing: thing.ran):
            self.values[thing] = self._value(thing, kept)
        self.values[self.loss].label = "loss"

    def _sources(self, thing: Source) -> list[Source]:
        if thing not in self.sources:
            self.sources[thing], self.positions[thing] = self._read(thing)
        return self.sources[thing]

    def _read(self, thing: Source) -> tuple[list[Source], dict[int, int]]:
        """Return the operands, and the operand at which each edge of the ``grad_fn`` ends."""
        if isinstance(thing, Leaf):
            return [], {}
        if thing.function is None:
            return [operand for operand in thing.operands if not _is_uninitialized(operand)], {}
        sent = edges(thing.function)
        is_whole = thing.recorded and not isinstance(thing.function, BackwardCFunction)
        operands: list[Source | None] = list(thing.operands) if is_whole else []
        if len(operands) != len(sent) and not _begin_with(operands, sent):
            operands = [None] * len(sent) + operands  # those that are sent nothing come last
        slots = zip_longest(range(len(sent)), sent, operands)
        sources: list[Source] = []
        positions: dict[int, int] = {}
        for number, edge, operand in slots:
            if edge is not None:
                positions[number] = len(sources)
                sources.append(self._end(edge, thing))
            elif (
                operand is not None and not has_gradient(operand) and not _is_uninitialized(operand)
            ):
                sources.append(operand)
        return sources, positions

    def _end(self, edge: tuple[Any, int], child: Operation) -> Source:
        thing, _ = edge
        if isinstance(thing, torch.Tensor):
            return self._run.leaf(thing)
        known = self._run.functions.get(id(thing))
        if known is None:
            known = replace(child, name=operation(thing), operands=(), function=thing, results={})
            self._run.functions[id(thing)] = known
        return known

    def _value(self, thing: Source, kept: set[int]) -> WatchedNode:
        if isinstance(thing, Leaf):
            tensor = thing.tensor
            name = thing.label or self._run.names.of(tensor)  # a module's that was made meanwhile
            value = WatchedNode("", name, (), thing.entry, None, tensor.requires_grad)
            value.call, value.ran, value.line = thing.call, thing.ran, thing.line
            value.is_input = id(tensor) in self._run.names.inputs
            value.is_parameter = isinstance(tensor, torch.nn.Parameter)
            value.is_parameter |= tensor.requires_grad and not value.is_input
            return value
        parents = tuple(self.values[source] for source in self.sources[thing])
        value = WatchedNode(thing.name, "", parents, call=thing.call)
        value.ran, value.line = thing.ran, thing.line
        value.requires_grad = thing.function is not None
        value.data = thing.results[min(thing.results)] if thing.results else None
        if thing.function is not None:
            value.note = _note(thing)
            saved = thing.given if thing.packed is not None else saved_tensors(thing.function)
            for tensor in saved:  # that the run made, each memory once
                if self._run.restoring.is_made(tensor) and storage_key(tensor) not in kept:
                    kept.add(storage_key(tensor))
                    value.kept += tensor.untyped_storage().nbytes()
        return value

    def result(self, events: Sequence[Event], missed: Sequence[tuple[str, Any]]) -> Watched:
        """Return everything that was seen, with arrays in place of tensors."""
        numbers: dict[StoredTensor, Any] = {}

        def number(entry: Any) -> Any:
            if isinstance(entry, StoredTensor) and entry not in numbers:
                numbers[entry] = entry.number()
            return numbers[entry] if isinstance(entry, StoredTensor) else entry

        for value in self.values.values():
            value.data, value.grad = number(value.data), number(value.grad)
        run, unregistered, found = self._run, list[WatchedNode](), {}
        for thing, value in self.values.items():
            own = thing.tensor if isinstance(thing, Leaf) else thing.function
            if own is not None:
                found[id(own)] = own, value
            if isinstance(thing, Leaf) and (run.is_new(thing) or id(own) in run.names.unregistered):
                unregistered.append(value)
        cuts = Cuts(self.loss, self._sources, run.operations)
        missing = [(name, run.leaves.get(id(tensor))) for name, tensor in missed]
        rules = {run.functions.get(id(call.grad_fn)): call.rule() for call in run.custom}
        return Watched(
            "PyTorch",
            self.values[self.loss],
            list(self.values.values()),
            [resolve_event(event, number) for event in events],
            [Missed(name, *(cuts.of(leaf) if leaf else Cut(UNREAD))) for name, leaf in missing],
            unregistered,
            [self.values[x] for x in run.earlier.values() if x in self.values],
            [name for name, p in run.names.parameters.items() if not p.requires_grad],
            complete=not run.tensors.is_full,
            found=found,
            cuts=list(cuts.elsewhere()),
            rewritten=[(self.values[x], w.name, w.line) for x, w in cuts.rewritten(self.values)],
            rules={self.values[x]: rule for x, rule in rules.items() if x in self.values},
        )


def _is_view_under_no_grad(thing: Source) -> bool:
    """Return whether it's a no_grad view, which claims to require a gradient, like its base."""
    if isinstance(thing, Leaf) or thing.recorded:
        return False
    return any(map(has_gradient, thing.operands))


def _is_given(thing: Source, inner: Operation) -> bool:
    """Return whether an operation in a checkpoint takes a value with a gradient from outside."""
    if isinstance(thing, Leaf) or thing.function is None:
        return False
    return thing.packed is not inner.packed


def _is_uninitialized(thing: Source) -> bool:
    """Return whether it's memory that nobody has written to yet."""
    return isinstance(thing, Operation) and thing.name.startswith(BLANK)


def _note(thing: Operation) -> str:
    if isinstance(thing.function, BackwardCFunction):
        return "one function of its own, whose inside PyTorch does not show"
    return {
        "torch::autograd::CopySlices": "a change of a part of a tensor, and the change itself",
        "CopySlices": "a change of a part of a tensor, as one function",
    }.get(thing.name, "")


# --- backward -----------------------------------------------------------------------------------


class _Backward:
    """The backward pass: what each ``grad_fn`` sent to each of its operands, in order."""

    def __init__(self, run: _Forward, graph: _Graph, loss: Any) -> None:
        self._graph, self._store = graph, run.tensors.store
        # The sum of what each result of a value was sent so far.
        self._sums: dict[tuple[WatchedNode, int], tuple[Any, StoredTensor]] = {}
        seed = self._store(torch.ones_like(loss, memory_format=torch.preserve_format).detach())
        self.events: list[Event] = [Written(graph.values[graph.loss], seed)]
        run.restoring.forget_gradients()
        run.going_back = True
        functions = [x for x in graph.values if isinstance(x, Operation) and x.function is not None]
        handles = [x.function.register_hook(partial(self._after, x)) for x in functions]
        try:
            with Operations(run.operation):
                loss.backward()
        except RuntimeError as error:
            words = _explained(str(error), run)
            if words:
                raise RuntimeError(f"watch_torch: {words}") from error
            raise
        finally:
            for handle in handles:
                handle.remove()
        for leaf in run.leaves.values():
            self._compare(leaf)

    def _compare(self, leaf: Leaf) -> None:
        """Record where a hook of a leaf changed the gradient that was sent."""
        value, grad = self._graph.values.get(leaf), leaf.tensor.grad
        if value is None or (value, 0) not in self._sums or grad is None:
            return
        sent, known = self._sums[value, 0]
        if not same(sent, grad):
            self.events.append(Written(value, self._store(grad), known))

    def _after(self, thing: Operation, shares: Sequence[Any], received: Sequence[Any]) -> None:
        with without_modes():
            child = self._graph.values[thing]
            above = [self._received(child, slot, grad) for slot, grad in enumerate(received)]
            first = next((entry for entry in above if entry is not None), None)
            shown = min(thing.results, default=0)
            child.grad = above[shown] if shown < len(above) and above[shown] is not None else first
            sent = edges(thing.function)
            for number, position in self._graph.positions[thing].items():
                if number < len(shares) and shares[number] is not None:
                    _, slot = sent[number] or (None, 0)
                    self._send(child, position, slot, first, shares[number])

    def _send(self, child: WatchedNode, position: int, slot: int, above: Any, share: Any) -> None:
        parent, entry = child.parents[position], self._store(share)
        known, before = self._sums.get((parent, slot), (None, None))
        total = share if known is None else known + share
        now = entry if known is None else self._store(total)
        self.events.append(Message(child, parent, position, above, None, entry, before, now))
        self._sums[parent, slot] = total, now

    def _received(self, value: WatchedNode, slot: int, grad: Any) -> StoredTensor | None:
        """Compare what was sent with what arrived: a hook may have changed it on the way."""
        sent, known = self._sums.pop((value, slot), (None, None))
        if grad is None or (sent is not None and same(sent, grad)):
            return None if grad is None else known
        entry = self._store(grad)
        if sent is not None:
            self.events.append(Written(value, entry, known))
        return entry


def _explained(error: str, run: _Forward) -> str:
    """Say what the reader's function did to make PyTorch's backward pass fail, where we know it."""
    if "second time" not in error:
        return ""
    for first in run.earlier.values():
        return (
            f"{first.line or 'the function'} reads a tensor that was computed before the run, "
            "whose graph a backward pass has used up; detach it, as the state of a recurrent net "
            "that is kept from batch to batch, or make it a leaf, as an nn.Parameter that learns"
        )
    return (
        "the function ran a backward pass of its own, after which the graph is gone; give one that "
        "computes the loss, and leave out backward() and the optimizer's step"
    )


def _begin_with(operands: Sequence[Source | None], edges: Sequence[object]) -> bool:
    """Return whether the first operands are the edges' ends, as those of a batch norm are."""
    return len(operands) > len(edges) and all(
        operand is not None and has_gradient(operand) == (edge is not None)
        for operand, edge in zip(operands, edges, strict=False)
    )


# --- parameters that no share reached -----------------------------------------------------------


def _without_share(run: _Forward, grads: dict[Leaf, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and tensor of each trained leaf that no share reached."""
    named = {id(leaf.tensor): (leaf.label, leaf.tensor) for leaf in run.leaves.values()}
    named |= {id(p): (name, p) for name, p in run.names.parameters.items()}
    for key, (name, tensor) in named.items():
        leaf = run.leaves.get(key)
        reached = leaf is not None and grads[leaf] is not None
        if name and tensor.requires_grad and not reached and run.is_trained(tensor):
            yield name, tensor
