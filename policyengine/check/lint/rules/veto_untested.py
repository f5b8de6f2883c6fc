"""A veto that no test expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policyengine.check.lint.context import Context, walk
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.finding import Severity

_EXPECTING = {"rule", "expect", "rows"}
"""Keys of a test below which stands what it expects."""


def check(context: Context) -> Iterator[Hit]:
    """Each veto against the Tests documents that are about its policy."""
    if context.unread:
        return  # what expects the veto may be there
    for document in context.of_kind("Routing"):
        name = document.data["metadata"]["name"]
        about = [test for test in context.tests if name in _tested(test.data)]
        named = {
            value
            for test in about
            for path, value in walk(test.data)
            if isinstance(value, str) and not _EXPECTING.isdisjoint(path)
        }
        for index, veto in enumerate(document.data["spec"]["vetoes"]):
            if veto["id"] not in named:
                place = document.place(("spec", "vetoes", index, "id"))
                hint = f"add a case with `rule: {veto['id']}` to a Tests document beside the policy"
                yield Hit(place, f"no test expects the veto `{veto['id']}`", hint)


def _tested(test: Any) -> set[Any]:
    """The policies that a Tests document, which need not fit its schema, is about."""
    spec = test.get("spec")
    cases = spec.get("cases") if isinstance(spec, dict) else None
    parts = [spec, *(cases if isinstance(cases, list) else ())]
    named = (part.get("policy") for part in parts if isinstance(part, dict))
    return {name for name in named if isinstance(name, str)}


RULE = Rule(
    code="veto-untested",
    title="A veto has no test",
    why="""\
A veto keeps a doubtful continuation on the primary model. One that no test expects can be broken by the next edit
without anybody noticing until users do.
""",
    bad="""\
vetoes:
  - {id: compact_or_clear, when: compacted_or_cleared}   # in no Tests document
""",
    good="""\
kind: Tests
spec:
  policy: routing
  cases:
    - {name: first round after a compaction, input: {...}, rule: compact_or_clear}
""",
    severity=Severity.WARNING,
    check=check,
)
