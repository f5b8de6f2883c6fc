"""From a model of the solver to an input that a person can paste, and texts that tell real functions apart."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policyengine.cel import CelError
from policyengine.cel.syntax import Binary, Call, Ident, Index, Literal, Node, walk
from policyengine.check.proofs.inputs import Inputs
from policyengine.check.proofs.reading import Read
from policyengine.check.proofs.samples import of_pattern
from policyengine.check.proofs.solver import Term, z3
from policyengine.check.proofs.symbols import Symbol, Texts

_MOST_WORDS = 40
"""Words of each list that are tried as a text."""
_MOST_KEYS = 6
_LONGEST = 20_000
"""Characters of the longest text that is tried."""
_LONG = ("what is this ", "你好")
"""What long texts are made of."""
_PLAIN = ("", "a", "b", "hello", "what is this", "你好", "こんにちは", "привет", "x y z", "0", "a.b/c")
"""Texts of several scripts, to tell functions apart by."""


def try_texts(read: Read) -> list[str]:
    """Texts worth trying: what the policy itself writes, words of its lists, samples of its patterns."""
    found: dict[str, None] = dict.fromkeys(_PLAIN)
    for program in read.programs():
        for node in walk(program.node) if program.node is not None else ():
            if isinstance(node, Literal) and type(node.value) is str:
                found.update(dict.fromkeys(of_pattern(node.value)))
                found[node.value] = None
            for length in _lengths(node, read.table.constants):
                found.update(dict.fromkeys(_long(text, length) for text in _LONG))
    for value in read.table.constants.values():
        found.update(dict.fromkeys(item for item in _flat(value) if isinstance(item, str)))
    lists = [words[:: max(1, len(words) // _MOST_WORDS)] for words in read.table.words.values()]
    found.update(dict.fromkeys(itertools.chain(*lists)))
    for one, two in itertools.permutations([words[:2] for words in lists], 2):
        found.update(dict.fromkeys(f"{left} {right}" for left in one for right in two))
    return list(found)


def _lengths(node: Node, constants: Mapping[str, Any]) -> Iterator[int]:
    """Lengths on both sides of the bound that `text.size()` is compared with."""
    if not isinstance(node, Binary):
        return
    for call, bound in ((node.left, node.right), (node.right, node.left)):
        limit = constants.get(bound.name) if isinstance(bound, Ident) else getattr(bound, "value", None)
        if isinstance(call, Call) and call.name == "size" and type(limit) is int and 0 <= limit <= _LONGEST:
            yield from (limit, limit + 1)


def _long(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def typical_texts(texts: Texts, tried: Iterable[str]) -> list[str]:
    """A few of the texts tried for each way in which the functions of a policy answer."""
    kinds: dict[tuple[Any, ...], list[str]] = {}
    for text in tried:
        answer = []
        for predicate in texts.predicates.values():
            try:
                answer.append(predicate.evaluate(text))
            except CelError:
                answer.append("error")
        kinds.setdefault(tuple(answer), []).append(text)
    return [text for alike in kinds.values() for text in alike[:3]]


class Reader:
    """Reads inputs out of a model."""

    def __init__(self, inputs: Inputs, texts: Texts, model: Any, unknowns: Sequence[Any] = (None,)) -> None:
        self.inputs, self.texts, self.model = inputs, texts, model
        self.unknowns = unknowns
        """Values for what the solver knows nothing about, such as a free-form object."""

    def inputs_found(self) -> Iterator[dict[str, Any]]:
        """Inputs that fit the model; several where parts of the input are unknown to the solver."""
        for value in self.unknowns:
            self._unknown = value
            yield self._value(self.inputs.whole)

    def _value(self, symbol: Symbol) -> Any:
        if self._true(symbol.null):
            return None
        if symbol.kind == "object":
            return {name: self._value(value) for name, (there, value) in symbol.fields.items() if self._true(there)}
        if symbol.kind == "list":
            items = [self._value(item) for there, item in symbol.items if self._true(there)]
            size = self._number(symbol.size)
            return items + [items[-1]] * (size - len(items)) if items else []
        if symbol.kind == "bool":
            return self._true(symbol.term)
        if symbol.kind == "int":
            return self._number(symbol.term)
        if symbol.kind == "double":
            found = self.model.eval(symbol.term, model_completion=True)
            rational = found if z3().is_rational_value(found) else found.approx(20)
            value = float(rational.as_fraction())
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
        if symbol.kind == "string":
            number = self._number(symbol.term)
            known = self.texts.text(number)
            return known if known is not None else f"other-{abs(number)}"
        return self._unknown

    def _true(self, term: Term) -> bool:
        if isinstance(term, bool):
            return term
        return bool(z3().is_true(self.model.eval(term, model_completion=True)))

    def _number(self, term: Term) -> int:
        found: int = self.model.eval(term, model_completion=True).as_long()
        return found


def shapes(read: Read) -> list[Any]:
    """Values for parts of the input without a type: objects with the keys that the policy asks for."""
    keys: dict[str, None] = {}
    for program in read.programs():
        for node in walk(program.node) if program.node is not None else ():
            key: Node | None = None
            if isinstance(node, Index):
                key = node.index
            elif isinstance(node, Binary) and node.op == "in":
                key = node.left
            if isinstance(key, Literal) and type(key.value) is str:
                keys[key.value] = None
    few = list(keys)[:_MOST_KEYS]
    leaves: list[Any] = [True, 1, "text", None, {}, []]
    found: list[Any] = [{}]
    for one in few:
        found += [{one: leaf} for leaf in leaves]
        found += [{one: {other: leaf}} for other in few for leaf in leaves[:3]]
    if len(few) > 1:
        found.append(dict.fromkeys(few, True))
    return [*found, *leaves]


def as_text(input: Mapping[str, Any]) -> str:
    """An input as JSON on one line."""
    return json.dumps(input, ensure_ascii=False)
