"""All that the doctor tries, in the order in which it does."""

from chainlab.doctor.array_probes import ARRAYS
from chainlab.doctor.interface import INTERFACE
from chainlab.doctor.learning import LEARNING
from chainlab.doctor.number_probes import NUMBERS
from chainlab.doctor.others import OTHERS
from chainlab.doctor.probe import Probe

PROBES: list[Probe] = sorted(
    [*INTERFACE, *NUMBERS, *ARRAYS, *OTHERS, *LEARNING], key=lambda probe: probe.milestone
)
MILESTONES = {
    1: "numbers, + and *",
    2: "values used twice, and the order",
    3: "once more, and clearing",
    4: "more rules, and constants",
    5: "arrays",
    6: "a net that learns",
}


def probes_up_to(milestone: int | None) -> list[Probe]:
    """Return the probes up to a milestone; without one, all probes except the net's.

    Raises:
        ValueError: there is no such milestone.
    """
    if milestone is not None and milestone not in MILESTONES:
        raise ValueError(f"milestones are numbered from 1 to {len(MILESTONES)}; got {milestone!r}")
    last = 5 if milestone is None else milestone
    return [probe for probe in PROBES if probe.milestone <= last]
