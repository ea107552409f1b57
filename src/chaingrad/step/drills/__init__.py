"""Problems to practise on, drawn and judged by the engine; see `problem` and `drill`."""

from chaingrad.step.drills.drill import Drill, drill
from chaingrad.step.drills.kinds import KINDS
from chaingrad.step.drills.problem import Problem, problem

__all__ = ["KINDS", "Drill", "Problem", "drill", "problem"]
