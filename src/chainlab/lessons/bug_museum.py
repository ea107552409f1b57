"""What *Break it* plays: ten one-line changes of the reader's engine, and which tests see them."""

import html
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from chainlab.lessons import engine as right
from chainlab.lessons.computational_graph import TARGET, B, W
from chainlab.lessons.engine_tests import TESTS
from chainview import Figure
from chainview.player.names import brief

Engine = type[right.Node]
Test = Callable[[Engine], bool]

HERE = files(__package__)
SOURCE = inspect.getsource(right)
KINDS = {
    "bookkeeping": "The bookkeeping is wrong",
    "rules": "A rule is wrong",
    "record": "The record is wrong",
}


def broken(old: str, new: str) -> Engine:
    """Return the engine with one line changed."""
    if SOURCE.count(old) != 1:
        raise ValueError(f"{old!r} occurs {SOURCE.count(old)} times in the engine, and not once")
    names: dict[str, Any] = {}
    exec(SOURCE.replace(old, new), names)
    found: Engine = names["Node"]
    return found


# --- expressions on which a change shows --------------------------------------------------------


def neuron(w: Any, b: Any, target: Any = TARGET) -> Any:
    """Return the loss of the neuron, for numbers or nodes of any engine."""
    z = w * 1.5 + b
    return (z + z.tanh() - target) ** 2


def _once(engine: Engine) -> float:
    w, b = engine(W), engine(B)
    neuron(w, b).backward()
    return b.grad


def _turned(engine: Engine) -> float:
    w, b = engine(W), engine(B)
    z = w * 1.5 + b
    ((z.tanh() + z - TARGET) ** 2).backward()
    return b.grad


def _again(engine: Engine) -> float:
    w, b = engine(W), engine(B)
    loss = neuron(w, b)
    loss.backward()
    w.grad = b.grad = 0.0
    loss.backward()
    return b.grad


def _twice(engine: Engine) -> float:
    w, b = engine(W), engine(B)
    neuron(w, b).backward()
    neuron(w, b).backward()
    return b.grad


def _of_target(engine: Engine) -> float:
    target = engine(TARGET)
    neuron(engine(W), engine(B), target).backward()
    return target.grad


def _by_hand(engine: Engine) -> float:
    w, b = engine(W), engine(B)
    z = w * 1.5 + b
    error = z + z.tanh() - TARGET
    (error * error).backward()
    return b.grad


# Each by its name: what is asked of it, and what the answer is. `{}` is what the right engine says.
WITNESSES: dict[str, tuple[str, Callable[[Engine], float]]] = {
    "once": (
        "One forward and one backward pass of the neuron. `b` should get {}. What does it get?",
        _once,
    ),
    "turned": (
        "Write the neuron's sum the other way round, `z.tanh() + z`. `b` should get {}. What does "
        "it get?",
        _turned,
    ),
    "again": (
        "Call `backward()` twice on one loss, with `w.grad` and `b.grad` set to zero in between. "
        "`b` should hold {} after either pass. What does it hold after the second?",
        _again,
    ),
    "twice": (
        "Build the neuron's loss twice, call `backward()` on each, and set nothing to zero. `b` "
        "should hold the sum, {}. What does it hold?",
        _twice,
    ),
    "target": (
        "Make the target a node as well. It should get {}. What does it get?",
        _of_target,
    ),
    "by hand": (
        "Square the error by hand: `error * error` instead of `error**2`. `b` should get {}, as "
        "before. What does it get?",
        _by_hand,
    ),
}


# --- the ten changes ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Guess:
    """A wrong guess: what gives that number, and what to say of it."""

    of: str | float  # the name of a change, "none" for the right engine, or a number
    says: str
    on: str = ""  # the expression, if it's another


@dataclass(frozen=True)
class LineChange:
    """A one-line change of the engine, and what there is to say of it.

    Attributes:
        name: a few words.
        method: in which the line stands.
        old, new: the part of the line that changes.
        kind: a key of ``KINDS``.
        on: a key of ``WITNESSES``.
        says: why the wrong number is what it is.
        wrong: other guesses.
        why: what the change does in general.
        met: where people met it, with a link.
        source: the link again, shorter.
    """

    name: str
    method: str
    old: str
    new: str
    kind: str
    on: str
    says: str
    wrong: tuple[Guess, ...]
    why: str
    met: str
    source: str

    def engine(self) -> Engine:
        """Return the engine with this change."""
        return broken(self.old, self.new)

    def lines(self) -> tuple[str, str]:
        """Return the line as it is, and as it becomes."""
        (line,) = (line.strip() for line in SOURCE.splitlines() if self.old in line)
        return line, line.replace(self.old, self.new)


GITHUB = "https://github.com"
ARENA = f"{GITHUB}/callummcdougall/ARENA_2.0/pull/18"
MICROGRAD = f"{GITHUB}/karpathy/micrograd"
LECTURE = f"{GITHUB}/karpathy/nn-zero-to-hero/issues/52"

CHANGES = (
    LineChange(
        "= for +=",
        "backward",
        "parent.grad += node.grad * local",
        "parent.grad = node.grad * local",
        "bookkeeping",
        "once",
        "`z` gets 1.701 straight from `out`, and then 1.275 through tanh, written over the first. "
        "`b` gets what `z` holds by then.",
        (
            Guess("none", "For that somebody has to add the two shares of `z`. Who adds here?"),
            Guess(
                "tanh unrecorded",
                "That's the share that comes straight from `out`, and it comes first. What "
                "happens to it when the share through tanh arrives?",
            ),
        ),
        "A node keeps the last of its shares. Where every number is used once, the last share is "
        "the only one, and all is well.",
        f"The exercises of the ARENA course had tests that [let an engine with this line "
        f"pass]({ARENA}), and micrograd's lecture [has the slip in its `exp`]({LECTURE}).",
        f"[ARENA]({ARENA}), [lecture]({LECTURE})",
    ),
    LineChange(
        "no upstream",
        "backward",
        "parent.grad += node.grad * local",
        "parent.grad += local",
        "bookkeeping",
        "once",
        "`b` goes into a sum, and the local gradient of a sum is 1. Nothing else is sent.",
        (
            Guess("none", "Part of that comes from the loss. Does this line pass anything on?"),
            Guess(
                "tanh unrecorded",
                "That's what `error` gets, the slope of the square. Does `error` pass it on?",
            ),
        ),
        "Every node sends its local gradient alone. For a single operation that's right, because "
        "its upstream gradient is 1.",
        f"PyTorch's tutorial on C extensions [filled the gradient of a sum with "
        f"ones]({GITHUB}/pytorch/tutorials/issues/216), whatever came from above.",
        f"[PyTorch's tutorial]({GITHUB}/pytorch/tutorials/issues/216)",
    ),
    LineChange(
        "listed too soon",
        "sorted_graph",
        "to_do.append((node, True))",
        "order.insert(0, node)",
        "bookkeeping",
        "turned",
        "The search meets `z` before `h`, so `z` sends when only the straight share has come. "
        "What comes through tanh stays in `z`.",
        (
            Guess(
                "none",
                "For that `z` has to wait for tanh. Which of the two does the search meet first? "
                "It takes the last parent first.",
            ),
            Guess(
                "no visited",
                "For that `z` would have to send twice. How often is it listed?",
                "once",
            ),
        ),
        "A node is listed when the search meets it, not when the search is done with its parents. "
        "Write `z + z.tanh()`, and this engine is right, by luck.",
        f"PyNorch doesn't wait for all shares either, and is [safe only on trees]({GITHUB}/"
        "lucasdelimanogueira/PyNorch/issues/90).",
        f"[PyNorch]({GITHUB}/lucasdelimanogueira/PyNorch/issues/90)",
    ),
    LineChange(
        "no visited",
        "sorted_graph",
        "elif node not in visited:",
        "else:",
        "bookkeeping",
        "once",
        "`z` is listed twice, once for each way to the loss. The first time it sends 1.701, and "
        "the second time all it holds, 2.976.",
        (
            Guess(
                "none",
                "Each node once would give that. But who asks whether a node has been listed "
                "already?",
            ),
            Guess(
                "tanh unrecorded",
                "That's what `b` has when `z` has sent once. How often is `z` on the list?",
            ),
        ),
        "Every path from the loss is walked, and a node that sends again sends its old shares "
        "once more. The time grows with the number of paths, too.",
        f"A proposal to [do without the sort]({MICROGRAD}/pull/64) in micrograd does this, and "
        f"so does [another]({MICROGRAD}/issues/68).",
        f"[proposed for micrograd]({MICROGRAD}/pull/64)",
    ),
    LineChange(
        "nothing cleared",
        "backward",
        "node.grad = 0.0",
        "pass",
        "bookkeeping",
        "again",
        "Each node in between adds the new gradient to the old one and sends both on. In the "
        "second pass the loss holds 1 + 1 = 2, `error` 1.701 + 3.402 = 5.103, `out` 1.701 + 5.103 "
        "= 6.804, and `z` 2.976 + 6.804 + 6.374 = 16.15, which it sends to `b`.",
        (
            Guess("none", "`w` and `b` start from zero. Do the nodes between them and the loss?"),
            Guess(
                "none",
                "That's two passes added up. But `b` was set to zero, and the nodes in between "
                "*send* what they still hold. What does the loss itself send the second time?",
                "twice",
            ),
        ),
        "The nodes in between still hold gradients of the pass before. A training loop builds a "
        "new graph in each step, so it never meets this.",
        f"micrograd 0.1.0 behaves like this: [pull request 102]({MICROGRAD}/pull/102).",
        f"[micrograd]({MICROGRAD}/pull/102)",
    ),
    LineChange(
        "all cleared",
        "backward",
        "if node.parents:",
        "if True:",
        "bookkeeping",
        "twice",
        "The second pass clears `b` before it starts, and what the first loss had put there is "
        "gone.",
        (
            Guess("none", "That's both together. What does the second pass do to `b` first?"),
            Guess(0.0, "`b` is cleared before the pass and not after it. What arrives then?"),
        ),
        "It cures the last change by clearing too much. Now gradients can't add up over several "
        "losses, as they do when a batch is too large for one pass.",
        f"It's the cure that somebody [proposed for micrograd]({MICROGRAD}/issues/53).",
        f"[proposed for micrograd]({MICROGRAD}/issues/53)",
    ),
    LineChange(
        "a minus lost",
        "__sub__",
        "(1.0, -1.0)",
        "(1.0, 1.0)",
        "rules",
        "target",
        "It gets what `out` gets. The sign was in the local gradient, and nowhere else.",
        (
            Guess("none", "Somebody has to bring in the minus. Which number would that be?"),
            Guess(0.0, "The target is a leaf like any other. An arrow leads from it to `error`."),
        ),
        "`w` and `b` are still right, because they come in through the first operand. So it shows "
        "only where somebody looks at the second.",
        f"An engine in C had [just this]({GITHUB}/KhawajaAbaid/micrograd_c/issues/1). CasADi had "
        f"the sign of cosh's slope wrong [for nine years]({GITHUB}/casadi/casadi/issues/2585).",
        f"[micrograd_c]({GITHUB}/KhawajaAbaid/micrograd_c/issues/1), "
        f"[CasADi]({GITHUB}/casadi/casadi/issues/2585)",
    ),
    LineChange(
        "tanh of its input",
        "tanh",
        "(1 - t**2,)",
        "(1 - self.data**2,)",
        "rules",
        "once",
        "The slope becomes $1 - 0.55^2 = 0.6975$ instead of $1 - 0.5005^2 = 0.7495$, so a little "
        "less comes back through tanh.",
        (
            Guess("none", "That takes the slope at the output, 0.5005. Which number is squared?"),
            Guess(
                "tanh unrecorded",
                "Then nothing would come back through tanh. Put 0.55 into the line, and see.",
            ),
        ),
        "The rule squares the input where the output belongs. The two are close for small inputs, "
        "and so are the gradients.",
        f"For `exp`, somebody [asked for this mistake]({LECTURE}) as a correction. In neural2d, "
        f"somebody found the two [mixed up the other way round]({GITHUB}/davidrmiller/neural2d/"
        "issues/40).",
        f"[lecture]({LECTURE}), [neural2d]({GITHUB}/davidrmiller/neural2d/issues/40)",
    ),
    LineChange(
        "tanh unrecorded",
        "tanh",
        'return Node(t, (self,), (1 - t**2,), "tanh")',
        "return Node(t)",
        "record",
        "once",
        "The result of tanh is a new leaf. Its share stays there, and `z` gets the straight one.",
        (
            Guess("none", "Two shares have to reach `z` for that. Who are the parents of tanh?"),
            Guess(
                "= for +=",
                "That's the share through tanh. How would it find its way from there to `z`?",
            ),
        ),
        "The value is right, so the loss is, too. But the graph says that tanh came from nowhere.",
        f"A loss of aprender [computed its value outside the graph]({GITHUB}/paiml/aprender/issues/"
        "3034), so that no gradient came back through it.",
        f"[aprender]({GITHUB}/paiml/aprender/issues/3034)",
    ),
    LineChange(
        "parents as a set",
        "__init__",
        "= parents, local_grads",
        "= dict.fromkeys(parents), local_grads",
        "record",
        "by hand",
        "`error * error` has two operands, and the same node twice. The set holds it once, so one "
        "share of two is never sent.",
        (
            Guess("none", "That takes two arrows from `error` to the product. How many are kept?"),
            Guess(
                "none",
                "Then a share would have come too often. Is anything counted twice here?",
                "twice",
            ),
        ),
        "Half of the gradient of `x * x` is lost. In gradient descent that's half the learning "
        "rate, and nobody sees it.",
        f"micrograd keeps parents in a set, and survives because each node also has a function "
        f"that knows its operands. A change without those functions "
        f"[had to make it a tuple]({MICROGRAD}/pull/115).",
        f"[proposed for micrograd]({MICROGRAD}/pull/115)",
    ),
)


@cache
def engines() -> dict[str, Engine]:
    """Return the engine with each of the changes, and the right one as ``none``."""
    return {"none": right.Node} | {change.name: change.engine() for change in CHANGES}


def found(change: LineChange) -> tuple[float, float]:
    """Return what the changed engine says of the change's expression, and what is right."""
    _, run = WITNESSES[change.on]
    return run(engines()[change.name]), run(right.Node)


def seen(tests: Sequence[Test]) -> dict[str, list[bool]]:
    """Return for each change which of the tests fail with it."""
    return {change.name: [not test(engines()[change.name]) for test in tests] for change in CHANGES}


# --- what a page shows --------------------------------------------------------------------------


def _exhibit(alt: str, data: Any, still: str) -> Figure:
    """Return a figure that is played if it has data, and otherwise stands."""
    script = HERE / "bug_museum.bundle.js" if data else None
    live = '<div class="cg-live" hidden></div>' if data else ""
    inside = f'<div class="cg-still">{still}</div>{live}'
    return Figure(alt, data, inside, "museum", [HERE / "bug_museum.css"], script)


def break_it(tests: Sequence[Test] = TESTS) -> Figure:
    """Let the reader break the engine, predict a number, and pick a test that sees it.

    Args:
        tests: functions of an engine, true if it passes, if not those of the page. Their first
            line of documentation says what they do.
    """
    sees = seen(tests)
    data = {
        "tests": [{"name": name(test), "does": _does(test)} for test in tests],
        "changes": [_told(change) | {"seen": sees[change.name]} for change in CHANGES],
    }
    items = "".join(f"<li>{_in_short(change)}</li>" for change in CHANGES)
    return _exhibit(
        "Ten one-line changes of the engine: predict the wrong number, then pick a test that "
        "sees it.",
        data,
        f"<ol>{items}</ol>",
    )


def what_catches_what(tests: Sequence[Test]) -> Figure:
    """Tabulate the ten changes, and which of the tests see each of them."""
    rows = []
    sees = seen(tests)
    for kind, words in KINDS.items():
        rows.append(f'<tr><th colspan="{len(tests) + 2}" scope="rowgroup">{words}</th></tr>')
        for number, change in enumerate(CHANGES, start=1):
            if change.kind == kind:
                cells = "".join(_dot(each) for each in sees[change.name])
                rows.append(
                    f'<tr><th scope="row">{number}. {_html(change.name)}</th>{cells}'
                    f"<td>{_html(change.source)}</td></tr>"
                )
    heads = "".join(
        f'<th scope="col"><span class="cg-said">{_html(name(test))}: </span>{number}</th>'
        for number, test in enumerate(tests, start=1)
    )
    counts = ", ".join(
        f"{name(test)} {sum(row[i] for row in sees.values())}" for i, test in enumerate(tests)
    )
    head = f'<thead><tr><th scope="col">change</th>{heads}<th scope="col">met in</th></tr></thead>'
    return _exhibit(
        f"How many of the ten changes each test sees: {counts}.",
        None,
        f"<table>{head}<tbody>{''.join(rows)}</tbody></table>",
    )


def name(test: Test) -> str:
    """Return the name of a test as a reader would say it.

    >>> def two_passes(engine): return True
    >>> name(two_passes)
    'two passes'
    """
    return test.__name__.replace("_", " ")


def _does(test: Test) -> str:
    line = (inspect.getdoc(test) or "").partition("\n")[0]
    return _html(line[:1].lower() + line[1:])


def _told(change: LineChange) -> dict[str, Any]:
    asks, _ = WITNESSES[change.on]
    gives, true = found(change)
    guesses = [(gives, change.says, True)]
    for wrong in change.wrong:
        of = WITNESSES[wrong.on or change.on][1]
        number = wrong.of if isinstance(wrong.of, float) else of(engines()[wrong.of])
        guesses.append((number, wrong.says, False))
    old, new = change.lines()
    return {
        "name": change.name,
        "method": change.method,
        "old": old,
        "new": new,
        "asks": _html(asks.format(brief(true))),
        "guesses": [
            {"text": brief(number), "says": _html(says), "right": is_right}
            for number, says, is_right in sorted(guesses)
        ],
        "kind": KINDS[change.kind],
        "why": _html(change.why),
        "met": _html(change.met),
    }


def _in_short(change: LineChange) -> str:
    old, new = map(html.escape, change.lines())
    gives, true = map(brief, found(change))
    asks, _ = WITNESSES[change.on]
    given, _, _ = asks.format(true).rpartition(". ")  # without the question at its end
    return (
        f"In <code>{change.method}</code>, <code>{old}</code> becomes <code>{new}</code>. "
        f"{_html(given)}. It comes out as {gives}."
    )


def _dot(sees: bool) -> str:
    sign, words = ("●", "sees it") if sees else ("·", "doesn't")
    return f'<td><span aria-hidden="true">{sign}</span><span class="cg-said">{words}</span></td>'


def _html(text: str) -> str:
    """Write `code`, *emphasis*, links and small formulas as HTML."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', text)
    text = re.sub(r"(?<![\w*])\*(\w[^*]*)\*", r"<em>\1</em>", text)
    text = re.sub(r"\^(\d)", r"<sup>\1</sup>", text)
    return re.sub(r"\$([^$]+)\$", lambda found: found[1].replace("-", "−"), text)
