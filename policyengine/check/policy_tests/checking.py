"""Whether the cases of a test document are about something: every name in them is one of the bundle's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from policyengine.check.policy_tests import subjects
from policyengine.check.policy_tests.findings import CODE, Findings
from policyengine.check.policy_tests.inputs import CLOCK, applied, build
from policyengine.check.policy_tests.model import DEFAULT, ON_ERROR, TestCase, TestDocument, TestStep
from policyengine.check.policy_tests.recordings import Recordings
from policyengine.check.policy_tests.subjects import Subjects
from policyengine.kinds.policy import Policy
from policyengine.kinds.spec import SpecError
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import validate, validate_input


def check(tests: TestDocument, bundle: Subjects, recordings: Recordings) -> tuple[list[TestCase], list[Finding]]:
    """The cases that can be run, and what is wrong with the others."""
    checker = _Checker(tests, bundle, recordings)
    whole = Findings(tests.document)
    usable = []
    for case in tests.cases:
        found = checker.case(case)
        whole.add_all(found)
        if not found:
            usable.append(case)
    whole.add_all(checker.explained())
    return usable, whole.found


class _Checker:
    def __init__(self, tests: TestDocument, bundle: Subjects, recordings: Recordings) -> None:
        self.tests = tests
        self.document = tests.document
        self.bundle = bundle
        self.recordings = recordings
        self.findings = Findings(tests.document)
        self.folder = Path(tests.file).parent
        self._schemas: dict[str, Mapping[str, Any]] = {}

    def case(self, case: TestCase) -> list[Finding]:
        """What is wrong with a case, also where it was said of another one; without any it can be run."""
        self.findings = Findings(self.document)
        known = [self._known(name, case) for name in sorted(case.policies | {case.policy})]
        if all(known):
            policies = self._policies(case)
            if policies is not None:
                for step in case.steps:
                    self._step(step, policies[step.policy])
                self._trace(case, policies.values())
        return self.findings.found

    def explained(self) -> list[Finding]:
        """Mutants of policies that are not there."""
        self.findings = Findings(self.document)
        for one in self.tests.explained:
            if one.policy and one.policy not in self.bundle:
                self._unknown_policy(one.policy, (*one.at, "policy"))
        return self.findings.found

    def _known(self, name: str, case: TestCase) -> bool:
        if name in self.bundle:
            return True
        for step in case.steps:
            if step.policy == name and self.document.value((*step.at, "policy")) == name:
                self._unknown_policy(name, (*step.at, "policy"))
                return False
        own = (*case.at[:3], "policy")
        self._unknown_policy(name, own if self.document.value(own) == name else ("spec", "policy"))
        return False

    def _unknown_policy(self, name: str, at: tuple[str | int, ...]) -> None:
        names = self.bundle.names
        hint = did_you_mean(name, names) or f"it has: {', '.join(names)}"
        self.findings.at(at, f"the bundle has no policy `{name}`", hint)

    def _policies(self, case: TestCase) -> dict[str, Policy] | None:
        found = {}
        for name in sorted(case.policies):
            replaced = (case.constants, case.variant) if name == case.policy else ({}, {})
            try:
                found[name] = self.bundle.policy(name, *replaced)
            except SpecError as error:
                self._not_replaceable(case, name, error)
                return None
        return found

    def _not_replaceable(self, case: TestCase, name: str, error: SpecError) -> None:
        own = self.bundle.policy(name).constants
        for at in (case.at[:3], ("spec",)):
            for key in case.constants:
                if key not in own and self.document.value((*at, "constants", key)) is not None:
                    hint = did_you_mean(key, own) or (f"it has: {', '.join(own)}" if own else "it has none")
                    message = f"the policy `{name}` has no constant `{key}`"
                    self.findings.at_key((*at, "constants", key), message, hint)
                    return
        for at in (case.at[:3], ("spec",)):
            for wanted in ("variant", "constants"):
                if self.document.value((*at, wanted)) is not None:
                    self.findings.at((*at, wanted), f"`{name}` cannot be built so: {error}", error.hint)
                    return
        self.findings.at(case.at, f"`{name}` cannot be built: {error}", error.hint)

    # Steps

    def _step(self, step: TestStep, policy: Policy) -> None:
        self._expected(step, policy)
        self._rules(step, policy)
        recording = partial(self.recordings.input, folder=self.folder)
        properties = policy.input_schema.get("properties", {})
        try:
            given = build(step, properties, recording)
        except InputError as error:
            self._cannot_build(step, error)
            return
        if not step.expected.errors and validate_input(given, policy.input_schema):
            self._misfit(step, policy, dict(recording(step) if step.start.recorded else step.start.value), given)

    def _cannot_build(self, step: TestStep, error: InputError) -> None:
        if step.start.recorded is not None:
            try:
                self.recordings.input(step, self.folder)
            except InputError as reason:
                key = "round" if "round" in str(reason) else "session"
                self.findings.at((*step.start.recorded.at, key), str(reason))
                return
        for setting in (*step.settings, *step.unset):
            if repr(setting.field) in str(error):
                self.findings.at_key(setting.at, str(error))
                return
        self.findings.at(step.at, str(error))

    def _misfit(self, step: TestStep, policy: Policy, given: dict[str, Any], whole: dict[str, Any]) -> None:
        """Say what does not fit the input schema where it was written: in the base, or where a field is set."""
        schema = policy.input_schema
        blame: dict[str, tuple[str | int, ...]] = {}
        seen = set(validate_input(given, schema))
        for setting in step.settings:
            given = applied(given, setting)
            now = validate_input(given, schema)
            for message in now:
                if message not in seen:
                    blame[message] = setting.at
            seen = set(now)
        whole_start = step.start.recorded is None and self.document.value(step.start.at) is step.start.value
        in_start = validate(step.start.value, schema, self.document, step.start.at) if whole_start else []
        for message in validate_input(whole, schema):
            if message in blame:
                self.findings.at(blame[message], f"the input does not fit `{policy.name}`: {message}")
                continue
            placed = [one for one in in_start if _named(one.message).endswith(_named(message))]
            for one in placed:
                said = f"the input does not fit `{policy.name}`: {message.removesuffix(f' ({one.hint})')}"
                self.findings.add(replace(one, code=CODE, message=said))
            if not placed:
                self.findings.at(step.at, f"the input does not fit `{policy.name}`: {message}")

    def _expected(self, step: TestStep, policy: Policy) -> None:
        if policy.name not in self._schemas:
            self._schemas[policy.name] = subjects.expectation_schema(policy)
        schema = self._schemas[policy.name]
        for field, value in (step.expected.fields or {}).items():
            at = step.expected_at[field]
            for message in validate_input({field: value}, schema):
                said = f"`{policy.name}` cannot decide that: {message}"
                if isinstance(at[-1], str):
                    self.findings.at_key(at, said)
                else:
                    self.findings.at(at, said)

    def _rules(self, step: TestStep, policy: Policy) -> None:
        known = subjects.rule_ids(policy)
        for rule in step.expected.rules or ():
            if rule not in known and rule not in (DEFAULT, ON_ERROR):
                hint = did_you_mean(rule, [*known, DEFAULT, ON_ERROR]) or f"it has: {', '.join(known)}"
                self.findings.at(step.expected_at["rule"], f"`{policy.name}` has no rule `{rule}`", hint)

    def _trace(self, case: TestCase, policies: Iterable[Policy]) -> None:
        inputs: set[str] = set()
        outcomes: set[str] = set()
        for policy in policies:
            inputs |= set(policy.input_schema.get("properties", {}))
            schema = subjects.expectation_schema(policy)
            outcomes |= set(schema.get("properties", {})) or set(_fields(policy))
        if CLOCK not in inputs and any(step.after_ms for step in case.steps):
            self.findings.at(case.at, f"time passes (after_ms), but no policy here has the input `{CLOCK}`")
        for taker, giver in case.carry.items():
            at = (*case.at, "carry", taker)
            if taker not in inputs:
                self.findings.at_key(at, f"there is no input field `{taker}`", did_you_mean(taker, inputs))
            if giver not in outcomes:
                self.findings.at(at, f"there is no decided field `{giver}`", did_you_mean(giver, outcomes))


def _fields(policy: Policy) -> Iterable[str]:
    schema = policy.decision_schema or {}
    fields: Mapping[str, Any] = schema.get("$defs", {}).get("fields", {}).get("properties", {})
    return fields


def _named(message: str) -> str:
    """What a message is about: the first thing that it quotes."""
    return message.partition("`")[2].partition("`")[0]
