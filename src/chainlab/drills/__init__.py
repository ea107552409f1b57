"""Problems to practise on, drawn and judged by the engine; see `problem` and `drill`."""

from chainlab.drills.drill import Drill, drill
from chainlab.drills.kinds import KINDS
from chainlab.drills.problem import Problem, problem

__all__ = ["KINDS", "Drill", "Problem", "drill", "problem"]
