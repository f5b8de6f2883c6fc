"""Every case of the specification's suite, with no list of exceptions."""

from __future__ import annotations

import pytest

from tests.cel import suite

CASES = suite.cases()


@pytest.mark.skipif(not CASES, reason=suite.MISSING)
def test_the_whole_suite_is_there():
    assert len(CASES) >= 900


@pytest.mark.parametrize("case", CASES, ids=suite.name_of)
def test_case(case):
    assert suite.complaint(case) is None
