"""A word list entry with upper case letters, which never matches."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.edits import replace_scalar
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.words import entries
from policyengine.source.finding import Fix


def check(context: Context) -> Iterator[Hit]:
    """Each entry of each list."""
    for document in context.of_kind("WordLists"):
        for entry in entries(document):
            lower = entry.text.lower()
            if lower != entry.text:
                edit = replace_scalar(document, entry.path, lower)
                # From never matching to matching: decisions change, if to what was meant.
                fix = Fix(f"write `{lower}`", (edit,), safe=False) if edit else None
                message = f"`{entry.text}` never matches: text is lower-cased before it is searched"
                yield Hit(document.place(entry.path), message, f"write `{lower}`", fix)


RULE = Rule(
    code="word-case",
    title="A word list entry has upper case letters",
    why="""\
Text is lower-cased before word lists are searched in it, so that an entry with an upper case letter never matches.
""",
    bad="""\
latin: [fix, Add]
""",
    good="""\
latin: [fix, add]
""",
    fixable=True,
    check=check,
)
