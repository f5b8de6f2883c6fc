"""The README and docs show what the commands beside it print."""

import pytest

from tests.printed import current, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_what_a_page_shows_is_what_its_commands_print(page):
    text = page.read_text(encoding="utf-8")
    assert current(text) == text, "run: python -m tests.printed --write"


def test_the_page_of_kinds_is_made_from_the_schemas():
    from tests import kind_pages

    assert kind_pages.PAGE.read_text(encoding="utf-8") == kind_pages.page(), "run: python -m tests.kind_pages --write"
