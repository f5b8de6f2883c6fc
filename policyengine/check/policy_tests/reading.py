"""A document of kind Tests becomes cases: bases are looked up, tables and lists of values unrolled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policyengine.check.policy_tests.findings import Findings
from policyengine.check.policy_tests.model import (
    Expected,
    Explained,
    Path,
    Recorded,
    Setting,
    Start,
    TestCase,
    TestDocument,
    TestStep,
)
from policyengine.check.policy_tests.tables import Row, rows
from policyengine.source.document import Document
from policyengine.source.finding import Finding
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import load_schema, validate


def read(document: Document) -> tuple[TestDocument | None, list[Finding]]:
    """The cases of a document of kind Tests, and what is wrong with it. None where its schema refuses it."""
    if found := validate(document.data, load_schema("tests"), document):
        return None, found
    reader = _Reader(document)
    read = reader.read()
    return read, reader.findings.found


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.findings = Findings(document)
        self.spec: Mapping[str, Any] = document.data["spec"]
        self.inputs: Mapping[str, Any] = self.spec.get("inputs", {})
        self.used: set[str] = set()

    def read(self) -> TestDocument:
        cases: list[TestCase] = []
        for index, data in enumerate(self.spec["cases"]):
            cases += self._case(data, ("spec", "cases", index))
        self._names(cases)
        if "base" in self.spec:
            self._base(self.spec["base"], ("spec", "base"))
        for name in self.inputs:
            if name not in self.used:
                path: Path = ("spec", "inputs", name)
                self.findings.at_key(path, f"no case uses the input `{name}`", "use it in a case, or remove it")
        name = self.document.data["metadata"]["name"]
        return TestDocument(self.document, name, tuple(cases), tuple(self._explained()))

    def _explained(self) -> Iterator[Explained]:
        for index, data in enumerate(self.spec.get("explained_mutants", ())):
            path: Path = ("spec", "explained_mutants", index)
            policy = data.get("policy", self.spec.get("policy", ""))
            if not policy:
                self.findings.at(path, "it is not said which policy is changed", "add policy: NAME")
            yield Explained(data["mutant"], policy, data["reason"], path, self.document)

    def _names(self, cases: Sequence[TestCase]) -> None:
        first: dict[str, TestCase] = {}
        for case in cases:
            if case.name in first:
                line = first[case.name].place.line
                path = (*case.at, "name") if isinstance(self.document.value(case.at), dict) else case.at
                self.findings.at(path, f"the case name {case.name!r} is taken (line {line})", "give it another name")
            first.setdefault(case.name, case)

    # Cases

    def _case(self, data: Mapping[str, Any], at: Path) -> Iterator[TestCase]:
        policy = data.get("policy", self.spec.get("policy"))
        if policy is None:
            hint = "add policy: NAME, here or for the whole document"
            self.findings.at(at, f"it is not said which policy the case {data['name']!r} tests", hint)
            return
        if not self._shape(data, at):
            return
        of_document = policy == self.spec.get("policy")
        shared = {
            "document": self.document,
            "constants": {**(self.spec.get("constants", {}) if of_document else {}), **data.get("constants", {})},
            "variant": {**(self.spec.get("variant", {}) if of_document else {}), **data.get("variant", {})},
            "carry": data.get("carry", {}),
            "policy": policy,
        }
        start = self._start(data, at, policy)
        settings = self._settings(data, at)
        unset = self._unset(data, at)
        if "steps" in data:
            steps = tuple(self._steps(data, at, policy, start, settings, unset))
            if all(step.expected.says_nothing for step in steps):
                self._vacuous(data["name"], at)
            yield TestCase(data["name"], at=at, steps=steps, **shared)
            return
        expected, expected_at = self._expected(data, at)
        for row in rows(data, at, self.findings):
            whole = Expected(
                {**(expected.fields or {}), **row.expect} or None,
                expected.rules if row.rules is None else row.rules,
                expected.errors if row.errors is None else row.errors,
            )
            if whole.says_nothing:
                self._vacuous(data["name"], at)
                return
            step = TestStep(
                policy, start, (*settings, *row.settings), frozenset(), unset, whole, row.at,
                {**expected_at, **row.expected_at},
            )  # fmt: skip
            yield TestCase(row.name, at=row.at, steps=(step,), **shared)

    def _vacuous(self, name: str, at: Path) -> None:
        hint = "add expect:, rule: or errors:"
        self.findings.at(at, f"the case {name!r} expects nothing, so that it cannot fail", hint)

    def _shape(self, data: Mapping[str, Any], at: Path) -> bool:
        """Whether the keys of a case go together."""
        starts = [key for key in ("base", "input", "session") if key in data]
        shapes = [key for key in ("rows", "each", "steps") if key in data]
        for keys in (starts, shapes):
            if len(keys) > 1:
                self.findings.at_key(
                    (*at, keys[1]), f"the case has both {keys[0]}: and {keys[1]}:", "make two cases of it"
                )
                return False
        if "steps" in data and (key := next((k for k in ("expect", "rule", "errors") if k in data), None)):
            self.findings.at_key((*at, key), f"{key}: stands beside steps:", "say it in the step it belongs to")
            return False
        return True

    def _steps(
        self, data: Mapping[str, Any], at: Path, policy: str, start: Start,
        settings: tuple[Setting, ...], unset: tuple[Setting, ...],
    ) -> Iterator[TestStep]:  # fmt: skip
        starts = {policy: start}
        for index, step in enumerate(data["steps"]):
            here: Path = (*at, "steps", index)
            decides = step.get("policy", policy)
            if "base" in step:
                starts[decides] = self._base(step["base"], (*here, "base"))
            own = self._settings(step, here)
            expected, expected_at = self._expected(step, here)
            for nth in range(step.get("times", 1)):
                yield TestStep(
                    decides,
                    starts.get(decides, Start(at=here)),
                    (*(settings if decides == policy else ()), *own),
                    frozenset(_top(setting.field) for setting in own),
                    (*(unset if decides == policy else ()), *self._unset(step, here)),
                    expected,
                    here,
                    expected_at,
                    step.get("after_ms", 0) if nth == 0 or "after_ms" in step else 0,
                )

    # Parts

    def _start(self, data: Mapping[str, Any], at: Path, policy: str) -> Start:
        if "session" in data:
            return Start(at=at, recorded=Recorded(data["session"], data["round"], data.get("replay", {}), at))
        if "input" in data:
            return Start(data["input"], (*at, "input"))
        if "base" in data:
            return self._base(data["base"], (*at, "base"))
        if "base" in self.spec and policy == self.spec.get("policy"):
            return self._base(self.spec["base"], ("spec", "base"))
        return Start(at=at)

    def _base(self, name: str, at: Path) -> Start:
        self.used.add(name)
        if name not in self.inputs:
            known = ", ".join(self.inputs)
            hint = did_you_mean(name, self.inputs) or (f"there is: {known}" if known else "add it to inputs:")
            self.findings.at(at, f"there is no input called `{name}`", hint)
            return Start(at=at)
        return Start(self.inputs[name], ("spec", "inputs", name))

    def _settings(self, data: Mapping[str, Any], at: Path) -> tuple[Setting, ...]:
        return tuple(Setting(field, value, (*at, "set", field)) for field, value in data.get("set", {}).items())

    def _unset(self, data: Mapping[str, Any], at: Path) -> tuple[Setting, ...]:
        return tuple(Setting(field, None, (*at, "unset", n)) for n, field in enumerate(data.get("unset", ())))

    def _expected(self, data: Mapping[str, Any], at: Path) -> tuple[Expected, dict[str, Path]]:
        places: dict[str, Path] = {name: (*at, "expect", name) for name in data.get("expect", {})}
        places |= {key: (*at, key) for key in ("rule", "errors") if key in data}
        return Expected(data.get("expect"), as_rules(data.get("rule")), tuple(data.get("errors", ()))), places


def as_rules(written: str | list[str] | None) -> tuple[str, ...] | None:
    """The rules of a `rule:` key, which is one name or a list."""
    if written is None:
        return None
    return (written,) if isinstance(written, str) else tuple(written)


def _top(field: str) -> str:
    return field.split(".", 1)[0].split("[", 1)[0]


__all__ = ["Row", "as_rules", "read"]
