"""What `diagnose` says of models that its makers did not write.

No sound model gets a symptom. A faulty one gets the symptom of its row at one of the row's places,
and no other kind; and plain PyTorch or JAX shows that fault.
"""

import pytest

from tests.corpus.models import in_jax, in_torch
from tests.corpus.models.table import findings, shows
from tests.support import sampled

FAULTY = {
    **in_torch.FAULTY,
    **{f"jax: {name}": row for name, row in in_jax.FAULTY.items()},
}
SOUND = {**in_torch.SOUND, **{f"jax: {name}": row for name, row in in_jax.SOUND.items()}}
DAILY = ("features detached", "attention row masked and not read", "jax: where after a root")


@pytest.mark.parametrize("name", sampled(list(FAULTY), *DAILY))
def test_a_fault_is_named_at_its_place_and_is_one(name: str) -> None:
    row = FAULTY[name]
    assert shows(row)
    said = findings(row.build())
    assert {kind for kind, _ in said} - {row.also} == {row.kind}
    for kind, place in said:
        assert kind == row.also or any(word in place for word in row.where), place


@pytest.mark.parametrize(
    "name", sampled(list(SOUND), "experts that aren't run", "numbers read with item")
)
def test_a_sound_model_has_no_symptom(name: str) -> None:
    assert findings(SOUND[name].build()) == []
