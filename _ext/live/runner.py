"""Runs the cells of a page as Jupyter would, inside Pyodide; `worker.js` calls `run_cell`,
`check_answer` and `check_typed`.

What a cell shows goes to the page through the functions of ``live_page``, which the worker gives.
"""

import ast
import base64
import builtins
import contextlib
import importlib
import importlib.util
import io
import json
import linecache
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from live_page import clear, graphviz, show

namespace: dict[str, Any] = sys.modules["__main__"].__dict__
WRITES = "%%writefile "

_RICH = (
    ("text/html", "_repr_html_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("text/markdown", "_repr_markdown_"),
)


def bundle(value: Any) -> dict[str, Any]:
    """Return how an object shows itself, by MIME type; plain text is always included."""
    own = getattr(value, "_repr_mimebundle_", None)
    found = (
        dict(own(include=("text/html", "text/plain"), exclude=None) or {}) if callable(own) else {}
    )
    if callable(own) and "text/html" not in found:  # a page would only show the HTML
        found = dict(own(include=None, exclude=None) or {})
    for kind, method in _RICH:
        represent = None if isinstance(value, type) else getattr(value, method, None)
        if kind not in found and callable(represent):
            shown = represent()
            if shown is not None:
                found[kind] = base64.b64encode(shown).decode() if kind == "image/png" else shown
    if "text/plain" not in found:
        found["text/plain"] = pretty(value)
    return found


def pretty(value: Any) -> str:
    import pprint

    if isinstance(value, dict | list | tuple | set) and len(repr(value)) > 79:
        return pprint.pformat(value, width=79, compact=True, sort_dicts=False)
    return repr(value)


class DisplayHandle:
    """What was displayed, to be replaced by something else later."""

    count = 0

    def __init__(self) -> None:
        DisplayHandle.count += 1
        self.place = DisplayHandle.count

    def display(self, value: Any, raw: bool = False, **_: Any) -> None:
        show(value if raw else bundle(value), self.place)

    update = display


def display(
    *values: Any, raw: bool = False, display_id: Any = None, **_: Any
) -> DisplayHandle | None:
    handle = DisplayHandle()
    for value in values:
        handle.display(value, raw=raw)
        if not display_id:
            handle = DisplayHandle()
    return handle if display_id else None


# --- modules that pages import and the browser lacks --------------------------------------------


def _module(name: str, **contents: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    sys.modules[name] = module
    return module


class DisplayObject:
    """What IPython's HTML, SVG and Markdown are made of."""

    kind: str

    def __init__(self, data: Any = None, **options: Any) -> None:
        self.data = data

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {self.kind: self.data, "text/plain": f"<{type(self).__name__} object>"}


def clear_output(wait: bool = False) -> None:
    clear(bool(wait))


def provide_modules() -> None:
    kinds = {"HTML": "text/html", "SVG": "image/svg+xml", "Markdown": "text/markdown"}
    shown = {name: type(name, (DisplayObject,), {"kind": kind}) for name, kind in kinds.items()}
    ways = _module(
        "IPython.display",
        display=display,
        clear_output=clear_output,
        DisplayHandle=DisplayHandle,
        **shown,
    )
    _module("IPython", display=ways, get_ipython=lambda: None, version_info=(9, 0, 0), __path__=[])
    _module("myst_nb", glue=glue)
    namespace["display"] = display


def glue(name: str, value: Any, display: bool = True) -> None:
    """Show a result below the cell; the page's text, where the book puts it, stays unchanged."""
    if display:
        DisplayHandle().display(value)


class NoKeyboardError(EOFError):
    """A cell asked for a line that nobody can type."""


def no_input(prompt: object = "") -> str:
    raise NoKeyboardError(
        "input() has nothing to read from in the browser: write the value instead"
    )


def provide_clocks() -> None:
    """Let no interval be zero: a browser's clock moves in steps of a tenth of a millisecond."""
    for name in ("perf_counter", "perf_counter_ns", "process_time", "process_time_ns"):
        setattr(time, name, ticking(getattr(time, name)))


def ticking(clock: Callable[[], float]) -> Callable[[], float]:
    last = clock()

    def read() -> float:
        nonlocal last
        while (now := clock()) == last:
            pass
        last = now
        return now

    return read


waiting: list[tuple[Any, ...]] = []  # operands of nodes that are gone
busy: list[bool] = []


def free_graph(node: Any) -> None:
    """Free a long graph node by node: Python's own way needs more stack than a browser has."""
    try:
        waiting.append(object.__getattribute__(node, "parents"))
        object.__setattr__(node, "parents", ())
    except AttributeError:
        return  # not a node, or one that never got its parents
    free_waiting()


def free_waiting() -> None:
    if not busy:
        busy.append(True)
        while waiting:
            waiting.pop()
        busy.clear()


def build_class(*args: Any, _build: Any = builtins.__build_class__, **options: Any) -> Any:
    """Build a class; if a cell defines it, free its nodes one by one, too."""
    made = _build(*args, **options)
    if made.__module__ == "__main__" and not hasattr(made, "__del__"):
        made.__del__ = free_graph
    return made


def provide_graphviz() -> None:
    """Lay out drawings with the page's own Graphviz."""
    from chainview.draw import layout

    def lay_out(source: str, format: str) -> bytes:
        if format != "svg":
            raise RuntimeError(f"in the page, drawings can be laid out as svg, not as {format}")
        # This Graphviz knows the widths of only a few fonts; the build's widths are Verdana's.
        svg: str = graphviz(source.replace(layout.MEASURED, "Verdana"))
        return svg.encode()

    layout._dot_program = lay_out


def provide_depth() -> None:
    from chaingrad import Node

    Node.__del__ = free_graph  # type: ignore[attr-defined]


def provide_matplotlib() -> None:
    """Show figures below the cell that made them, as in a notebook."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.show = show_figures


def provide_tqdm() -> None:
    import tqdm

    tqdm.tqdm.monitor_interval = 0  # the monitor is a thread


def show_figures(*args: Any, **kwargs: Any) -> None:
    plt: Any = sys.modules.get("matplotlib.pyplot")
    figures = [plt.figure(number) for number in plt.get_fignums()] if plt else []
    for figure in figures:
        plt.close(figure)  # so that the next cell doesn't show the figures of a failed one
    for figure in figures:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight", facecolor=figure.get_facecolor())
        data = base64.b64encode(picture.getvalue()).decode()
        display({"image/png": data, "text/plain": "a figure"}, raw=True)


# --- cells ---------------------------------------------------------------------------------------


PROVIDERS = {
    "chaingrad": (provide_depth,),
    "chainview": (provide_graphviz, provide_depth),
    "chainlab": (provide_graphviz, provide_depth),
    "matplotlib": (provide_matplotlib,),
    "tqdm": (provide_tqdm,),
}
# What each module or function, by its own name, needs to draw.
NEEDS = {
    "chainview": "graphviz", "chainlab": "graphviz", "plots": "matplotlib",
    "replay": "matplotlib", "vary": "matplotlib", "written": "katex",
}  # fmt: skip


def prepare(source: str) -> None:
    """Get ready for the modules that a cell imports, once for each module."""
    roots = {name.partition(".")[0] for name in imported(parsed(source))}
    for root in roots & PROVIDERS.keys():
        for provide in PROVIDERS.pop(root):
            provide()


def needs(source: str) -> str:
    """Return, as JSON, what the worker loads for a cell in addition to the packages it imports."""
    nodes, read = parsed(source), set[Path]()
    # A lesson draws for its page, with what it imports, which may be other lessons.
    while new := set(filter(None, map(lesson, imported(nodes)))) - read:
        read |= new
        nodes += [node for path in new for node in parsed(path.read_text("utf-8"))]
    words = {word for name in imported(nodes) for word in name.split(".")}
    words |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return json.dumps(sorted({NEEDS[word] for word in words & NEEDS.keys()}))


def lesson(name: str) -> Path | None:
    """Return the file of a module of `chainlab.lessons`, None of anything else."""
    package, _, module = name.partition(".lessons.")
    found = importlib.util.find_spec("chainlab") if package == "chainlab" and module else None
    if not found or not found.origin:
        return None
    path = Path(found.origin).with_name("lessons") / f"{module.partition('.')[0]}.py"
    return path if path.exists() else None


def parsed(source: str) -> list[ast.AST]:
    """Return the nodes of a cell or of the module that it writes; [] if it isn't Python."""
    code = source.partition("\n")[2] if source.startswith(WRITES) else source
    try:
        return list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return []


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the dotted names that code imports: modules, and what it takes from them."""
    names = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    froms = [n for n in nodes if isinstance(n, ast.ImportFrom)]
    return names | {f"{n.module}.{a.name}" for n in froms for a in n.names}


def warm(source: str) -> None:
    """Import what a cell will import, as far as it is available."""
    with contextlib.suppress(Exception):
        prepare(source)
    for name in imported(parsed(source)):
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def run_cell(source: str, name: str) -> str:
    """Run a cell called ``name``; return JSON of its traceback and of what the browser lacks."""
    error = run(source, name)
    shown = report(error, f"<{name}>") if error else ""
    return json.dumps({"error": shown, "lacks": lacks(error)})


def lacks(error: BaseException | None) -> str:
    """Return what a cell has asked for and a browser lacks; "" for any other error."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return error.name.partition(".")[0]
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "threads"
    return "keyboard for input()" if isinstance(error, NoKeyboardError) else ""


def run(source: str, name: str) -> BaseException | None:
    """Run a cell; return what it raised, or None."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        if source.startswith(WRITES):
            write_file(*source.partition("\n")[::2])
            return None
        prepare(source)
        tree = ast.parse(source, filename)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, filename, "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)
            if value is not None and not source.rstrip().endswith(";"):
                namespace["_"] = value
                display(value)
        show_figures()
    except BaseException as error:
        with contextlib.suppress(Exception):
            show_figures()
        return error
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return None


def check_answer(exercise: str, answer: str) -> str:
    """Check an answer; return the verdicts as JSON, with what the browser lacks for it.

    An exercise's sources get the same preparation as cells.
    """
    from live_checker import check

    given = json.loads(exercise)
    for source in (given["given"], answer, *(part["source"] for part in given["checks"])):
        prepare(source)
    try:
        verdicts = check(given, answer)
        lacking = [lacks(verdict.pop("error", None)) for verdict in verdicts]
        return json.dumps({"verdicts": verdicts, "lacks": next(filter(None, lacking), "")})
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def check_typed(name: str, lines: str) -> str:
    """Check lines of NumPy that were typed for a problem; return the verdict as JSON."""
    from chainlab.drills.page import typed

    return json.dumps(vars(typed.check(name, json.loads(lines))))


def write_file(magic: str, text: str) -> None:
    """Write a file as Jupyter's magic does, and let the next import read it again."""
    path = Path(magic.split()[1])
    prepare(text)
    print("Overwriting" if path.exists() else "Writing", path)
    path.write_text(text + "\n")
    sys.modules.pop(path.stem, None)
    importlib.invalidate_caches()


def report(error: BaseException, filename: str) -> str:
    """Format the traceback from the cell on; readers needn't see what called the cell."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return "".join(traceback.format_exception_only(error))
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


sys.path.insert(0, "")  # modules that cells write
builtins.__build_class__ = build_class
builtins.input = no_input
provide_clocks()
provide_modules()
