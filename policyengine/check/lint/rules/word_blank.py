"""A word list entry of nothing but white space."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.edits import remove_item
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.words import entries
from policyengine.source.finding import Fix


def check(context: Context) -> Iterator[Hit]:
    """Each entry of each list."""
    for document in context.of_kind("WordLists"):
        for entry in entries(document):
            if not entry.text.strip():
                edit = remove_item(document, entry.path)
                fix = Fix("remove it", (edit,), safe=False) if edit else None
                message = "a blank entry matches every text with such white space"
                yield Hit(document.place(entry.path), message, "remove it", fix)


RULE = Rule(
    code="word-blank",
    title="A word list entry is blank",
    why="""\
An entry of one space is found in nearly every text, so that the list matches whatever a person writes.
""",
    bad="""\
latin: [fix, " "]
""",
    good="""\
latin: [fix]
""",
    fixable=True,
    check=check,
)
