"""What pages define, for tests of what they say."""

import ast
import math
import re
from functools import cache
from typing import Any

import numpy as np
import torch

from chainlab.lessons.engine import Node, slopes
from tests.support import ROOT
from tools.execute import Page


def is_definition(part: ast.stmt) -> bool:
    """Whether this imports, or defines a function, a class or a method of one."""
    of_class = re.match(r"[A-Z]\w*\.__\w+__ = ", ast.unparse(part))
    kinds = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom
    return isinstance(part, kinds) or bool(of_class)


@cache
def defined(page: str) -> dict[str, Any]:
    """Return what the cells of a page import and define, without running the rest of them."""
    found: dict[str, Any] = {"Node": Node, "math": math, "np": np, "slopes": slopes, "torch": torch}
    for cell in Page(ROOT, ROOT / "chapters" / f"{page}.md").code:
        parts = [part for part in ast.parse(cell.source).body if is_definition(part)]
        exec(compile(ast.Module(parts, []), page, "exec"), found)
    return found
