"""Drawings: what they show, how they fit a page, and what they refuse."""

import builtins
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import Any

import graphviz
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from chaingrad import Node
from chaingrad.graph import CycleError
from chainview import Drawing, draw_gradient_flow, draw_graph, draw_toposort
from chainview.draw import layout as backends
from chainview.draw.boxes import turned
from chainview.draw.layout import GraphvizMissingError
from chainview.draw.palette import COLORS
from tests.support import each

SEVEN = {"a": [], "b": [], "x": [], "c": ["a", "b"], "d": ["x", "c"], "e": ["c"], "f": ["d"]}


@dataclass
class Foreign:
    """A node of some other engine: compares by value, so it is not even hashable."""

    data: Any
    parents: tuple["Foreign", ...] = ()
    op: str = ""
    label: str | None = None
    grad: Any = 0.0


class Parameter(Node):
    """Stands for the leaf that an optimizer trains."""

    __slots__ = ()


def neuron() -> Node:
    x, w, b = Node(0.5, "x"), Parameter(-1.0, "w"), Parameter(0.3, "b")
    y = (w * x + b).tanh()
    y.label = "y"
    return y


def square() -> Node:
    x = Node(3.0, "x")
    y = x * x
    y.label = "y"
    return y


def branches() -> Node:
    a, b = Node(2.0, "a"), Node(3.0, "b")
    c = a * b
    e = c + a
    c.label, e.label = "c", "e"
    return e


def elements(drawing: Drawing, theme: bool = False) -> list[ET.Element]:
    return list(ET.fromstring(drawing.svg(theme)).iter())


def local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def texts(drawing: Drawing) -> list[str]:
    return [e.text or "" for e in elements(drawing) if local(e) == "text"]


def groups(drawing: Drawing, kind: str, theme: bool = True) -> list[ET.Element]:
    return [e for e in elements(drawing, theme) if e.get("class") == kind]


def node_group(drawing: Drawing, label: str) -> ET.Element:
    """The one node whose text holds this label, in the fixed light colours."""
    found = [
        group
        for group in groups(drawing, "node", theme=False)
        if label in [e.text for e in group.iter() if local(e) == "text"]
    ]
    assert len(found) == 1
    return found[0]


def paints(group: ET.Element, attribute: str) -> set[str]:
    """The names of the colours that a group's shapes are filled or outlined with."""
    name = {light: name for name, (light, _) in COLORS.items()}
    found = {e.get(attribute, "none") for e in group.iter() if local(e) != "text"}
    return {name[color] for color in found - {"none"}}


# --- draw_graph ---------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["box", "shapes"])
def test_squaring_draws_two_edges(style):
    drawing = draw_graph(square(), style=style)
    from_x = [edge for edge in groups(drawing, "edge") if edge.get("data-from") == "n0"]
    assert [edge.get("data-to") for edge in from_x] == ["n1", "n1"]


def test_box_shows_label_operation_and_value():
    assert texts(draw_graph(square())) == ["x", "input", "data 3.0", "y", "×", "data 9.0"]


def test_gradients_appear_once_backward_has_run():
    y = square()
    assert "grad 0.0" not in texts(draw_graph(y))
    y.backward()
    assert {"grad 6.0", "grad 1.0"} <= set(texts(draw_graph(y)))
    assert not any("grad" in text for text in texts(draw_graph(y, gradients=False)))


def test_values_can_be_left_out():
    assert not any("data" in text for text in texts(draw_graph(square(), values=False)))


def test_shapes_draws_squares_for_variables_and_circles_for_operators():
    drawing = draw_graph(neuron(), style="shapes")
    circles = [e for e in elements(drawing) if local(e) == "ellipse"]
    assert len(circles) == 3  # ×, + and tanh
    assert len([e for e in groups(drawing, "node") if e not in circles]) == 3 + 4  # and w x b y
    assert {"×", "+", "tanh"} <= set(texts(drawing))


def test_shapes_gives_an_inner_result_a_square_only_if_it_has_a_label():
    y = neuron()
    without = len(groups(draw_graph(y, style="shapes"), "node"))
    y.parents[0].label = "z"
    drawing = draw_graph(y, style="shapes")
    assert len(groups(drawing, "node")) == without + 1
    assert "z" in texts(drawing)


def test_leaves_are_yellow_constants_grey_and_parameters_say_so():
    x, w = Node(2.0, "x"), Parameter(3.0, "w")
    drawing = draw_graph(x * w + 5)
    assert paints(node_group(drawing, "x"), "fill") == {"leaf", "leaf-line"}  # its rule is filled
    assert paints(node_group(drawing, "constant"), "fill") == {"constant", "constant-line"}
    assert {"parameter", "input", "constant"} <= set(texts(drawing))


@pytest.mark.parametrize("style", ["box", "shapes"])
def test_parameters_may_be_named_instead(style):
    x, w = Node(2.0, "x"), Node(3.0, "w")
    plain, marked = (
        draw_graph(x * w, style=style, parameters=chosen).source for chosen in ([], [w])
    )
    assert plain != marked
    assert "1 parameter, 1 input" in draw_graph(x * w, parameters=[w]).alt
    assert "2 leaves" in draw_graph(x * w).alt


def test_small_arrays_show_their_entries_and_large_ones_their_shape():
    small, large = Node(np.array([[1.0, 2.0], [0.5, 1 / 3]]), "A"), Node(np.ones((2, 50)), "B")
    shown = texts(draw_graph(small @ large))
    assert shown[2:5] == ["data (2, 2)", "[[1.0, 2.0],", "\N{NO-BREAK SPACE}[0.5, 0.3333]]"]
    assert shown.count("data (2, 50)") == 2


@each(
    ("value", "shown"),
    [(2.0, "2.0"), (-0.5, "−0.5"), (-0.0, "0.0"),
     (1 / 3, "0.3333"), (12345.6, "1.235e+04"), (3512.4, "3512"),
     (float("nan"), "nan"), (float("-inf"), "−inf"), (np.float32(0.1), "0.1"), (7, "7.0")],
)  # fmt: skip
def test_numbers_have_four_significant_digits(value, shown):
    assert f"data {shown}" in texts(draw_graph(Foreign(value, label="x")))


def test_several_roots_share_one_drawing():
    x = Node(1.0, "x")
    drawing = draw_graph([x.exp(), x.sin()])
    assert len(groups(drawing, "node")) == 3
    assert "Roots: v1 = 2.718 (exp), v2 = 0.8415 (sin)." in drawing.alt


def test_ids_follow_creation():
    drawing = draw_graph(branches())
    order = {"n0": "a", "n1": "b", "n2": "c", "n3": "e"}
    assert {id: title.partition(",")[0] for id, title in drawing.titles.items()} == order
    assert [g.get("data-node") for g in groups(drawing, "node")] == list(order)


def test_another_engines_nodes_are_drawn():
    x = Foreign(3.0, label="x")
    y = Foreign(9.0, (x, Foreign(3.0, label="x")), "mul", "y")
    assert len(groups(draw_graph(y), "node")) == 3  # equal nodes are two nodes
    y.grad = x.grad = np.array(0.0)
    assert "grad 0.0" not in texts(draw_graph(y))


def test_a_gradient_that_is_a_node_is_shown_by_its_value():
    y = square()
    y.backward(create_graph=True)
    assert "grad 6.0" in texts(draw_graph(y))


@each("style", ["box", "shapes"])
@each(
    "label", ['a<b>&"c"\'', r"\N \G \\ \theta", "{x|y}", "∂ℓ θ₁ 梯度", "n1", "-> ;", "a\x00b", " "]
)
def test_any_label_survives(label, style):
    drawing = draw_graph(Node(1.0, label) * 2, style=style)
    assert label.replace("\x00", " ").strip() in ["", *texts(drawing)]
    assert len(groups(drawing, "node")) == (3 if style == "box" else 4)


def test_operands_keep_their_written_order():
    a, b = Node(1.0, "a"), Node(2.0, "b")
    for first, second in ((a, b), (b, a)):
        drawing = draw_graph(first - second)
        height = {
            name: float(next(e for e in node_group(drawing, name).iter() if e.get("y")).get("y"))
            for name in "ab"
        }
        assert height[first.label] < height[second.label]


@each("direction", ["LR", "TB", "RL", "BT"])
def test_data_flows_in_the_direction_asked_for(direction):
    drawing = draw_graph(square(), direction=direction)
    axis = "x" if direction in ("LR", "RL") else "y"
    x, y = (
        float(next(e for e in node_group(drawing, name).iter() if e.get(axis)).get(axis))
        for name in "xy"
    )
    assert (x < y) == (direction in ("LR", "TB"))


# --- draw_toposort ------------------------------------------------------------------------------


def test_sort_numbers_the_visited_nodes():
    drawing = draw_toposort(SEVEN, "f")
    shown = texts(drawing)
    assert {name: shown[shown.index(name) + 1] for name in "fdcbax"} == {
        "f": "#1", "d": "#2", "c": "#3", "b": "#4", "a": "#5", "x": "#6",
    }  # fmt: skip


def test_sort_colours():
    drawing = draw_toposort(SEVEN, "f")
    for name in "fdc":
        assert paints(node_group(drawing, name), "fill") == {"visited"}
    for name in "abx":
        assert paints(node_group(drawing, name), "fill") == {"leaf"}
    for name in "abxcdf":
        assert paints(node_group(drawing, name), "stroke") == {"visited-line"}
    assert paints(node_group(drawing, "e"), "fill") == set()
    assert paints(node_group(drawing, "e"), "stroke") == {"excluded"}


def test_sort_dashes_what_is_left_out():
    drawing = draw_toposort(SEVEN, "f")
    dashed = [e for e in elements(drawing, theme=True) if e.get("stroke-dasharray")]
    assert len(dashed) == 2  # e, and the edge from c to it
    edges = [(g.get("data-from"), g.get("data-to")) for g in groups(drawing, "edge")]
    assert edges == [("n0", "n3"), ("n1", "n3"), ("n2", "n4"), ("n3", "n4"), ("n3", "n5"),
                     ("n4", "n6")]  # fmt: skip


def test_sort_of_nodes():
    e = branches()
    assert draw_toposort(e).alt.startswith("Topological sort from e of a graph with 4 nodes: e, c,")
    c = e.parents[0]
    assert "Left out: e" in draw_toposort(e, c).alt


def test_long_names_fit_boxes():
    drawing = draw_toposort({"hidden layer": [], "loss": ["hidden layer"]}, "loss")
    assert not [e for e in elements(drawing) if local(e) == "ellipse"]


# --- draw_gradient_flow -------------------------------------------------------------------------


def test_flow_shows_local_and_global_gradients():
    e = branches()
    e.backward()
    shown = texts(draw_gradient_flow(e))
    assert {"∂c/∂a = 3.0", "∂c/∂b = 2.0", "∂e/∂c = 1.0", "∂e/∂a = 1.0"} <= set(shown)
    assert {"∂e/∂a = 4.0", "∂e/∂b = 2.0", "∂e/∂e = 1.0"} <= set(shown)
    assert " ".join(text.strip() for text in shown).count("← 1.0 × 3.0 = 3.0") == 1


def test_flow_is_red_for_local_and_blue_for_global():
    e = branches()
    e.backward()
    light = {name: light for name, (light, _) in COLORS.items()}
    colors = {t.text: t.get("fill") for t in elements(draw_gradient_flow(e)) if local(t) == "text"}
    assert colors["∂c/∂a = 3.0"] == light["local"]
    assert colors["∂e/∂a = 4.0"] == light["global"]


def test_each_edge_passes_the_product():
    y = neuron()
    y.backward()
    shown = " ".join(text.strip() for text in texts(draw_gradient_flow(y))).replace("−", "-")
    products = re.findall(r"← (\S+) × (\S+) = (\S+)", shown)
    assert len(products) == 5
    for above, slope, product in products:
        assert float(product) == pytest.approx(float(above) * float(slope), rel=1e-3)


def test_flow_before_backward_has_local_gradients_alone():
    shown = texts(draw_gradient_flow(branches()))
    assert "∂c/∂a = 3.0" in shown
    assert not any("←" in text or text.startswith("∂e/∂b") for text in shown)


def test_flow_never_shows_another_roots_gradients():
    e = branches()
    e.parents[0].backward()
    assert not any(text.startswith("∂e/∂b") for text in texts(draw_gradient_flow(e)))


def test_flow_tells_equal_operands_apart():
    shown = texts(draw_gradient_flow(square()))
    assert {"∂y/∂x (operand 1) = 3.0", "∂y/∂x (operand 2) = 3.0"} <= set(shown)


def test_no_gradient_flows_to_constants():
    shown = texts(draw_gradient_flow(Node(3.0, "x") * 2))
    assert sum(text.startswith("∂") for text in shown) == 1


def test_flow_of_arrays_shows_the_shapes_of_the_vjp():
    X, W = Node(np.ones((5, 3)), "X"), Node(np.ones((4, 3)), "W")
    z = X @ W.T
    z.label = "z"
    assert "∂z/∂X: VJP (5, 4) → (5, 3)" in texts(draw_gradient_flow(z))


def test_flow_names_nodes_without_a_label():
    assert {"v2", "v4", "∂v4/∂v2 = 1.0"} <= set(texts(draw_gradient_flow(neuron())))


def test_flow_of_another_engine_needs_its_local_gradients():
    x = Foreign(3.0, label="x")
    y = Foreign(9.0, (x, x), "mul", "y")
    assert "∂y/∂x" not in " ".join(texts(draw_gradient_flow(y)))
    shown = texts(draw_gradient_flow(y, local_gradient=lambda node, i: node.parents[1 - i].data))
    assert "∂y/∂x (operand 2) = 3.0" in shown


# --- PyTorch ------------------------------------------------------------------------------------


def test_a_tensors_graph_is_drawn():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    x = torch.tensor([3.0, 4.0])
    loss = (w * w * x).sum()
    drawing = draw_graph(loss, names={"w": w, "loss": loss})
    assert texts(drawing)[:4] == ["w", "parameter", "data (2,)", "[1.0, 2.0]"]
    assert [g.get("data-from") for g in groups(drawing, "edge")].count("n0") == 2
    assert {"Mul", "Sum", "data 19.0"} <= set(texts(drawing))
    loss.backward()
    assert "grad (2,)" in texts(draw_graph(loss))


def test_a_leaf_tensor_is_drawn():
    assert "1 leaf" in draw_graph(torch.ones(2, requires_grad=True)).alt


def test_a_tensor_without_a_graph_is_refused():
    with pytest.raises(ValueError, match="requires_grad"):
        draw_graph(torch.ones(2))


@pytest.mark.parametrize("draw", [draw_toposort, draw_gradient_flow])
def test_tensors_are_for_draw_graph(draw):
    with pytest.raises(TypeError, match="draw_graph draws"):
        draw(torch.ones(2, requires_grad=True) * 2)


# --- JAX ----------------------------------------------------------------------------------------


def traced() -> Any:
    """A small network in which every operation is one equation."""

    def network(x, w):
        return 0.5 * jnp.sum(jax.nn.relu(x @ w))

    return jax.make_jaxpr(network)(jnp.ones((16, 8)), jnp.ones((8, 4)))


def operations(drawing: Drawing) -> list[str]:
    """What the tooltips call the operations, in order."""
    names = [title.partition(":")[0].rpartition(", ")[2] for title in drawing.titles.values()]
    return [name for name in names if name not in ("input", "constant")]


def test_a_jaxpr_is_drawn():
    drawing = draw_graph(traced())
    assert operations(drawing) == ["dot_general", "max", "reduce_sum", "mul"]
    shown = texts(drawing)
    assert shown[:3] == ["x", "input", "type f32[16,8]"]
    assert shown.count("type f32[16,4]") == 2
    assert {"data 0.0", "data 0.5"} <= set(shown)
    assert paints(node_group(drawing, "x"), "fill") == {"leaf", "leaf-line"}
    assert paints(node_group(drawing, "data 0.5"), "fill") == {"constant", "constant-line"}
    name = {id: title.partition(":")[0] for id, title in drawing.titles.items()}
    edges = [(name[g.get("data-from")], name[g.get("data-to")]) for g in groups(drawing, "edge")]
    assert sorted(edges) == [
        ("constant", "max"), ("constant", "out, mul"), ("dot_general", "max"),
        ("max", "reduce_sum"), ("reduce_sum", "out, mul"), ("w, input", "dot_general"),
        ("x, input", "dot_general"),
    ]  # fmt: skip


def test_a_jaxpr_tells_its_types_in_the_alt_text():
    assert draw_graph(traced()).alt == (
        "Computational graph with 2 inputs, 2 constants and 4 operations. Root: out of type f32[] "
        "(mul). Leaves: x of type f32[16,8], w of type f32[8,4]."
    )


def test_an_open_jaxpr_is_drawn_too():
    assert draw_graph(traced().jaxpr).source == draw_graph(traced()).source


@pytest.mark.parametrize("style", ["box", "shapes"])
def test_the_outputs_of_a_jaxpr_are_its_roots(style):
    closed = jax.make_jaxpr(lambda x: {"twice": 2.0 * x, "same": x, "five": 5, "yes": True})(1.0)
    drawing = draw_graph(closed, style=style)
    assert {"x, out['same']", "out['twice']", "out['five']", "out['yes']"} <= set(texts(drawing))
    assert "Roots: x, out['same'] of type f32[], out['twice'] of type f32[] (mul)," in drawing.alt
    assert {"5", "True"} <= {text.removeprefix("data ") for text in texts(drawing)}


def test_an_output_that_is_used_again_is_a_root_as_well():
    def f(x):
        y = jnp.sin(x)
        return y, jnp.cos(y)

    assert "out[0] of type f32[] (sin), out[1] of" in draw_graph(jax.make_jaxpr(f)(1.0)).alt


def test_equations_and_arguments_that_no_output_needs_are_drawn():
    gradient = jax.make_jaxpr(jax.grad(lambda x, y: jnp.sin(x)))(1.0, 2.0)
    drawing = draw_graph(gradient)
    assert operations(drawing) == ["sin", "cos", "mul"]
    assert "Root: out of type f32[] (mul)." in drawing.alt
    assert {"x", "y"} <= set(texts(drawing))


def test_a_used_twice_variable_has_two_edges():
    drawing = draw_graph(jax.make_jaxpr(lambda x: x * x)(3.0))
    assert [edge.get("data-from") for edge in groups(drawing, "edge")] == ["n0", "n0"]


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1.0, 1.0),))


@each(
    ("function", "inside", "box"),
    [
        (jax.nn.relu, ["max"], "relu (custom_jvp_call)"),
        (jax.jit(lambda x: jnp.sin(x) * x), ["sin", "mul"], "<lambda> (jit)"),
        (jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), ["sin", "sin"], "<lambda> (remat2)"),
        (clipped, [], "clipped (custom_vjp_call)"),
    ],
)
def test_functions_that_are_called_are_drawn_in_place_or_as_one_box(function, inside, box):
    closed = jax.make_jaxpr(lambda x: jnp.exp(function(x)))(1.0)
    assert operations(draw_graph(closed)) == [*inside, "exp"]
    assert operations(draw_graph(closed, inline=False)) == [box, "exp"]


def test_a_function_called_twice_is_drawn_twice():
    sine = jax.jit(jnp.sin)
    drawing = draw_graph(jax.make_jaxpr(lambda x: sine(sine(x)))(1.0))
    assert [(g.get("data-from"), g.get("data-to")) for g in groups(drawing, "edge")] == [
        ("n0", "n1"), ("n1", "n2"),
    ]  # fmt: skip


def test_loops_stay_one_box_with_all_their_outputs():
    def cumulated(x):
        return jax.lax.scan(lambda total, value: (total + value, total), 0.0, x)

    drawing = draw_graph(jax.make_jaxpr(cumulated)(jnp.ones(5)))
    assert operations(drawing) == ["scan"]
    assert {"type f32[]", "f32[5]"} <= set(texts(drawing))
    assert "out[0], out[1]" in texts(drawing)


def test_constants_of_a_jaxpr_show_numbers_and_the_type_of_arrays():
    number, array = jnp.float32(0.1), jnp.arange(3)
    closed = jax.make_jaxpr(lambda x: number * x + array)(2.0)
    shown = texts(draw_graph(closed))
    assert {"data 0.1", "type i32[3]"} <= set(shown)
    assert "type f32[]" in texts(draw_graph(closed.jaxpr))  # it does not hold the values


def test_variables_of_a_jaxpr_can_be_named():
    closed = traced()
    names = {"z": closed.eqns[0].outvars[0], "weights": closed.jaxpr.invars[1]}
    shown = texts(draw_graph(closed, names=names))
    assert {"z", "weights", "x"} <= set(shown)
    assert "w" not in shown


def test_the_saved_values_of_a_pullback_are_constants():
    _, pullback = jax.vjp(lambda x: jnp.sin(x), jnp.ones(3))
    drawing = draw_graph(jax.make_jaxpr(pullback)(jnp.ones(3)))
    assert operations(drawing) == ["mul"]
    assert "1 input, 1 constant and 1 operation" in drawing.alt


def test_jaxprs_and_nodes_share_a_drawing():
    assert "2 inputs" in draw_graph([traced(), square()]).alt


def test_long_jaxprs_are_refused():
    def power(x):
        for _ in range(400):
            x = jnp.sin(x)
        return x

    with pytest.raises(ValueError, match="401 nodes"):
        draw_graph(jax.make_jaxpr(power)(1.0))


@pytest.mark.parametrize("draw", [draw_toposort, draw_gradient_flow])
def test_jaxprs_are_for_draw_graph(draw):
    with pytest.raises(TypeError, match=r"got ClosedJaxpr; draw_graph draws .*jaxprs"):
        draw(traced())


def test_a_jax_array_is_refused_with_a_hint():
    with pytest.raises(TypeError, match=r"no history: draw jax\.make_jaxpr"):
        draw_graph(jnp.ones(3))


# --- alt text -----------------------------------------------------------------------------------


def test_alt_text_tells_the_graph_before_and_after_backward():
    y = neuron()
    assert draw_graph(y).alt == (
        "Computational graph with 2 parameters, 1 input and 3 operations. Root: y = −0.1974 (tanh)."
        " Leaves: w = −1.0, x = 0.5, b = 0.3."
    )
    y.backward()
    assert "x = 0.5 (gradient −0.961)" in draw_graph(y).alt


def test_alt_text_of_a_sort():
    assert draw_toposort(SEVEN, "f").alt == (
        "Topological sort from f of a graph with 7 nodes: f, d, c, b, a, x. Left out: e."
    )


def test_alt_text_is_bounded():
    leaves = [Node(np.ones((2, 3)), "a rather long label " * 5 + str(i)) for i in range(50)]
    total = leaves[0]
    for leaf in leaves[1:]:
        total = total + leaf
    assert len(draw_graph(total).alt) <= 600


def test_alt_text_can_be_given():
    drawing = draw_graph(square(), alt='x "squared"')
    assert drawing.alt == 'x "squared"'
    assert ET.fromstring(drawing.svg()).get("aria-label") == 'x "squared"'


# --- a page -------------------------------------------------------------------------------------


def test_bundle_has_html_svg_and_text():
    bundle = draw_graph(square())._repr_mimebundle_()
    assert set(bundle) == {"text/html", "image/svg+xml", "text/plain"}
    svg = ET.fromstring(bundle["text/html"])[0]
    assert (svg.tag, svg.get("class"), svg.get("role")) == ("svg", "chaingrad", "img")
    assert svg.get("aria-label") == bundle["text/plain"]


def test_pdf_is_made_only_when_asked_for():
    bundle = draw_graph(square())._repr_mimebundle_(include={"application/pdf"})
    assert bundle["application/pdf"].startswith(b"%PDF")


def everything() -> list[Drawing]:
    y, e = neuron(), branches()
    y.backward()
    e.backward()
    return [
        draw_graph(y),
        draw_graph(y * 2, style="shapes"),
        draw_toposort(SEVEN, "f"),
        draw_gradient_flow(e),
    ]


def test_inline_colours_are_custom_properties_alone():
    for drawing in everything():
        for element in elements(drawing, theme=True):
            for attribute in ("fill", "stroke"):
                color = element.get(attribute, "none")
                assert re.fullmatch(r"none|transparent|var\(--cg-[a-z-]+,#[0-9a-f]{6}\)", color)
            if local(element) == "text":
                assert element.get("fill")  # else it would be black on a dark page


def test_plain_svg_needs_no_style_sheet():
    for drawing in everything():
        svg = drawing.svg(theme=False)
        assert "var(" not in svg
        assert "<style" not in svg
        assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"


def test_no_ids_so_drawings_share_a_page():
    page = "".join(drawing.svg() for drawing in everything())
    assert " id=" not in page
    assert "url(#" not in page


def test_style_touches_drawings_alone():
    style = next(e.text for e in elements(draw_graph(square()), theme=True) if e.tag == "style")
    selectors = re.findall(r"[^{};]+(?=\{)", style)
    assert all("svg.chaingrad" in s or s.startswith("@media") for s in selectors)
    assert 'html[data-theme="dark"] svg.chaingrad' in style
    assert 'body[data-jp-theme-light="false"] svg.chaingrad' in style
    assert "prefers-color-scheme:dark" in style


def test_nodes_have_tooltips_and_nothing_else_has():
    y = square()
    y.backward()
    titles = [e.text for e in elements(draw_graph(y), theme=True) if e.tag == "title"]
    assert titles == ["x, input: data 3.0, grad 6.0", "y, ×: data 9.0, grad 1.0"]


def test_small_drawings_keep_their_size_and_wide_ones_can_be_scrolled():
    small = draw_graph(square())
    root = ET.fromstring(small.svg())
    assert float(root.get("width")) == pytest.approx(float(root.get("viewBox").split()[2]), abs=0.5)
    assert "max-width:100%" in root.get("style")
    assert "tabindex" not in small._repr_mimebundle_()["text/html"]
    many = [sum((Node(1.0) for _ in range(8)), start=Node(0.0)) for _ in range(8)]
    assert 'tabindex="0"' in draw_graph(many)._repr_mimebundle_()["text/html"]


@each("direction", ["LR", "RL", "TB", "BT"])
def test_a_wide_drawing_is_there_for_a_phone_as_well(direction):
    root = Node(1.0)
    for _ in range(8):
        root = root.tanh()
    if direction in ("TB", "BT"):
        root = [Node(float(i), f"number {i}") * 2 for i in range(8)]
    drawing = draw_graph(root, direction=direction)
    html = drawing._repr_mimebundle_()["text/html"]
    wide, narrow = re.findall("<svg.*?</svg>", html)
    assert wide == drawing.svg()
    least = [int(re.search(r"min-width:(\d+)px", svg)[1]) for svg in (wide, narrow)]
    assert least[0] > 358 >= least[1]
    assert ("<style>" in wide, "<style>" in narrow) == (True, False)
    assert narrow.count("data-node") == wide.count("data-node")
    assert 'style="display:none"' in html.partition("</svg>")[2]  # where style sheets are stripped
    assert "tabindex" not in html
    assert " id=" not in html


def test_a_turned_drawing_turns_the_arrows_of_what_goes_back():
    y = Node(3.0, "← x")
    for _ in range(5):
        y = y * 2
    y.backward()
    html = draw_gradient_flow(y)._repr_mimebundle_()["text/html"]
    wide, narrow = (
        re.findall("<text[^>]*>([^<]*)", svg) for svg in re.findall("<svg.*?</svg>", html)
    )
    assert sum(text.startswith("←") for text in wide) == 6
    assert [text[0] for text in narrow if text[0] in "←↑"].count("↑") == 5
    assert "← x" in narrow
    assert turned("digraph { a -> b }") == "digraph { a -> b }"
    assert turned(turned(draw_gradient_flow(y).source)) == draw_gradient_flow(y).source


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_in_both_themes(theme):
    grounds = {
        "ink": ["paper", "node", "op", "leaf", "constant", "visited"],
        "muted": ["node", "leaf", "constant"],
        "local": ["paper"],
        "global": ["paper", "node", "leaf"],
        "excluded": ["paper"],
    }
    for text, behind in grounds.items():
        for ground in behind:
            assert contrast(COLORS[text][theme], COLORS[ground][theme]) >= 4.5, (text, ground)


def test_the_same_graph_gives_the_same_bytes():
    first, second = draw_graph(neuron()), draw_graph(neuron())
    assert first.source == second.source
    assert first.svg() == second.svg()


def test_fonts_of_the_machine_change_no_byte(tmp_path):
    config = tmp_path / "fonts.conf"
    config.write_text("<fontconfig></fontconfig>")
    code = (
        "from chaingrad import Node; from chainview import draw_graph; "
        "print(draw_graph(Node(0.123456, 'a long label') * 2).svg())"
    )
    one, other = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=env
        ).stdout
        for env in (dict(os.environ), {**os.environ, "FONTCONFIG_FILE": str(config)})
    )
    assert "a long label" in one
    assert one == other


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("dot", b"dig")]
)
def test_saves_by_suffix(tmp_path, suffix, start):
    path = draw_graph(square()).save(tmp_path / f"graph.{suffix}")
    assert path.read_bytes().startswith(start)


def test_refuses_to_save_as_anything_else(tmp_path):
    with pytest.raises(ValueError, match=r"'bmp': expected \.svg, \.pdf, \.png or \.dot"):
        draw_graph(square()).save(tmp_path / "graph.bmp")


def test_repr_is_short():
    assert repr(draw_graph(square())).startswith("<Drawing: Computational graph")


# --- errors -------------------------------------------------------------------------------------


def test_large_graphs_are_refused_with_a_hint():
    total = Node(1.0)
    for _ in range(300):
        total = total + 1
    with pytest.raises(ValueError, match=r"601 nodes, more than the 300 .* raise max_nodes"):
        draw_graph(total)
    with pytest.raises(ValueError, match="7 nodes"):
        draw_toposort(SEVEN, "f", max_nodes=6)


@pytest.mark.slow
def test_long_chains_are_refused_too():
    chain = Foreign(1.0)
    for _ in range(100_000):
        chain = Foreign(1.0, (chain,), "neg")
    with pytest.raises(ValueError, match="100,001 nodes"):
        draw_graph(chain)
    while chain.parents:  # take it apart again without recursion
        chain = chain.parents[0]


@each("draw", [draw_graph, draw_toposort, draw_gradient_flow])
@each("wrong", [3, "x", None, object()])
def test_wrong_types_are_named(draw, wrong):
    with pytest.raises(TypeError, match=f"{draw.__name__} expected .* got {type(wrong).__name__}"):
        draw(wrong)


def test_an_empty_list_is_refused():
    with pytest.raises(TypeError, match=r"got list: \[\]"):
        draw_graph([])


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="style was 'round'; expected 'box' or 'shapes'"):
        draw_graph(square(), style="round")
    with pytest.raises(ValueError, match="direction was 'up'; expected 'LR'"):
        draw_graph(square(), direction="up")


def test_unknown_names_are_refused():
    with pytest.raises(KeyError, match="'g' is not in the graph; it holds 'a', 'b'"):
        draw_toposort(SEVEN, "g")
    with pytest.raises(KeyError, match="'z' is not in the graph"):
        draw_toposort({"a": [], "b": ["z"]}, "a")
    with pytest.raises(TypeError, match="name of a root"):
        draw_toposort(SEVEN)
    with pytest.raises(ValueError, match="not a node of the graph"):
        draw_toposort(branches(), Node(1.0))


def test_cycles_are_named():
    with pytest.raises(CycleError, match="a depends on b depends on a"):
        draw_toposort({"a": ["b"], "b": ["a"]}, "a")
    x = Foreign(1.0, label="x")
    y = Foreign(1.0, (x,), "neg", "y")
    x.parents = (y,)
    with pytest.raises(CycleError, match="y depends on x depends on y"):
        draw_graph(y)


# --- Graphviz -----------------------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch):
    """Make an import fail, or hide ``dot`` from PATH."""
    real = builtins.__import__

    def hide(*names: str) -> None:
        def importing(name: str, *args: Any, **kwargs: Any) -> Any:
            if name in names:
                raise ImportError(name)
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", importing)
        if "dot" in names:
            monkeypatch.setattr(backends.shutil, "which", lambda program: None)

    return hide


def test_the_dot_program_is_preferred(monkeypatch, without):
    asked = []

    def pipe(engine: str, format: str, data: bytes, quiet: bool) -> bytes:
        asked.append((engine, format, data))
        return b'<svg viewBox="0 0 8 8"><g class="graph"/></svg>'

    without("pygraphviz")
    monkeypatch.setattr(backends.shutil, "which", lambda program: "/somewhere/dot")
    monkeypatch.setattr(graphviz, "pipe", pipe)
    drawing = draw_graph(square())
    drawing.svg()
    assert asked == [("dot", "svg", drawing.source.encode())]


def test_pygraphviz_lays_out_where_there_is_no_dot(without):
    without("dot", "graphviz")
    assert "data 9.0" in texts(draw_graph(square()))


def test_pygraphviz_lays_out_where_the_dot_program_has_no_package(monkeypatch, without):
    without("graphviz")
    monkeypatch.setattr(backends.shutil, "which", lambda program: "/somewhere/dot")
    assert "data 9.0" in texts(draw_graph(square()))


def test_no_graphviz_at_all_says_what_to_install(without):
    without("dot", "graphviz", "pygraphviz")
    drawing = draw_graph(square())
    assert drawing.source.startswith("digraph")
    with pytest.raises(GraphvizMissingError, match=r"chaingrad\[figures\]"):
        drawing.svg()


def test_one_layout_a_drawing(monkeypatch):
    calls = []
    real = backends._dot_library
    monkeypatch.setattr(backends, "_dot_library", lambda *a: calls.append(a) or real(*a))
    monkeypatch.setattr(backends.shutil, "which", lambda program: None)
    draw_graph(square())._repr_mimebundle_()
    assert len(calls) == 1


def test_the_librarys_font_warnings_stay_off_the_page(capfd):
    with backends._without_font_warnings():
        backends.os.write(2, b"Fontconfig warning: what is this?\nsomething that matters\n")
    assert capfd.readouterr().err == "something that matters\n"


def test_importing_draws_in_nothing_heavy():
    code = (
        "import sys, chainview; "
        "heavy = {'graphviz', 'pygraphviz', 'torch', 'jax', 'IPython', 'matplotlib'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
