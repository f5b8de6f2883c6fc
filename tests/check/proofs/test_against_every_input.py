"""Small tables at random: what verify, diff and lint say of them, against the engine's decision on every input."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyengine.cel import CelError
from policyengine.check.diff.model import Effect
from policyengine.check.diff.tables import TableDiff
from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.proofs.deciding import seen_outcome
from policyengine.check.proofs.results import Verdict
from policyengine.check.proofs.tables import TableProof
from policyengine.kinds.bundle import load
from policyengine.kinds.policy import Policy
from policyengine.rules.exact import DerivedValues
from policyengine.source.errors import BundleError
from tests.check.proofs.conftest import write
from tests.conftest import examples

FIELDS: dict[str, tuple[Any, list[Any]]] = {
    "a": ({"type": "integer", "minimum": 0, "maximum": 3}, [0, 1, 2, 3]),
    "n": ({"type": ["integer", "null"], "minimum": -1, "maximum": 1}, [None, -1, 0, 1]),
    "w": ({"type": ["string", "null"], "enum": ["x", "y", None]}, ["x", "y", None]),
    "b": ({"type": "boolean"}, [True, False]),
    "l": (
        {"type": "array", "maxItems": 2, "items": {"type": "integer", "minimum": 0, "maximum": 1}},
        [list(one) for size in range(3) for one in itertools.product([0, 1], repeat=size)],
    ),
}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class _Writer:
    """Writes expressions over some fields, one of which may be missing."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.fields = pick.sample(list(FIELDS), pick.choice((1, 2, 3)))
        self.required = self.fields[pick.choice((0, 0, 0, 1)) :]

    def number(self, depth: int = 0) -> str:
        plain = ["0", "1", "2", "c", *(name for name in "an" if name in self.fields for _ in range(3))]
        if depth > 2 or self.pick.random() < 0.5:
            return self.pick.choice(plain)
        one, two = self.number(depth + 1), self.number(depth + 1)
        more = [f"({one} {sign} {two})" for sign in "+-*/%"] + [f"math.greatest({one}, {two})", f"math.abs({one})"]
        more += [f"({self.truth(depth + 1)} ? {one} : {two})"]
        more += [f"size(l) - {one}", f"l[{one}]"] if "l" in self.fields else []
        return self.pick.choice(more)

    def truth(self, depth: int = 0) -> str:
        number = partial(self.number, max(depth, 1) + 1)
        plain = [f"{number()} {self.pick.choice(COMPARISONS)} {number()}" for _ in range(3)]
        plain += [f"has(input.{name})" for name in self.fields if name not in self.required]
        plain += [f"{name} == null" for name in "nw" if name in self.fields]
        plain += ['w == "x"', 'w in ["x", "z"]'] if "w" in self.fields else []
        plain += ["b"] if "b" in self.fields else []
        if depth > 2 or self.pick.random() < 0.4:
            return self.pick.choice(plain)
        one, two = self.truth(depth + 1), self.truth(depth + 1)
        more = [f"({one} && {two})", f"({one} || {two})", f"!({one})", f"({one} ? {two} : {self.truth(depth + 1)})"]
        if "l" in self.fields:
            more += [
                f"l.{every}(item, item {sign} {two})" for every in ("exists", "all") for sign, two in (("==", "1"),)
            ]
        return self.pick.choice(more)

    def result(self) -> dict[str, Any]:
        row: dict[str, Any] = {"outcome": {"r": self.pick.choice((1, 2, True, None, "x"))}}
        return {**row, "compute": {"v": self.number(1)}} if self.pick.random() < 0.3 else row

    def table(self) -> dict[str, Any]:
        rules = [
            {"id": f"r{at}", "when": self.truth(), **self.result()} for at in range(self.pick.choice((1, 2, 3, 4)))
        ]
        properties = {name: FIELDS[name][0] for name in self.fields}
        return {
            "input": {"type": "object", "additionalProperties": False, "required": self.required,
                      "properties": properties},
            "constants": {"c": self.pick.choice((0, 1, 2))},
            "hit": self.pick.choice(("first", "first", "unique")),
            "rules": rules,
            **({"default": self.result()} if self.pick.random() < 0.7 else {}),
            "on_error": {"r": 9},
            "properties": [
                {"id": "p", "assert": self.pick.choice((f'rule != "r0" || {self.truth(1)}', "outcome.r != 2"))}
            ],
        }  # fmt: skip

    def changed(self, spec: dict[str, Any]) -> dict[str, Any]:
        new = copy.deepcopy(spec)
        row = self.pick.choice(new["rules"])
        kind = self.pick.choice(("when", "narrower", "outcome", "order", "constant"))
        if kind == "when":
            row["when"] = self.truth()
        elif kind == "narrower":
            row["when"] = f"({row['when']}) && {self.truth(2)}"
        elif kind == "outcome":
            row.pop("compute", None)
            row.update(self.result())
        elif kind == "order":
            new["rules"].reverse()
        else:
            new["constants"]["c"] += 1
        return new

    def inputs(self) -> Iterator[dict[str, Any]]:
        columns = [
            [{name: value} for value in FIELDS[name][1]] + ([] if name in self.required else [{}])
            for name in self.fields
        ]
        for parts in itertools.product(*columns):
            yield {name: value for part in parts for name, value in part.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, Any]], tuple[Path, Policy] | None]:
    folder = tmp_path_factory.mktemp("tables")

    def make(spec: dict[str, Any]) -> tuple[Path, Policy] | None:
        path = write(folder, "Table", "t", spec)
        try:
            return path, load(path).policy("t")
        except BundleError:
            return None  # a comparison that the types do not allow, say

    return make


@settings(max_examples=examples(25))
@given(st.integers(0, 2**32))
def test_what_is_said_holds_for_every_input(made: Any, seed: int) -> None:
    writer = _Writer(random.Random(seed))
    spec = writer.table()
    found = made(spec)
    if found is None:
        return
    path, policy = found
    decided = [(input, policy.decide(input)) for input in writer.inputs()]
    by = {seen_outcome(decision)[1] for _, decision in decided}
    _lint(path, spec, policy, decided, by)
    _verify(spec, policy, decided, by)
    other = made(writer.changed(spec))
    if other is None:
        return
    effect, witness, _ = TableDiff(policy, other[1], 5000).effect()
    differ = [input for input, one in decided if _text(one.outcome) != _text(other[1].decide(input).outcome)]
    assert not (effect is Effect.SAME and differ)
    if effect is Effect.DIFFERENT:
        assert witness is not None
        assert _text(witness.old) != _text(witness.new)


def _text(outcome: Mapping[str, Any]) -> str:
    """An outcome in which 1 is not true."""
    return json.dumps(dict(outcome), sort_keys=True)


def _verify(spec: dict[str, Any], policy: Policy, decided: list[Any], by: set[str]) -> None:
    proof = TableProof(policy, 5000)
    fails: dict[str, Callable[[], list[Any]]] = {
        "no-errors": lambda: [one for _, one in decided if not all(error.clash for error in one.errors)],
        "one-rule": lambda: [one for _, one in decided if any(error.clash for error in one.errors)],
        "has-outcome": lambda: [one for _, one in decided if not one.outcome],
        "rules-reachable": lambda: [name for name in _written(spec) if name not in by],
        "p": lambda: [one for input, one in decided if proof.holds(claim, input, one) is not True],
    }
    claim = spec["properties"][0]["assert"]
    for result in proof.results():
        if result.verdict is Verdict.PROVEN:
            assert fails[result.id]() == []
        elif result.verdict is Verdict.REFUTED and "cannot be read" not in result.detail:
            assert fails[result.id]() != []


def _written(spec: dict[str, Any]) -> list[str]:
    return [row["id"] for row in spec["rules"]] + (["default"] if "default" in spec else [])


def _lint(path: Path, spec: dict[str, Any], policy: Policy, decided: list[Any], by: set[str]) -> None:
    """Nothing is found that is not so."""
    rows = {policy.document.place(("spec", "rules", at, "when")).line: at for at in range(len(spec["rules"]))}
    for finding in lint(path, Config()).findings:
        at = max((row for line, row in rows.items() if line <= finding.place.line), default=0)
        values = [_condition(policy, at, input) for input, _ in decided]
        if finding.code == "null-operand":
            assert any(isinstance(value, CelError) for value in values)
        elif finding.code == "never-matches":
            assert True not in values
        elif finding.code == "shadowed-rule" and spec["hit"] == "first":
            assert f"r{at}" not in by
        elif finding.code == "unreachable-default":
            assert "default" not in by
        elif finding.code == "range-gap":
            assert any(not one.rules and not one.errors for _, one in decided)
        elif finding.code == "range-overlap":
            assert any(one.errors for _, one in decided)  # where a third rule fails, that is what is told


def _condition(policy: Policy, at: int, input: dict[str, Any]) -> Any:
    programs = policy.compiled.programs
    condition = programs.conditions[at]
    assert condition is not None
    try:
        return condition.evaluate(input, DerivedValues(programs.derived, input))
    except CelError as error:
        return error
