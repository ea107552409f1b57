"""Leaves without a gradient in this run, to which other random numbers would send one."""

from collections.abc import Collection, Sequence

from chainview.frameworks.run import UNREAD, leaf_names
from chainview.frameworks.symptom import Symptom
from chainview.frameworks.watched import Watched

REASON = "no gradient in this run, by chance: other random numbers send one"


def left_to_chance(watched: Watched, zeros: Sequence[Symptom]) -> list[str]:
    """Name the leaves that were read by nothing, or sent zeros, only because of what was drawn.

    That's so in a layer that is skipped at random, as by LayerDrop or stochastic depth. To see it
    we run the function again under other seeds, if it draws random numbers at all.
    """
    unread = [missed.name for missed in watched.missed if missed.why == UNREAD]
    suspects = {value for symptom in zeros for value in symptom.values}
    still = [name for name, leaf in leaf_names(watched.leaves).items() if leaf in suspects]
    if watched.rerun is None or not unread + still:
        return []
    found = watched.rerun.reached_by_chance(unread + still)
    return [name for name in unread + still if name in found]


def without(
    watched: Watched, zeros: Sequence[Symptom], by_chance: Collection[str]
) -> list[Symptom]:
    """Leave out the findings of zeros all of whose leaves are left to chance."""
    names = {leaf: name for name, leaf in leaf_names(watched.leaves).items()}
    return [
        symptom
        for symptom in zeros
        if not all(names[value] in by_chance for value in symptom.values if value in names)
    ]
