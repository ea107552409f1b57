"""Answers to the problems that are drawn, as a student writes them who gets everything right."""

import re

import numpy as np

from chaingrad import program
from chainlab.drills import backward_source
from chainlab.drills.draw.random_graph import RandomGraph
from coursework.exercise.problems import Problem
from coursework.exercise.trusted import run


def written(problem: Problem) -> str:
    """Return the code of a right answer to a student's own problem."""
    answers = {
        "ex-own-adjoints": _adjoints,
        "ex-own-backward": _backward,
        "ex-own-layer": _layer,
        "ex-own-fault": _mended,
    }
    return answers[problem.id](problem)


def _adjoints(problem: Problem) -> str:
    numbers = problem.expected(problem.parts[0], {})
    rows = ", ".join(f'"{name}": {number:g}' for name, number in numbers.items())
    return f"def adjoints():\n    return {{{rows}}}"


def _backward(problem: Problem) -> str:
    shares: dict[str, list[str]] = {}
    lines, asked = problem.instance.own["lines"], "yxwvuabcde"
    for name, x, sign, y in reversed(lines):
        shares.setdefault(x, []).append(f"d{name} * {y}" if sign == "*" else f"d{name}")
        other = {"*": f"d{name} * {x}", "-": f"-d{name}", "+": f"d{name}"}
        shares.setdefault(y, []).append(other[sign])
    forward = [f"{name} = {x} {sign} {y}" for name, x, sign, y in lines]
    back = [f"d{name} = {' + '.join(shares[name])}" for name in asked]
    named = ", ".join(f'"d{name}": d{name}' for name in asked)
    body = "\n    ".join([*forward, *back, f"return {{{named}}}"])
    return f"def backward(dz, a, b, c, d, e):\n    {body}"


def _layer(problem: Problem) -> str:
    own = problem.instance.own
    n, d, m = own["n"], own["d"], own["m"]
    step = program(run(own["given"])["layer_loss"], argnums=2)
    step(*(np.ones(shape) for shape in [(n, d), (m, d), (n, m), (n, m)]))  # b a row each
    _, _, body = step.source.partition("):\n")
    pass_lines = [line.partition("  #")[0] for line in body.splitlines()[:-1]]
    decay = re.findall(r"([\d.]+) \* np.sum\(W\*\*2\)", own["given"])[0]
    rest = f"""
    dZ = db
    db = dZ.sum(axis=0)
    dW = dZ.T @ X + 2 * {decay} * W
    dX = dZ @ W
    return {{"dZ": dZ, "db": db, "dW": dW, "dX": dX}}"""
    return "\n".join(["def layer_backward(X, W, b, T):", *pass_lines]) + rest


def _mended(problem: Problem) -> str:
    found = re.findall(r"    (\w) = (.+)", problem.given)
    lines = []
    for name, value in found:
        sign = next(s for s in "+-*" if f" {s} " in value)
        x, _, y = value.partition(f" {sign} ")
        lines.append((name, x, sign, y))
    return backward_source(RandomGraph(dict.fromkeys("abcde", 1), tuple(lines)), "mended")
