"""The subscripts of ``einsum``, such as ``"...ij,jk->...ik"``, taken apart."""

import string
from collections.abc import Iterable, Sequence


def terms_of(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """List the letters of each operand and of the result, with ``...`` replaced by letters.

    Raises:
        ValueError: there are not as many terms as operands, or an operand's index repeats.
    """
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"{len(terms)} terms in {subscripts!r} for {len(shapes)} operands")
    free = [c for c in string.ascii_letters if c not in subscripts]
    spare = max(len(s) - len(t.replace("...", "")) if "..." in t else 0
                for t, s in zip(terms, shapes, strict=True))  # fmt: skip
    rest = "".join(free[:spare])
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        count = len(shape) - len(term.replace("...", ""))
        terms[i] = term.replace("...", rest[len(rest) - count :] if count > 0 else "")
        if len(set(terms[i])) < len(terms[i]):
            raise ValueError(
                f"the index of term {term!r} repeats; take the diagonal first: "
                "x[np.arange(n), np.arange(n)]"
            )
    if not arrow:
        letters = "".join(terms)
        right = rest + "".join(sorted(c for c in set(letters) - set(rest) if letters.count(c) == 1))
    return [*terms, right.replace("...", rest)]


def sizes_of(terms: Iterable[str], shapes: Iterable[tuple[int, ...]]) -> dict[str, int]:
    """Return the size of each index; an operand may have it once for all."""
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for c, n in zip(term, shape, strict=True):
            sizes[c] = n if sizes.get(c, 1) == 1 else sizes[c]
    return sizes
