r"""Find the submissions in a folder, and whatever in it is not graded.

The token that a notebook was released with (`exercise/tokens.py`) says what it is and, where its
problems were drawn, whose. Names of files and folders are hints. They say who hands in a notebook
that is the same for everybody, and what one without a token is; where they name another student
than the token does, the notebook is nobody's until the teacher has decided.

Layouts, which may be mixed: `STUDENT/ASSIGNMENT.ipynb`; nbgrader's `STUDENT/ASSIGNMENT/*.ipynb`;
`ASSIGNMENT/STUDENT.ipynb`, also with a folder for each student; flat, `STUDENT_ASSIGNMENT.ipynb`;
and what learning platforms export (`platforms.py`). A notebook without a token whose name tells
nothing goes by the functions that it defines, or to the only assignment that there is. It may come
in a zip, and as the Python that Jupyter or Colab saves (`formats.py`).

Of several notebooks by one student, those with a token come first, then those that have the
assignment's name; of equals the newest counts (by the file's modification time, then by name). The
others are reported, and so is everything else that may be somebody's work: archives, empty and
hidden folders, links, which are never followed.
"""

import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from coursework.collect import formats, platforms
from coursework.collect.notebooks import UnreadableError, read_bytes
from coursework.collect.platforms import DEBRIS, Owner
from coursework.exercise.tokens import ForeignTokenError, Token, TokenError, find_tokens, verified
from coursework.printing import printable
from coursework.sandbox.reader import OverrunError, Reader, ReaderError

TOKENS, TOKEN_CHARACTERS = 20, 2000  # looked at in a notebook
SHOWN = 3  # names of files, where there may be many
DEPTH = 4  # folders within folders
TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}[\w.: +/-]{0,40}")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
EXPECTED = {"timestamp.txt", platforms.GRADESCOPE, "roster.csv"}
DECIDED = "so its place and its name decided whose it is, and for which assignment"


@dataclass(frozen=True)
class Submission:
    """One file, and whose it is; `others` are files that are not graded beside it."""

    student: str
    assignment: str
    path: Path
    timestamp: str = ""
    others: tuple[str, ...] = ()
    canvas: str = ""  # the student's number, where Canvas named the file
    token: Token | None = None
    partners: tuple[str, ...] = ()  # who handed it in with the student
    notes: tuple[str, ...] = ()  # what its author should know of how it was found
    marked_late: bool = False  # by Canvas, which doesn't say when it came

    @property
    def attempt(self) -> int:
        return self.token.attempt if self.token else 1

    @property
    def asked(self) -> str:
        """Return the student whose problems it answers, if they were drawn."""
        return (self.token.student if self.token else "") or self.student


@dataclass(frozen=True)
class Stray:
    """What is not graded, and why; whose it is and for what, where its name says so."""

    path: str
    why: str
    students: tuple[str, ...] = ()
    assignment: str = ""
    disputed: bool = False  # who hands it in is not clear

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass
class Collection:
    """What a folder holds; in none of the `untold` assignments does a notebook have a token."""

    submissions: list[Submission]
    strays: list[Stray]
    untold: tuple[str, ...] = ()


class _Place(NamedTuple):
    """What the path of a file says of it; the assignment may be ""."""

    owners: tuple[Owner, ...]
    assignment: str
    named: bool = False  # the file's own name says the assignment, too


class _Look(NamedTuple):
    """What stands in a file, as far as that says what it is."""

    tokens: tuple[str, ...] = ()
    defined: frozenset[str] = frozenset()  # of the names that some answer defines
    is_notebook: bool = False
    fault: str = ""  # why it couldn't be looked at to its end


@dataclass(frozen=True)
class _Found:
    """A file that is to be graded."""

    path: Path
    owners: tuple[Owner, ...]
    assignment: str
    named: bool
    token: Token | None
    notes: tuple[str, ...]
    is_notebook: bool

    @property
    def rank(self) -> tuple[bool, bool, int, str]:
        """Return what is greatest for the one that counts."""
        return (self.token is not None, self.named, modified(self.path), str(self.path))


class _Claim(NamedTuple):
    """That a file is a student's, by an owner whom its name tells, or by its token."""

    item: _Found
    owner: Owner
    student: str
    by_token: bool = False  # its name tells nobody on the roster

    @property
    def identity(self) -> tuple[str, str]:
        """Return what differs where different people may have handed in."""
        if self.by_token and not self.owner.platform:
            return ("token", self.owner.label)
        return (self.owner.platform, self.owner.number)


OWN_FOLDER = ("", "")  # the identity of a name that the teacher gave


def collect(
    folder: Path,
    assignments: Sequence[str],
    known: Mapping[str, Sequence[str]] | None = None,
    listed: Callable[[Owner], str] = lambda _: "",
    secret: Callable[[Sequence[str]], str] = lambda _: "",
) -> Collection:
    """Collect each student's submission to each assignment and attempt, and the strays.

    Args:
        folder: what was handed in.
        assignments: the names of those that are asked for.
        known: {assignment: the names that its answers define}, also of those not asked for.
        listed: returns the roster's id for a file's owner, or "".
        secret: returns the teacher's secret; it's called with the file that needs it.

    Raises:
        ValueError: most tokens were signed with another secret.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}; it should hold STUDENT/ASSIGNMENT.ipynb")
    defined = {**dict.fromkeys(assignments, ()), **(known or {})}
    with Reader() as reader:
        scan = _Scan(folder, defined, listed, secret, platforms.gradescope(folder), reader)
        scan.folder(folder, 0)
    scan.require_secret()
    by_place = {place: found for place, found in scan.by_place().items() if place[1] in assignments}
    strays = [s for s in scan.strays if not s.assignment or s.assignment in assignments]
    return Collection(
        list(_chosen(folder, by_place, platforms.gradescope_times(folder))),
        sorted(strays, key=lambda s: (not s.disputed, s.path)),
        tuple(name for name in assignments if scan.count[name] and not scan.told[name]),
    )


Places = Mapping[tuple[str, str, int], Sequence[_Claim]]  # by student, assignment and attempt


def _chosen(folder: Path, by_place: Places, times: Mapping[str, str]) -> Iterator[Submission]:
    """Yield the files that count, each once, with all whose it is."""
    of: defaultdict[Path, list[tuple[str, str, int]]] = defaultdict(list)
    ranked = {
        place: sorted(claims, key=lambda claim: claim.item.rank)
        for place, claims in sorted(by_place.items())
    }
    for place, (*_, best) in ranked.items():
        of[best.item.path].append(place)
    for path, places in of.items():
        claim = ranked[places[0]][-1]
        left = dict.fromkeys(c.item.path for place in places for c in ranked[place])
        parts = path.relative_to(folder).parts
        stamp = _timestamp(path.parent) if len(parts) > 1 else ""
        yield Submission(
            places[0][0],
            claim.item.assignment,
            path,
            stamp or times.get(parts[0], ""),
            tuple(printable(str(p.relative_to(folder))) for p in left if p != path),
            claim.owner.id if claim.owner.platform == "canvas" else "",
            claim.item.token,
            tuple(student for student, *_ in places[1:]),
            claim.item.notes,
            any(map(platforms.is_marked_late, parts)),
        )


@dataclass
class _Scan:
    """A walk through a folder, which gives every file and folder to somebody or says why not."""

    root: Path
    known: Mapping[str, Sequence[str]]
    listed: Callable[[Owner], str]
    secret: Callable[[Sequence[str]], str]
    gradescope: Mapping[str, tuple[Owner, ...]]
    reader: Reader
    platforms: dict[Path, str] = field(default_factory=dict)
    found: list[_Found] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)  # with tokens of another secret
    count: Counter[str] = field(default_factory=Counter)  # notebooks of an assignment,
    told: Counter[str] = field(default_factory=Counter)  # and those with a token

    def folder(self, folder: Path, depth: int) -> bool:
        """Look through a folder, and return whether it holds a notebook."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            self._leave(folder, "a folder that cannot be opened")
            return True
        entries = [entry for entry in entries if entry.name not in DEBRIS]
        notebooks = [entry for entry in entries if self._is_work(entry)]
        for entry in notebooks:
            self._notebook(Path(entry.path))
        held = bool(notebooks)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                held |= self._subfolder(Path(entry.path), depth)
        files = [e for e in entries if e not in notebooks and not e.is_dir(follow_symlinks=False)]
        others = [e for e in files if e.name not in EXPECTED]
        alone = not held and depth > 0
        everyones = depth == 0 or (depth == 1 and self._named(folder.name) != "")
        for entry in others:
            why = _why_not(entry)
            if why or everyones or alone:
                self._leave(Path(entry.path), why or "not a notebook")
        if alone and not others:
            self._leave(folder, "an empty folder")
        return held or bool(others) or alone

    def _is_work(self, entry: os.DirEntry[str]) -> bool:
        """Return whether this is a notebook, or an answer in another format.

        Python may be anything: it is an answer if its name or a token says so.
        """
        name = entry.name.lower()
        if entry.is_dir(follow_symlinks=False):
            return False
        if name.endswith(".ipynb"):
            return True
        if entry.is_symlink() or not name.endswith((".py", ".json", ".txt", ".zip")):
            return False
        look = self._look(path := Path(entry.path))
        if name.endswith(".py"):
            return bool(self._place(path).named or look.tokens)
        return look.is_notebook and (".ipynb" in name or not name.endswith(".txt"))

    def _look(self, path: Path) -> _Look:
        asked = frozenset(name for names in self.known.values() for name in names)
        try:
            look: _Look = self.reader.ask(_look, path, asked)
        except ReaderError as error:
            why = error if isinstance(error, OverrunError) else "failed"
            return _Look(fault=f"the search for a token {why}")
        return look

    def _subfolder(self, folder: Path, depth: int) -> bool:
        if folder.name.startswith("."):
            self._leave(folder, "a hidden folder: rename it without the dot")
        elif depth >= DEPTH:
            self._leave(folder, f"a folder more than {DEPTH} levels deep")
        else:
            return self.folder(folder, depth + 1)
        return True

    def _notebook(self, path: Path) -> None:
        if path.name.startswith("."):
            self._leave(path, "a hidden file: rename it without the dot")
            return
        look, place = self._look(path), self._place(path)
        try:
            token, notes = self._token(path, look)
        except ForeignTokenError:
            self.foreign.append(self._relative(path))
            self._leave(path, "released with another secret than the one here")
            return
        by_name = place.assignment or self._defined(look.defined)
        assignment = token.assignment if token else by_name
        if not assignment and len(self.known) == 1:
            assignment = next(iter(self.known))
        if assignment not in self.known:
            right = " or ".join(f"{name}.ipynb" for name in self.known)
            unknown = f"of no assignment: name it {right}"
            self._leave(path, f"of the assignment {assignment}" if assignment else unknown)
            return
        if token and place.assignment not in ("", assignment):
            notes += (f"Its name says {place.assignment}, but by its token it is {assignment}.",)
        self.count[assignment] += 1
        self.told[assignment] += token is not None
        told = token, notes, look.is_notebook
        self.found.append(_Found(path, place.owners, assignment, place.named, *told))

    def _token(self, path: Path, look: _Look) -> tuple[Token | None, tuple[str, ...]]:
        """Return the token of a notebook, or why it counts for nothing.

        Raises:
            ForeignTokenError: it was signed with another secret.
        """
        good: dict[Token, None] = {}
        faults: list[TokenError] = []
        if look.fault:
            return None, (f"In this notebook {look.fault}, {DECIDED}.",)
        for found in look.tokens:
            try:
                good[verified(found, self.secret([self._relative(path)]))] = None
            except TokenError as error:
                faults.append(error)
        if len(good) == 1:
            return next(iter(good)), ()
        if good:
            return None, (f"It holds the tokens of several notebooks, {DECIDED}.",)
        for fault in faults:
            if isinstance(fault, ForeignTokenError):
                raise fault
        return None, tuple(f"In this notebook {fault}, {DECIDED}." for fault in faults[:1])

    def require_secret(self) -> None:
        """Refuse to go on if most of the tokens were signed with another secret."""
        good = sum(self.told.values())
        if len(self.foreign) > good:
            shown = ", ".join(self.foreign[:SHOWN]) + (", …" if len(self.foreign) > SHOWN else "")
            raise ValueError(
                f"this is not the secret of the release: {len(self.foreign)} of "
                f"{good + len(self.foreign)} notebooks with a token were signed with another "
                f"({shown}). Name the file of the secret that they were released with, "
                f"--secret FILE"
            )

    def by_place(self) -> Places:
        """Return the claims to each place, without those that speak against each other."""
        claims: defaultdict[tuple[str, str, int], list[_Claim]] = defaultdict(list)
        for item in map(self._noted, self.found):
            for claim in self._claims(item):
                attempt = item.token.attempt if item.token else 1
                claims[claim.student, item.assignment, attempt].append(claim)
        kept: defaultdict[tuple[str, str, int], list[_Claim]] = defaultdict(list)
        for (student, *rest), made in claims.items():
            for own, claim in self._undisputed(student, made):
                kept[own, *rest].append(claim)  # type: ignore[index]
        return kept

    def _noted(self, item: _Found) -> _Found:
        """Return the file with the note that it has lost its token, if others have theirs."""
        lost = not item.token and not item.notes and self.told[item.assignment]
        if not lost or item.path.suffix.lower() == ".py":
            return item
        if not item.is_notebook:
            return item  # an empty file or a page of the web never had one
        note = f"This notebook has lost the token that it was released with, {DECIDED}."
        return replace(item, notes=(note,))

    def _claims(self, item: _Found) -> list[_Claim]:
        """Return whose a file is by its name and its token, or nobody if the two disagree."""
        here = [_Claim(item, owner, self._student(owner)) for owner in item.owners]
        theirs = self._student(Owner(item.token.student)) if item.token else ""
        if not theirs or theirs in [claim.student for claim in here]:
            return here
        if others := [claim.student for claim in here if self.listed(claim.owner)]:
            named = " and ".join(others)
            why = (
                f"it came as the work of {named}, but its token says that its problems are those "
                f"of {theirs}; nobody gets points for it until it lies in the folder of {theirs}"
            )
            self._stray(item.path, why, others, item.assignment, disputed=True)
            return []
        note = f"Its name is {here[0].student}, but by its token it was drawn for {theirs}."
        return [_Claim(replace(item, notes=(*item.notes, note)), here[0].owner, theirs, True)]

    def _undisputed(self, student: str, claims: list[_Claim]) -> Iterator[tuple[str, _Claim]]:
        """Yield the claims to be one student, each with the name that it goes by.

        Where token and name agree, no file that says only one of the two takes its place.
        """
        sure = {c.identity for c in claims if c.item.token and c.item.token.student}
        sure -= {c.identity for c in claims if c.by_token}
        for claim in claims if sure else ():
            if claim.identity not in {*sure, OWN_FOLDER}:
                self._leave_disputed(claim, f"another, with token and name, is that of {student}")
        claims = [c for c in claims if not sure or c.identity in {*sure, OWN_FOLDER}]
        apart = list(dict.fromkeys(c.identity for c in claims if c.identity != OWN_FOLDER))
        known = any(self.listed(c.owner) or c.by_token for c in claims)
        by_hand = any(c.by_token for c in claims) and any(c.identity == OWN_FOLDER for c in claims)
        if known and len(apart) + by_hand > 1:
            for claim in claims:
                self._leave_disputed(
                    claim,
                    f"several hand in as {student}, by what platform or token say; find out which "
                    f"one is {student}, and move the others to folders with ids of their own",
                )
            return
        for claim in claims:
            number = claim.owner.number if claim.identity in apart[1:] else ""
            yield (f"{student}_{number}" if number else student), claim

    def _student(self, owner: Owner) -> str:
        """Return the id on the roster, or a name that nobody on the roster has; "" for no name."""
        if known := self.listed(owner):
            return known
        label = _spelled(owner.label)
        while label and self.listed(Owner(label)):
            label += f"_{owner.number}"
        return label

    def _leave(self, path: Path, why: str) -> None:
        """Note what is not graded; a file beside the students' folders may be the teacher's own."""
        place = self._place(path)
        somebody_s = path.is_dir() or path.parent != self.root or place.named
        students = map(self._student, place.owners if somebody_s else ())
        self._stray(path, why, students, place.assignment)

    def _leave_disputed(self, claim: _Claim, why: str) -> None:
        item = claim.item
        self._stray(item.path, why, [claim.student], item.assignment, disputed=True)

    def _stray(
        self, path: Path, why: str, students: Iterable[str], assignment: str, disputed: bool = False
    ) -> None:
        self.strays.append(Stray(self._relative(path), why, tuple(students), assignment, disputed))

    def _relative(self, path: Path) -> str:
        return printable(str(path.relative_to(self.root)))

    def _place(self, path: Path) -> _Place:
        """Return what the path in the folder says: who handed in what."""
        *folders, last = path.relative_to(self.root).parts
        before, named = platforms.split(last, self.known)
        parent, assignment = self.root, self._named(folders[0]) if folders else ""
        if assignment and folders[1:2] != folders[:1]:
            parent /= folders.pop(0)
            named = named if folders else assignment  # a file there is named for its student
        else:
            others = map(self._named, folders[1:])
            assignment = next(filter(None, others), named)
        who = folders[0] if folders else last
        owners = self._owners(parent, who, folders[0] if folders else before)
        return _Place(owners, assignment, bool(assignment) and named == assignment)

    def _owners(self, parent: Path, name: str, plain: str) -> tuple[Owner, ...]:
        """Return the owners of a file or folder; `plain` is its name if no platform wrote it."""
        if known := self.gradescope.get(name):
            return known
        if parent not in self.platforms:
            entries = (entry.name for entry in os.scandir(parent))
            self.platforms[parent] = platforms.platform_of(entries)
        return (platforms.owner(name, self.platforms[parent], _spelled(plain)),)

    def _named(self, name: str) -> str:
        """Return the assignment with this name, ignoring case; or ""."""
        found = [known for known in self.known if known.casefold() == name.casefold()]
        return found[0] if found else ""

    def _defined(self, found: frozenset[str]) -> str:
        """Return the assignment that asks for most of these functions; "" if several do."""
        counts = Counter({name: len(found & {*asked}) for name, asked in self.known.items()})
        (best, most), *others = [*counts.most_common(2), ("", 0)]
        return best if most > max((count for _, count in others), default=0) else ""


def _look(path: Path, asked: frozenset[str]) -> _Look:
    """Look into a file, however damaged, in a reader."""
    try:
        content = read_bytes(path)
    except UnreadableError:
        return _Look()
    try:
        text = formats.decoded(content)
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    tokens = (token[:TOKEN_CHARACTERS] for token in find_tokens(text)[:TOKENS])
    defined = asked.intersection(re.findall(r"\b(?:def|class) +(\w+)", text))
    return _Look(tuple(tokens), defined, '"nbformat"' in text)


def modified(path: Path) -> int:
    """Return when a file was last changed, in nanoseconds."""
    return os.lstat(path).st_mtime_ns


def _why_not(entry: os.DirEntry[str]) -> str:
    """Return why a file that may be somebody's work is not graded, or ""."""
    name = entry.name.lower()
    if entry.is_symlink():
        return "a link, which is not followed"
    if name.endswith(ARCHIVES):
        return "an archive that is not a zip of one notebook: unpack it"
    if ".ipynb" in name:
        return "not a notebook by its name: rename it so that it ends in .ipynb"
    return ""


def _spelled(name: str) -> str:
    """Return one spelling for names that some systems write with combining characters."""
    return unicodedata.normalize("NFC", printable(name.lstrip(".")))


def _timestamp(folder: Path) -> str:
    """Return the time in nbgrader's `timestamp.txt`, or "" if there is none."""
    try:
        text = read_bytes(folder / "timestamp.txt")[:100].decode(errors="replace").strip()
    except UnreadableError:
        return ""
    return text.removesuffix(" UTC") if TIMESTAMP.fullmatch(text) else ""
