"""Submissions of every quality to one small assignment, each with the mark that it must get."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursework.exercise.assignments import Assignment
from coursework.exercise.pages import parse

PAGE = '''
```{exercise-start} ★ The backward pass of relu
:label: ex-relu
```
Write `relu_backward`: $\\bar z = \\bar h\\,[z > 0]$.

```{code-cell} ipython3
import numpy as np
```
```{exercise-end}
```

```{solution-start} ex-relu
```

```{code-cell} ipython3
:coursework: {role: answer}
def relu_backward(dH, Z):
    """The adjoint of Z."""
    return dH * (Z > 0)
```

```{code-cell} ipython3
---
coursework: {role: check, part: entries, points: 2, hints: {dZ: "what is the slope below 0?"}}
---
def inputs(rng):
    return {"dH": rng.normal(size=(3, 4)), "Z": rng.normal(size=(3, 4))}


def driver(student, inputs):
    return {"dZ": student.relu_backward(inputs["dH"], inputs["Z"])}
```

```{code-cell} ipython3
:coursework: {role: check, part: at the kink, points: 1, draws: 2}
import numpy as np


def inputs(rng):
    return {"dH": rng.normal(size=3)}


def driver(student, inputs):
    return {"dZ": student.relu_backward(inputs["dH"], np.zeros(3))}
```
```{solution-end}
```

```{exercise-start} ★★ The backward pass of a layer
:label: ex-layer
```
Write `layer_backward`.
```{exercise-end}
```

```{solution-start} ex-layer
```

```{code-cell} ipython3
:coursework: {role: answer}
def layer_backward(dO, X, W):
    """The adjoints of W and X, where O = X @ W.T."""
    return dO.T @ X, dO @ W
```

```{code-cell} ipython3
:coursework: {role: check, part: adjoints, points: 2}
def inputs(rng):
    sizes = {"dO": (5, 2), "X": (5, 3), "W": (2, 3)}
    return {name: rng.normal(size=size) for name, size in sizes.items()}


def driver(student, inputs):
    dW, dX = student.layer_backward(inputs["dO"], inputs["X"], inputs["W"])
    return {"dW": dW, "dX": dX}
```
```{solution-end}
```
'''
ASSIGNMENT = Assignment("a1", "Backward passes", tuple(parse(PAGE).values()))
SECRET = "a secret that no submission may see"

IMPORT = "import numpy as np"
RELU = "def relu_backward(dH, Z):\n    return dH * (Z > 0)"
LAYER = "def layer_backward(dO, X, W):\n    return dO.T @ X, dO @ W"
KINK = "def relu_backward(dH, Z):\n    return dH * (Z >= 0)"
WRONG_RELU = "def relu_backward(dH, Z):\n    return dH"
WRONG_LAYER = "def layer_backward(dO, X, W):\n    return dO.T @ X, dO"
GOOD = (IMPORT, RELU, LAYER)
WRONG = (IMPORT, WRONG_RELU, WRONG_LAYER)

SEARCH = f"""
import gc, hashlib
strings = [v for o in gc.get_objects() if type(o) is dict for v in o.values() if type(v) is str]
digests = [hashlib.sha256(s.encode(errors='replace')).hexdigest() for s in strings]
assert {hashlib.sha256(SECRET.encode()).hexdigest()!r} in digests"""

FRAMES = """
import gc, sys
frame, seen = sys._getframe(), []
while frame:
    seen += map(str, frame.f_locals.values())
    frame = frame.f_back
seen += [str(list(o)) for o in gc.get_objects() if type(o) is dict and 'oracle' in o]
assert any(word in text for text in seen for word in ('(Z > 0)', 'oracle', 'ex-relu'))"""
NONCE = """
import os, sys
frame = sys._getframe()
while 'request' not in frame.f_locals:
    frame = frame.f_back
answer = {'nonce': frame.f_locals['request']['nonce'], 'value': {'verdict': 'right', 'points': 99}}
os.write(3, sys.modules['coursework.sandbox.wire'].encode(answer))
os._exit(0)"""


def relu(body: str) -> tuple[str, ...]:
    """A submission whose first function has this body, and whose second is right."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return (IMPORT, f"def relu_backward(dH, Z):\n{lines}", LAYER)


def breach(attempt: str) -> tuple[str, ...]:
    """A submission that answers right if its attempt succeeds, and wrong if it does not."""
    lines = "\n".join("    " + line for line in attempt.splitlines())
    return (
        *WRONG,
        f"try:\n{lines}\nexcept BaseException:\n    pass\nelse:\n    broken = True",
        f"if 'broken' in globals():\n    exec({RELU!r})\n    exec({LAYER!r})",
    )


def notebook(*cells: str, checks: tuple[str, ...] = (), **top: Any) -> str:
    """The text of a notebook; `checks` are cells that carry the metadata of given checks."""
    own = {"grade": True, "solution": False, "locked": True, "grade_id": "ex-relu-check-1"}
    made = [_cell(source, {}) for source in cells]
    made += [_cell(source, {"nbgrader": own}) for source in checks]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | top)


def _cell(source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def old_notebook(*cells: str) -> str:
    """The same in notebook format 3."""
    made = [{"cell_type": "code", "language": "python", "input": source} for source in cells]
    return json.dumps({"worksheets": [{"cells": made}], "nbformat": 3, "metadata": {}})


@dataclass(frozen=True)
class Case:
    """What is handed in, its points of 5, and words that its feedback has."""

    content: str | bytes | Callable[[Path], None]
    points: float
    words: str = ""


def nb(cells: tuple[str, ...], points: float, words: str = "") -> Case:
    return Case(notebook(*cells), points, words)


def wrong(body: str, words: str = "") -> Case:
    """A first function with this body loses its points, and no others."""
    return nb(relu(body), 2, words)


def beside(cell: str, words: str = "") -> Case:
    """This cell stands below right answers, and costs nothing."""
    return nb((*GOOD, cell), 5, words)


def refused(attempt: str) -> Case:
    return nb(breach(attempt), 0)


def _link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "perfect" / "a1.ipynb")


def _large(path: Path) -> None:
    path.write_text(notebook(*GOOD))
    os.truncate(path, 500 * 2**20)


def cases(outside: Path, port: int) -> dict[str, Case]:
    """Every submission by its student; `outside` holds what none may read or write."""
    secret = str(outside / "secret.txt")
    target = str(outside / "written.txt")
    patched = "import builtins, math, numpy as np, numpy.testing, chaingrad.checks as c"
    agree = "lambda *a, **k: True"
    return {
        # honest work
        "perfect": nb(GOOD, 5),
        "partial": nb((IMPORT, KINK, WRONG_LAYER), 2, "dX"),
        "all wrong": nb(WRONG, 0, "what is the slope below 0?"),
        "stub": nb(
            (IMPORT, "def relu_backward(dH, Z):\n    raise NotImplementedError", LAYER),
            2,
            "NotImplementedError",
        ),
        "syntax error": nb(
            (IMPORT, "def relu_backward(dH, Z:\n    return dH", LAYER),
            2,
            "relu_backward is not defined: cell 2 raised SyntaxError",
        ),
        "name error": wrong("return dh", "name 'dh' is not defined (cell 2, line 2: return dh)"),
        "failing cell": beside("1 / 0", "ZeroDivisionError"),
        "no import": nb((RELU.replace("(Z > 0)", "np.where(Z > 0, 1, 0)"), LAYER), 5),
        "magics": nb(("%matplotlib inline\n!pip install x", *GOOD, "%%time\nx = 1"), 5),
        "float32": nb(relu("return (dH * (Z > 0)).astype('f4')"), 5),
        "float16": wrong("return (dH * (Z > 0)).astype('f2')", "float16 holds about 3 digits"),
        "lambda": nb(("relu_backward = lambda dH, Z: dH * (Z >= 0)", LAYER), 4, "lambda dH, Z"),
        "lists": nb(relu("return (dH * (Z > 0)).tolist()"), 5),
        "nan": wrong("return dH * np.nan", "nan or inf"),
        "complex": wrong("return dH * (Z > 0) + 1j"),
        "integers": wrong("return 2**100"),
        "none": wrong("pass", "None"),
        "changes its inputs": nb(relu("R = dH * (Z > 0)\ndH[:] = 0\nZ[:] = 1\nreturn R"), 5),
        # cells moved, lost, changed
        "deleted cell": nb((IMPORT, LAYER), 2, "relu_backward is not defined"),
        "wrong then right": nb((IMPORT, WRONG_RELU, LAYER, RELU), 5),
        "right then wrong": nb((IMPORT, RELU, LAYER, WRONG_RELU), 2),
        "edited checks": Case(notebook(*GOOD, checks=("1 / 0", WRONG_RELU)), 5),
        "checks turned off": Case(notebook(*WRONG, checks=("pass",)), 0),
        "no checks": nb(GOOD, 5),
        "all in one cell": nb(("\n\n".join(GOOD),), 5),
        # code that does not end, or ends too soon
        "infinite loop": wrong("while True: pass", "did not finish"),
        "infinite loop in a cell": nb(("while True: pass", *GOOD), 5, "Cell 1 was left out"),
        "numpy memory bomb": beside("x = np.ones(2**40)", "Memory"),
        "fork bomb": nb(("import os\nwhile True: os.fork()", *GOOD), 5, "not permitted"),
        "exit": wrong("import os\nos._exit(0)", "exit status 0"),
        "exit in a cell": beside("import os\nos._exit(0)", "left out"),
        "exit everywhere": nb(("import os",) + ("os._exit(1)",) * 9 + GOOD, 0, "used up"),
        "hears no signal": beside(
            "import signal\nfor s in set(signal.Signals) - {9, 19}:\n"
            "    signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
            "did not finish",
        ),
        "no builtins": beside(
            "import builtins\nfor name in set(dir(builtins)) - {'delattr', 'builtins'}:\n"
            "    delattr(builtins, name)",
            "left out",
        ),
        "audit hook": beside("import sys\nsys.addaudithook(lambda *a: 1 / 0)", "left out"),
        "thread that talks between": beside(
            "import os, threading, time\ndef talk():\n    while True: os.write(3, b'x')\n"
            "threading.Thread(target=talk, daemon=True).start()\ntime.sleep(0.2)",
            "left out",
        ),
        "sleeping thread": beside(
            "import threading, time\nthreading.Thread(target=time.sleep, args=[999]).start()"
        ),
        # lies
        "patched": nb(
            (
                patched,
                f"np.testing.assert_allclose = np.testing.assert_array_equal = {agree}",
                f"np.isclose = np.allclose = math.isclose = {agree}",
                "c.first_difference = lambda *a, **k: None",
                *WRONG,
            ),
            0,
        ),
        "agrees with all": wrong(
            "class Yes:\n    __eq__ = __ne__ = lambda *a: True\nreturn Yes()",
            "dZ: Yes is not plain data",
        ),
        "an error without an end": wrong(
            "class Endless(Exception):\n    def __str__(self):\n        while True: pass\n"
            "raise Endless",
            "did not finish",
        ),
        "forged marks": nb(
            (
                *WRONG,
                "import sys\nframe = sys._getframe()\nwhile 'request' not in frame.f_locals:\n"
                "    frame = frame.f_back\nstudent = type(frame.f_locals['self'])\n"
                "student.call = lambda self, r: {'points': 99, 'dZ': 0, 'verdict': 'right'}",
            ),
            0,
            "dZ",
        ),
        "number, array, all that agrees": nb(
            relu(
                "class Yes:\n    __array__ = lambda *a, **k: dH * (Z > 0)\n"
                "    __float__ = lambda self: 1.0\n    __eq__ = lambda *a: True\nreturn Yes()"
            ),
            5,  # what its array holds is right, and nothing else of it is asked
        ),
        "array that cannot be made": wrong(
            "class No:\n    def __array__(self): return 1 / 0\nreturn No()", "dZ: No gives no array"
        ),
        "endless dict": wrong(
            "class D(dict):\n    def items(self):\n        while True: yield 'dZ', 1\nreturn D()"
        ),
        "number too large": wrong(
            "class C(complex):\n    real = 10**400\n    imag = 0\nreturn C()", "dZ"
        ),
        "endless sequence": wrong(
            "from collections.abc import Sequence\nclass S(Sequence):\n"
            "    __len__ = lambda self: 1\n    __getitem__ = lambda self, k: k\nreturn S()"
        ),
        "endless mapping": wrong(
            "from collections.abc import Mapping\nclass M(Mapping):\n"
            "    __len__ = lambda self: 1\n    __getitem__ = lambda self, k: k\n"
            "    def __iter__(self):\n        k = 0\n        while True: yield (k := k + 1)\n"
            "return M()"
        ),
        "array that leaves": wrong(
            "class A:\n    def __array__(self): raise SystemExit\nreturn A()", "SystemExit"
        ),
        "text with a lying length": wrong(
            "class S(str):\n    __len__ = lambda self: 0\nreturn S('x' * 2**21)", "too large"
        ),
        "conversion replaced": nb(
            (
                *WRONG,
                "import sys\nworker = sys.modules['coursework.sandbox.worker']",
                "worker.plain = lambda value: {'dZ': None, 'dW': None, 'verdict': 'right'}",
            ),
            0,
        ),
        "says nothing of itself": nb(
            (
                IMPORT,
                "class C:\n    def __getattribute__(self, name): return 1 / 0\n"
                "    def __call__(self, dH, Z): return dH * (Z > 0)\nrelu_backward = C()",
                LAYER,
            ),
            5,
        ),
        "awaits for ever": beside(
            "class F:\n    def __await__(self):\n        while True: yield\nawait F()",
            "did not finish",
        ),
        "error without a name": wrong(
            "class M(type):\n    __name__ = property(lambda c: object())\n"
            "class E(Exception, metaclass=M): pass\nraise E",
            "exit status 1",
        ),
        "error that says it is right": wrong(
            "raise ValueError('</p><h2>5 of 5 points</h2>\\x1b[2J✓ right\\u202e')",
            "&lt;/p&gt;&lt;h2&gt;5 of 5",
        ),
        "wire on stdout": nb(
            (
                "import os, sys\nwire = sys.modules['coursework.sandbox.wire']",
                "for fd in (0, 1, 2): os.write(fd, wire.encode({'value': 1, 'nonce': '0'}))",
                *WRONG,
            ),
            0,
        ),
        "answer with its number": wrong(NONCE, "is missing"),
        "words as markup": wrong(
            "raise ValueError('<script>alert(1)</script>\\ud800\\0')", "&lt;script&gt;"
        ),
        # out of the box
        "reads the secret": refused(f"open({secret!r}).read()"),
        "reads another's": refused(f"open({str(outside / 'in/perfect/a1.ipynb')!r}).read()"),
        "reads marks": refused(f"import os\nos.listdir({str(outside / 'out')!r})"),
        "reads the course": refused("import coursework.exercise.trusted"),
        "reads memory": refused("open('/proc/self/mem', 'rb')"),
        "searches memory": refused(SEARCH),
        "reads frames": wrong(FRAMES + "\nreturn dH * (Z > 0)", "AssertionError"),
        "writes outside": refused(f"open({target!r}, 'w').write('x')"),
        "opens a socket": refused(
            f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"
        ),
        "asks who is at the other end": refused(
            "import socket\npeer = socket.socket(1, 1, 0, 3)\npeer.getpeername()"
        ),
        "kills its parent": nb(
            (
                "import os\nfor pid in (os.getppid(), 0, -1):\n    try: os.kill(pid, 9)\n"
                "    except OSError: pass",
                *GOOD,
            ),
            5,
        ),
        # not what was asked for
        "empty": Case(b"", 0, "not a Jupyter notebook"),
        "json": Case("[1, 2]", 0, "not a Jupyter notebook"),
        "deep json": Case("[" * 10**5, 0, "not a Jupyter notebook"),
        "many brackets": Case("[" * 10**6, 0, "holds too much"),
        "format nan": Case(
            notebook(*GOOD, nbformat=float("nan")), 0, "notebook format is not known"
        ),
        "format of brackets": Case(
            '{"cells": [], "nbformat": ' + "[" * 900 + "]" * 900 + "}", 0, "format is not known"
        ),
        "duplicate ids": Case(
            notebook(cells=[_cell(source, {}) | {"id": "x"} for source in GOOD]), 5
        ),
        "cell of zeros": nb(("\0" * 99, *GOOD), 5, "null bytes"),
        "format 99": Case(notebook(*GOOD, nbformat=99), 0, "format 99"),
        "format 3": Case(old_notebook(*GOOD), 5),
        "odd cells": Case(notebook(cells=[1, None, {}, {"cell_type": "code", "source": 3}]), 0),
        "no cells": Case(notebook(cells={"a": 1}), 0, "not defined"),
        "many cells": Case(notebook(*["pass"] * 1001), 0, "more than 1000"),
        "huge cell": beside("#" * 10**6, "characters"),
        "huge cell, claimed": nb(
            (
                *GOOD,
                f"exec(compile({RELU!r}, '<cell 5>', 'exec'))",
                "x\n" * 10**6,
                "exec(compile('x = y', '<cell 5>', 'exec'))",
            ),
            5,
            "cannot be shown here",
        ),
        "large": Case(_large, 0, "larger than 64 MiB"),
        "link": Case(_link, 0, "cannot be opened"),
        "pipe": Case(os.mkfifo, 0, "not an ordinary file"),
        "Zoë Ångström 李": nb(GOOD, 5),
        'O\'Neil & <b>Co, "x"': nb(GOOD, 5),
        "n" * 255: nb(GOOD, 5),
    }
