"""Problems to practise on, drawn and judged by the engine; see `problem` and `drill`."""

from chainlab.drills.drill import Drill, drill
from chainlab.drills.kind import Problem
from chainlab.drills.kinds import KINDS
from chainlab.drills.problem import problem

__all__ = ["KINDS", "Drill", "Problem", "drill", "problem"]
