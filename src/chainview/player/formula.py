"""Operations, and the shares that they send back, as formulas in HTML."""

import html
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from chaingrad.facts import UNKNOWN
from chaingrad.messages import Message
from chainview.player.names import NodeNames, amount
from chainview.read.items import Item
from chainview.read.terms import exponent_of, written
from chainview.read.words import unwrapped


def formula(item: Item, names: Sequence[str], scalars: bool = True) -> str:
    """Write the operation of a node as a formula in its operands."""
    options = getattr(getattr(item.node, "rule", None), "options", {})
    more = [
        f"{key} = {_option(x)}" for key, x in options.items() if x is not None and x is not False
    ]
    if exponent := exponent_of(item):
        names, form = [*names, exponent], written("pow").formula
    else:
        form = written(item.op).formula
    if form and not more and f"{{{len(names)}" not in form:
        text = form.format(*map(_Operand, names))
        return text.replace("⊙", "×") if scalars else text
    return f"{html.escape(item.op)}({', '.join([*names, *more])})"


class _Operand(str):
    """An operand in a formula, in brackets where it needs them; see `chaingrad.facts.Facts`."""

    def __format__(self, place: str) -> str:
        if place == "e":
            return self.removesuffix(".0")
        return _base(self) if place == "b" else in_brackets(self) if place == "f" else str(self)


def _base(text: str) -> str:
    """Write the base of a power; W⁽¹⁾ and Xᵀ have something in the exponent's place already."""
    return f"({text})" if re.search("^−|[⁰-ⁿᵀ]$", text) else text


def in_brackets(text: str) -> str:
    """Write a number as a factor or a further term: in brackets if it is negative."""
    return f"({text})" if text.startswith("−") else text


def _option(value: Any) -> str:
    text = f"array of shape {np.shape(value)}" if np.ndim(value) else str(value)
    return html.escape(text if len(text) <= 24 else text[:23] + "…")


def share(message: Message, names: NodeNames) -> str:
    """Write what a message sends: for numbers with its value, for arrays as its rule writes it."""
    child, parent = names.item(message.child), names.item(message.parent)
    g = names.adjoint(child)
    if message.local is not None:
        above, local = (in_brackets(amount(x)) for x in (message.above, message.local))
        product = f'<span class="g">{above}</span> × <span class="l">{local}</span>'
        return f"{g} · {names.local(child, parent)} = {product} = {amount(message.share)}"
    rule = getattr(message.child, "rule", None)
    if rule and rule.vjps and rule.vjps[message.position] is None:
        copied = np.size(unwrapped(message.above)) > np.size(unwrapped(message.share))
        return f"{g}, summed over its copies" if copied else g
    facts = rule.facts if rule else UNKNOWN
    for form in facts.shares[message.position : message.position + 1]:
        if form:
            return _filled_in(form, message, names)
    return f"{g} · {names.local(child, parent)}"


def _filled_in(form: str, message: Message, names: NodeNames) -> str:
    """Write a share as its rule does, with the names of what it is made of."""
    child = names.item(message.child)
    operands = [names.html(parent) for parent in names.parents(child)]
    copies = np.size(unwrapped(message.parent)) // np.size(unwrapped(message.child))
    local = {
        "a": operands[0], "b": operands[-1], "y": names.html(child), "1": "1",
        "1/n": f"1/{copies}", "p": _slope_of_power(child, names),
    }  # fmt: skip
    parts = {key: f'<span class="l">{name}</span>' for key, name in local.items()}
    parts["g"] = names.adjoint(child)
    text = re.sub(r"\{([^{}]+)\}", lambda m: parts[m[1]], form.replace(">", "&gt;"))
    return text.replace("ᵀ</span>ᵀ", "</span>")


def _slope_of_power(child: Item, names: NodeNames) -> str:
    """Write the derivative of a power with respect to its base: 2 x of x²."""
    base = names.parents(child)[0]
    if not child.exponent:
        return names.local(child, base)
    power = float(unwrapped(child.node.parents[1]))
    above, below = (f"{_Operand(amount(x)):e}" for x in (power, power - 1))
    name = names.html(base)
    return f"{above} {name}" if power == 2 else f"{above} {_base(name)}<sup>{below}</sup>"
