"""The engine doctor: examine an autograd engine for the bugs of the museum, and their relatives.

For engines of numbers with the interface of micrograd :cite:`karpathy2020`: ``Value(3.0)``, its
operators, ``data``, ``grad`` and ``backward()``. Others need an `Adapter` of a few lines. On the
command line: ``python -m chaingrad.doctor my_engine.py:Value``.

>>> from chaingrad import Node
>>> from chaingrad.doctor import examine
>>> examine(Node).findings
[]
"""

from chaingrad.doctor.examination import Adapter, examine
from chaingrad.doctor.probes import PROBES, Probe
from chaingrad.doctor.report import Finding, Outcome, Report

__all__ = ["PROBES", "Adapter", "Finding", "Outcome", "Probe", "Report", "examine"]
