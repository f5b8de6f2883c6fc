"""The symbolic decision of every policy of the default bundle, on concrete inputs, against the engine's."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from policyengine.check.proofs.deciding import decided, seen_outcome
from policyengine.check.proofs.inputs import followed
from policyengine.check.proofs.reading import read_table
from policyengine.check.proofs.solver import z3
from policyengine.check.proofs.symbols import SCALARS, literal
from policyengine.check.proofs.translate import facts
from policyengine.check.proofs.witnesses import try_texts
from policyengine.check.why_not import same_as
from policyengine.kinds.bundle import load
from policyengine.source.schema import validate_input

NAMES = [policy.name for policy in load().policies.values()]
EXTREMES = (0, 1, 2, 3, 4, 5, 999, 1000, 4000, 4001, 20_000, 66_667, 10**6, 2**40)


def _value(part: Any, root: Mapping[str, Any], texts: list[str], pick: random.Random) -> Any:
    part = followed(part, root)
    if "enum" in part:
        return pick.choice(part["enum"])
    kind = part.get("type", "string")
    if isinstance(kind, list):
        kind = pick.choice(kind)
    if kind == "integer":
        value = pick.choice(EXTREMES)
        return value if "minimum" in part or pick.random() < 0.7 else -value
    if kind == "number":
        return pick.choice((0, 0.1, 0.2, 0.5, 0.98, 1.5, 100.0))
    if kind == "boolean":
        return pick.random() < 0.5
    if kind == "null":
        return None
    if kind == "array":
        return [_value(part.get("items", {}), root, texts, pick) for _ in range(pick.choice((0, 1, 1, 2, 3)))]
    if kind == "object":
        required = part.get("required", ())
        return {
            name: _value(one, root, texts, pick)
            for name, one in part.get("properties", {}).items()
            if name in required or pick.random() < 0.5
        }
    return pick.choice(texts)


@pytest.mark.parametrize("name", NAMES)
def test_the_engine_s_decision_is_among_those_of_the_symbols(name: str) -> None:
    policy = load().policy(name)
    read = read_table(policy.table)
    pick = random.Random(name)
    texts = try_texts(read)
    made = decided(read, 4)
    seen = 0
    for _ in range(25):
        input = _value(policy.input_schema, policy.input_schema, texts, pick)
        if validate_input(input, policy.input_schema):
            continue
        seen += 1
        outcome, rule = seen_outcome(policy.decide(input))
        solver = z3().Solver()
        solver.add(*made.constraints, same_as(made.translator.inputs.whole, input, made))
        wanted = [] if policy.table.hit.value == "collect" else [made.rule.term == made.texts.number(rule)]
        for field, value in outcome.items():
            there, symbol = made.outcome.get(field, (False, None))
            known = literal(value, made.texts) if not isinstance(value, (list, dict)) else None
            if symbol is None or known is None or symbol.kind not in SCALARS:
                continue
            if value is None:
                wanted.append(z3().BoolVal(True) if symbol.kind == "null" else symbol.null)
            elif symbol.kind == known.kind:
                wanted.append(symbol.term == known.term)
            wanted.append(z3().BoolVal(True) if there is True else there)
        solver.add(*facts(made.texts))
        assert solver.check() == z3().sat, input
        solver.push()
        solver.add(*wanted)
        assert solver.check() == z3().sat, (input, outcome, rule)
        solver.pop()
        if not made.translator.unknowns and wanted:
            solver.add(z3().Not(z3().And(*wanted)))
            assert solver.check() == z3().unsat, (input, outcome, rule)
    assert seen or not policy.input_schema.get("properties")
