"""Drop from a notebook what cells printed and drew, before anything of it is parsed."""

import re

# What a notebook keeps beside its sources. A quote within a string has a backslash before it, so
# this finds keys alone.
HEAVY = re.compile(rb'(?<!\\)"(?:outputs|attachments|widgets)"\s*+:\s*+(?=[\[{])')
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + STRING + rb")*+", re.DOTALL)
BRACKETS = 2_000_000  # of outputs that are walked past: some seconds' work


def without_outputs(content: bytes) -> bytes:
    r"""Return the text of a notebook with ``null`` in place of its outputs, attachments, widgets.

    What is left has the lines it had, so that errors name the right one. Outputs that end nowhere
    are left as they are, and so is what comes behind more brackets than `BRACKETS`.

    >>> without_outputs(b'{"outputs": [{"text": ["]\\"", 1]}], "source": "\\"outputs\\": [1]"}')
    b'{"outputs": null, "source": "\\"outputs\\": [1]"}'
    """
    kept, at, budget = [], 0, BRACKETS
    while (found := HEAVY.search(content, at)) is not None:
        end, budget = _end(content, found.end(), budget)
        if not end:
            break
        lines = content.count(b"\n", found.end(), end)
        kept += [content[at : found.end()], b"null", b"\n" * lines]
        at = end
    return b"".join([*kept, content[at:]])


def _end(content: bytes, start: int, budget: int) -> tuple[int, int]:
    """Return where the list or dict that starts here ends, or 0, and how much budget is left."""
    at, depth = start, 0
    while budget > 0 and at < len(content):
        budget -= 1
        depth += 1 if content[at] in b"[{" else -1
        at += 1
        if depth == 0:
            return at, budget
        match = TO_BRACKET.match(content, at)
        at = match.end() if match else len(content)
        if at < len(content) and content[at] == ord('"'):  # a string that ends nowhere
            break
    return 0, budget
