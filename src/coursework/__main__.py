"""The teacher's command line: check exercises, release assignments, print sheets, grade.

Run in the folder of the book: ``python -m coursework --help``.
"""

import argparse
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from chainlab.drills.kinds.kind import LEVELS
from coursework import grade, release, sheet
from coursework.collect.roster import Roster
from coursework.exercise import trials
from coursework.exercise.assignments import Assignment, Paper, load, load_papers
from coursework.exercise.pages import read_problems
from coursework.exercise.problems import Problem, verify
from coursework.exercise.trusted import ProblemError
from coursework.installation import engine_source, reaches_students
from coursework.safe_files import create_atomically

PRIVATE = "COURSEWORK_PRIVATE"
SECRET = ".coursework-secret"
SHORTEST = 20  # characters of a secret
ANSWERS = Path("tests/coursework/answers")
DESCRIPTION = f"""\
Check the book's coding exercises, release assignments made of them, and grade what comes back.

The file assignments.toml lists the assignments. Exercises and checks that are not in the book are
in a private folder: --private, or the environment variable {PRIVATE}. The inputs
of the checks that count are drawn from a secret. Its file (--secret) is made when it is first
needed. Show it to nobody, and don't lose it: the same secret gives the same marks, and problems
that were drawn for each student can only be graded with the secret of their release. The page
"Teaching with this course", chapters/reference/teaching.md, explains how it all fits together."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except ProblemError as error:
        print(error, file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    keep = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("coursework", description=DESCRIPTION, formatter_class=keep)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser("check", help="list the exercises; run each answer on its checks")
    _add_settings(check)
    check.add_argument("--draws", type=int, metavar="N", help="inputs for each check")
    check.add_argument(
        "--secrets",
        type=int,
        default=0,
        metavar="N",
        help="also try wrong and right answers under N secrets, to see that none is marked by luck",
    )
    what = f"holds EXERCISE.toml, the answers to try (default: {ANSWERS} of the book)"
    _add_path(check, "--answers", "FOLDER", what)
    check.set_defaults(command=_check)

    made = commands.add_parser("release", help="write the notebooks of the assignments")
    _add_settings(made)
    what = "gets release/NAME/NAME.ipynb, for students (default: %(default)s)"
    _add_path(made, "--to", "FOLDER", what, Path("_build/assignments"))
    what = (
        "a table of students; each gets students/ID/NAME.ipynb of an assignment whose "
        "problems are drawn for each student"
    )
    _add_path(made, "--roster", "FILE", what)
    what = "draws new problems, and new inputs for all checks (default: 1)"
    made.add_argument("--attempt", type=grade.positive, default=1, metavar="N", help=what)
    _add_choice(made)
    made.set_defaults(command=_release)

    printed = commands.add_parser("sheet", help="write problems on paper, and their key")
    _add_sheet(printed)
    printed.set_defaults(command=_sheet)

    graded = commands.add_parser("grade", help="grade a folder of submissions")
    _add_settings(graded)
    grade.add_arguments(graded)
    _add_choice(graded)
    graded.set_defaults(command=_grade)
    return parser


def _add_sheet(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("kind", choices=sheet.KINDS, help="what is asked: %(choices)s", metavar="KIND")
    add("--level", type=int, choices=LEVELS, default=sheet.LEVEL, help="(default: %(default)s)")
    add("--seed", type=grade.positive, default=1, help="a new seed gives new problems (default: 1)")
    what = "problems on a sheet (default: a page full)"
    add("--count", type=grade.positive, metavar="N", help=what)
    what = "gets KIND-LEVEL-SEED.html and KIND-LEVEL-SEED-key.html (default: %(default)s)"
    _add_path(parser, "--to", "FOLDER", what, Path("_build/sheets"))
    what = "a table of students: each gets a sheet of their own"
    _add_path(parser, "--roster", "FILE", what)
    _add_book(parser)
    _add_secret(parser, "what the problems are drawn from")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    _add_book(parser)
    what = "the assignments (default: assignments.toml of the book)"
    _add_path(parser, "--assignments", "FILE", what)
    what = f"exercises and checks that are not in the book (default: ${PRIVATE})"
    _add_path(parser, "--private", "FOLDER", what, os.environ.get(PRIVATE) or None)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    what = "this assignment; may be given several times (default: all)"
    parser.add_argument("--only", action="append", metavar="NAME", help=what)
    _add_secret(parser, "what the inputs of the checks that count are drawn from")


def _add_book(parser: argparse.ArgumentParser) -> None:
    _add_path(parser, "--book", "FOLDER", "the book (default: here)", Path())


def _add_secret(parser: argparse.ArgumentParser, what: str) -> None:
    where = f"(default: {SECRET} in the folder of the book)"
    _add_path(parser, "--secret", "FILE", f"{what} {where}")


def _add_path(
    parser: argparse.ArgumentParser,
    name: str,
    metavar: str,
    what: str,
    default: Path | str | None = None,
) -> None:
    parser.add_argument(name, type=Path, default=default, metavar=metavar, help=what)


def _check(options: argparse.Namespace) -> int:
    problems = read_problems(_pages(options), options.private)
    wrong = 0
    for problem in problems.values():
        print(f"{problem.id:28} {problem.level:4} {problem.points:4g}  {problem.title}")
        for complaint in _problems_with(problem, options.draws):
            print(f"    {complaint}", file=sys.stderr)
            wrong += 1
    assignments = _load(options)
    print(f"\n{len(problems)} exercises, {len(assignments)} assignments.")
    if wrong:
        print(f"Checks that the reference answer does not pass: {wrong}.", file=sys.stderr)
    luck = _tried(list(problems.values()), options)
    for line in luck:
        print(line, file=sys.stderr)
    return 1 if wrong or luck else 0


def _tried(problems: Sequence[Problem], options: argparse.Namespace) -> list[str]:
    """Return what is wrong with the marks of the trial answers, under each secret."""
    if not options.secrets:
        return []
    folder = options.answers or options.book / ANSWERS
    answers = {problem.id: trials.read_trials(folder, problem) for problem in problems}
    found = trials.try_all(problems, answers, range(options.secrets))
    count = sum(map(len, answers.values()))
    print(f"{count} answers tried under {options.secrets} secrets.")
    return found


def _problems_with(problem: Problem, draws: int | None) -> list[str]:
    try:
        return list(verify(problem, draws=draws))
    except ProblemError as error:
        return [f"{problem.where}, {error}"]


def _release(options: argparse.Namespace) -> int:
    chosen = _chosen(options)
    students = list(Roster(options.roster).students.values())
    common = any(not assignment.is_drawn for assignment in chosen.values())
    secret = _secret(options) if common or students else ""
    engine = any(map(release.needs_engine, chosen.values()))
    if engine and not reaches_students(engine_source(options.book)):
        print(
            "_config.yml names no repository.url that students can reach: where the course is not "
            "installed, as in Colab, notebooks that need its engine stop at their first cell"
        )
    for name, released in chosen.items():
        assignment = replace(released, attempt=options.attempt)
        what = f"{len(assignment.problems)} exercises, {assignment.points:g} points"
        if not assignment.is_drawn:
            print(f"{release.write(assignment, options.to, options.book, secret)}: {what}")
        elif students:
            for student in tqdm(students, name):
                release.write_for(student, assignment, options.to, options.book, secret)
            where = f"{options.to / 'students'}: {name}.ipynb"
            print(f"{where} for {len(students)} students, each of {what}")
        else:
            print(
                f"{name} is not written: its problems are drawn for each student; say --roster FILE"
            )
    return 0


def _sheet(options: argparse.Namespace) -> int:
    students = list(Roster(options.roster).students.values())
    paths = sheet.write(
        options.to,
        options.kind,
        _secret(options),
        options.seed,
        options.count,
        options.level,
        students,
    )
    sheets = f"{len(students)} sheets" if len(students) > 1 else "1 sheet"
    print(f"{paths[0]}: {sheets}; the key: {paths[1]}")
    return 0


def _grade(options: argparse.Namespace) -> int:
    papers = load_papers(_assignments(options))
    known = {name: assignment.names for name, assignment in _load(options).items()}
    chosen = _chosen(options, papers)
    hidden = [options.secret or options.book / SECRET, options.book / "chapters"]
    hidden += [path for path in (options.private, options.assignments) if path]
    return grade.run(
        options,
        chosen,
        lambda needing: _secret(options, needing),
        known,
        hidden,
        {name: paper for name, paper in papers.items() if name in (options.only or papers)},
        list(papers),
    )


def _chosen(
    options: argparse.Namespace, papers: Mapping[str, Paper] = {}
) -> Mapping[str, Assignment]:
    """Return the chosen assignments, after checking that every reference answer passes.

    `papers` may be chosen, too, but are not returned.
    """
    assignments = _load(options)
    names = options.only or list(assignments)
    for name in names:
        if name not in {*assignments, *papers}:
            known = ", ".join((*assignments, *papers))
            raise ProblemError(f"there is no assignment {name!r}; there are {known}")
    chosen = {name: assignments[name] for name in names if name in assignments}
    for assignment in chosen.values():
        for problem in assignment.problems:
            for complaint in _problems_with(problem, None):
                raise ProblemError(f"the reference answer does not pass: {complaint}")
    return chosen


def _load(options: argparse.Namespace) -> Mapping[str, Assignment]:
    return load(_assignments(options), _pages(options), options.private)


def _assignments(options: argparse.Namespace) -> Path:
    file: Path = options.assignments or options.book / "assignments.toml"
    return file


def _pages(options: argparse.Namespace) -> Path:
    pages: Path = options.book / "chapters"
    if not pages.is_dir():
        raise ProblemError(
            f"there is no book in {options.book.resolve()}: it has no folder chapters. "
            f"Name the book's folder, --book FOLDER"
        )
    return pages


def _secret(options: argparse.Namespace, needing: Sequence[str] = ()) -> str:
    """Return the teacher's secret; make one unless something was released with an earlier one."""
    path: Path = options.secret or options.book / SECRET
    if needing and not path.exists():
        raise ProblemError(
            f"there is no secret in {path.absolute()}. Grading {', '.join(needing)} needs the "
            f"secret that the notebooks were released with: copy it there, or name its file, "
            f"--secret FILE"
        )
    if not path.exists() and create_atomically(path, secrets.token_hex(32) + "\n", 0o600):
        print(f"A new secret is in {path}. Keep the file, and show it to nobody.")
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ProblemError(f"the secret in {path} cannot be read: {error}") from None
    if len(text) < SHORTEST:
        raise ProblemError(
            f"the secret in {path} has {len(text)} characters, which others could find by trying: "
            f"write at least {SHORTEST} into it, or delete the file, and a new one is made"
        )
    return text


if __name__ == "__main__":
    sys.exit(main())
