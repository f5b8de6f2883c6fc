"""A policy or a rule that a test names and the bundle does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policyengine.check.lint.context import Context, worst
from policyengine.check.lint.rule import Hit, Rule
from policyengine.kinds.bundle import WORD_LISTS
from policyengine.source.document import Document
from policyengine.source.nearest import did_you_mean

Path = tuple[str | int, ...]

_RULE = "rule"
_NO_RULE = ("default", "on_error")
"""What a test writes where no rule decides, as in `check.policy_tests.model`, which is slow to import."""


def check(context: Context) -> Iterator[Hit]:
    """Every name in the Tests documents of a bundle in which nothing is broken: else a policy may only seem missing."""
    if context.bundle is None or worst(context.findings):
        return
    known: dict[str, tuple[str, ...] | None] = {
        document.data["metadata"]["name"]: None for document in context.of_kind(WORD_LISTS)
    }
    for name, policy in {**context.bundle.inherited, **context.bundle.policies}.items():
        known[name] = (*(rule.id for rule in policy.table.rules), *_NO_RULE)
    for document in context.tests:
        for one in _named(document.data["spec"]):
            yield from _unknown(document, one, known)


@dataclass(frozen=True, slots=True)
class _Name:
    """A policy, or a rule of it, that is named at a path."""

    policy: str
    at: Path
    rule: str | None = None


def _unknown(document: Document, one: _Name, known: Mapping[str, tuple[str, ...] | None]) -> Iterator[Hit]:
    if one.policy not in known:
        if one.rule is None:
            hint = did_you_mean(one.policy, known) or f"it has: {', '.join(known)}"
            yield Hit(document.place(one.at), f"the bundle has no policy `{one.policy}`", hint)
        return
    rules = known[one.policy]
    if one.rule is not None and rules is not None and one.rule not in rules:
        hint = did_you_mean(one.rule, rules) or f"it has: {', '.join(rules)}"
        yield Hit(document.place(one.at), f"`{one.policy}` has no rule `{one.rule}`", hint)


def _named(spec: Mapping[str, Any]) -> Iterator[_Name]:
    whole = spec.get("policy")
    if whole is not None:
        yield _Name(whole, ("spec", "policy"))
    for index, case in enumerate(spec["cases"]):
        yield from _in_case(case, ("spec", "cases", index), whole, "variant" in spec)
    for index, one in enumerate(spec.get("explained_mutants", ())):
        if "policy" in one:
            yield _Name(one["policy"], ("spec", "explained_mutants", index, "policy"))


def _in_case(case: Mapping[str, Any], at: Path, whole: str | None, varied: bool) -> Iterator[_Name]:
    policy = case.get("policy", whole)
    if "policy" in case:
        yield _Name(policy, (*at, "policy"))
    # A variant may have rules of its own.
    own = None if varied or "variant" in case else policy
    yield from _rules(own, case.get(_RULE), (*at, _RULE))
    columns = case.get("columns", ())
    for number in (number for number, column in enumerate(columns) if column == _RULE):
        for index, row in enumerate(case.get("rows", ())):
            if len(row) == len(columns):
                yield from _rules(own, row[number], (*at, "rows", index, number))
    for index, step in enumerate(case.get("steps", ())):
        here = (*at, "steps", index)
        if "policy" in step:
            yield _Name(step["policy"], (*here, "policy"))
        decides = step.get("policy", policy)
        yield from _rules(own if decides == policy else decides, step.get(_RULE), (*here, _RULE))


def _rules(policy: str | None, written: Any, at: Path) -> Iterator[_Name]:
    if policy is None:
        return
    if isinstance(written, str):
        yield _Name(policy, at, written)
    elif isinstance(written, list):
        yield from (_Name(policy, (*at, n), one) for n, one in enumerate(written) if isinstance(one, str))


RULE = Rule(
    code="unknown-in-test",
    title="A test names a policy or a rule that is not there",
    why="""\
A rule that was renamed leaves tests behind that expect the old name. `policyengine test` refuses them; lint says so
where the file is edited.
""",
    bad="""\
policy: retry
cases:
  - {name: a full server, input: {...}, rule: servr}
""",
    good="""\
policy: retry
cases:
  - {name: a full server, input: {...}, rule: server}
""",
    check=check,
)
