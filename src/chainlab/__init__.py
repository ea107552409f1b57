"""What asks and judges: problems to practise on, a workbench, and the engine doctor.

`drill` draws a problem, judges what you write into it, and names your mistake. `problem` is the
same as data: its numbers, its boxes, and what each mistake comes to. `chainlab.doctor` has
``examine``, which runs an engine that you wrote and names its bugs. The page *Workbench* of the
course asks ``chainlab.workbench`` for its views.
"""

from chainlab.doctor import examine
from chainlab.drills import KINDS, Drill, Problem, drill, problem

__all__ = ["KINDS", "Drill", "Problem", "drill", "examine", "problem"]
