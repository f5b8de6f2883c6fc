"""What an expression may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from policyengine.cel import types as t
from policyengine.cel.functions import WordMatcher, matcher
from policyengine.cel.library.registry import STANDARD, Functions
from policyengine.cel.types import Type
from policyengine.cel.values import CelType, Duration, Timestamp, UInt

TYPE_NAMES: Mapping[str, tuple[Type, CelType]] = {
    **{
        name: (t.type_of_type(kind), CelType(name))
        for name, kind in (
            ("bool", t.BOOL),
            ("int", t.INT),
            ("uint", t.UINT),
            ("double", t.DOUBLE),
            ("string", t.STRING),
            ("bytes", t.BYTES),
            ("list", t.list_of(t.DYN)),
            ("map", t.map_of(t.DYN, t.DYN)),
            ("null_type", t.NULL),
            ("type", t.TYPE),
        )
    },
    "optional_type": (t.type_of_type(t.abstract("optional_type", t.DYN)), CelType("optional_type")),
    "google.protobuf.Timestamp": (t.type_of_type(t.TIMESTAMP), CelType("google.protobuf.Timestamp")),
    "google.protobuf.Duration": (t.type_of_type(t.DURATION), CelType("google.protobuf.Duration")),
}
"""Names that stand for types: what they are to the checker, and their value."""


@dataclass(frozen=True)
class Environment:
    """What an expression may name.

    - `variables`: name to type; a name may hold dots.
    - `constants`: name to value, folded when compiled.
    - `words`: word lists, visible as `words.NAME`.
    - `input`: when given, the name `input` stands for the whole object of bindings, and this is its type. A
      property that it does not require may be missing; reading it without `has(input.NAME)` is an issue.
    - `functions`: what can be called.
    - `hidden`: variables that stand before a property of the input with the same name.
    - `container`: a namespace in which names are looked for first, as CEL has it.
    """

    variables: Mapping[str, Type] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    input: Type | None = None
    functions: Functions = field(default_factory=lambda: STANDARD)
    container: str = ""
    hidden: frozenset[str] = frozenset()

    @classmethod
    def of_schema(
        cls,
        schema: Mapping[str, Any],
        constants: Mapping[str, Any] | None = None,
        words: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Environment:
        """The environment of an input that a JSON Schema (an object) describes. Raises InputError."""
        whole = t.from_json_schema(schema)
        variables = {name: part.type for name, part in (whole.fields or {}).items()}
        return cls(variables, constants or {}, words or {}, input=whole)

    def with_variables(self, variables: Mapping[str, Type]) -> Environment:
        """The same environment with more variables; they hide others of the same name."""
        return replace(self, variables={**self.variables, **variables}, hidden=self.hidden.union(variables))

    def matcher(self, name: str) -> WordMatcher:
        """The matcher of a word list. Raises KeyError."""
        return matcher(tuple(self.words[name]))

    def candidates(self, name: str) -> list[str]:
        """The full names that a name may stand for, the innermost namespace first."""
        if not self.container:
            return [name]
        parts = self.container.split(".")
        return [".".join([*parts[:count], name]) for count in range(len(parts), -1, -1)]


def type_of_constant(value: Any) -> Type:
    """The type of a plain value; a list or map of several types holds `dyn`."""
    simple = _CONSTANT_TYPES.get(type(value))
    if simple is not None:
        return simple
    if isinstance(value, (list, tuple)):
        kinds = {type_of_constant(item) for item in value}
        return t.list_of(kinds.pop() if len(kinds) == 1 else t.DYN, len(value))
    if isinstance(value, Mapping):
        keys = {type_of_constant(key) for key in value}
        kinds = {type_of_constant(item) for item in value.values()}
        return t.map_of(keys.pop() if len(keys) == 1 else t.DYN, kinds.pop() if len(kinds) == 1 else t.DYN)
    return t.DYN


_CONSTANT_TYPES: dict[type, Type] = {
    bool: t.BOOL,
    int: t.INT,
    UInt: t.UINT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BYTES,
    type(None): t.NULL,
    Timestamp: t.TIMESTAMP,
    Duration: t.DURATION,
}
