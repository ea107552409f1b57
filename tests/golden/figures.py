"""Every figure, player and drawing of the pages, and the workbench's views of its own programs."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup, Tag

from chainlab.workbench import VIEWS, respond
from tests.golden.pages import varying_outputs
from tests.golden.record import Entry
from tests.site.built import Site, toc_documents
from tests.support import ROOT

PIECES = "[class^=chaingrad-], svg.chaingrad"
SLOTS = ("data-node", "data-slot", "data-from", "data-to", "data-state")
DIGEST = re.compile(r"-[0-9a-f]{12}(?=\.)")  # of the package that drew a file of problems
PACKED = re.compile(r'(?<=")[^"\\\s,:{}\[\]]{200,}(?=")')  # curves as a script reads them
TIMED = {  # they show times that were measured
    "chapters/atlas/pipeline-in-two-processes: plot 2",
    "chapters/atlas/curvature-in-practice: plot 2",
}
WORKBENCH = "chapters/practice/workbench"


def entries() -> Iterator[Entry]:
    site = Site(ROOT / "_build" / "html")
    for document in toc_documents():
        soup = site.document(document)
        varying = {id(output) for output in varying_outputs(document, soup)}
        counts = Counter[str]()
        for piece in soup.select(PIECES):
            outside = list(piece.parents)
            if any(id(tag) in varying or tag.css.match(PIECES) for tag in outside[:-1]):
                continue
            kind = _kind(piece)
            counts[kind] += 1
            name = f"{document}: {kind} {counts[kind]}"
            if name not in TIMED:
                yield name, _told(piece)
    starts = site.document(WORKBENCH).find(id="workbench-told")
    for start in json.loads(starts.string)["starts"]:
        for view in VIEWS:
            answer = respond(start["text"], view)
            shown = BeautifulSoup(answer.html, "html.parser")
            yield (
                f"workbench, {view}: {start['name']}",
                {
                    "alt": answer.alt,
                    "printed": answer.printed,
                    "code": answer.code.splitlines(),
                    "shown": _told(shown),
                },
            )


def _kind(piece: Tag) -> str:
    if piece.name == "svg":
        return "drawing"
    name = piece["class"][0].removeprefix("chaingrad-")
    return f"{name} {piece['data-kind']}" if piece.has_attr("data-kind") else name


def _told(piece: Tag) -> dict[str, Any]:
    """What a piece says: its name, its slots with their texts, and what its script reads."""
    texts = (tag.string for tag in piece.select("script[type='application/json']"))
    # The box of a drawing has a label only where the fonts make it wider than a phone.
    is_box = "chaingrad-drawing" in piece.get_attribute_list("class")
    data = [json.loads(PACKED.sub(_digest, DIGEST.sub("-#", text))) for text in texts]
    return {
        "label": None if is_box else piece.get("aria-label"),
        "pictures": [_slots(svg) for svg in [*piece.find_all("svg")] or [piece]],
        "words": [text for tag in piece.select("figcaption, label, button, output")
                  if (text := tag.get_text(" ", strip=True))],
        "data": data,
    }  # fmt: skip


def _digest(packed: re.Match[str]) -> str:
    return f"{len(packed[0])} characters, {hashlib.sha256(packed[0].encode()).hexdigest()[:12]}"


def _slots(picture: Tag) -> list[str]:
    """The texts of a drawing in their order, and the names of its parts."""
    found = [str(picture.get("aria-label", ""))]
    for tag in picture.find_all(True):
        names = [f"{key[5:]} {tag[key]}" for key in SLOTS if tag.has_attr(key)]
        own = tag.get_text(" ", strip=True) if tag.name in ("text", "title") else ""
        if names or own:
            found.append(": ".join([*names, *[own] * bool(own)]))
    return found
