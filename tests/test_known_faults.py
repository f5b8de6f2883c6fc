"""Every known fault that other agents had, a row of ../shared/cases, is named by the test that keeps it."""

import re

import pytest

from tests.conftest import ROOT

KEPT_IN = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("tests/**/*.yaml"), *ROOT.glob("policies/**/*.test.yaml")]


@pytest.mark.parametrize("name", ["compaction", "runtime"])
def test_every_row_is_named_by_a_test(shared, name):
    rows = re.findall(r"^\| ([A-Z]\d+) \|", shared(f"cases/{name}.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 20
    text = "\n".join(path.read_text(encoding="utf-8") for path in KEPT_IN)
    # In a name (`test_c28_r27_...`), a text or a docstring; a range (`C30 to C32`) names its ends.
    named = {found.upper() for found in re.findall(r"(?<![A-Za-z0-9])([CRcr]\d{1,2})(?![A-Za-z0-9])", text)}
    assert [row for row in rows if row not in named] == []
