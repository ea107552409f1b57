"""The engine doctor: examine an autograd engine for the bugs of the museum, and their relatives.

For engines of numbers or arrays with the interface of micrograd :cite:`karpathy2020`:
``Value(3.0)``, its operators, ``data``, ``grad`` and ``backward()``. Others need an `Adapter` of a
few lines. On the command line: ``python -m chainlab.doctor my_engine.py:Value``.

>>> from chaingrad import Node
>>> from chainlab.doctor import examine
>>> examine(Node).findings
[]
"""

from chainlab.doctor.examination import Adapter, Functional, examine
from chainlab.doctor.probe import Probe
from chainlab.doctor.probes import MILESTONES, PROBES
from chainlab.doctor.report import Finding, Outcome, Report

__all__ = [
    "MILESTONES", "PROBES", "Adapter", "Finding", "Functional", "Outcome", "Probe", "Report",
    "examine",
]  # fmt: skip
