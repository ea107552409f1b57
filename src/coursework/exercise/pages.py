"""Read coding exercises from MyST pages.

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
  {name: result}, in the order in which a backward pass finds the results. Results become plain
  data by `chaingrad.checks.plain`, also arrays of JAX and PyTorch.
- `oracle(inputs)` finds the same results in an independent way. It is used only where the answer is
  checked: when the page is built (the last line of the cell), in the tests, and by
  `python -m coursework check`. A grader compares with the answer.
- The options of a check, beside `role: check`: `part` (its name), `points` (its weight in the
  exercise, 1), `draws` (how many inputs, 5), `rtol` (1e-6), `atol` (1e-9), `hints` ({name of a
  result, or "*" for all others: what to think of if it is wrong}), `visible` (true, or in a
  private folder false: whether students have it in their notebook).
- Instead of `part` and `points`, a check may have `parts`, a list of these with `results`, the
  names of the results that each compares. Results that none of them names belong to all. One slip
  then costs the part that it stands in: `parts: [{part: nodes, points: 2, results: [y, x]}, {part:
  leaves, points: 2, results: [a, b], follows: [y, x]}]`. Where a part says which earlier results
  it `follows`, the check defines `follow(inputs, found)`, which returns what each of these, and of
  its own, should be, made from the ones before it in `found`. A part whose results follow rightly
  from one wrong result earns its points, and the feedback says so (`following.py`).
- A check imports what it needs, in its cell, and uses no other name of the page. Statements at its
  top level that are neither imports, definitions nor assignments belong to the page alone, and so
  do imports from `chaingrad.checks`. Plain data that it imports from `chainlab`, such as a list of
  expressions, is written out: students read it in their notebook, and their process needs no
  `chainlab`.

An exercise may be drawn for each student, from the teacher's secret and the student's id. A cell of
the exercise with `coursework: {role: draw}` then defines `draw(rng)`, which returns a dict:
`given`, the code that the student is given in its place; `start`, what the answer begins with, if
not the answer without its bodies; and more plain data. All of it is `own` to the answer, to
`inputs` (which writes `own["name"]`) and to `oracle`, but not to the driver. With `like: ex-other`
each student has the instance of the other exercise. The page itself shows
`own = draw(np.random.default_rng(0))`. With `form: true`, the check in a student's notebook looks
at the form of the results alone; then nothing there holds, or tells, what is asked. On the page,
whose instance is nobody's own, it looks at all of them.

An answer with `coursework: {role: answer, alone: true}` is graded where nothing can be imported but
the standard library and NumPy, also as a file `ASSIGNMENT.py`. A cell of the exercise with
`coursework: {role: start}` is what students start from, in place of the answer without its bodies.
With `lines: true` its functions must be lines that each compute one result by arithmetic or an
elementary function of NumPy (`arithmetic.py`). The notebook's checks and the grader look at the
student's source; the answer on the page needn't be lines.

A private folder holds pages of the same format, outside the book. An exercise there is like any
other. A solution there *without* its exercise, `{solution-start} ex-graph-relu`, adds its checks to
the exercise of the book. Checks from a private folder are shown to students only where they say
`visible: true`.

In a notebook, nbgrader's ``grade_id`` of the answer's cell is the exercise's label; a check's is
`LABEL-check-1`, and so on; those of given cells start with `LABEL-given` and `setup`.

Each part of a problem has the sources it runs:

>>> from coursework.exercise.pages import parse
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
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from coursework.exercise.drawing import BOOK
from coursework.exercise.problems import DEFINITIONS, Part, Problem, above_zero, repeated, validate
from coursework.exercise.trusted import ProblemError, errors_at
from coursework.sources import sources

FENCE = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
LABEL = re.compile(r"^:label: *(\S+)", re.MULTILINE)
OWN = re.compile(r"own *=")
LEVEL = re.compile(r"^(?:(★{1,3}) +)?(.*)")
OPTIONS = {
    "draws": int, "rtol": float, "atol": float, "hints": dict, "visible": bool, "form": bool
}  # fmt: skip
SHARE = {"part", "points", "results", "follows"}  # what a cell says of each of its parts
KNOWN = {"role", "part", "points", "parts", *OPTIONS}
PAGE_ONLY = "chaingrad.checks"
WRITTEN_OUT = "chainlab"
PLAIN = (bool, int, float, str, tuple, list, dict)
CodeBlock = tuple[dict[str, Any], str]  # its options, its source


def read_problems(pages: Path, private: Path | None = None) -> dict[str, Problem]:
    """Read every coding exercise of the book, and of a private folder, by its label."""
    if private is not None and not private.is_dir():
        raise ProblemError(f"the private folder {private} is not a folder")
    own = _read_folder(private, True) if private is not None else ()
    found = _merged([*_read_folder(pages, False), *own])
    for problem in found.values():
        with errors_at(f"{problem.where}, {problem.id}"):
            validate(problem)
    return found


def parse(text: str, where: str = "the page", private: bool = False) -> dict[str, Problem]:
    """Read the coding exercises in the text of one page, by label.

    A solution without its exercise gives a problem that has only checks.
    """
    return _merged(_parse(text, where, private))


def _parse(text: str, where: str, private: bool) -> Iterator[Problem]:
    for label, blocks in _solutions(text, where):
        with errors_at(f"{where}, {label}"):
            problem = _problem(text, label, blocks, where, private)
        if problem is not None:
            yield problem


def _read_folder(folder: Path, private: bool) -> Iterator[Problem]:
    for path in sources(folder, "*.md"):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProblemError(f"{path} is not UTF-8: {error}") from None
        yield from _parse(text, str(path), private)


def _merged(problems: Iterable[Problem]) -> dict[str, Problem]:
    """Return the problems by label; checks alone join the exercise that has their label."""
    merged: dict[str, Problem] = {}
    for problem in problems:
        other = merged.get(problem.id)
        if other is None:
            merged[problem.id] = problem
        elif other.answer and problem.answer:
            raise ProblemError(
                f"two exercises have the label {problem.id}: in {other.where} and in "
                f"{problem.where}; to add only checks, leave the exercise and its answer out"
            )
        else:
            whole = other if other.answer else problem
            merged[problem.id] = replace(whole, parts=other.parts + problem.parts)
    return merged


# --- exercises ----------------------------------------------------------------------------------


def _solutions(text: str, where: str) -> Iterator[tuple[str, list[re.Match[str]]]]:
    """Yield the label of the exercise and the fences of each gated solution."""
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


def _problem(
    text: str, label: str, blocks: list[re.Match[str]], where: str, private: bool
) -> Problem | None:
    """Return the exercise of a solution, or None if none of its cells is an answer or a check."""
    cells = [cell for cell in map(_cell, blocks) if cell[0]]
    if not cells:
        return None
    exercise = _exercise(text, label)
    for role in (options.get("role") for options, _ in cells):
        if role not in ("answer", "check"):
            raise ProblemError(
                f"a cell of the solution has the role {role!r}; it must be answer or check"
            )
    answers = [source for options, source in cells if options["role"] == "answer"]
    if len(answers) > 1 or (exercise and not answers):
        raise ProblemError(f"{len(answers)} answers; there must be one")
    problem = Problem(
        id=label,
        answer="".join(answers),
        parts=tuple(
            part
            for options, source in cells
            if options["role"] == "check"
            for part in _parts(label, options, source, private)
        ),
        private=private,
        where=where,
        alone=any(options.get("alone") is True for options, _ in cells),
        lines=any(options.get("lines") is True for options, _ in cells),
        **exercise,
    )
    return problem.drawn(BOOK) if problem.drawing else problem


def _exercise(text: str, label: str) -> dict[str, Any]:
    """Return the fields of a problem that its exercise determines; none if the page lacks it.

    ("own", "") takes the place of a cell that draws an instance. The code that students start from
    loses the line that writes it to a file.
    """
    fences = FENCE.finditer(text)
    starts = (fence for fence in fences if fence[2].startswith("{exercise-start}"))
    head = next((start for start in starts if LABEL.findall(start[3])[:1] == [label]), None)
    if head is None:
        return {}
    level, title = LEVEL.findall(head[2].partition("}")[2].strip())[0]
    fields: dict[str, Any] = {"title": title, "level": level}
    cells, end = list[tuple[str, str]](), head.end()
    for fence in fences:
        name, _, _ = fence[2].partition("}")
        if name in ("{exercise-start", "{solution-start"):
            break
        if not name.startswith("{"):
            continue
        if name not in ("{exercise-end", "{code-cell"):
            raise ProblemError(
                f"the statement holds the directive {name}}}, which a notebook does not know; "
                f"write plain Markdown"
            )
        cells.append(("markdown", text[end : fence.start()].strip()))
        end = fence.end()
        if name == "{exercise-end":
            shown = tuple(cell for cell in cells if cell[1] or cell[0] == "own")
            return fields | {"statement": shown}
        options, source = _cell(fence)
        if options.get("role") == "start":
            fields["start"] = re.sub(r"\A%%.*\n", "", source)
        elif options.get("role") == "draw":
            fields |= {"drawing": _drawing(source), "like": str(options.get("like", ""))}
            cells.append(("own", ""))
        else:
            cells.append(("code", source))
    raise ProblemError("the exercise has no exercise-end")


def _cell(fence: re.Match[str]) -> CodeBlock:
    """Return the `coursework` options of a code cell ({} for any other fence), and its source."""
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


def _parts(label: str, options: dict[str, Any], source: str, private: bool) -> Iterator[Part]:
    """Yield the part of a check, or the parts that share its cell, each with some results."""
    shares = _shares(options)
    options = {key: value for key, value in options.items() if key != "parts"}
    first = {key: shares[0][key] for key in ("part", "points")} if shares else {}
    part = _part(label, options | first, source, private)
    if not shares:
        yield part
    for share in shares:
        results, follows = tuple(share["results"]), tuple(share.get("follows", ()))
        if follows and not part.follow:
            raise ProblemError(f"the check {part.name!r} defines no function follow")
        yield replace(
            part,
            name=str(share["part"]),
            points=above_zero(share["points"], repr(share["part"])),
            cell=part.name,
            results=results,
            elsewhere=tuple(n for s in shares for n in s["results"] if n not in results),
            follows=follows,
            follow=part.follow if follows else "",
        )


def _shares(options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a check says of each of its parts; raise `ProblemError` if it isn't sound."""
    shares: list[dict[str, Any]] = options.get("parts", [])
    if shares and ("part" in options or "points" in options):
        raise ProblemError("a check has a 'part' and 'points', or 'parts', and not both")
    before = list[str]()
    for share in shares:
        if odd := sorted((SHARE | {"follows"}) ^ (share.keys() | {"follows"})):
            raise ProblemError(
                f"{odd[0]!r}: each of a check's parts has a part, points and results, may say "
                f"which earlier results it follows, and has no other option"
            )
        if late := [name for name in share.get("follows", ()) if name not in before]:
            raise ProblemError(f"{share['part']!r} follows {late[0]!r}, which no earlier part has")
        before += share["results"]
    if twice := repeated(before):
        raise ProblemError(f"two of the parts compare {twice!r}")
    return shares


def _part(label: str, options: dict[str, Any], source: str, private: bool) -> Part:
    if unknown := sorted(options.keys() - KNOWN):
        known = ", ".join(sorted(KNOWN))
        raise ProblemError(f"a check has no option {unknown[0]!r}; its options are {known}")
    name = str(options.get("part", label))
    functions = _definitions(source, f"the check {name!r}")
    for needed in ("inputs", "driver"):
        if needed not in functions:
            raise ProblemError(f"the check {name!r} defines no function {needed}")
    chosen = {key: kind(options[key]) for key, kind in OPTIONS.items() if key in options}
    return Part(
        problem=label,
        name=name,
        points=above_zero(options.get("points", 1), repr(name)),
        source=_without(functions, "oracle", "follow"),
        oracle=_without(functions) if "oracle" in functions else "",
        inputs=_without(functions, "oracle", "follow", "driver"),
        driver=_without(functions, "oracle", "follow", "inputs"),
        follow=_without(functions, "oracle", "inputs", "driver") if "follow" in functions else "",
        private=private,
        **{"visible": not private, **chosen},
    )


def _drawing(source: str) -> str:
    """Return the code that defines `draw`: the cell without the instance that the page shows."""
    found = _definitions(source, "the cell that draws")
    return _without({name: text for name, text in found.items() if not OWN.match(text)})


def _definitions(source: str, what: str) -> dict[str, str]:
    """Return the imports, definitions and assignments of a check, by name, in order."""
    try:
        body = ast.parse(source).body
    except SyntaxError as error:
        raise ProblemError(f"{what} is not Python: {error}") from None
    found = {}
    for node in body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, DEFINITIONS):
            found[node.name] = text
        elif isinstance(node, ast.ImportFrom) and node.module == PAGE_ONLY:
            continue
        elif isinstance(node, ast.ImportFrom) and _is_data(node):
            found[f"line {node.lineno}"] = _written_out(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)):
            found[f"line {node.lineno}"] = text
    return found


def _is_data(node: ast.ImportFrom) -> bool:
    """Return whether an import brings plain data of ours, which nobody else need import."""
    if (node.module or "").partition(".")[0] != WRITTEN_OUT or node.level:
        return False
    return all(isinstance(value, PLAIN) for value in _imported(node).values())


def _written_out(node: ast.ImportFrom) -> str:
    return "\n".join(f"{name} = {_literal(value)}" for name, value in _imported(node).items())


def _literal(value: Any) -> str:
    """Write plain data, with a line for each entry of a dict."""
    if not isinstance(value, dict):
        return repr(value)
    return "".join(["{\n", *(f"    {key!r}: {item!r},\n" for key, item in value.items()), "}"])


def _imported(node: ast.ImportFrom) -> dict[str, Any]:
    """Return what an import of ours brings, by the name that it gets."""
    found: dict[str, Any] = {}
    for alias in node.names:
        space: dict[str, Any] = {}
        try:
            exec(f"from {node.module} import {alias.name}", space)
        except ImportError as error:
            raise ProblemError(f"a check cannot import this: {error}") from None
        found[alias.asname or alias.name] = space[alias.name]
    return found


def _without(functions: dict[str, str], *names: str) -> str:
    """Return the source of a check without some of its functions."""
    text, before = "", ""
    for name, source in functions.items():
        if name not in names:
            gap = "\n" if name.startswith("line") and before.startswith("line") else "\n\n\n"
            text += (gap if text else "") + source
            before = name
    return text
