"""The input of a policy as symbols: everything that its schema allows, and perhaps more.

What the schema says and this does not (patterns, lengths of texts) makes more inputs than there are: a proof over
more is a proof, and an example is checked against the schema before it is shown.

A list of up to N items stands for all lists: expressions only ask whether some or every item passes a test, so a list
that makes them true can be cut down to one witness for each test and padded again by repeating items. There are as
many places for items as there are tests (`slots`), and the length is a number of its own.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from policyengine.cel import Environment, Type
from policyengine.cel.limits import MAX_INT, MIN_INT
from policyengine.check.proofs.solver import Term, either, no, z3
from policyengine.check.proofs.symbols import Shape, Symbol, Texts


class Inputs:
    """The input of one table: `whole` is its symbol, `constraints` what the schema says about it."""

    def __init__(self, environment: Environment, schema: Mapping[str, Any], texts: Texts, slots: int) -> None:
        self.texts, self.slots = texts, max(slots, 1)
        self.constraints: list[Term] = []
        self.free_texts: list[Term] = []
        self._root = schema
        self.whole = self._declared(environment.input or Type("object", fields={}), schema, "input")

    def _declared(self, type: Type, schema: Any, path: str) -> Symbol:
        part = followed(schema, self._root)
        null = z3().Bool(f"{path}?null") if type.nullable else False
        if type.kind == "bool":
            return Symbol("bool", z3().Bool(path), null)
        if type.kind == "int":
            term = z3().Int(path)
            self._bounded(term, part, MIN_INT, MAX_INT, type)
            return Symbol("int", term, null)
        if type.kind == "double":
            term = z3().Real(path)
            self._bounded(term, part, None, None, type)
            return Symbol("double", term, null)
        if type.kind == "string":
            return self._text(type, path, null)
        if type.kind == "null":
            return Symbol("null", null=True)
        if type.kind == "list":
            return self._list(type, part, path, null)
        if type.kind == "object":
            return self._object(type, part, path, null)
        return Symbol("unknown", null=null, shape=Shape(path, True if type.kind == "map" else z3().Bool(f"{path}?map")))

    def _bounded(self, term: Term, part: Mapping[str, Any], low: Any, high: Any, type: Type) -> None:
        whole = type.kind == "int"
        for key, up in (("minimum", math.ceil), ("maximum", math.floor)):
            limit = part.get(key)
            if isinstance(limit, (int, float)) and not isinstance(limit, bool):
                value = up(limit) if whole else limit
                if key == "minimum":
                    low = value if low is None else max(low, value)
                else:
                    high = value if high is None else min(high, value)
        for key in ("exclusiveMinimum", "exclusiveMaximum"):
            limit = part.get(key)
            if isinstance(limit, (int, float)) and not isinstance(limit, bool):
                bound = _value(limit, whole=False)
                self.constraints.append(term > bound if key == "exclusiveMinimum" else term < bound)
        if low is not None:
            self.constraints.append(term >= _value(low, whole))
        if high is not None:
            self.constraints.append(term <= _value(high, whole))
        if type.enum is not None:
            self.constraints.append(either(*(term == value for value in type.enum)))

    def _text(self, type: Type, path: str, null: Term) -> Symbol:
        term = z3().Int(path)
        if type.enum is not None:
            known = either(*(term == self.texts.number(value) for value in type.enum))
            self.constraints.append(either(known, null))
        else:
            self.free_texts.append(term)
        return Symbol("string", term, null)

    def _list(self, type: Type, part: Mapping[str, Any], path: str, null: Term) -> Symbol:
        size = z3().Int(f"{path}#size")
        there = [z3().Bool(f"{path}[{index}]?") for index in range(self.slots)]
        items = tuple(
            (here, self._declared(type.params[0], part.get("items"), f"{path}[{index}]"))
            for index, here in enumerate(there)
        )
        self.constraints += [size >= part.get("minItems", 0), there[0] == (size > 0)]
        self.constraints += [either(no(later), here) for here, later in itertools.pairwise(there)]
        self.constraints.append(z3().Sum([z3().If(here, 1, 0) for here in there]) <= size)
        if type.max_items is not None:
            self.constraints.append(size <= type.max_items)
        return Symbol("list", null=null, items=items, exact=False, size=size)

    def _object(self, type: Type, part: Mapping[str, Any], path: str, null: Term) -> Symbol:
        fields: dict[str, tuple[Term, Symbol]] = {}
        properties = part.get("properties", {})
        for name, one in (type.fields or {}).items():
            inside = f"{path}.{json.dumps(name)}"  # quoted: a name may hold a dot
            there = True if one.required else z3().Bool(f"{inside}?")
            fields[name] = (there, self._declared(one.type, properties.get(name), inside))
        return Symbol("object", null=null, fields=fields)


def followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a part of a schema says, its references to other parts (`#/$defs/...`) followed."""
    seen: set[str] = set()
    while isinstance(schema, Mapping) and "$ref" in schema:
        reference = schema["$ref"]
        if not isinstance(reference, str) or not reference.startswith("#/") or reference in seen:
            return {}
        seen.add(reference)
        schema = root
        for step in reference[2:].split("/"):
            schema = schema.get(step, {}) if isinstance(schema, Mapping) else {}
    return schema if isinstance(schema, Mapping) else {}


def _value(value: Any, whole: bool) -> Term:
    if whole:
        return z3().IntVal(int(value))
    fraction = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    return z3().Q(fraction.numerator, fraction.denominator)
