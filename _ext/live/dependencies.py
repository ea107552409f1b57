"""Which cells of a page can run in a browser: what each imports, uses, gives and changes."""

import ast
import symtable
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chainview.read.words import joined
from coursework.exercise.imports import imported
from live.carried import CARRIED, needed
from live.pyodide import PYODIDE

PROVIDED = {"numpy", "matplotlib", "mpl_toolkits", "IPython", "myst_nb", *CARRIED}
NEEDS_A_SYSTEM = {  # modules of the standard library that need processes, threads or sockets
    "_thread", "asyncio", "concurrent", "multiprocessing", "signal", "socket", "socketserver",
    "subprocess", "threading",
}  # fmt: skip
IN_WORDS = {  # what a reader is told in place of a module's name
    "_thread": "threads", "concurrent": "threads", "functorch": "torch",
    "multiprocessing": "processes", "socket": "a network socket",
    "socketserver": "a network socket", "subprocess": "processes", "threading": "threads",
}  # fmt: skip
BUILDS_ON = "builds on a cell that "
AT_ONCE = {"listcomp", "setcomp", "dictcomp", "genexpr"}  # scopes that run immediately
OF_CONSTANTS = ast.Assign | ast.Constant | ast.Tuple | ast.Name | ast.Load | ast.Store
AVAILABLE = ({*PYODIDE["modules"]} - NEEDS_A_SYSTEM) | PROVIDED
# What carried modules may import. Where no process or thread can start, they do without it.
IMPORTABLE = {
    *({*PYODIDE["modules"]} - {"multiprocessing"}), *PROVIDED,
    *(name for package in PYODIDE["lock"]["packages"].values() for name in package["imports"]),
}  # fmt: skip


class CellNames(ast.NodeVisitor):
    """What a piece of code imports, and which names of the page it uses, gives and changes."""

    def __init__(self, source: str) -> None:
        self.imports = imported(source)
        self.carried = needed(source) - self.imports  # the imports of carried modules
        self.used: set[str] = set()
        self.late: set[str] = set()  # names that functions read whenever they are called
        self.given: set[str] = set()
        self.brought: set[str] = set()  # the given names that are imports
        self.changed: set[str] = set()
        self.loaded: set[str] = set()  # names read when the cell runs, also its own
        self.effects: dict[str, Effect] = {}  # one for each function that it defines
        self.entered: set[tuple[str, str]] = set()  # results["JAX"] = …: the dictionary, the key
        self._hidden: list[set[str]] = []  # variables of comprehensions and handlers around
        tree = ast.parse(source)
        self.constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        self.visit(tree)
        self._added_to = {
            node.target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        table = symtable.symtable(source, "<cell>", "exec")
        self._read_functions(table)
        scopes = {scope.get_name(): scope for scope in table.get_children()}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.effects[node.name] = effect(node, scopes[node.name])

    def _read_functions(self, table: symtable.SymbolTable, late: bool = False) -> None:
        for child in table.get_children():
            waits = late or (child.get_type() == "function" and child.get_name() not in AT_ONCE)
            for symbol in child.get_symbols():
                name = symbol.get_name()
                is_set = symbol.is_declared_global() and symbol.is_assigned()
                is_added_to = is_set and name in self._added_to
                if symbol.is_global() and (symbol.is_referenced() or is_added_to):
                    self.late |= {name} if waits else set()
                    self.loaded |= set() if waits else {name}
                    self.used |= {name} - self.given
            self._read_functions(child, waits)

    # The visitors follow the order of evaluation, so that a name set before its use isn't needed.

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.brought |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        self.given |= self.brought

    visit_ImportFrom = visit_Import  # noqa: N815

    def visit_Assign(self, node: ast.Assign) -> None:
        for part in (node.value, *node.targets):
            self.visit(part)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    visit_AsyncFor = visit_For  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in (node.value, node.annotation, node.target if node.value else None):
            if part:
                self.visit(part)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self.visit(node.target)

    def visit_FunctionDef(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> None:
        for part in ast.iter_child_nodes(node):
            if part not in node.body:
                self.visit(part)
        if node.name == "driver" and not isinstance(node, ast.ClassDef):
            self._read_through_driver(node)
        self.given.add(node.name)

    visit_ClassDef = visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _read_through_driver(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Note the page's names that `check_results` passes a driver as attributes of `student`."""
        student = node.args.args[0].arg if node.args.args else ""
        for part in ast.walk(node):
            match part:
                case ast.Attribute(ast.Name(name), attribute) if name == student:
                    self.late.add(attribute)
                    self.used |= {attribute} - self.given

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)  # only the defaults: the body is read as a scope of its own

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type:
            self.visit(node.type)
        self._hidden.append({node.name} if node.name else set())
        for part in node.body:
            self.visit(part)
        self._hidden.pop()

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.generic_visit(node)
        self.given |= {node.name} if node.name else set()

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.generic_visit(node)
        self.given |= {node.rest} if node.rest else set()

    def visit_ListComp(self, node: Any) -> None:
        self.visit(node.generators[0].iter)  # evaluated outside, before the variables exist
        inner = {
            n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
        }
        self._hidden.append(inner)
        self.generic_visit(node)
        self._hidden.pop()

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_Name(self, node: ast.Name) -> None:
        if any(node.id in names for names in self._hidden):
            return
        if isinstance(node.ctx, ast.Load):
            self.loaded.add(node.id)
        if isinstance(node.ctx, ast.Store):
            self.given.add(node.id)
        elif node.id not in self.given:
            self.used.add(node.id)
            self.changed |= {node.id} if isinstance(node.ctx, ast.Del) else set()
        elif isinstance(node.ctx, ast.Del):
            self.given.remove(node.id)

    def visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        self._change(node)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str):
                self.entered.add((node.value.id, key))
        self.visit_Attribute(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        self._change(node)
        self.generic_visit(node)

    def _change(self, node: ast.AST) -> None:
        self.changed |= {name} if (name := changed_by(node)) else set()


@dataclass(frozen=True)
class Effect:
    """What calling a function does to the page: the names that it changes, and those it reads."""

    changes: set[str]
    reads: set[str]


def effect(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: symtable.SymbolTable) -> Effect:
    """Return a function's effect on the page, leaving out its local names."""
    symbols = scope.get_symbols()
    own = {symbol.get_name() for symbol in symbols if symbol.is_local()}
    declared = {s.get_name() for s in symbols if s.is_declared_global() and s.is_assigned()}
    changes = {name for part in ast.walk(node) if (name := changed_by(part))}
    reads = {symbol.get_name() for symbol in symbols if symbol.is_global()}
    return Effect((changes | declared) - own, reads - own)


def changed_by(node: ast.AST) -> str:
    """Return the name whose value code changes, by writing into it or calling its method."""
    match node:
        case (
            ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del())
        ):
            inner: ast.AST = node
        case ast.Expr(ast.Call(ast.Attribute() as inner)):  # the result is unused
            pass
        case _:
            return ""
    while isinstance(inner, ast.Attribute | ast.Subscript):
        inner = inner.value
    return inner.id if isinstance(inner, ast.Name) else ""


@dataclass(frozen=True)
class CellVerdict:
    """Whether a cell runs in the page: why not, and what of it other cells can still build on."""

    why: str = ""
    kept: str = ""  # imports and definitions of a cell that does not run


class PageJudge:
    """What is known of a page, cell by cell from the top."""

    def __init__(self) -> None:
        # What the page can't have, and why: names by their last value, and modules it writes.
        self.unavailable: dict[str, str] = {}
        self.unwritten: dict[tuple[str, str], str] = {}  # missing entries of usable dictionaries
        self.modules: dict[str, str] = {}

    def judge(self, source: str, taken_out: str = "") -> CellVerdict:
        module, code = written(source)
        try:
            names = CellNames(code)
        except SyntaxError:  # another magic, or an error shown on purpose
            return CellVerdict("needs Jupyter")
        why = taken_out or (self.missing(names) if module else self.obstacle(names))
        reason = "builds on a cell that is left out" if taken_out else builds_on(why)
        if module:
            self.modules[module] = reason
        elif why:
            return CellVerdict(why, self.usable_part(code, reason))
        else:
            self.mark_unavailable(names.given, "")
        return CellVerdict(why)

    def usable_part(self, code: str, reason: str) -> str:
        """Return what other cells can use of a cell that doesn't run; mark the rest as spoiled."""
        kept = []
        for statement in ast.parse(code).body:
            text = ast.unparse(statement)
            part = CellNames(text)
            if is_definition(statement) and not self.obstacle(part):
                kept.append(text)
                self.mark_unavailable(part.given, "")
            else:
                entered_into = {name for name, _ in part.entered}
                self.mark_unavailable(part.given | part.changed - entered_into, reason)
                self.unwritten |= dict.fromkeys(part.entered, reason)
        return "\n".join(kept)

    def obstacle(self, names: CellNames) -> str:
        if why := self.missing(names):
            return why
        for name in sorted(names.used & self.unavailable.keys()):
            return self.unavailable[name]
        for (name, key), why in self.unwritten.items():
            if name in names.used and key in names.constants:
                return why
        return "needs Jupyter" if "get_ipython" in names.used else ""

    def missing(self, names: CellNames) -> str:
        """Say which of the imports a browser lacks; "" if it has them all."""
        lacking = names.imports - AVAILABLE - self.modules.keys() | names.carried - IMPORTABLE
        unknown = sorted(lacking)
        packages = [name for name in unknown if name not in sys.stdlib_module_names]
        if unknown:
            return "needs " + joined(
                sorted({IN_WORDS.get(name, name) for name in packages or unknown})
            )
        return next(filter(None, (self.modules.get(name) for name in sorted(names.imports))), "")

    def mark_unavailable(self, names: Iterable[str], why: str) -> None:
        for name in names:
            self.unavailable.pop(name, None)
            self.unwritten = {at: why for at, why in self.unwritten.items() if at[0] != name}
            if why:
                self.unavailable[name] = why


def judge(cells: Iterable[tuple[str, dict[str, Any]]]) -> list[CellVerdict]:
    """Judge for each cell, given by source and options, whether it can run in the page."""
    page = PageJudge()
    return [page.judge(source, str(options.get("live", ""))) for source, options in cells]


def shared_need(reasons: Sequence[str]) -> str:
    """Return what most cells of a page need and a browser lacks; "" if there is no such thing."""
    needs = Counter(why.removeprefix(BUILDS_ON) for why in reasons if "needs " in why)
    (need, count), *_ = needs.most_common(1) or [("", 0)]
    return need if count > max(2, len(reasons) / 2) else ""


@dataclass(frozen=True)
class Origins:
    """What a cell gives, and from which earlier cells that comes which it uses."""

    uses: dict[str, list[int]]  # for each name and module, the cells that last set or changed it
    late: set[str]  # names that its functions read, whenever they are called
    gives: set[str]
    brought: set[str]  # the names that it gives by importing them

    @property
    def cells(self) -> list[int]:
        return sorted({cell for cells in self.uses.values() for cell in cells})


def origins(sources: Iterable[str]) -> list[Origins]:
    """Return what each cell of a page uses, and what it gives."""
    origin: dict[str, list[int]] = {}
    effects: dict[str, set[str]] = {}  # for each function, the names that a call changes
    found: list[Origins] = []
    for place, source in enumerate(sources):
        module, code = written(source)
        try:
            names = CellNames(code)
        except SyntaxError:
            found.append(Origins({}, set(), set(), set()))
            continue
        effects |= {name: set() for name in names.given}
        for _ in names.effects:  # a function may call functions that are defined below it
            effects |= {name: follow(of, effects) for name, of in names.effects.items()}
        acts = (effects.get(name, set()) for name in names.loaded)
        changed = names.changed.union(*acts) - names.given
        modules = names.imports | files(names.constants)
        used = names.used | changed | {f"module {name}" for name in modules}
        uses = {name: origin[name] for name in used if name in origin}
        given = set() if module else names.given
        found.append(Origins(uses, names.late, given, names.brought))
        if module:
            origin[f"module {module}"] = [place]
            continue
        for name in changed:
            origin[name] = [*origin.get(name, ()), place]
        for name in names.given:
            origin[name] = [place]
    return found


def follow(of: Effect, known: Mapping[str, set[str]]) -> set[str]:
    """Return what a call changes, by itself and through the functions that it calls."""
    return of.changes.union(*(known.get(name, set()) for name in of.reads))


def ambiguous_names(cells: Sequence[Origins]) -> set[str]:
    """Return the names that several cells set; an import counts as the same value everywhere."""
    counts = Counter(name for cell in cells for name in cell.gives)
    own = {name for cell in cells for name in cell.gives - cell.brought}
    return {name for name in own if counts[name] > 1}


def files(constants: Iterable[Any]) -> set[str]:
    """Return the modules whose files are named in strings, also as in "engine.py:Value"."""
    texts = (text.partition(":")[0] for text in constants if isinstance(text, str))
    return {text.removesuffix(".py") for text in texts if text.endswith(".py")}


def asserts(source: str) -> bool:
    """Return whether a cell asserts something when it runs: once edited, it may show an error."""
    acts = [part for part in ast.parse(written(source)[1]).body if not is_definition(part)]
    return any(isinstance(part, ast.Assert) for act in acts for part in ast.walk(act))


def cells_without_effect(told: Sequence[dict[str, Any]], shows: Sequence[bool]) -> list[int]:
    """Return the cells that needn't run: neither they nor cells that build on them show anything.

    The cells of a folded answer build on those before them in it.
    """
    found, wanted = [], set()
    for place, about in reversed(list(enumerate(told))):
        if place in wanted or ("why" not in about and shows[place]):
            wanted.update(about.get("uses", ()))
            within = about.get("within", "")
            wanted.update(k for k in range(place) if within and told[k].get("within") == within)
        elif "why" not in about:
            found.append(place)
    return found


def written(source: str) -> tuple[str, str]:
    """Return the module that a cell writes to a file, or "", and the Python in the cell."""
    first, _, rest = source.partition("\n")
    words = first.split()
    if len(words) == 2 and words[0] == "%%writefile" and words[1].endswith(".py"):
        return words[1].removesuffix(".py"), rest
    return "", source


def builds_on(why: str) -> str:
    return f"{BUILDS_ON}{why}" if why and "cell" not in why else why


def is_definition(statement: ast.stmt) -> bool:
    """Return whether a statement only names modules, functions, classes or constants."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(part, OF_CONSTANTS) for part in ast.walk(statement))
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)
