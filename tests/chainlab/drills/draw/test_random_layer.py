"""Layers drawn by a seed differ, and the engine differentiates them."""

import ast

import numpy as np
import pytest

from chaingrad import grad, program
from chainlab.drills.draw.random_layer import random_layer

CLASS = 1000


def test_layers_differ_and_the_engine_differentiates_them() -> None:
    layers = [random_layer(np.random.default_rng(seed)) for seed in range(CLASS)]
    assert len(set(layers)) == CLASS
    assert len({layer.source.count("\n") for layer in layers}) == 1
    kinds = {
        layer.source.translate(str.maketrans("", "", "0123456789.")): layer for layer in layers
    }
    assert len(kinds) == 20
    operators = set()
    rng = np.random.default_rng(0)
    for layer in kinds.values():
        n, d, m = layer.n, layer.d, layer.m
        assert len({n, d, m}) == 3  # a transpose in the wrong place does not fit
        X, W, b, T = (rng.normal(size=shape) for shape in [(n, d), (m, d), (m,), (n, m)])
        space: dict[str, object] = {"np": np}
        exec(layer.source, space)
        loss = space["layer_loss"]
        adjoints = grad(loss, argnums=(0, 1, 2))(X, W, b, T)  # type: ignore[arg-type]
        moved = W.astype(complex)
        moved[0, 0] += 1e-20j
        slope = loss(X, moved, b, T).imag / 1e-20  # type: ignore[operator]
        assert slope == pytest.approx(adjoints[1][0, 0], rel=1e-9)
        assert all(np.abs(adjoint).max() > 1e-6 for adjoint in adjoints)
        step = program(loss, argnums=(0, 1, 2))  # type: ignore[arg-type]
        step(X, W, b, T)
        operators.add(operators_in(step.source))
    assert max(operators) - min(operators) <= 3


def operators_in(source: str) -> int:
    kinds = (ast.BinOp, ast.UnaryOp, ast.Call)
    return sum(isinstance(node, kinds) for node in ast.walk(ast.parse(source)))
