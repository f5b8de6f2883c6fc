"""What lint calls dead is dead: random tables, tried on every input that there is."""

import itertools
import json
import random

import pytest

from policyengine.check.lint.conditions import Formulas, UndecidedError
from policyengine.kinds.policy import Policy
from policyengine.kinds.registry import KINDS
from policyengine.kinds.spec import Spec
from policyengine.source.yaml import parse_documents

PROPERTIES = {
    "a": {"type": "integer", "minimum": -1, "maximum": 2},
    "n": {"type": ["integer", "null"], "minimum": 0, "maximum": 1},
    "e": {"enum": ["x", "y", "z"]},
    "q": {"type": ["string", "null"], "enum": ["x", "y", None]},
    "f": {"type": "boolean"},
    "s": {"type": "string"},
}
VALUES = {
    "a": [-1, 0, 1, 2],
    "n": [None, 0, 1],
    "e": ["x", "y", "z"],
    "q": ["x", "y", None],
    "f": [True, False],
    "s": ["", "x", "u"],
}
INPUTS = [dict(zip(VALUES, row, strict=True)) for row in itertools.product(*VALUES.values())]
NUMBERS = ["a", "n", "a + 1", "1 + a", "n - 1", "known", "a + n"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
ATOMS = ["f", "c", "f == c", "f != true", "s.size() > 0", 's == "x"', 's != "w"', "limit > 0", "true", "false"]
ATOMS += ["q == null", 'q != "x"', "n == null", "n != null", 'e == "x"', 'e in ["x", "y"]', "a in [0, 2]"]
ATOMS += ["double(a) < 0.5", "1 / a > 0", "double(a) / double(a) >= 1.0", 'e != "z"', "a >= n", "known < a"]


def condition(chance, depth):
    kind = chance.random()
    if depth == 0 or kind < 0.2:
        if chance.random() < 0.5:
            return chance.choice(ATOMS)
        return f"{chance.choice(NUMBERS)} {chance.choice(COMPARISONS)} {chance.randint(-2, 3)}"
    parts = [condition(chance, depth - 1) for _ in range(3)]
    if kind < 0.4:
        return f"!({parts[0]})"
    if kind < 0.9:
        return f"({parts[0]}) {'&&' if kind < 0.65 else '||'} ({parts[1]})"
    return f"({parts[0]}) ? ({parts[1]}) : ({parts[2]})"


def policy(chance):
    rules = [{"id": f"r{n}", "when": condition(chance, 3), "outcome": {"r": n}} for n in range(4)]
    document = {
        "apiVersion": "policyengine/v1",
        "kind": "Table",
        "metadata": {"name": "t", "version": "1.0.0"},
        "spec": {
            "input": {"type": "object", "properties": PROPERTIES, "required": list(PROPERTIES)},
            "constants": {"limit": 0},
            # `a` hides the input of that name.
            "derived": {"c": "a > 0", "a": "a == 2 ? 0 : a", "known": "n == null ? -1 : n"},
            "rules": rules,
            "default": {"outcome": {"r": 9}},
            "on_error": {},
        },
    }
    (read,), findings = parse_documents(json.dumps(document, indent=1), "t.yaml")
    assert not findings
    return Policy(KINDS["Table"], Spec(read, {}))


@pytest.mark.parametrize("seed", range(5))
def test_a_rule_that_lint_calls_dead_is_never_reached(seed):
    chance = random.Random(seed)
    dead = 0
    for _ in range(20):
        one = policy(chance)
        formulas = Formulas(one.table, one.compiled.programs)
        above, claimed = [], set()
        for rule in one.table.rules:
            own = formulas.conditions[rule.id]
            try:
                if formulas.satisfy([own], above) is None:
                    claimed.add(rule.id)
            except UndecidedError:
                continue
            above.append(own)
        if not claimed:
            continue
        dead += len(claimed)
        for given in INPUTS:
            reached = claimed.intersection(one.decide(given).rules)
            assert not reached, (reached, given, [rule.when.text for rule in one.table.rules])
    assert dead > 0
