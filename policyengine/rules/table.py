"""A policy as the core sees it: typed input, named derived values, ordered rules, one hit policy.

A policy kind compiles its own vocabulary into a `Table` and adds nothing to the core. A table is data: building
one evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from policyengine.source.place import Place


class HitPolicy(StrEnum):
    """What happens when several rules match."""

    FIRST = "first"
    """The first matching rule, in order, decides."""
    COLLECT = "collect"
    """Every matching rule contributes its outcome; the decision is their list, in order."""
    UNIQUE = "unique"
    """Exactly one rule may match; two matches are an error, answered by `on_error`."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One CEL expression and where it was written.

    `place` is the start of the scalar, `path` the key path in the document, so that a checker can turn an offset
    in `text` into a line and column. An expression that a kind generated whole has the place of what it was
    generated from, and `generated` set. Where a kind wraps what a person wrote, that begins after `prefix`
    characters of `text` and is `length` characters long.
    """

    text: str
    place: Place
    path: tuple[str | int, ...] = ()
    generated: bool = False
    prefix: int = 0
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rule decides: literal fields, and fields computed by expressions when the rule is chosen."""

    literals: Mapping[str, Any] = field(default_factory=dict)
    computed: Mapping[str, Expression] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `when` is a boolean expression; None matches always."""

    id: str
    when: Expression | None
    outcome: Outcome
    place: Place
    description: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A whole policy, ready to be compiled.

    - `input_schema`: JSON Schema (2020-12, object) of the input. Its top-level properties are the variables of
      every expression. A property outside `required` may be missing; expressions ask with `has(input.x)`, where
      `input` names the whole input object.
    - `constants`: named values of the policy, visible by bare name, folded when compiled.
    - `words`: named word lists, visible as `words.NAME`, usable only in `text.mentions(words.NAME)`.
    - `derived`: named expressions, in order; each sees the input, the constants and the derived values above
      it. They are worked out at most once a decision, and only when a rule needs them. A derived value may
      take the name of an input property and then hides it (`input.NAME` still reads the input): so an
      optional property gets its value for "unknown" in one place.
    - `outputs`: expressions added to every outcome, whatever rule decided (except the error outcome).
    - `default`: the outcome when no rule matches; for `collect` it is ignored (the list is empty).
    - `on_error`: the outcome when anything that had to be looked at failed to evaluate: literals only, so that
      it cannot fail itself.
    """

    policy: str
    version: str
    kind: str
    input_schema: Mapping[str, Any]
    rules: tuple[Rule, ...]
    default: Outcome
    on_error: Mapping[str, Any]
    hit: HitPolicy = HitPolicy.FIRST
    constants: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    derived: Mapping[str, Expression] = field(default_factory=dict)
    outputs: Mapping[str, Expression] = field(default_factory=dict)
