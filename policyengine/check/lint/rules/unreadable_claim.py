"""A claim that `policyengine verify` cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policyengine.cel import compile_expression
from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.check.proofs.claims import names_in_claims
from policyengine.source.finding import Severity
from policyengine.source.nearest import did_you_mean

if TYPE_CHECKING:
    from policyengine.kinds.policy import Policy

_LADDER_FORMS = ("nondecreasing", "continuous")
_EXPRESSIONS: tuple[tuple[str, ...], ...] = (("assert",), ("domain",), ("accepted", "domain"))


def check(context: Context) -> Iterator[Hit]:
    """The expressions of every claim, over what the policy's own expressions see and what it decided."""
    for policy in context.policies.values():
        if policy.spec.get("properties"):
            yield from _of(policy)


def _of(policy: Policy) -> Iterator[Hit]:
    ladder = policy.kind.name == "Ladder"
    environment = policy.compiled.programs.environment
    if not ladder:
        environment = environment.with_variables(names_in_claims(policy))
    for index, claim in enumerate(policy.spec["properties"]):
        for keys in _EXPRESSIONS:
            path: tuple[str | int, ...] = ("spec", "properties", index, *keys)
            text: Any = claim
            for key in keys:
                text = text.get(key, {})
            if not isinstance(text, str):
                continue
            program = compile_expression(text, environment)
            for issue in program.issues:
                if issue.severity is Severity.ERROR:
                    place = policy.document.place_in(path, issue.offset, max(issue.length, 1))
                    yield Hit(place, issue.message, issue.hint)
            if program.ok and program.type.kind not in ("bool", "dyn"):
                message = f"a claim must be bool, this is {program.type}"
                yield Hit(policy.document.place(path), message, "say what holds, for example `tokens >= 0`")
        for form in _LADDER_FORMS:
            if form not in claim:
                continue
            place = policy.document.place(("spec", "properties", index, form))
            names = {**policy.table.derived, **policy.table.constants}
            if not ladder:
                yield Hit(place, f"`{form}` is for ladders", "state it with `assert`")
            elif claim[form] not in names:
                message = f"there is no threshold, derived value or constant `{claim[form]}`"
                yield Hit(place, message, did_you_mean(claim[form], names))


RULE = Rule(
    code="unreadable-claim",
    title="A claim cannot be read",
    why="""\
Nobody proves it: `policyengine verify` refutes such a claim, and a pipeline that does not run it holds it for true.
""",
    bad="""\
properties:
  - id: small-ones
    assert: tokns < auto || outcome.result == "one"
""",
    good="""\
properties:
  - id: small-ones
    assert: tokens < auto || outcome.result == "one"
""",
    check=check,
)
