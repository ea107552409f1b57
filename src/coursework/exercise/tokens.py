"""Signed tokens: what a released notebook, or a sheet of paper, says of itself when it comes back.

A token names the assignment, the attempt, the student (where the problems were drawn for one) and,
by a keyed hash, what was asked. All of it can be read; the signature, an HMAC by a key that is
derived from the teacher's secret, can only be made with the secret. A notebook carries its token in
its first cell, too, so that it survives a program that drops the metadata or saves another format.
"""

import hmac
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from coursework.exercise.drawing import derived
from coursework.ids import id_key

PREFIX = "coursework-token"
TEXT = re.compile(rf"{PREFIX}:[\w.%@+~:-]*", re.ASCII)
INSTANCE, SIGNATURE, KEY = 16, 32, 8  # hexadecimal digits
WHOLE = re.compile(
    rf"{PREFIX}:(?P<key>[0-9a-f]{{{KEY}}}):(?P<assignment>[\w-]+):(?P<attempt>[1-9]\d{{0,5}})"
    rf":(?P<student>[\w.%@+~-]*):(?P<instance>[0-9a-f]{{{INSTANCE}}})"
    rf":(?P<signature>[0-9a-f]{{{SIGNATURE}}})",
    re.ASCII,
)
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O and U, which are misread
CODE = 8


class TokenError(ValueError):
    """A token cannot be trusted; says why."""


class ForeignTokenError(TokenError):
    """A token was signed with another secret."""


@dataclass(frozen=True)
class Token:
    """What a notebook or a sheet is; `student` is "" where everybody gets the same."""

    assignment: str
    attempt: int
    student: str
    instance: str

    def signed(self, secret: str) -> str:
        """Return the token as it stands in a notebook."""
        student = quote(self.student, safe="@+")
        fields = (self.assignment, self.attempt, student, self.instance, self._signature(secret))
        return ":".join(map(str, (PREFIX, _key_name(secret), *fields)))

    def code(self, secret: str) -> str:
        """Return a short signature to print on paper and to type: two groups of four characters."""
        number = int(self._signature(secret), 16)
        signs = "".join(LETTERS[number >> 5 * k & 31] for k in range(CODE))
        return f"{signs[:4]}-{signs[4:]}"

    def _signature(self, secret: str) -> str:
        fields = (self.assignment, self.attempt, id_key(self.student), self.instance)
        return derived(secret, "token", *fields).hex()[:SIGNATURE]


def find_tokens(text: str) -> list[str]:
    """Return all that begins like a token in a text, whole or not, each once.

    >>> find_tokens("`coursework-token:1:a` and coursework-token:1:a")
    ['coursework-token:1:a']
    """
    return list(dict.fromkeys(TEXT.findall(text)))


def verified(text: str, secret: str) -> Token:
    """Return the token if it was signed with the secret; raise `TokenError` otherwise."""
    found = WHOLE.fullmatch(text)
    if found is None:
        raise TokenError("the token is cut or altered")
    student = unquote(found["student"])
    token = Token(found["assignment"], int(found["attempt"]), student, found["instance"])
    if found["key"] != _key_name(secret):
        raise ForeignTokenError("the token was signed with another secret")
    if not hmac.compare_digest(found["signature"], token._signature(secret)):
        raise TokenError("the token was altered")
    return token


def _key_name(secret: str) -> str:
    """Return what tells secrets apart, and nothing else of them."""
    return derived(secret, "name of the key").hex()[:KEY]
