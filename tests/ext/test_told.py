"""What told pages say, held to what their cells show."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from about.told import unchecked_formulas


@pytest.mark.parametrize(
    ("tex", "attributes", "is_told"),
    [
        (r"\bar x = \partial y", {"label": "eq-x"}, True),
        (r"\nabla f", {"label": "eq-x"}, True),
        (r"\barwedge = 1", {"label": "eq-x"}, False),
        (r"\bar x", {}, False),
        (r"\bar x", {"label": "eq-x", "checked_by": "check-eq-x"}, False),
        (r"\bar x", {"label": "8e2f", "classes": ["amsmath"]}, False),
    ],
)
def test_a_formula_with_a_gradient_has_a_check(
    tex: str, attributes: dict[str, str], is_told: bool
) -> None:
    document = new_document("page")
    document += nodes.math_block("", tex, **attributes)
    assert bool([*unchecked_formulas(document)]) == is_told
