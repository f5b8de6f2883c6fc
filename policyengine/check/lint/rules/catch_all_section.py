"""A section of a summary that asks for nothing in particular."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.lint.words import entries
from policyengine.kinds.summary_sections import CATCH_ALL


def check(context: Context) -> Iterator[Hit]:
    """Titles and names of sections against the bundle's word list of catch-alls."""
    refused = {
        entry.text.casefold()
        for document in context.of_kind("WordLists")
        for entry in entries(document)
        if entry.list == CATCH_ALL
    }
    for document in context.of_kind("SummarySections"):
        for name, section in document.data["spec"]["sections"].items():
            if section["title"].casefold().strip() in refused or name.replace("_", " ") in refused:
                place = document.place(("spec", "sections", name, "title"))
                message = f"the section `{name}` ({section['title']}) is a catch-all"
                yield Hit(place, message, "name what it has to hold, as a checklist that can be seen to be filled")


RULE = Rule(
    code="catch-all-section",
    title="A summary section asks for nothing in particular",
    why="""\
Nothing tells whether a section called "technical details" was filled, so that facts get lost in it over a few
compactions. A section is a checklist: it names what it holds.
""",
    bad="""\
sections:
  technical_details: {title: Technical details, ask: Anything that matters.}
""",
    good="""\
sections:
  error_messages: {title: Error messages, ask: "Each error as it was printed, and what resolved it."}
""",
    fixed=True,
    check=check,
)
