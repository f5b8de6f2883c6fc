"""The README and docs show what the commands beside it print."""

import re

import pytest
import yaml

from policyengine.kinds.registry import KINDS
from tests.conftest import ROOT
from tests.printed import current, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_what_a_page_shows_is_what_its_commands_print(page):
    text = page.read_text(encoding="utf-8")
    assert current(text) == text, "run: python -m tests.printed --write"


def test_the_page_of_kinds_is_made_from_the_schemas():
    from tests import kind_pages

    assert kind_pages.PAGE.read_text(encoding="utf-8") == kind_pages.page(), "run: python -m tests.kind_pages --write"


def test_the_page_of_kinds_says_what_every_field_is():
    text = (ROOT / "docs" / "kinds.md").read_text(encoding="utf-8")
    rows = [row for row in re.findall(r"^\| `.*\|$", text, re.MULTILINE) if "[" not in row.split("|")[1]]
    assert len(rows) > 200
    assert [row for row in rows if not row.split(" | ")[-1].strip(" |")] == []
    assert [row.split("`")[1] for row in rows if "| any " in row] == ["value"]  # a converted setting may hold anything


def test_the_page_of_kinds_shows_an_example_of_each():
    text = (ROOT / "docs" / "kinds.md").read_text(encoding="utf-8")
    for kind in KINDS:
        part = text.partition(f"\n## {kind}\n")[2].partition("\n## ")[0]
        (example,) = re.findall(r"^```yaml\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
        assert yaml.safe_load(example)["spec"] is not None, kind
        assert len(example.splitlines()) < 30, kind


def test_what_the_pages_print_comes_from_one_session(tmp_path):
    page = "```console\n$ echo hello > said\n$ cat said\n```\n"
    assert current(page) == "```console\n$ echo hello > said\n$ cat said\nhello\n```\n"
    assert not (ROOT / "said").exists()
