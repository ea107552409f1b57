"""Run a text that somebody has typed: its root, or what is wrong, at its line."""

import ast
import builtins
import contextlib
import gc
import io
import traceback
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import chaingrad
from chaingrad import losses, nn
from chaingrad._wording import naming_nodes
from chaingrad.node import Node
from chainlab.workbench.hints import foreign_code, hint_for, hint_for_syntax

FILE = "<workbench>"
SHOWING = {"draw_graph", "draw_gradient_flow", "play", "nudge", "order", "export"}
LONGEST = 10_000  # characters that are printed


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong at a line, counted from 1, and what to write instead, if that is known."""

    line: int
    message: str
    hint: str = ""
    severity: str = "error"  # or "warning"


@dataclass(frozen=True)
class RunResult:
    """The result of running a text; without a root where the text gives none."""

    root: Node | None
    printed: str = ""
    problems: list[Diagnostic] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)


def initial_names() -> dict[str, Any]:
    """Return the names that a text can use without an import."""
    public = {name: getattr(chaingrad, name) for name in chaingrad.__all__}
    own = {"__builtins__": builtins, "__name__": "__main__"}
    return own | public | {"chaingrad": chaingrad, "np": np, "nn": nn, "losses": losses}


def run(text: str) -> RunResult:
    """Run a text, and label the nodes that its names stand for."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, FILE)
    except SyntaxError as error:
        hint = hint_for_syntax(error.text or "")
        return RunResult(None, problems=[Diagnostic(error.lineno or 1, f"{error.msg}.", hint)])
    except ValueError as error:  # a null byte
        return RunResult(None, problems=[Diagnostic(1, str(error))])
    if elsewhere := [Diagnostic(*found) for found in foreign_code(tree)]:
        return RunResult(None, problems=elsewhere)
    if not tree.body:
        return RunResult(None)
    names, printed = initial_names(), io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            with naming_nodes(names):
                value = execute(tree, names)
            wrong = [] if isinstance(value, Node) else [_no_root(tree, names, value)]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            value, wrong = None, [_located(error, tree, names)]
    notes = [
        Diagnostic(w.lineno, _ended(str(w.message)), hint_for(w.message, w.lineno, tree), "warning")
        for w in warned
        if w.filename == FILE and not issubclass(w.category, SyntaxWarning)
    ]
    root = value if isinstance(value, Node) else None
    label(names, root)
    problems = sorted([*dict.fromkeys(notes), *wrong], key=lambda problem: problem.line)
    return RunResult(root, printed.getvalue()[:LONGEST], problems, names)


def let_go(names: dict[str, Any]) -> None:
    """Forget what a text has made, one object at a time.

    A list of lists frees what it holds from within its own end. Python in a browser has no room
    for thousands of these, and ends.
    """
    held = [x for x in names.values() if _holds_more(x)]
    names.clear()
    seen = {id(x) for x in held}
    for x in held:  # which grows meanwhile: each object stands before those it holds
        for inner in filter(_holds_more, gc.get_referents(x)):
            if id(inner) not in seen:
                seen.add(id(inner))
                held.append(inner)
    x = inner = None
    for i in range(len(held)):
        held[i] = None


def _holds_more(x: Any) -> bool:
    return isinstance(x, list | tuple | dict | set | Node) or type(x).__module__ == "__main__"


def execute(tree: ast.Module, names: dict[str, Any]) -> Any:
    """Run the text; return the value of its last expression, or the value it assigns last."""
    kept, root = tree.body, None
    match tree.body[-1]:
        case ast.Expr(ast.Call(ast.Attribute(node, "backward"))):
            root = node
        case ast.Expr(value):
            kept, root = kept[:-1], _shown(value)
        case (
            ast.Assign([ast.Name(name), *_])
            | ast.AnnAssign(ast.Name(name))
            | ast.AugAssign(ast.Name(name)) as last
        ):
            root = ast.copy_location(ast.Name(name, ast.Load()), last)
    exec(compile(ast.Module(kept, tree.type_ignores), FILE, "exec"), names)
    return root and eval(compile(ast.Expression(root), FILE, "eval"), names)


def _shown(value: ast.expr) -> ast.expr:
    """Return the node of a call that shows a node, or the expression itself."""
    match value:
        case ast.Call(ast.Attribute(attr=name) | ast.Name(name), [node, *_]) if name in SHOWING:
            return node
    return value


def _no_root(tree: ast.Module, names: dict[str, Any], value: Any) -> Diagnostic:
    line = tree.body[-1].lineno
    known = [name for name, x in names.items() if isinstance(x, Node)]
    if isinstance(value, list | tuple) and any(isinstance(x, Node) for x in value):
        return Diagnostic(
            line, "The last line gives several values.", "End with one of them, or sum them"
        )
    gives = "nothing" if value is None else f"{type(value).__name__} {value!r:.40}"
    hint = (
        f"End with what is to be shown, as in: {known[-1]}"
        if known
        else "Make nodes of the inputs, as in: x = Node(2.0)"
    )
    return Diagnostic(line, f"The last line gives {gives}, and no node.", hint)


def _located(error: BaseException, tree: ast.Module, names: dict[str, Any]) -> Diagnostic:
    """Return an error as a diagnostic at the line of the text that raised it."""
    here = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    line = (here[-1].lineno if here else None) or tree.body[-1].lineno
    said = str(error) or "no more is said"
    said = _ended(f"{type(error).__name__}: {said}")
    return Diagnostic(line, said, hint_for(error, line, tree, names))


def _ended(said: str) -> str:
    """End a sentence with a stop: a hint comes behind it."""
    return said if said.endswith((".", "!", "?", ":")) else f"{said}."


def label(names: dict[str, Any], root: Node | None) -> None:
    """Label nodes and arrays with their first names in the text, unless they have a label."""
    given = {name: x for name, x in names.items() if not name.startswith("_")}
    for name, x in given.items():
        if isinstance(x, Node) and not x.label:
            x.label = name
    arrays = {id(x): name for name, x in reversed(given.items()) if isinstance(x, np.ndarray)}
    for node in root.sorted_graph() if root is not None else ():
        if not node.parents and not node.label:
            node.label = arrays.get(id(node.data), "")
