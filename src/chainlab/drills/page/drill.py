"""A problem in a notebook, and all of them on a page."""

from functools import cached_property
from importlib.resources import files

from chainlab import mistakes
from chainlab.drills.kinds.kind import LEVELS, Problem
from chainlab.drills.page.bank import A_FILE, PROBLEMS, pictures
from chainlab.drills.page.typed import Verdict, judge
from chainlab.drills.problem import KINDS, problem
from chainlab.mistakes import MISTAKES, PAGES
from chainview.piece import Piece, piece
from chainview.player.player import SHEETS as PLAYER

HERE = files(__package__)
TOLD = {name: [row.did, row.why, row.lesson, row.page] for name, row in MISTAKES.items()}
PATH = (  # kinds in the order of the course, a level, and the page that teaches them
    ("local", 1, "foundations/computational-graph"),
    ("chain", 1, "foundations/chain-rule"),
    ("adjoints", 1, "foundations/chain-rule"),
    ("orders", 1, "foundations/autograd-engine"),
    ("messages", 2, "foundations/autograd-engine"),
    ("shapes", 1, "mlp/matrix-equations"),
    ("shapes", 2, "mlp/matrix-equations"),
    ("costs", 1, "cost/time-and-flops"),
    ("keep", 1, "cost/memory-and-rematerialization"),
)
LESSONS = {  # of a kind, where no mistake explains an answer
    "local": mistakes.SLOPES,
    "chain": mistakes.STEPS,
    "adjoints": mistakes.PATHS,
    "shapes": mistakes.INDICES,
    "equations": mistakes.LAYER,
    "mlp": mistakes.FORWARD,
    "costs": mistakes.FLOPS,
}
ALONE, PAGE = HERE / "alone.bundle.js", HERE / "page.bundle.js"
SHEETS = (*PLAYER, HERE / "drill.css")


class Drill(Piece):
    """A problem that shows itself in a notebook, and judges what is written into it.

    Attributes:
        problem: its numbers, and what is right.
    """

    def __init__(self, drawn: Problem) -> None:
        self.problem = drawn
        self.alt = f"{KINDS[drawn.kind].title}: {drawn.name}."

    def __repr__(self) -> str:
        return f"<Drill: {self.alt}>"

    def check(self, **lines: str) -> Verdict:
        """Judge lines of NumPy, each under the name of its adjoint.

        >>> drill("equations", 1, 2).check(db="dZ.mean(axis=0)")
        ✗ Line 1, `db`: shares are added up, and not averaged.

        Raises:
            ValueError: a name is none of those asked for.
        """
        asked = [line["label"] for line in self.problem.entry.get("typed", [])]
        for name in lines:
            if name not in asked:
                raise ValueError(f"there is no line for {name}; {self.problem.name} asks {asked}")
        return judge(self.problem, [lines.get(name, "") for name in asked])

    @cached_property
    def html(self) -> str:
        """The problem as a piece of HTML."""
        drawn = self.problem
        drawings = pictures(drawn.kind, drawn.level, drawn.number)
        kind = KINDS[drawn.kind]
        data = {
            "name": drawn.name, "asks": kind.asks(drawn.level), "sheet": kind.sheet,
            "entry": drawn.entry, "names": drawn.names, "pictures": drawings,
            "mistakes": TOLD,
        }  # fmt: skip
        inside = f'<div class="cg-live"><div class="cg-scroll">{drawings[0]}</div></div>'
        return piece("player", self.alt, inside, data, ALONE, SHEETS, "drill")


def drill(kind: str, level: int, seed: int) -> Drill:
    """Show in a notebook the problem that the page shows at ``drills.html#kind-level-seed``.

    Args:
        kind: what is asked: a name in ``chainlab.drills.KINDS``.
        level: 1, 2 or 3.
        seed: its number in the series of that level, from 1 on.

    Raises:
        ValueError: there is no such problem.

    >>> drill("adjoints", 3, 7)
    <Drill: Adjoints where paths meet: adjoints-3-7.>
    """
    return Drill(problem(kind, level, seed))


def _lesson(kind: str) -> tuple[str, str]:
    """Return the title of the page that teaches a kind, and its section."""
    lesson = LESSONS.get(kind, mistakes.GRAPH)
    return PAGES[lesson.partition("#")[0]], lesson


def practice(address: str, page: str) -> str:
    """Return the problems as a piece of HTML for a page.

    Args:
        address: of the files of problems, with {} in the place of the name of each.
        page: the name under which the page stores the reader's progress.
    """
    kinds = [
        {"name": name, "title": kind.title, "asks": list(map(kind.asks, LEVELS)),
         "sheet": kind.sheet, "lesson": _lesson(name)}
        for name, kind in KINDS.items()
    ]  # fmt: skip
    data = {
        "kinds": kinds, "levels": len(LEVELS), "problems": PROBLEMS, "aFile": A_FILE,
        "address": address, "mistakes": TOLD, "page": page,
        "path": [(*stop, PAGES[stop[-1]]) for stop in PATH],
    }  # fmt: skip
    inside = '<div class="cg-live"><p class="cg-asks">The problems need scripts.</p></div>'
    return piece("player", "Problems", inside, data, PAGE, SHEETS, "drills")
