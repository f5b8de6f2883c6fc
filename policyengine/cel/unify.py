"""Type parameters: which type each stands for, found while expressions are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policyengine.cel.types import DYN, NULL, STRING, Type, var

SCALARS = frozenset(("bool", "int", "uint", "double", "string", "bytes"))


def clash(actual: Sequence[Type], formal: Sequence[Type]) -> bool:
    """Whether some argument is of another scalar type than its parameter: most overloads fall by that alone."""
    for one, two in zip(actual, formal, strict=True):
        if one.kind != two.kind and one.kind in SCALARS and two.kind in SCALARS:
            return True
    return False


class Unifier:
    """Substitutions of type parameters, growing as arguments are matched with parameters."""

    def __init__(self) -> None:
        self.known: dict[Type, Type] = {}
        self.count = 0

    def fresh(self) -> Type:
        """A new type parameter."""
        self.count += 1
        return var(f"_{self.count}")

    def instance(self, types: Sequence[Type]) -> list[Type]:
        """The types with their parameters replaced by new ones, the same for all of them."""
        if all(kind.kind != "var" and not kind.params for kind in types):
            return list(types)
        names: dict[Type, Type] = {}
        return [self._rename(kind, names) for kind in types]

    def _rename(self, kind: Type, names: dict[Type, Type]) -> Type:
        if kind.kind == "var":
            if kind not in names:
                names[kind] = self.fresh()
            return names[kind]
        if not kind.params:
            return kind
        return kind.with_params(tuple(self._rename(part, names) for part in kind.params))

    def resolved(self, kind: Type, free: Type | None = None) -> Type:
        """The type with its known parameters put in; an unknown one stays, or becomes `free`."""
        if kind.kind == "var":
            if kind in self.known:
                return self.resolved(self.known[kind], free)
            return kind if free is None else free
        if not kind.params:
            return kind
        return kind.with_params(tuple(self.resolved(part, free) for part in kind.params))

    def assignable_all(self, actual: Sequence[Type], formal: Sequence[Type]) -> bool:
        """Whether arguments fit parameters; what was learnt is kept only when they do."""
        before = dict(self.known)
        if all(self.assignable(one, two) for one, two in zip(actual, formal, strict=True)):
            return True
        self.known = before
        return False

    def assignable(self, actual: Type, formal: Type) -> bool:
        """Whether a value of one type may stand where the other is wanted."""
        if actual is formal or actual == formal:
            return True
        if formal.kind == "var":
            valid, had = self._substitute(actual, formal)
            if valid or had:
                return valid
        if actual.kind == "var":
            return self._substitute(formal, actual)[0]
        if actual.kind in ("dyn", "error") or formal.kind in ("dyn", "error"):
            return True
        if actual == NULL or formal == NULL:
            other = formal if actual == NULL else actual
            return other.nullable or other.kind in ("null", "abstract", "timestamp", "duration")
        if {actual.kind, formal.kind} == {"object", "map"}:
            mapping = actual if actual.kind == "map" else formal
            return self.assignable(STRING, mapping.params[0]) and self.assignable(DYN, mapping.params[1])
        if actual.kind == "object":
            return formal.kind == "object"
        if actual.kind != formal.kind or (actual.kind == "abstract" and actual.name != formal.name):
            return False
        if actual.kind == "type":
            return True
        return len(actual.params) == len(formal.params) and all(
            self.assignable(one, two) for one, two in zip(actual.params, formal.params, strict=True)
        )

    def _substitute(self, kind: Type, param: Type) -> tuple[bool, bool]:
        """Let a parameter stand for a type: whether it may, and whether it stood for one before."""
        if kind == param:
            return True, True
        known = self.known.get(param)
        if known is not None:
            if kind == known:
                return True, True
            if not self.assignable(kind, known):
                return False, True
            general = self.most_general(kind, known)
            if not self._occurs(param, general):
                self.known[param] = general
            return True, True
        if self._occurs(param, kind):
            return False, False
        self.known[param] = kind
        return True, False

    def _occurs(self, param: Type, kind: Type) -> bool:
        if kind == param:
            return True
        if kind.kind == "var":
            known = self.known.get(kind)
            return known is not None and self._occurs(param, known)
        return any(self._occurs(param, part) for part in kind.params)

    def most_general(self, one: Type, two: Type) -> Type:
        """Of two types that fit each other, the one that says less."""
        if one == NULL:
            return two
        if two == NULL or _less_specific(one, two):
            return replace(one, enum=None) if one.enum != two.enum else one
        return two

    def join(self, kinds: Sequence[Type]) -> Type:
        """The type of items of these types: `dyn` when they do not agree."""
        if not kinds:
            return self.fresh()
        result = kinds[0]
        for kind in kinds[1:]:
            before = dict(self.known)
            if self.assignable(result, kind):
                result = self.most_general(result, kind)
            else:
                self.known = before
                return DYN
        return result


def _less_specific(one: Type, two: Type) -> bool:
    """Whether the first says no more than the second."""
    if one.kind in ("dyn", "var"):
        return True
    if two.kind in ("dyn", "var"):
        return False
    if one.nullable != two.nullable:
        return one.nullable
    if one.kind != two.kind or one.name != two.name or len(one.params) != len(two.params):
        return False
    return all(_less_specific(first, second) for first, second in zip(one.params, two.params, strict=True))
