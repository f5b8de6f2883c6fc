"""A policy that is in use though it says that it should not be."""

from __future__ import annotations

from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity


def check(context: Context) -> Iterator[Hit]:
    """Policies that serve for their kind; one that merely lies beside another is no fault."""
    for policy in context.policies.values():
        reason = policy.document.data["metadata"].get("deprecated")
        serving = context.serving(policy.kind.name)
        if reason is not None and (serving is policy or policy.kind.several):
            place = policy.document.place(("metadata", "deprecated"))
            yield Hit(place, f"`{policy.name}` is in use and deprecated", reason)


RULE = Rule(
    code="deprecated-policy",
    title="A deprecated policy is in use",
    why="""\
`metadata.deprecated` says why a policy should no longer be used, and what to use. As long as it serves, nobody has
followed that advice.
""",
    bad="""\
kind: Breaker
metadata: {name: breaker, version: 1.0.0, deprecated: use breaker-v2}   # and it is the only breaker
""",
    good="""\
kind: Bundle
spec: {use: {Breaker: breaker-v2}}
""",
    severity=Severity.WARNING,
    check=check,
)
