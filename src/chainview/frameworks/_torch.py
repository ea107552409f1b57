"""One run of PyTorch, watched: operations by a dispatch mode, shares by hooks on ``grad_fn``."""

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from chaingrad._tree import is_container
from chaingrad.graph import toposort
from chaingrad.messages import Message
from chainview.frameworks._cuts import Cut, Cuts
from chainview.frameworks._modes import Functions, Operations, guarded, tensors_in
from chainview.frameworks._names import Names
from chainview.frameworks._private import (
    begun_before,
    checkpoint_frame,
    has_post_accumulate_hooks,
    is_in_reentrant_checkpoint,
    is_lazy,
    is_packing,
    is_spoiled,
    made_by,
    name_of,
    next_sequence_number,
    own_tensors,
    saved_tensors,
    skips_or_scales,
    storage_key,
    without_modes,
    written,
)
from chainview.frameworks._recorded import Called, Leaf, Operation, Source, has_gradient
from chainview.frameworks._rerun import TorchRerun
from chainview.frameworks._restoring import Restoring, roots
from chainview.frameworks._tensors import StoredTensor, TensorStore, refuse_several_arrays, same
from chainview.frameworks.run import (
    BY_DESIGN,
    UNREAD,
    Missed,
    ModuleCall,
    WatchedNode,
    in_run_order,
    leaf_names,
    loss_in,
    resolve_event,
)
from chainview.frameworks.watched import Watched
from chainview.player.watch import Event, Written
from chainview.read.lines import Line, line_here
from chainview.read.tensors import edges, operation
from chainview.read.words import listed

# Rounding that lets gradients through, and samples with their distribution's gradient.
NO_DERIVATIVE = ("FakeQuantize", "FusedMovingAvg", "StandardGamma", "_Dirichlet")
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
        missed = dict(_without_share(run, grads))
        seen = graph.result(events, list(_missed(run, graph, missed)))
    things = {value: thing for thing, value in graph.values.items()}
    leaves = [
        (name, thing.tensor)
        for name, value in leaf_names(seen.leaves).items()
        if isinstance(thing := things[value], Leaf)
        and thing.tensor.numel()
        and value.grad is not None
    ]
    rerun = TorchRerun(f, inputs, model, leaves, missed, run.tensors.is_low)
    return replace(seen, rerun=rerun)


# --- forward ------------------------------------------------------------------------------------


class _Forward:
    """The forward pass: what each operation took and gave, and the module that it was in."""

    def __init__(self, f: Callable[..., Any], inputs: Sequence[Any], model: Any, most: int) -> None:
        self.tensors = TensorStore(most)
        self.restoring = Restoring(f, model)
        self.leaves: dict[int, Leaf] = {}
        self.functions: dict[int, Operation] = {}  # by the identity of a grad_fn
        self._names: dict[int, tuple[Any, str]] = {}
        self._variables: dict[int, tuple[Any, str]] = {}  # for what no module names, in the end
        self.parameters: dict[str, Any] = {}
        self.inputs: set[int] = set()
        self.going_back = False
        self._checkpoint: tuple[int, Any] = 0, None  # the last one's number and frame
        self.call = ModuleCall()
        self._ran = 0  # operations so far
        self._line: Line | None = None  # that wrote the last one
        self._calls: Counter[str] = Counter()
        self._all_calls: list[ModuleCall] = []
        self._plain: dict[tuple[Any, ...], Source] = {}  # tensors without a gradient
        self._settling: list[tuple[Operation, Sequence[Any]]] = []
        self.operations: list[Operation] = []
        self._functions, self._function = 0, Called()
        self._memory: dict[int, Operation] = {}  # by address: what made it
        self._start = next_sequence_number()
        self.earlier: dict[int, Operation] = {}  # read from a graph of before the run
        self._paths: dict[int, str] = {}
        self._trained = None if model is None else {id(p) for p in model.parameters()}
        self.roots = roots(f, model)
        for module in self.roots:
            _refuse(module)
            if id(module) not in self._paths:
                self._name_modules(module)
        for name, tensor in _named(f, inputs):
            self._check_input(name, tensor)
            self.inputs.add(id(tensor))
            self._name(tensor, name)
        self.unregistered: set[int] = set()  # what modules hold and don't register
        names = Names()
        for module, path in self._modules_by_path():
            self.unregistered.update(self._name_found(names.of_module(path, module), self._names))
        self._name_found(names.of_function(f), self._variables)

    def _modules_by_path(self) -> list[tuple[Any, str]]:
        return [(m, self._paths[id(m)]) for root in self.roots for m in root.modules()]

    def _name_found(
        self, found: Iterable[tuple[str, Any]], names: dict[int, tuple[Any, str]]
    ) -> set[int]:
        """Name tensors and modules that aren't named yet, and return their parameters."""
        new: set[int] = set()
        for name, thing in found:
            if isinstance(thing, torch.Tensor):
                if thing.requires_grad and thing.is_leaf and id(thing) not in self._names:
                    names.setdefault(id(thing), (thing, name))
                    new.add(id(thing))
            elif id(thing) not in self._paths:
                self.restoring.module(thing)
                self._name_modules(thing, name)
                new.update(id(p) for p in thing.parameters())
        return new

    def _check_input(self, name: str, tensor: Any) -> None:
        if tensor.grad_fn is not None:
            raise ValueError(
                f"watch_torch: {name} was computed before the run, by {operation(tensor.grad_fn)}; "
                "pass it detached, with requires_grad_() where its gradient is wanted, or compute "
                "it within the function"
            )

    def _name(self, tensor: Any, name: str) -> None:
        self._names.setdefault(id(tensor), (tensor, name))

    def is_trained(self, tensor: Any) -> bool:
        """Return whether a gradient should reach a tensor: a parameter only if the model has it."""
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        return self._trained is None or not is_parameter or id(tensor) in self._trained

    def run(self, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        with (
            warnings.catch_warnings(),
            self._modules(),
            Functions(self.called),
            Operations(self.operation),
        ):
            warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global")
            result = f(*inputs)
        self._resolve_results()
        self._checkpoint = 0, None
        for call in self._all_calls:
            call.turns = self._calls[call.path]
        return result

    # --- operations ---------------------------------------------------------------------------

    def called(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run a function that the reader calls, which may take several operations."""
        self._functions += 1
        self._function = Called(self._functions, getattr(function, "__name__", ""))
        try:
            if self._function.name == "tolist":  # which no dispatch mode sees
                with without_modes():
                    self._read_as_numbers(args)
            return function(*args, **kwargs)
        finally:
            self._function = Called()

    def _read_as_numbers(self, args: Any) -> None:
        self._resolve_results()
        self._ran, self._line = self._ran + 1, line_here()
        operands = [self._source(tensor) for tensor in tensors_in(args)]
        self.operations.append(self.operation_now("tolist", operands))

    def operation(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Run an operation of the dispatch mode and record it."""
        self._resolve_results()
        if not self.going_back:
            self._ran, self._line = self._ran + 1, line_here()
        given = [] if self.going_back else tensors_in([args, kwargs])
        operands = [self._source(tensor) for tensor in given]
        changed = [
            storage_key(tensor)
            for tensor in written(function, args, kwargs)
            if isinstance(tensor, torch.Tensor)
        ]
        for key in changed:
            self.tensors.before_change(key)
        result = guarded(self.restoring, function, args, kwargs)
        if name_of(function).startswith(BLANK) and result.layout == torch.strided:
            result.zero_()  # otherwise what is drawn of it would differ from run to run
        if not self.going_back:
            made = self.operation_now(name_of(function), operands)
            if made.packed:
                made.checkpoint = self._checkpoint_now()
                sources = zip(given, operands, strict=True)
                made.given = [tensor for tensor, source in sources if _is_given(source, made)]
            made.recorded, made.writes = torch.is_grad_enabled(), changed
            made.is_checkpointed = not made.recorded and is_in_reentrant_checkpoint()
            self.operations.append(made)
            self._settling.append((made, tensors_in(result)))
        return result

    def operation_now(self, name: str, operands: Sequence[Source] = ()) -> Operation:
        """Return an operation that runs at this moment."""
        made = Operation(name, operands, self.call, packed=is_packing())
        made.ran, made.line, made.called = self._ran, self._line, self._function
        return made

    def _checkpoint_now(self) -> int:
        """Return the number of the checkpoint that runs; its frame is held, to know it again."""
        frame = checkpoint_frame()
        number, known = self._checkpoint
        if frame is not known:
            self._checkpoint = number + 1, frame
        return self._checkpoint[0]

    def _resolve_results(self) -> None:
        """Look at the last results, which have their ``grad_fn`` by now."""
        for made, results in self._settling:
            for tensor in results:
                if made_by(tensor) is not None:
                    self._remember(tensor, self._record(tensor, made))
            for tensor in results:
                if made_by(tensor) is None:
                    plain = self._without_gradient(tensor, made)
                    self._plain[_view(tensor)] = plain
                    self._remember(tensor, plain)
        self._settling = []

    def _remember(self, tensor: Any, made: Operation) -> None:
        if not self.tensors.is_full and tensor.layout == torch.strided:
            self._memory[tensor.data_ptr()] = made

    def _made_from(self, tensor: Any) -> Operation | None:
        """Return the operation whose memory a leaf shows, as long as all memory is kept."""
        if self.tensors.is_full or tensor.layout != torch.strided or not tensor.numel():
            return None
        return self._memory.get(tensor.data_ptr())

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

    def is_renormalized(self, tensor: Any) -> bool:
        """Return whether an embedding with a ``max_norm`` scaled rows of its weights."""
        known = self._plain.get(_view(tensor))
        return isinstance(known, Operation) and known.name == "embedding_renorm_"

    def leaf(self, tensor: Any) -> Leaf:
        """Return what stands for a tensor that requires a gradient and that no operation made."""
        if id(tensor) not in self.leaves:
            self.restoring.leaf(tensor)
            self.leaves[id(tensor)] = self._new_leaf(tensor)
        return self.leaves[id(tensor)]

    def _new_leaf(self, tensor: Any) -> Leaf:
        known = self._names.get(id(tensor)) or self._variables.get(id(tensor))
        _, name = known or (tensor, "")
        entry = self.tensors.store(tensor)
        before = None if name else self._made_from(tensor)
        return Leaf(tensor, entry, name, self.call, self._ran, self._line, before)

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
        if id(module) not in self._paths:
            self.restoring.module(module)
            self._name_modules(module)
        parameters, _ = own_tensors(module)
        for name, parameter in parameters.items():
            if parameter is not None:  # functional_call may have put others in their place
                self._name(parameter, ".".join(filter(None, (self._paths[id(module)], name))))
        _refuse(module)
        path = self._paths[id(module)]
        self._calls[path] += 1
        self.call = ModuleCall(path, type(module).__name__, self.call, self._calls[path])
        self._all_calls.append(self.call)

    def _leave(self, module: Any, args: Any, result: Any) -> None:
        if not self.going_back and self.call.outer is not None:
            self.call = self.call.outer

    def _name_modules(self, root: Any, prefix: str = "") -> None:
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


def _loss(run: _Forward, f: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    result = run.run(f, inputs)
    loss = loss_in(result)
    if not isinstance(loss, torch.Tensor):
        raise TypeError(
            f"watch_torch: the function gave {_described(result)}, and not a tensor; give the loss "
            "alone, or a dictionary with a 'loss', or the loss and what is no other loss"
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
            _refuse_hook(leaf.label or "a leaf")
    return loss


def _described(result: Any) -> str:
    if isinstance(result, Mapping):
        return f"a dictionary of {listed(list(map(repr, result)), 6)}"
    if isinstance(result, tuple):
        return f"{len(result)} results"
    return type(result).__name__


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
    """Refuse what would have another effect the second time, or in another order."""
    for path, inner in module.named_modules():
        if is_lazy(inner):
            raise RuntimeError(
                f"watch_torch: {path or type(inner).__name__} is a lazy module, which gets its "
                "parameters when it first runs; run the model once first"
            )
    for path, parameter in module.named_parameters():
        refuse_several_arrays(parameter)
        if has_post_accumulate_hooks(parameter):
            _refuse_hook(path)


def _refuse_hook(name: str) -> None:
    raise RuntimeError(
        f"watch_torch: {name} has a post-accumulate hook, which may change parameters while the "
        "backward pass runs; remove it for this run"
    )


def _view(tensor: Any) -> tuple[Any, ...]:
    """Return a key for a view of memory."""
    if tensor.layout != torch.strided or tensor.is_nested:
        return (id(tensor),)
    place = tensor.storage_offset(), tuple(tensor.shape), tensor.stride()
    return storage_key(tensor), tensor.dtype, *place


def _named(f: Callable[..., Any], inputs: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tensors among the inputs, by the names of the function's arguments."""
    called = f.forward if isinstance(f, torch.nn.Module) else f
    try:
        names = list(inspect.signature(called).bind(*inputs).arguments)
    except (TypeError, ValueError):
        names = []
    if len(names) != len(inputs):
        names = [f"input {i + 1}" for i in range(len(inputs))]
    for name, given in zip(names, inputs, strict=True):
        yield from _members(name, given)


def _members(name: str, given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, torch.Tensor):
        yield name, given
    elif is_container(given):
        items = given.items() if isinstance(given, dict) else enumerate(given)
        for key, member in items:
            yield from _members(f"{name}[{key!r}]", member)


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
            changed = self._run.is_renormalized(tensor)
            is_input = id(tensor) in self._run.inputs
            return WatchedNode(
                label=thing.label,
                note=f"{BY_DESIGN}: its rows are scaled (max_norm)" if changed else "",
                data=thing.entry,
                requires_grad=tensor.requires_grad,
                is_parameter=isinstance(tensor, torch.nn.Parameter)
                or (tensor.requires_grad and not is_input),
                is_input=is_input,
                call=thing.call,
                ran=thing.ran,
                line=thing.line,
            )
        parents = tuple(self.values[source] for source in self.sources[thing])
        value = WatchedNode(thing.name, "", parents, call=thing.call)
        value.ran, value.line = thing.ran, thing.line
        value.requires_grad = thing.function is not None
        value.data = thing.results[min(thing.results)] if thing.results else None
        if thing.function is not None:
            value.note = _note(thing)
            saved = thing.given if thing.packed else saved_tensors(thing.function)
            value.kept = self._kept(saved, kept)
        return value

    def _kept(self, saved: Iterable[Any], kept: set[int]) -> int:
        """Count the bytes of those tensors that the run made, each memory once."""
        total = 0
        for tensor in saved:
            if self._run.restoring.is_made(tensor) and storage_key(tensor) not in kept:
                kept.add(storage_key(tensor))
                total += tensor.untyped_storage().nbytes()
        return total

    def result(self, events: Sequence[Event], missed: Sequence[Missed]) -> Watched:
        """Return everything that was seen, with arrays in place of tensors."""
        numbers: dict[StoredTensor, Any] = {}

        def number(entry: Any) -> Any:
            if isinstance(entry, StoredTensor) and entry not in numbers:
                numbers[entry] = entry.number()
            return numbers[entry] if isinstance(entry, StoredTensor) else entry

        for value in self.values.values():
            value.data, value.grad = number(value.data), number(value.grad)
        found = {}
        for thing, value in self.values.items():
            own = thing.tensor if isinstance(thing, Leaf) else thing.function
            if own is not None:
                found[id(own)] = own, value
        values = list(self.values.values())
        return Watched(
            "PyTorch",
            self.values[self.loss],
            in_run_order(values, lambda value: value.parents, lambda value: value.ran),
            [resolve_event(event, number) for event in events],
            missed,
            complete=not self._run.tensors.is_full,
            found=found,
            **self._beside(),
        )

    def _beside(self) -> dict[str, Any]:
        """Return what isn't as the reader may think: of leaves, of the graph, of parameters."""
        run = self._run
        leaves = {id(x.tensor): v for x, v in self.values.items() if isinstance(x, Leaf)}
        return {
            "unregistered": [v for key, v in leaves.items() if key in run.unregistered],
            "earlier": [self.values[x] for x in run.earlier.values() if x in self.values],
            "frozen": [name for name, p in run.parameters.items() if not p.requires_grad],
        }


def _is_view_under_no_grad(thing: Source) -> bool:
    """Return whether it's a no_grad view, which claims to require a gradient, like its base."""
    if isinstance(thing, Leaf) or thing.recorded:
        return False
    return any(map(has_gradient, thing.operands))


def _is_given(thing: Source, inner: Operation) -> bool:
    """Return whether an operation in a checkpoint takes a value with a gradient from outside."""
    if isinstance(thing, Leaf) or thing.function is None:
        return False
    return thing.checkpoint != inner.checkpoint


def _is_uninitialized(thing: Source) -> bool:
    """Return whether it's memory that nobody has written to yet."""
    return isinstance(thing, Operation) and thing.name.startswith(BLANK)


def _note(thing: Operation) -> str:
    if isinstance(thing.function, BackwardCFunction):
        return "one function of its own, whose inside PyTorch does not show"
    if thing.name.startswith("Embedding") and skips_or_scales(thing.function):
        return f"{BY_DESIGN} (padding_idx, scale_grad_by_freq)"
    if thing.name.startswith(NO_DERIVATIVE):
        return BY_DESIGN
    return {
        "torch::autograd::CopySlices": "a change of a part of a tensor, and the change itself",
        "CopySlices": "a change of a part of a tensor, as one function",
    }.get(thing.name, "")


# --- backward -----------------------------------------------------------------------------------


class _Backward:
    """The backward pass: what each ``grad_fn`` sent to each of its operands, in order."""

    def __init__(self, run: _Forward, graph: _Graph, loss: Any) -> None:
        self._run, self._graph = run, graph
        self._sums: dict[
            tuple[WatchedNode, int], tuple[Any, StoredTensor]
        ] = {}  # what was sent so far
        self._seed = run.tensors.store(
            torch.ones_like(loss, memory_format=torch.preserve_format).detach()
        )
        self.events: list[Event] = [Written(graph.values[graph.loss], self._seed)]
        self._before: dict[Leaf, Any] = {}
        run.restoring.forget_gradients()
        run.going_back = True
        handles = list(self._hooks())
        try:
            with Operations(run.operation):
                loss.backward()
        except RuntimeError as error:
            if "modified by an inplace operation" in str(error):
                raise RuntimeError(self._overwritten() or str(error)) from error
            if "second time" in str(error) and run.earlier:
                (first, *_) = run.earlier.values()
                raise RuntimeError(
                    f"watch_torch: {first.line or 'the function'} reads a tensor that was computed "
                    "before the run, whose graph a backward pass has used up; detach it, as the "
                    "state of a recurrent net that is kept from batch to batch"
                ) from error
            if "backward through the graph a second time" in str(error):
                raise RuntimeError(
                    "watch_torch: the function ran a backward pass of its own, after which the "
                    "graph is gone; give one that computes the loss, and leave out backward() and "
                    "the optimizer's step"
                ) from error
            raise
        finally:
            for handle in handles:
                handle.remove()
        self._compare_leaves()

    def _overwritten(self) -> str:
        """Name the operation that wrote into what another keeps for the backward pass."""
        for thing in reversed(self._graph.values):
            if not isinstance(thing, Operation) or not is_spoiled(thing.function):
                continue
            shown = {entry.key for near in (thing, *thing.operands) for entry in near.entries}
            for writer in self._run.operations:
                if writer.ran > thing.ran and not shown.isdisjoint(writer.writes):
                    return (
                        f"watch_torch: {writer.place} writes into memory that {thing.place} keeps "
                        "for its backward pass; write its result to a new tensor"
                    )
        return ""

    def _compare_leaves(self) -> None:
        """Record where a hook of a leaf changed the gradient that was sent."""
        for leaf, value in self._graph.values.items():
            sent, known = self._sums.get((value, 0), (None, None))
            grad = leaf.tensor.grad if isinstance(leaf, Leaf) else None
            if sent is not None and grad is not None and not same(sent, grad):
                self.events.append(Written(value, self._run.tensors.store(grad), known))

    def _hooks(self) -> Iterator[Any]:
        for thing in list(self._graph.values):
            if isinstance(thing, Operation) and thing.function is not None:
                if isinstance(thing.function, BackwardCFunction):
                    yield thing.function.register_prehook(lambda _: self._note_leaves())
                yield thing.function.register_hook(self._hook(thing))

    def _hook(self, thing: Operation) -> Callable[[Any, Any], None]:
        def ran(shares: Any, received: Any) -> None:
            with without_modes():
                self._after_node(thing, shares, received)

        return ran

    def _after_node(self, thing: Operation, shares: Sequence[Any], received: Sequence[Any]) -> None:
        child = self._graph.values[thing]
        above = [self._received(child, slot, grad) for slot, grad in enumerate(received)]
        first = next((entry for entry in above if entry is not None), None)
        shown = min(thing.results, default=0)
        child.grad = above[shown] if shown < len(above) and above[shown] is not None else first
        sent = edges(thing.function)
        for number, position in self._graph.positions[thing].items():
            if number < len(shares) and shares[number] is not None:
                end = sent[number]
                assert end is not None
                parent = self._graph.values[self._graph.sources[thing][position]]
                self._send(child, parent, position, end[1], first, shares[number])
        if isinstance(thing.function, BackwardCFunction):
            self._leaves_reached_inside(thing, first)

    def _send(
        self,
        child: WatchedNode,
        parent: WatchedNode,
        position: int,
        slot: int,
        above: Any,
        share: Any,
    ) -> None:
        entry = self._run.tensors.store(share)
        known, before = self._sums.get((parent, slot), (None, None))
        total = share if known is None else known + share
        now = entry if known is None else self._run.tensors.store(total)
        self.events.append(Message(child, parent, position, above, None, entry, before, now))
        self._sums[parent, slot] = total, now

    def _received(self, value: WatchedNode, slot: int, grad: Any) -> StoredTensor | None:
        """Compare what was sent with what arrived: a hook may have changed it on the way."""
        sent, known = self._sums.pop((value, slot), (None, None))
        if grad is None:
            return None
        if sent is not None and same(sent, grad):
            return known
        entry = self._run.tensors.store(grad)
        if sent is not None:
            self.events.append(Written(value, entry, known))
        return entry

    # --- leaves that a function of its own reaches, such as a reentrant checkpoint ---------------

    def _note_leaves(self) -> None:
        with torch.no_grad():
            self._before = {
                leaf: None if (grad := leaf.tensor.grad) is None else grad.clone()
                for leaf in self._run.leaves.values()
            }

    def _leaves_reached_inside(self, thing: Operation, above: Any) -> None:
        for leaf, before in self._before.items():
            now = leaf.tensor.grad
            if now is None or (before is not None and same(before, now)):
                continue
            child = self._graph.values[thing]
            if leaf not in self._graph.values:
                self._graph.values = {leaf: self._graph._value(leaf, set()), **self._graph.values}
            parent = self._graph.values[leaf]
            child.parents = (*child.parents, parent)
            enter = self._run.tensors.store
            share = enter(now if before is None else now - before)
            known = None if before is None else enter(before)
            position = len(child.parents) - 1
            total = enter(now)
            self.events.append(Message(child, parent, position, above, None, share, known, total))
            self._sums[parent, 0] = now, total
        self._before = {}


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
    named |= {id(p): (name, p) for name, p in run.parameters.items()}
    for key, (name, tensor) in named.items():
        leaf = run.leaves.get(key)
        reached = leaf is not None and grads[leaf] is not None
        if name and tensor.requires_grad and not reached and run.is_trained(tensor):
            yield name, tensor


def _missed(run: _Forward, graph: _Graph, tensors: dict[str, Any]) -> Iterator[Missed]:
    cuts = Cuts(graph.loss, graph._sources, run.operations)
    for name, tensor in tensors.items():
        leaf = run.leaves.get(id(tensor))
        yield Missed(name, *(Cut(UNREAD) if leaf is None else cuts.of(leaf)))
