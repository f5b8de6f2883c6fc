"""A whole decision as symbols: which rule matches, which decides, what fails, and what comes out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from policyengine.cel import Program
from policyengine.cel.syntax import Binary, Comprehension, walk
from policyengine.check.proofs.inputs import Inputs
from policyengine.check.proofs.reading import Read, tree
from policyengine.check.proofs.solver import Term, both, choose, either, no
from policyengine.check.proofs.symbols import Symbol, Texts, literal, merged
from policyengine.check.proofs.translate import Translator
from policyengine.rules.table import HitPolicy, Outcome

ON_ERROR, DEFAULT = "on_error", "default"
"""What `rule` is in a stated property where no rule decided."""


@dataclass
class Decided:
    """Symbols of one decision.

    - `matched`: rule id to where it matches (with hit policy `first`: decides);
    - `failures`: label (`rule ID`, `output NAME`) to where its evaluation fails;
    - `none`: where no rule matches and nothing fails; `error`: where anything fails;
    - `outcome`: field to where it is there, and its value; `rule`: the deciding rule as text, the first one that
      matches with hit policy `collect`;
    - `rows`: rule id to its own fields. With hit policy `collect` they stand in `outcome.matches`, an unknown.
    """

    translator: Translator
    matched: dict[str, Term] = field(default_factory=dict)
    failures: dict[str, Term] = field(default_factory=dict)
    clashes: dict[tuple[str, str], Term] = field(default_factory=dict)
    none: Term = True
    error: Term = False
    outcome: dict[str, tuple[Term, Symbol]] = field(default_factory=dict)
    rows: dict[str, dict[str, Symbol]] = field(default_factory=dict)
    rule: Symbol = field(default_factory=lambda: Symbol("unknown"))

    def reached(self, rule: str) -> Term:
        """Where a rule is among those that decide, and nothing fails."""
        return both(self.matched[rule], no(self.error))

    @property
    def texts(self) -> Texts:
        """The texts of its translator."""
        return self.translator.texts

    @property
    def constraints(self) -> list[Term]:
        """What the schema says about the input."""
        return self.translator.inputs.constraints

    def property_names(self) -> dict[str, Symbol]:
        """The names a stated property may use beside the table's own."""
        return {"outcome": Symbol("object", fields=self.outcome), "rule": self.rule}


def tests_over_lists(programs: Iterable[Program]) -> int:
    """How many expressions ask whether some item of a list passes a test."""
    return sum(
        isinstance(node, Comprehension) or (isinstance(node, Binary) and node.op == "in")
        for program in programs
        if program.node is not None
        for node in walk(program.node)
    )


def decided(read: Read, more_tests: int = 0, texts: Texts | None = None, tag: str = "") -> Decided:
    """The decision of a table. `more_tests` counts the tests over lists of what will be asked about it.

    Two tables over the same `texts` are over the same inputs, where their schemas agree; `tag` keeps their unknowns
    apart.
    """
    tests = tests_over_lists(read.programs()) + more_tests
    known = texts if texts is not None else Texts()
    first = _decided(read, known, tests, tag)
    # A test that can fail may need two witnesses: one that makes it true and one that makes it an error.
    return _decided(read, known, 2 * tests, tag) if first.translator.failing_tests or more_tests else first


def _decided(read: Read, texts: Texts, slots: int, tag: str) -> Decided:
    inputs = Inputs(read.environment, read.table.input_schema, texts, slots)
    translator = Translator(read, inputs, texts, tag)
    made = Decided(translator)
    table = read.table
    open_: Term = True  # no earlier rule has decided (with hit policy first)
    for row in read.rows:
        test = Symbol("bool", True) if row.when is None else translator.condition(tree(row.when))
        name = row.rule.id
        if table.hit is HitPolicy.FIRST:
            made.matched[name] = both(open_, no(test.error), test.term)
            failure = both(open_, test.error)
            open_ = both(open_, no(test.error), no(test.term))
        else:
            made.matched[name] = both(no(test.error), test.term)
            failure = test.error
        if failure is not False:
            made.failures[f"rule {name}"] = failure
    if table.hit is HitPolicy.UNIQUE:
        names = list(made.matched)
        for index, one in enumerate(names):
            for two in names[index + 1 :]:
                made.clashes[one, two] = both(made.matched[one], made.matched[two])
    failed = either(*made.failures.values(), *made.clashes.values())
    made.none = both(no(failed), *(no(where) for where in made.matched.values()))
    _outcome(read, translator, made, failed)
    return made


def _outcome(read: Read, translator: Translator, made: Decided, failed: Term) -> None:
    """The outcome of every rule, and `on_error` where anything fails."""
    table = read.table
    outputs = {name: translator.of(tree(program)) for name, program in read.outputs.items()}
    choices: list[tuple[str, Term, dict[str, Symbol]]] = []
    collect = table.hit is HitPolicy.COLLECT
    for row in read.rows:
        name = row.rule.id
        made.rows[name] = _fields(translator, row.rule.outcome, row.computed)
        choices.append((name, made.matched[name], {**made.rows[name], **outputs}))
    default = {} if collect else _fields(translator, table.default, read.default)
    choices.append((DEFAULT, made.none, {**default, **outputs}))
    for name, where, fields in choices:
        for label, value in fields.items():
            failure = both(where, no(failed), value.error)
            if failure is not False:
                shown = f"output {label}" if label in outputs else f"output {label} of {name}"
                made.failures[shown] = either(made.failures.get(shown, False), failure)
    made.error = either(failed, *made.failures.values())
    if collect:
        together = {"matches": Symbol("unknown"), **outputs}
        choices = [(name, where, together) for name, where, _ in choices]
    bad = {name: _decided_value(value, translator.texts) for name, value in table.on_error.items()}
    choices = [*choices, (ON_ERROR, made.error, bad)]
    names = dict.fromkeys(name for _, _, fields in choices for name in fields)
    last = choices[-2]
    rule = literal(last[0], translator.texts)
    for name in names:
        own = last[2].get(name)
        made.outcome[name] = (True, _plain(own)) if own is not None else (False, Symbol("null", null=True))
    # From the last choice to the first, so that the first that applies is the outermost; errors are outermost of all.
    for chosen, where, fields in [*reversed(choices[:-2]), choices[-1]]:
        rule = merged(where, literal(chosen, translator.texts), rule)
        for name in names:
            there, value = made.outcome[name]
            own = fields.get(name)
            if own is None:
                made.outcome[name] = (both(there, no(where)), value)
            else:
                # Where one of two is missing, its value does not count.
                found = _plain(own) if there is False else merged(where, _plain(own), value)
                made.outcome[name] = (choose(where, True, there), found)
    made.rule = rule


def _plain(value: Symbol) -> Symbol:
    """The value where it did not fail: where it did, `on_error` is the outcome."""
    return Symbol(
        value.kind, value.term, value.null, False, value.constant, value.items, value.exact, value.size, value.fields
    )


def _fields(translator: Translator, outcome: Outcome, computed: Mapping[str, Program]) -> dict[str, Symbol]:
    fields = {name: _decided_value(value, translator.texts) for name, value in outcome.literals.items()}
    fields.update((name, translator.of(tree(program))) for name, program in computed.items())
    return fields


def _decided_value(value: Any, texts: Texts) -> Symbol:
    """A literal of an outcome. A list or an object stands as its own JSON: all that is asked of it is equality."""
    if isinstance(value, (list, tuple, Mapping)):
        return literal(f"\0{json.dumps(value, sort_keys=True, ensure_ascii=False)}", texts)
    return literal(value, texts)


def seen_outcome(decision: Any) -> tuple[Mapping[str, Any], str]:
    """The outcome of a real decision, and its `rule` as a stated property sees it."""
    if decision.errors:
        return decision.outcome, ON_ERROR
    return decision.outcome, decision.rules[0] if decision.rules else DEFAULT
