"""What `diagnose` says of models that its makers did not write.

No sound model gets a symptom and no faulty one a symptom of another kind or at another place
(false findings), and no faulty model is called sound without a word on what was not examined
(false clean bills). Each row is a test of its own; a row that is wrong today says so in the
table, and its mark fails as soon as the row is right.
"""

import pytest

from tests.corpus.models import faulty_torch, in_jax, sound_torch  # noqa: F401
from tests.corpus.models.judge import ask, verdict
from tests.corpus.models.table import Model, daily


@pytest.mark.parametrize("model", daily(strict=True))
def test_no_false_finding_and_no_false_clean_bill(model: Model) -> None:
    said = ask(model)
    assert verdict(model, said) in ("right", "partly"), said.text
