"""Problems to practise on, drawn and judged by the engine; see `problem` and `drill`.

`random_graph`, `random_fault` and `random_layer` draw a problem for each student of a class.
"""

from chainlab.drills.draw.random_fault import backward_source, random_fault
from chainlab.drills.draw.random_graph import random_graph
from chainlab.drills.draw.random_layer import random_layer
from chainlab.drills.kinds.kind import Problem
from chainlab.drills.page.drill import Drill, drill
from chainlab.drills.problem import KINDS, problem

__all__ = [
    "KINDS", "Drill", "Problem", "backward_source", "drill", "problem", "random_fault",
    "random_graph", "random_layer",
]  # fmt: skip
