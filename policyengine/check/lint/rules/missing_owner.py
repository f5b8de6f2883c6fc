"""A document that nobody answers for."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """The metadata of each document, tests left out."""
    for document in context.documents:
        if "owner" not in document.data["metadata"]:
            name = document.data["metadata"]["name"]
            place = document.key_place(("metadata",))
            yield Hit(place, f"nobody owns `{name}`", "add owner: and the team that answers for it")


RULE = Rule(
    code="missing-owner",
    title="A document has no owner",
    why="""\
When a policy hurts users at night, somebody has to be found who may change it.
""",
    bad="""\
metadata: {name: routing, version: 1.0.0}
""",
    good="""\
metadata: {name: routing, version: 1.0.0, owner: platform-team}
""",
    severity=Severity.WARNING,
    check=check,
)
