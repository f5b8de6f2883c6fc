"""A word list entry that never decides, because another of the same list is inside it."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.edits import remove_item
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.words import Entry, entries, implied_by
from policyengine.source.finding import Fix, Severity


def check(context: Context) -> Iterator[Hit]:
    """Each entry against the others of its list. A list that no expression searches for may be used otherwise."""
    for document in context.of_kind("WordLists"):
        lists: dict[str, list[Entry]] = {}
        for entry in entries(document):
            if entry.list in context.searched_words and entry.text.strip():
                lists.setdefault(entry.list, []).append(entry)
        for listed in lists.values():
            for entry, shorter in implied_by(listed):
                message = (
                    f"`{entry.text}` is listed twice"
                    if entry.text == shorter
                    else f"`{entry.text}` never decides: every text with it holds `{shorter}` too"
                )
                edit = remove_item(document, entry.path)
                fix = Fix(f"remove `{entry.text}`", (edit,), safe=True) if edit else None
                yield Hit(document.place(entry.path), message, "remove it", fix)


RULE = Rule(
    code="word-redundant",
    title="A word list entry never decides",
    why="""\
Where a list holds `deploy`, the entry `deploy this` finds nothing more. It makes the list look as if the longer
phrase were needed, and hides that the short word already counts.
""",
    bad="""\
latin: [deploy, deploy this]
""",
    good="""\
latin: [deploy]
""",
    severity=Severity.WARNING,
    fixable=True,
    check=check,
)
