"""Why not another outcome: the nearest inputs that would give it, fewest changed fields first.

With the solver the fewest fields are found, and that there is no such input at all can be proven; without it single
fields and pairs are tried on the engine. Whatever is told has been confirmed by the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from policyengine.check.proofs.calculation import equal
from policyengine.check.proofs.deciding import Decided, decided, seen_outcome
from policyengine.check.proofs.reading import Read, read_table
from policyengine.check.proofs.searching import Search
from policyengine.check.proofs.shrinking import Path, at, leaves, replaced
from policyengine.check.proofs.solver import Term, both, either, no, z3
from policyengine.check.proofs.symbols import Symbol, literal
from policyengine.check.proofs.tries import alternatives
from policyengine.check.proofs.witnesses import Reader
from policyengine.kinds.policy import Policy
from policyengine.rules.table import HitPolicy
from policyengine.source.errors import InputError, MissingExtraError
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import validate_input

TIMEOUT_MS = 10_000
MOST_ANSWERS = 12
_MOST_PAIRS = 20_000
_MOST_PASSES = 100
"""How often all changed numbers are made smaller in turn; each time by a part, so that few are needed."""
RULE = "rule"
"""The name that stands for the deciding rule in a wanted outcome."""

MISSING = object()
"""Stands for the value of a field that an input does not have: null would be a value."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """An input that gives the wanted outcome. `changes` holds path, old and new value of each changed field; where an
    input does not have the field, `MISSING` stands for the value."""

    input: Mapping[str, Any]
    changes: tuple[tuple[str, Any, Any], ...]
    rule: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`already`: the input gives it as it is. `impossible`: proven that no input does. `why`: why nothing is told."""

    already: bool = False
    found: tuple[Nearest, ...] = ()
    impossible: bool = False
    why: str = ""


def why_not(policy: Policy, input: Mapping[str, Any], name: str, value: Any, timeout_ms: int = TIMEOUT_MS) -> Answer:
    """The nearest inputs for which `name` is `value` in the outcome (`rule`: the deciding rule).

    Raises InputError for a field or a rule that the policy does not have, and for a value that it never decides.
    """
    read = read_table(policy.table)
    _check(policy, read, name, value)
    goal = _Goal(policy, name, value)
    if replace(goal, errors=True)(dict(input)):
        return Answer(already=True)
    try:
        return _Solved(policy, read, input, goal, timeout_ms).answer()
    except MissingExtraError:
        found = list(itertools.islice(_tried(policy, read, input, goal), MOST_ANSWERS))
        why = "" if found else "no change of one or two fields was found; with z3-solver more can be said"
        return Answer(found=tuple(found), why=why)


@dataclass(frozen=True, slots=True)
class _Goal:
    policy: Policy
    name: str
    value: Any
    errors: bool = False
    """Whether an outcome counts that comes of an expression that failed."""

    def __call__(self, input: dict[str, Any]) -> bool:
        """Whether the engine gives the wanted outcome on a valid input."""
        if validate_input(input, self.policy.input_schema):
            return False
        decision = self.policy.decide(input)
        if decision.errors and not self.errors:
            return False
        outcome, rule = seen_outcome(decision)
        if self.name == RULE:
            return bool(rule == self.value) or self.value in decision.rules  # several with hit policy `collect`
        found = outcome.get(self.name, MISSING)
        return bool(type(found) is type(self.value) and found == self.value)

    def nearest(self, old: Mapping[str, Any], new: dict[str, Any]) -> Nearest:
        return Nearest(new, tuple(_changes(old, new)), seen_outcome(self.policy.decide(new))[1])


def _check(policy: Policy, read: Read, name: str, value: Any) -> None:
    if name == RULE:
        rules = [row.rule.id for row in read.rows]
        if value not in rules:
            hint = did_you_mean(str(value), rules) or f"there are: {', '.join(rules)}"
            raise InputError(f"{read.table.policy} has no rule {value!r}; {hint}")
        return
    names: dict[str, None] = {}
    collect = read.table.hit is HitPolicy.COLLECT
    for outcome in () if collect else (*(row.rule.outcome for row in read.rows), read.table.default):
        names.update(dict.fromkeys([*outcome.literals, *outcome.computed]))
    names.update(dict.fromkeys([*read.outputs, *read.table.on_error, RULE]))
    if name not in names:
        hint = did_you_mean(name, names) or f"it decides: {', '.join(names)}"
        if collect:
            hint = "it collects what every matching rule says; ask for one by rule=ID"
        raise InputError(f"{read.table.policy} decides no {name!r}; {hint}")
    if policy.decision_schema is not None:
        fields = {"$ref": f"decisions/{policy.kind.file}.schema.json#/$defs/fields"}
        if wrong := validate_input({name: value}, fields):
            raise InputError(f"{read.table.policy} never decides that: {wrong[0]}")


class _Solved:
    """The answer by the solver."""

    def __init__(self, policy: Policy, read: Read, input: Mapping[str, Any], goal: _Goal, timeout_ms: int) -> None:
        self.policy, self.read, self.given, self.goal = policy, read, input, goal
        longest = max((len(value) for value in input.values() if isinstance(value, list)), default=0)
        self.made: Decided = decided(read, longest)
        self.search = Search(policy, read, self.made, timeout_ms)
        self.search.keep = [text for path in leaves(dict(input)) if isinstance(text := at(input, path), str)]
        self.changed = dict(_changed(self.made.translator.inputs.whole, input, (), self.made))

    def answer(self) -> Answer:
        wanted = self._wanted()
        if wanted is False or self.search.ask(wanted, known_texts=False)[1] == z3().unsat:
            return Answer(impossible=True)
        for goal in (self.goal, replace(self.goal, errors=True)):
            self.goal = goal
            sound = True if goal.errors else no(self.made.error)
            for count in range(1, len(self.changed) + 1):
                found = list(itertools.islice(self._with(both(wanted, sound), count), MOST_ANSWERS))
                if found:
                    return Answer(found=_in_order(found, self.given))
        tried = list(itertools.islice(_tried(self.policy, self.read, self.given, self.goal), MOST_ANSWERS))
        return Answer(found=tuple(tried), why="" if tried else "no input that the engine confirms was found")

    def _wanted(self) -> Term:
        if self.goal.name == RULE:
            return self.made.reached(self.goal.value)
        there, symbol = self.made.outcome[self.goal.name]
        known = literal(self.goal.value, self.made.texts)
        same = equal(symbol, known)
        return both(there, z3().Bool("wanted?") if same is None else same)

    def _at_most(self, count: int) -> Term:
        flags = [z3().If(changed, 1, 0) for changed in self.changed.values() if not isinstance(changed, bool)]
        return z3().Sum(flags) <= count if flags else True

    def _with(self, wanted: Term, count: int) -> Iterator[Nearest]:
        """Answers that change at most `count` fields, each another set of fields."""
        solver, answer = self.search.ask(both(wanted, self._at_most(count)), known_texts=True)
        for _ in range(2 * MOST_ANSWERS):
            if answer != z3().sat:
                return
            model = solver.model()
            new = next(Reader(self.made.translator.inputs, self.made.texts, model).inputs_found())
            new.update({name: self.given[name] for name in self._shapeless() if name in self.given})
            if self.goal(new):
                yield self.goal.nearest(self.given, _closer(self.given, new, self.goal))
            flags = [one for one in self.changed.values() if not isinstance(one, bool)]
            hit = [flag for flag in flags if z3().is_true(model.eval(flag, model_completion=True))]
            solver.add(either(*(no(flag) for flag in hit)))
            answer = solver.check()

    def _shapeless(self) -> list[str]:
        return [name for name, (_, one) in self.made.translator.inputs.whole.fields.items() if one.kind == "unknown"]


def _in_order(found: list[Nearest], given: Mapping[str, Any]) -> tuple[Nearest, ...]:
    """Fewest changes first, then in the order of the input's fields."""
    names = list(given)

    def place(one: Nearest) -> tuple[int, int]:
        top = one.changes[0][0].split(".")[0].split("[")[0]
        return len(one.changes), names.index(top) if top in names else len(names)

    return tuple(sorted(found, key=place))


def _changed(symbol: Symbol, value: Any, path: Path, made: Decided) -> Iterator[tuple[Path, Term]]:
    """Every field of the input (a list is one), and when it is another than given."""
    if symbol.kind == "object" and isinstance(value, Mapping):
        for name, (there, inner) in symbol.fields.items():
            if name in value:
                for inside, changed in _changed(inner, value[name], (*path, name), made):
                    yield inside, either(no(there), changed)
            elif there is not True:
                yield (*path, name), there
    elif symbol.kind != "unknown":
        yield path, no(same_as(symbol, value, made))


def same_as(symbol: Symbol, value: Any, made: Decided) -> Term:
    """When a symbol of the input is a given value; a part that the solver knows nothing about always may be."""
    if value is None:
        return symbol.null
    if symbol.kind == "object":
        parts = []
        for name, (there, inner) in symbol.fields.items():
            parts.append(both(there, same_as(inner, value[name], made)) if name in value else no(there))
        return both(no(symbol.null), *parts)
    if symbol.kind == "list":
        items = [
            both(there, same_as(item, value[index], made)) if index < len(value) else no(there)
            for index, (there, item) in enumerate(symbol.items)
        ]
        return both(no(symbol.null), symbol.size == len(value), *items)
    known = literal(float(value) if symbol.kind == "double" else value, made.texts)
    return both(no(symbol.null), symbol.term == known.term) if symbol.kind != "unknown" else True


def _closer(old: Mapping[str, Any], new: dict[str, Any], goal: _Goal) -> dict[str, Any]:
    """The same fields changed, but each by less: numbers to where it just holds, lists by one item or field."""
    best = _restored(old, new, goal)
    for name in list(best):
        if old.get(name, MISSING) == best[name] and type(old.get(name)) is type(best[name]):
            continue
        if isinstance(best[name], list) and isinstance(old.get(name), list):
            best = _restored(old, _closer_list(old[name], name, best, goal), goal)
    for _ in range(_MOST_PASSES):
        nearer = best
        for path in list(leaves(nearer)):
            nearer = _nearer(old, nearer, path, goal)
        if nearer == best:
            break
        best = nearer  # where one number needs less now, another may, too
    return best


def _nearer(old: Mapping[str, Any], best: dict[str, Any], path: Path, goal: _Goal) -> dict[str, Any]:
    """One number changed by less; one that was not known before is kept small."""
    before, after = at(old, path), at(best, path)
    if type(after) is not int or type(before) not in (int, type(None)) or before == after:
        return best
    start = 0 if before is None else before
    if before is None:
        tried: dict[str, Any] = replaced(best, path, start)
        if goal(tried):
            return tried
    return _bisected(best, path, start, after, goal)


def _restored(old: Mapping[str, Any], best: dict[str, Any], goal: _Goal) -> dict[str, Any]:
    """Whatever need not have changed is as it was."""
    for path in list(leaves(best)):
        before = at(old, path)
        if before is not None and before != at(best, path):
            tried = replaced(best, path, before)
            best = tried if goal(tried) else best
    return best


def _closer_list(given: list[Any], name: str, best: dict[str, Any], goal: _Goal) -> dict[str, Any]:
    for items in _nearby_lists(given, best[name]):
        tried = {**best, name: items}
        if goal(tried):
            return tried
    return best


def _nearby_lists(given: list[Any], found: list[Any]) -> Iterator[list[Any]]:
    yield from ([*given[:index], *given[index + 1 :]] for index in range(len(given)))
    for item in found:
        yield from ([*given[:index], item, *given[index + 1 :]] for index in range(len(given)))
        if isinstance(item, dict):
            for key, value in item.items():
                for index, own in enumerate(given):
                    if isinstance(own, dict) and own.get(key) != value:
                        yield [*given[:index], {**own, key: value}, *given[index + 1 :]]
                yield [{**own, key: value} if isinstance(own, dict) else own for own in given]
        yield [*given, item]
    yield []
    yield from ([item] for item in found)


def _bisected(best: dict[str, Any], path: Path, before: int, after: int, goal: _Goal) -> dict[str, Any]:
    """The value nearest to `before` for which it still holds, where it holds from some value on."""
    while abs(after - before) > 1:
        middle = (before + after) // 2
        tried = replaced(best, path, middle)
        if goal(tried):
            best, after = tried, middle
        else:
            before = middle
    return best


def _tried(policy: Policy, read: Read, input: Mapping[str, Any], goal: _Goal) -> Iterator[Nearest]:
    """Answers by trying values on the engine: one field, then two."""
    given = dict(input)
    decision = policy.decide(given, trace=True)
    # What the policy works out on the way is where something changes: a threshold, say.
    worked_out = [*decision.outcome.values(), *decision.derived.values()]
    options = alternatives(read, policy.input_schema, given, worked_out)
    singles = 0
    for path, values in options.items():
        for value in values:
            tried = replaced(given, path, value)
            if goal(tried):
                singles += 1
                yield goal.nearest(input, _closer(input, tried, goal))
                break
    if singles:
        return
    pairs = 0
    for (one, firsts), (two, seconds) in itertools.combinations(options.items(), 2):
        if one == two[: len(one)] or two == one[: len(two)]:
            continue  # a list and an item of it: what replaces the list need not have the item
        for first, second in itertools.product(firsts, seconds):
            pairs += 1
            if pairs > _MOST_PAIRS:
                return
            tried = replaced(replaced(given, one, first), two, second)
            if goal(tried):
                yield goal.nearest(input, _closer(input, tried, goal))
                break


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys((*old, *new)):
        yield from _difference(name, old.get(name, MISSING), new.get(name, MISSING))


def _difference(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if type(old) is type(new) and old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            yield from _difference(f"{path}.{name}", old.get(name, MISSING), new.get(name, MISSING))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, two) in enumerate(zip(old, new, strict=True)):
            yield from _difference(f"{path}[{index}]", one, two)
    else:
        yield path, old, new
