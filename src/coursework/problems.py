"""Read coding exercises from MyST pages, and assignments from a small TOML file.

An exercise is written once, on its page, between the gated directives of sphinx-exercise. The label
of the exercise is its name. Code cells say in their YAML header what they are for:

```{exercise-start} ★ The backward pass of relu
:label: ex-graph-relu
```
The statement, in plain Markdown with $mathematics$: it is also read in notebooks, so it has no
roles, no directives but code cells, and no links to other pages. Cells that the student is given
and that run before the answer (imports, helpers) stand here, with `coursework: {role: given}`.
```{exercise-end}
```

```{solution-start} ex-graph-relu
:label: sol-graph-relu
:class: dropdown
```
Any text and cells, among them one answer and one cell for each part of the mark:

```{code-cell} ipython3
:coursework: {role: answer}
def relu_backward(dH, Z):
    \"\"\"The adjoint of Z, given the adjoint dH of H = relu(Z).\"\"\"
    return dH * (Z > 0)
```

```{code-cell} ipython3
---
tags: [hide-input]
coursework: {role: check, part: entries, points: 2, hints: {dZ: "what is the slope below 0?"}}
---
import numpy as np

from chaingrad.checks import check_results


def inputs(rng):
    return {"dH": rng.normal(size=(3, 4)), "Z": rng.normal(size=(3, 4))}


def driver(student, inputs):
    return {"dZ": student.relu_backward(inputs["dH"], inputs["Z"])}


def oracle(inputs):
    return {"dZ": np.where(inputs["Z"] > 0, inputs["dH"], 0.0)}


check_results(inputs, driver, oracle)
```
```{solution-end}
```

- The answer holds imports, functions and classes, and nothing else. Students get its signatures and
  docstrings; the bodies become `raise NotImplementedError`.
- `inputs(rng)` draws plain data (numbers, strings, arrays, lists and dicts of these) from a
  `numpy.random.Generator`.
- `driver(student, inputs)` runs in the student's process: `student.name` is what the student's code
  calls `name`. It turns plain data into what the functions take, and what they return into a dict
  {name: plain data}, in the order in which a backward pass finds the results.
- `oracle(inputs)` finds the same results in an independent way. It is used only where the answer is
  checked: when the page is built (the last line of the cell), in the tests, and by
  `python -m coursework check`. A grader compares with the answer.
- The options of a check, beside `role: check`: `part` (its name), `points` (its weight in the
  exercise, 1), `draws` (how many inputs, 5), `rtol` (1e-6), `atol` (1e-9), `hints` ({name of a
  result, or "*" for all others: what to think of if it is wrong}), `visible` (true, or in a
  private folder false: whether students have it in their notebook).
- A check imports what it needs, in its cell, and uses no other name of the page. Statements at its
  top level that are neither imports, definitions nor assignments belong to the page alone, and so
  do imports from `chaingrad.checks`.

A private folder holds pages of the same format, outside the book. An exercise there is like any
other. A solution there *without* its exercise, `{solution-start} ex-graph-relu`, adds its checks to
the exercise of the book. Checks from a private folder are shown to students only where they say
`visible: true`.

In a notebook, nbgrader's ``grade_id`` of the answer's cell is the exercise's label; a check's is
`LABEL-check-1`, and so on; those of given cells start with `LABEL-given` and `setup`.

For a grader, `load` gives the assignments. Each part of a problem has the sources it runs:

>>> from coursework.problems import parse
>>> relu = parse(__doc__)["ex-graph-relu"]  # this text reads as a page
>>> [part] = relu.parts
>>> drawn = part.draw("the teacher's seed", 0)
>>> relu.expected(part, drawn)["dZ"].shape
(3, 4)
>>> print(relu.stub)
def relu_backward(dH, Z):
    \"\"\"The adjoint of Z, given the adjoint dH of H = relu(Z).\"\"\"
    raise NotImplementedError
"""

import ast
import copy
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import yaml  # type: ignore[import-untyped]

from chaingrad import checks
from coursework.sandbox import wire
from coursework.trusted import ProblemError, named, run

FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
LABEL = re.compile(r"^:label: *(\S+)", re.MULTILINE)
LEVEL = re.compile(r"^(★{1,3}) +")
FOREIGN = re.compile(r"\{[a-z:-]+\}`|^:::|\]\((?!https?://)|^\([\w-]+\)=", re.MULTILINE)
OPTIONS = {"role", "part", "points", "draws", "rtol", "atol", "hints", "visible"}
PAGE_ONLY = "chaingrad.checks"


@dataclass(frozen=True)
class Part:
    """One check of an exercise, and the points it is worth.

    Attributes:
        source: imports, helpers, `inputs` and `driver`, as the student may see them.
        oracle: the same with `oracle` too; "" where the check has none.
        inputs: what draws the inputs: `source` without `driver`.
        driver: what runs in the student's process: `source` without `inputs`.
        hints: {name of a result: what to think of if it is the first that is wrong}.
        visible: whether students have this check in their notebook.
        private: whether it comes from a private folder.
    """

    problem: str
    name: str
    points: float
    source: str
    oracle: str
    inputs: str
    driver: str
    draws: int = checks.DRAWS
    rtol: float = checks.RTOL
    atol: float = checks.ATOL
    hints: Mapping[str, str] = field(default_factory=dict)
    visible: bool = True
    private: bool = False

    def seed(self, secret: str | int, k: int) -> int:
        """The seed of draw ``k``, from which the secret cannot be told."""
        key = f"{secret}\n{self.problem}\n{self.name}\n{k}"
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big")

    def draw(self, secret: str | int, k: int) -> Any:
        """The inputs of draw ``k``; the same on every machine."""
        return self.inputs_from(self.seed(secret, k))

    def inputs_from(self, seed: int) -> Any:
        """The inputs that a generator with this seed draws; raises `ProblemError`."""
        with named(f"{self.problem}, {self.name!r}: inputs(rng)"):
            drawn = run(self.inputs)["inputs"](np.random.default_rng(seed))
            wire.encode(drawn)  # refuses what cannot be sent to a submission
        return drawn


@dataclass(frozen=True)
class Problem:
    """An exercise that is answered with code.

    Attributes:
        id: the exercise's label.
        statement: the cells before the answer, in order: ("markdown" or "code", source).
        answer: the source of the reference answer.
        private: whether it comes from a private folder.
        where: the file it stands in.
    """

    id: str
    title: str
    level: str
    statement: tuple[tuple[str, str], ...]
    answer: str
    parts: tuple[Part, ...]
    private: bool = False
    where: str = ""

    @property
    def given(self) -> str:
        """The code that the student is given."""
        return "\n\n".join(text for kind, text in self.statement if kind == "code")

    @property
    def names(self) -> tuple[str, ...]:
        """The names that an answer defines."""
        body = ast.parse(self.answer).body
        return tuple(node.name for node in body if isinstance(node, DEFINITIONS))

    @property
    def points(self) -> float:
        """What the parts are worth together."""
        return sum(part.points for part in self.parts)

    @property
    def stub(self) -> str:
        """The answer with its bodies taken out: what the student starts from."""
        return make_stub(self.answer)

    def reference(self) -> SimpleNamespace:
        """The names of the given code and of the answer, as a driver's ``student``."""
        return SimpleNamespace(**run(self.given, self.answer))

    def expected(self, part: Part, inputs: Any) -> dict[str, Any]:
        """The results of the reference answer, which leaves the inputs as they are.

        Raises:
            ProblemError: it fails, takes too long, or gives something else than plain data.
        """
        with named(f"{self.id}, {part.name!r}: the reference answer"):
            driver = run(part.driver)["driver"]
            results = dict(driver(self.reference(), copy.deepcopy(inputs)))
            wire.encode(results)
        return results


@dataclass(frozen=True)
class Assignment:
    """What students get in one notebook; the parts' points are those of the assignment."""

    name: str
    title: str
    problems: tuple[Problem, ...]

    @property
    def points(self) -> float:
        """What everything is worth together."""
        return sum(problem.points for problem in self.problems)


DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def load(assignments: Path, pages: Path, private: Path | None = None) -> dict[str, Assignment]:
    """The assignments of a file, by name, with their problems from the pages.

    Args:
        assignments: the TOML file.
        pages: the folder of the book's pages.
        private: a folder of pages that are not in the book, or None.

    Raises:
        ProblemError: the file or a page is wrong; the message says where, and what to do.
    """
    problems = read_problems(pages, private)
    try:
        data = tomllib.loads(assignments.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProblemError(f"there is no file {assignments}") from None
    except tomllib.TOMLDecodeError as error:
        raise ProblemError(f"{assignments} is not TOML: {error}") from None
    found: dict[str, Assignment] = {}
    for entry in data.get("assignment", []):
        made = _assignment(entry, problems, str(assignments))
        if made.name in found:
            raise ProblemError(f"{assignments}: two assignments have the name {made.name!r}")
        found[made.name] = made
    if not found:
        raise ProblemError(f"{assignments} holds no [[assignment]]")
    return found


def read_problems(pages: Path, private: Path | None = None) -> dict[str, Problem]:
    """Every coding exercise of the book, and of a private folder, by its label."""
    found = _read_folder(pages, False)
    if private is not None:
        if not private.is_dir():
            raise ProblemError(f"the private folder {private} is not a folder")
        found = _merge(found, _read_folder(private, True))
    for problem in found.values():
        _complain_about(problem)
    return found


def parse(text: str, where: str = "the page", private: bool = False) -> dict[str, Problem]:
    """The coding exercises of one page's text, by label.

    A solution without its exercise gives a problem that has checks alone.
    """
    found: dict[str, Problem] = {}
    for label, blocks in _solutions(text, where):
        problem = _problem(text, label, blocks, where, private)
        if problem is not None:
            found = _merge(found, {label: problem})
    return found


def make_stub(answer: str) -> str:
    """The source with every function's body, its docstring apart, replaced."""
    lines = answer.splitlines()
    for start, end, indent in reversed(function_bodies(answer)):
        lines[start:end] = [f"{indent}raise NotImplementedError"]
    return "\n".join(lines)


def function_bodies(source: str) -> list[tuple[int, int, str]]:
    """The lines of each function's body without its docstring: start, end, indentation."""
    found, lines = [], source.splitlines()
    for node in _functions(ast.parse(source)):
        first = node.body[0]
        documented = ast.get_docstring(node, clean=False) is not None
        start = (first.end_lineno or 0) if documented else first.lineno - 1
        while not documented and lines[start - 1].strip()[:1] in ("", "#"):
            start -= 1
        end = node.end_lineno or 0
        if first.lineno == node.lineno or start >= end:
            raise ProblemError(f"{node.name}: write its body on lines of its own")
        found.append((start, end, " " * first.col_offset))
    return found


def verify(problem: Problem, seed: str | int = 0, draws: int | None = None) -> Iterator[str]:
    """What is wrong with the reference answer, by its checks; nothing if all is well.

    Raises:
        ProblemError: some code of the problem fails, or takes too long.
    """
    for part in problem.parts:
        for k in range(draws or part.draws):
            drawn = part.draw(seed, k)
            got = problem.expected(part, drawn)
            if not part.oracle:
                continue
            with named(f"{problem.id}, {part.name!r}: oracle(inputs)"):
                wanted = run(part.oracle)["oracle"](copy.deepcopy(drawn))
            wrong = checks.first_difference(wanted, got, part.rtol, part.atol)
            if wrong:
                yield f"{problem.where}, {problem.id}, {part.name!r}, draw {k}: {wrong}"
                break


# --- pages --------------------------------------------------------------------------------------


def _read_folder(folder: Path, private: bool) -> dict[str, Problem]:
    found: dict[str, Problem] = {}
    for path in sorted(folder.rglob("*.md")):
        try:
            page = parse(path.read_text(encoding="utf-8"), str(path), private)
        except UnicodeDecodeError as error:
            raise ProblemError(f"{path} is not UTF-8: {error}") from None
        found = _merge(found, page)
    return found


def _problem(
    text: str, label: str, blocks: list[re.Match[str]], where: str, private: bool
) -> Problem | None:
    """The exercise of a solution, if any of its cells is an answer or a check."""
    try:
        cells = [cell for cell in map(_cell, blocks) if cell[0]]
    except ProblemError as error:
        raise ProblemError(f"{where}, {label}: {error}") from None
    if not cells:
        return None
    title, statement = _exercise(text, label, where)
    for options, _ in cells:
        if options.get("role") not in ("answer", "check"):
            raise ProblemError(
                f"{where}, {label}: a cell of the solution has the role "
                f"{options.get('role')!r}; it must be answer or check"
            )
    answers = [source for options, source in cells if options["role"] == "answer"]
    if len(answers) > 1 or (statement and not answers):
        raise ProblemError(f"{where}, {label}: {len(answers)} answers; there must be one")
    checks = [cell for cell in cells if cell[0]["role"] == "check"]
    level = LEVEL.match(title)
    return Problem(
        id=label,
        title=LEVEL.sub("", title),
        level=level[1] if level else "",
        statement=statement,
        answer="".join(answers),
        parts=tuple(_part(label, options, source, where, private) for options, source in checks),
        private=private,
        where=where,
    )


def _merge(known: dict[str, Problem], new: dict[str, Problem]) -> dict[str, Problem]:
    """Enter new exercises; checks alone are added to the exercise whose label they have."""
    merged = dict(known)
    for label, problem in new.items():
        other = merged.get(label)
        if other is None:
            merged[label] = problem
        elif other.answer and problem.answer:
            raise ProblemError(
                f"two exercises have the label {label}: in {other.where} and in {problem.where}; "
                f"to add checks alone, leave the exercise and its answer out"
            )
        else:
            whole = other if other.answer else problem
            merged[label] = replace(whole, parts=other.parts + problem.parts)
    return merged


def _complain_about(problem: Problem) -> None:
    """Refuse what cannot be set: no statement or answer, no checks, foreign Markdown, bad code."""
    where = f"{problem.where}, {problem.id}"
    if not problem.answer:
        raise ProblemError(
            f"{where}: checks without an exercise and its answer, and no exercise of the book has "
            f"this label; correct the label, or write the exercise"
        )
    if not problem.parts:
        raise ProblemError(f"{where}: an answer without a check; add a cell with role: check")
    twice = _repeated(part.name for part in problem.parts)
    if twice:
        raise ProblemError(f"{where}: two checks are named {twice!r}; rename one")
    for kind, text in problem.statement:
        foreign = FOREIGN.search(text) if kind == "markdown" else None
        if foreign:
            raise ProblemError(
                f"{where}: the statement holds {foreign[0]!r}, which a notebook does not know; "
                f"write plain Markdown and whole addresses"
            )
    _check_answer(problem.answer, where)


def _check_answer(answer: str, where: str) -> None:
    try:
        tree = ast.parse(answer)
    except SyntaxError as error:
        raise ProblemError(f"{where}: the answer is not Python: {error}") from None
    for node in tree.body:
        if not isinstance(node, (ast.Import, ast.ImportFrom, *DEFINITIONS)):
            line = ast.get_source_segment(answer, node)
            raise ProblemError(
                f"{where}: an answer holds imports, functions and classes alone, but this has "
                f"{line!r}; move it to a cell of its own"
            )
    if not any(isinstance(node, DEFINITIONS) for node in tree.body):
        raise ProblemError(f"{where}: the answer defines nothing")
    make_stub(answer)


def _solutions(text: str, where: str) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Each gated solution: the label of its exercise, and the fences in it."""
    label, blocks = "", list[re.Match[str]]()
    for fence in FENCE.finditer(text):
        name, _, rest = fence[2].partition("}")
        if name == "{solution-start":
            label, blocks = rest.strip(), []
        elif name == "{solution-end":
            yield label, blocks
            label = ""
        elif label:
            blocks.append(fence)
    if label:
        raise ProblemError(f"{where}: the solution of {label} has no solution-end")


def _exercise(text: str, label: str, where: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The title and the cells of the exercise with this label; none if the page lacks it."""
    head, start, cells = "", -1, []
    for fence in FENCE.finditer(text):
        name, _, rest = fence[2].partition("}")
        found = LABEL.search(fence[3])
        if name == "{exercise-start" and found and found[1] == label:
            head, start = rest.strip(), fence.end()
        elif start >= 0 and name in ("{exercise-end", "{code-cell"):
            cells.append(("markdown", text[start : fence.start()].strip()))
            start = fence.end()
            if name == "{exercise-end":
                return head, tuple(cell for cell in cells if cell[1])
            cells.append(("code", _cell(fence)[1]))
        elif start >= 0 and name in ("{exercise-start", "{solution-start"):
            break
        elif start >= 0 and name.startswith("{"):
            raise ProblemError(
                f"{where}, {label}: the statement holds the directive {name}}}, which a notebook "
                f"does not know; write plain Markdown"
            )
    if start >= 0:
        raise ProblemError(f"{where}: the exercise {label} has no exercise-end")
    return "", ()


def _cell(fence: re.Match[str]) -> tuple[dict[str, Any], str]:
    """The `coursework` options of a code cell ({} for any other fence), and its source."""
    if not fence[2].startswith("{code-cell}"):
        return {}, ""
    lines = fence[3].splitlines()
    header: list[str] = []
    if lines and lines[0].strip() == "---" and "---" in lines[1:]:
        end = lines.index("---", 1)
        header, lines = lines[1:end], lines[end + 1 :]
    while lines and lines[0].startswith(":"):
        header.append(lines.pop(0)[1:])
    try:
        options = (yaml.safe_load("\n".join(header)) or {}).get("coursework", {})
    except (yaml.YAMLError, AttributeError) as error:
        raise ProblemError(f"the header of a cell is not YAML: {error}") from None
    if not isinstance(options, dict):
        raise ProblemError(f"write coursework: {{role: {options}}} in the header of a cell")
    return options, "\n".join(lines).strip()


# --- checks -------------------------------------------------------------------------------------


def _part(label: str, options: dict[str, Any], source: str, where: str, private: bool) -> Part:
    place = f"{where}, {label}"
    unknown = options.keys() - OPTIONS
    if unknown:
        raise ProblemError(
            f"{place}: a check has no option {sorted(unknown)[0]!r}; "
            f"it has {', '.join(sorted(OPTIONS))}"
        )
    name = str(options.get("part", label))
    functions = _definitions(source, f"{place}, {name!r}")
    for needed in ("inputs", "driver"):
        if needed not in functions:
            raise ProblemError(f"{place}: the check {name!r} defines no function {needed}")
    points = options.get("points", 1)
    if not isinstance(points, (int, float)) or points <= 0:
        raise ProblemError(f"{place}: {name!r} is worth {points!r} points; say a number above 0")
    return Part(
        problem=label,
        name=name,
        points=float(points),
        source=_without(functions, "oracle"),
        oracle=_without(functions) if "oracle" in functions else "",
        inputs=_without(functions, "oracle", "driver"),
        driver=_without(functions, "oracle", "inputs"),
        draws=int(options.get("draws", Part.draws)),
        rtol=float(options.get("rtol", Part.rtol)),
        atol=float(options.get("atol", Part.atol)),
        hints=dict(options.get("hints", {})),
        visible=bool(options.get("visible", not private)),
        private=private,
    )


def _definitions(source: str, where: str) -> dict[str, str]:
    """The imports, definitions and assignments of a check, by name, in order."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise ProblemError(f"{where}: the check is not Python: {error}") from None
    found = {}
    for node in body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, DEFINITIONS):
            found[node.name] = text
        elif isinstance(node, ast.ImportFrom) and node.module == PAGE_ONLY:
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):
            found[f"line {node.lineno}"] = text
    return found


def _without(functions: dict[str, str], *names: str) -> str:
    """The source of a check without some of its functions."""
    text, before = "", ""
    for name, source in functions.items():
        if name not in names:
            gap = "\n" if name.startswith("line") and before.startswith("line") else "\n\n\n"
            text += (gap if text else "") + source
            before = name
    return text


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions and methods of a source, in order; not functions within functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child)


# --- assignments --------------------------------------------------------------------------------


def _assignment(entry: dict[str, Any], problems: dict[str, Problem], where: str) -> Assignment:
    name = entry.get("name", "")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", str(name)):
        raise ProblemError(
            f"{where}: an assignment needs a name of letters, digits, - and _; got {name!r}"
        )
    place = f"{where}, {name}"
    items = entry.get("exercises", [])
    if not items:
        raise ProblemError(f"{place}: no exercises")
    chosen = [_worth(item, problems, place) for item in items]
    twice = _repeated(problem.id for problem in chosen)
    if twice:
        raise ProblemError(f"{place}: {twice} is listed twice; take one out")
    defined = _repeated(name for problem in chosen for name in problem.names)
    if defined:
        raise ProblemError(
            f"{place}: two of its exercises ask for a {defined!r}; set them in two assignments"
        )
    return Assignment(name, str(entry.get("title", name)), tuple(chosen))


def _worth(item: Any, problems: dict[str, Problem], where: str) -> Problem:
    """The problem that an entry names, worth what it says."""
    if not isinstance(item, dict) or "id" not in item:
        raise ProblemError(f'{where}: write exercises as {{ id = "…", points = … }}; got {item!r}')
    if item["id"] not in problems:
        near = get_close_matches(item["id"], problems, 1, 0)
        hint = f"; the nearest name is {near[0]}" if near else ""
        raise ProblemError(f"{where}: there is no coding exercise {item['id']}{hint}")
    problem = problems[item["id"]]
    points = item.get("points", problem.points)
    if not isinstance(points, (int, float)) or points <= 0:
        raise ProblemError(
            f"{where}: {problem.id} is worth {points!r} points; say a number above 0"
        )
    scale = points / problem.points
    parts = tuple(replace(part, points=part.points * scale) for part in problem.parts)
    return replace(problem, parts=parts)


def _repeated(names: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
