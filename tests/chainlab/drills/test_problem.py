"""A problem is settled by its name."""

import pytest

from chainlab.drills import problem


def test_there_is_no_such_problem():
    for arguments, message in {
        ("slopes", 1, 1): "expected one of local",
        ("chain", 4, 1): "levels 1 to 3",
        ("chain", 1, 0): "whole number from 1",
    }.items():
        with pytest.raises(ValueError, match=message):
            problem(*arguments)
