"""Instances of an exercise, drawn for each student from the teacher's secret and the student's id.

The seed is made from both by a function that takes a tenth of a second for each secret to try: what
a student holds comes from the secret, and must not let anybody find a short one by trying words.
Ids that differ in case or leading zeros alone are one student's.
"""

import functools
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursework.names import id_key
from coursework.trusted import ProblemError, errors_named, run

BOOK = 0  # the seed of the instance that everybody sees on the page
ROUNDS = 300_000
TAG = 32  # hexadecimal digits


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


def student_seed(secret: str, student: str, label: str) -> int:
    """Return the seed of a student's instance of the exercise with this label."""
    key = json.dumps([_stretched_key(secret), id_key(student), label])
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big")


def instance_tag(secret: str, student: str, label: str, instance: Instance) -> str:
    """Return a keyed hash of a student's instance, which identifies the notebook later.

    Guessing the secret from the tag takes as long as guessing it from the instance itself.
    """
    key = hashlib.sha256(
        json.dumps([_stretched_key(secret), "tag of an instance"]).encode()
    ).digest()
    drawn = json.dumps([id_key(student), label, instance.own], sort_keys=True)
    return hmac.digest(key, drawn.encode(), "sha256").hex()[:TAG]


@functools.lru_cache(maxsize=64)
def _stretched_key(secret: str) -> str:
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), b"an instance", ROUNDS).hex()
