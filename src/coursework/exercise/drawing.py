"""What is drawn from the teacher's secret: students' instances of an exercise, checks, sheets.

The secret is stretched once, by a function that takes a tenth of a second, and all else is derived
from the stretched key under labels that differ. So whatever a student holds of it, trying words as
the secret is as slow as on anything else, and what is derived for one purpose says nothing of
another. Ids that differ in case or leading zeros alone are one student's.
"""

import functools
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursework.exercise.trusted import ProblemError, errors_named, run
from coursework.ids import id_key

BOOK = 0  # the seed of the instance that everybody sees on the page
ROUNDS = 300_000


@dataclass(frozen=True)
class Instance:
    """What one student is asked."""

    own: Mapping[str, Any] = field(default_factory=dict)  # all that was drawn
    given: str = ""  # code that the student has, and sees, before the answer
    start: str = ""  # what the answer begins with; "" for the answer without its bodies


def draw_instance(source: str, seed: int) -> Instance:
    """Return the instance that the source's `draw(rng)` makes; raise `ProblemError` if it fails."""
    with errors_named("draw(rng)"):
        own = json.loads(_instance_json(source, seed))
    if not (isinstance(own, dict) and isinstance(own.get("given"), str)):
        raise ProblemError("draw(rng) must return a dict whose 'given' is code for the student")
    return Instance(own, own["given"], own.get("start", ""))


@functools.lru_cache(maxsize=4096)  # grading needs each student's instance several times
def _instance_json(source: str, seed: int) -> str:
    return json.dumps(run(source)["draw"](np.random.default_rng(seed)))


def derived(secret: str | int, *label: str | int) -> bytes:
    """Derive 32 bytes from the secret for a label; without the secret they say nothing of it.

    A number in place of the secret stands for draws that anybody may repeat. It isn't stretched.
    """
    key = _stretched(secret) if isinstance(secret, str) else str(secret).encode()
    return hmac.digest(key, json.dumps(label).encode(), "sha256")


def derived_seed(secret: str | int, *label: str | int) -> int:
    """Derive the seed of a random generator for a label."""
    return int.from_bytes(derived(secret, "seed", *label)[:16], "big")


def student_seed(secret: str | int, student: str, label: str, attempt: int = 1) -> int:
    """Return the seed of a student's instance of the exercise with this label."""
    return derived_seed(secret, "instance", id_key(student), label, attempt)


@functools.lru_cache(maxsize=64)
def _stretched(secret: str) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), b"coursework", ROUNDS)
