"""JSON Schemas that somebody else wrote (a tool's, an MCP server's, a policy's own), and data judged by them.

Neither the schema nor the data is trusted: a schema is checked as a whole before it is used, nothing is ever fetched,
patterns are matched by RE2, and judging takes a bounded number of steps.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from types import FrameType
from typing import Any, Final

from policyengine.source.regex import PatternError, search_of, utf8

MAX_DEPTH: Final = 64
"""Nesting of a schema: objects and lists."""

MAX_VALUES: Final = 10_000
"""Values in a schema, those in objects and lists each counted."""

MAX_PATTERN_CHARS: Final = 4_096
MAX_PATTERN_MEMORY: Final = 2 << 20
"""Length of a pattern (characters), and memory of it when compiled (bytes)."""

MAX_STEPS: Final = 50_000
"""Keywords that may be looked at while one value is judged."""

_FRAMES: Final = 8
"""Python's frames that a keyword within a keyword takes; jsonschema's deepest way (`not`, `if`) takes six."""
_SPARE_FRAMES: Final = 100
"""Frames that are left for what a keyword does beside judging: making validators, following references."""

_DIALECTS: Final = {
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
}
_NEWEST: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ESCAPED: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)

Path = tuple[str | int, ...]


class ForeignSchemaError(Exception):
    """A schema that cannot be used. `path` is where in it; `str()` says where, what is wrong and what to do."""

    def __init__(self, path: Path, wrong: str) -> None:
        self.path = path
        where = "/".join(str(step) for step in path)
        where = f"{where[:80]}…{where[-80:]}" if len(where) > 161 else where
        super().__init__(f"at {where}: {wrong}" if path else wrong)


class UncheckableError(Exception):
    """Data that cannot be judged within the bounds. `str()` says why, and holds nothing of the data."""


class ForeignSchema:
    """A schema, checked, and ready to judge data. Raises `ForeignSchemaError`.

    The schema is copied; later changes to what was given change nothing here.
    """

    def __init__(self, schema: Any) -> None:
        copy = _copied(schema)
        if not isinstance(copy, dict | bool):
            raise ForeignSchemaError((), "a schema is an object")
        stated = copy.get("$schema", _NEWEST) if isinstance(copy, dict) else _NEWEST
        self.dialect = stated.rstrip("#") if isinstance(stated, str) else ""
        if self.dialect not in _DIALECTS:
            raise ForeignSchemaError(("$schema",), f"this dialect is not known; use {_NEWEST}, or leave it out")
        _Checker(self.dialect, copy).check()
        self._validator = validator_class(self.dialect)(copy, registry=_nothing())

    def errors(self, data: Any, most: int = 100) -> list[Any]:
        """What is wrong with `data`, at most so many errors of jsonschema's. Raises `UncheckableError`."""
        try:
            with _budget():
                return list(islice(self._validator.iter_errors(data), most))
        except UncheckableError:
            raise
        except RecursionError:
            raise UncheckableError("the data is nested too deeply for the schema") from None
        except Exception as error:
            # Whatever the validator stumbles over in a schema of others is no reason to stop.
            raise UncheckableError(f"the schema could not be applied, {type(error).__name__}") from None

    def misfit(self, data: Any) -> str | None:
        """Where `data` does not fit and why, in one line that quotes it; None where it fits. Raises
        `UncheckableError`."""
        from jsonschema.exceptions import best_match

        error = best_match(iter(self.errors(data)))
        if error is None:
            return None
        where = "/".join(str(step) for step in error.absolute_path)
        return f"{where[:100] + ': ' if where else ''}{error.message[:300]}"


def _copied(schema: Any) -> Any:
    """The schema as plain JSON, in bounds."""
    left = MAX_VALUES

    def copy(value: Any, path: Path) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ForeignSchemaError((), f"the schema has more than {MAX_VALUES} values; make it smaller")
        if len(path) > MAX_DEPTH:
            raise ForeignSchemaError((), f"the schema is nested deeper than {MAX_DEPTH} levels; make it flatter")
        if isinstance(value, Mapping):
            for key in value:
                if not isinstance(key, str):
                    raise ForeignSchemaError(path, "a key is no text; a schema is JSON")
            return {key: copy(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [copy(inner, (*path, index)) for index, inner in enumerate(value)]
        if value is None or isinstance(value, str | bool | int):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        raise ForeignSchemaError(path, "this value is no JSON; a schema is JSON")

    return copy(schema, ())


class _Checker:
    """Goes through a schema and all that it refers to; `$schema` is taken off on the way, for it would lead jsonschema
    back to its own classes."""

    def __init__(self, dialect: str, schema: Any) -> None:
        referencing: Any = import_module("referencing")
        self._exceptions: Any = import_module("referencing.exceptions")
        self._specification = import_module("referencing.jsonschema").specification_with(dialect)
        self._dialect = dialect
        self._schema = schema
        self._registry = referencing.Registry()
        self._paths = dict(_paths(schema))
        self._seen: set[int] = set()
        self._unevaluated: Path | None = None
        self._patterned = False

    def check(self) -> None:
        """Raises `ForeignSchemaError`."""
        try:
            self._check()
        except ForeignSchemaError:
            raise
        except Exception as error:
            # Addresses that are none, anchors that are there twice: what the libraries stumble over cannot be used.
            raise ForeignSchemaError((), f"the schema cannot be used, {type(error).__name__}") from None

    def _check(self) -> None:
        self._conforms(self._schema)
        root = self._specification.create_resource(self._schema)
        self._visit(root, self._registry.resolver_with_root(root))
        if self._unevaluated is not None and self._patterned:
            raise ForeignSchemaError(
                self._unevaluated,
                "unevaluatedProperties beside patternProperties is not supported; use additionalProperties",
            )

    def _conforms(self, schema: Any) -> None:
        from jsonschema.exceptions import SchemaError, best_match

        base = getattr(import_module("jsonschema"), _DIALECTS[self._dialect])
        try:
            # Without formats: a pattern is judged by RE2 alone.
            error = best_match(base(base.META_SCHEMA).iter_errors(schema))
        except RecursionError:
            raise ForeignSchemaError((), "the schema is nested too deeply; make it flatter") from None
        except SchemaError as failure:  # the newest jsonschema raises these itself
            error = failure
        if error is not None:
            path = (*self._path(schema), *error.absolute_path)
            about = f": {error.message}" if len(error.message) < 160 and not isinstance(error.instance, dict) else ""
            raise ForeignSchemaError(path, f"this is no valid JSON Schema of {self._dialect}{about}")

    def _visit(self, root: Any, first: Any) -> None:
        waiting = [(root, first)]
        while waiting:
            resource, resolver = waiting.pop()
            schema = resource.contents
            if not isinstance(schema, dict) or id(schema) in self._seen:
                continue
            self._seen.add(id(schema))
            self._keywords(schema)
            for keyword in _REFERENCES:
                if keyword in schema:
                    target = self._target(schema, keyword, resolver)
                    if isinstance(target.contents, dict) and id(target.contents) not in self._seen:
                        # It may stand where no schema is expected, and was not looked at then.
                        self._conforms(target.contents)
                        waiting.append((self._specification.create_resource(target.contents), target.resolver))
            for inner in resource.subresources():
                waiting.append((inner, resolver.in_subresource(inner)))

    def _keywords(self, schema: dict[str, Any]) -> None:
        path = self._path(schema)
        stated = schema.pop("$schema", None)
        if stated is not None and (not isinstance(stated, str) or stated.rstrip("#") != self._dialect):
            raise ForeignSchemaError((*path, "$schema"), "a part in another dialect is not supported; use one for all")
        if isinstance(pattern := schema.get("pattern"), str):
            self._pattern((*path, "pattern"), pattern)
        patterns = schema.get("patternProperties")
        if isinstance(patterns, dict) and patterns:
            self._patterned = True
            for one in patterns:
                self._pattern((*path, "patternProperties"), one)
        if "unevaluatedProperties" in schema:
            self._unevaluated = (*path, "unevaluatedProperties")

    def _pattern(self, path: Path, pattern: str) -> None:
        try:
            pattern_search(pattern)
        except PatternError as error:
            wrong = f"RE2 does not take this pattern ({error}); write it without lookaround and back-references"
            raise ForeignSchemaError(path, wrong) from None

    def _target(self, schema: dict[str, Any], keyword: str, resolver: Any) -> Any:
        path = (*self._path(schema), keyword)
        try:
            target = resolver.lookup(schema[keyword])
        except self._exceptions.Unresolvable:
            wrong = "this leads to nothing in the schema; a reference stays in it (#/$defs/NAME), nothing is fetched"
            raise ForeignSchemaError(path, wrong) from None
        except Exception:
            raise ForeignSchemaError(path, "this is no usable reference") from None
        if not isinstance(target.contents, dict | bool):
            raise ForeignSchemaError(path, "what this leads to is no schema")
        return target

    def _path(self, schema: Any) -> Path:
        return self._paths.get(id(schema), ())


def _paths(schema: Any) -> Iterator[tuple[int, Path]]:
    """Where each object of a schema stands, by its identity."""
    waiting: list[tuple[Any, Path]] = [(schema, ())]
    while waiting:
        value, path = waiting.pop()
        if isinstance(value, dict):
            yield id(value), path
            waiting += [(inner, (*path, key)) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(inner, (*path, index)) for index, inner in enumerate(value)]


@cache
def _nothing() -> Any:
    """A registry that holds no schema, and fetches none."""
    return import_module("referencing").Registry()


@dataclass(slots=True)
class _Left:
    """What may still be taken: steps, and keywords within keywords."""

    steps: int
    levels: int


_left: ContextVar[_Left | None] = ContextVar("what is left", default=None)


@contextmanager
def _budget() -> Iterator[None]:
    token = _left.set(_Left(MAX_STEPS, _free_levels()))
    try:
        yield
    finally:
        _left.reset(token)


def _free_levels() -> int:
    """Keywords within keywords that the stack still takes, whatever they are."""
    free = sys.getrecursionlimit() - _SPARE_FRAMES
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        free -= 1
        frame = frame.f_back
    return free // _FRAMES


def _step(count: int = 1) -> None:
    left = _left.get()
    if left is None:
        return
    left.steps -= count
    if left.steps < 0:
        raise UncheckableError(f"judging the data by the schema takes more than {MAX_STEPS} steps")


@contextmanager
def _level() -> Iterator[None]:
    """Within one more keyword. The stack must not run out: below jsonschema lies code that is not Python, which then
    raises what no `except Exception` catches, and writes to stderr."""
    left = _left.get()
    if left is None:
        yield
        return
    before = left.levels
    # Most keywords take fewer frames than were counted on, so what is left is counted again.
    left.levels = before - 1 if before > 1 else _free_levels()
    try:
        if left.levels <= 0:
            raise UncheckableError("the data is nested too deeply for the schema")
        yield
    finally:
        left.levels = before


@cache
def validator_class(dialect: str = _NEWEST) -> Any:
    """A validator class of jsonschema's that counts its steps and matches by RE2."""
    jsonschema: Any = import_module("jsonschema")
    base = getattr(jsonschema, _DIALECTS[dialect])
    keywords = {
        **base.VALIDATORS,
        **{name: _compared(base.VALIDATORS[name]) for name in ("const", "enum") if name in base.VALIDATORS},
        "pattern": _pattern, "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties, "uniqueItems": _unique_items,
    }  # fmt: skip
    counted = {name: _counted(keyword) for name, keyword in keywords.items()}
    return jsonschema.validators.extend(base, counted, type_checker=finite_numbers(base))


def finite_numbers(base: Any) -> Any:
    """The types of a validator class of jsonschema's, where infinite numbers and NaN are no numbers."""
    return base.TYPE_CHECKER.redefine("number", lambda _checker, value: is_finite(value))


def is_finite(value: Any) -> bool:
    """Whether a value is a number as JSON has them: neither infinite nor NaN, with which every comparison fails."""
    return isinstance(value, int | float) and not isinstance(value, bool) and (value - value == 0)


def _counted(keyword: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def judged(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        # A list of required keys is looked through as a whole.
        _step(1 + (len(wanted) if isinstance(wanted, list) else 0))
        with _level():
            yield from keyword(validator, wanted, value, schema) or ()

    return judged


def _compared(keyword: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    """`const` and `enum`: what is compared may be large."""

    def judged(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        _step(len(repr(wanted)) // 20)
        yield from keyword(validator, wanted, value, schema) or ()

    return judged


def pattern_search(pattern: str) -> Callable[[bytes], Any]:
    """The search function of a schema's pattern over UTF-8. Raises `PatternError`."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternError(f"it is longer than {MAX_PATTERN_CHARS} characters")
    return _search(pattern)


@cache
def _search(pattern: str) -> Callable[[bytes], Any]:
    return search_of(_ESCAPED.sub(_escape, pattern), MAX_PATTERN_MEMORY)


def _escape(found: re.Match[str]) -> str:
    r"""`\u4e00` as RE2 writes it; every other escape as it is."""
    return f"\\x{{{found[1]}}}" if found[1] else found[0]


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _pattern(validator: Any, wanted: str, value: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "string"):
        return
    _step(len(value) // 1000)
    if pattern_search(wanted)(utf8(value)) is None:
        yield _error(f"{value!r} does not match {wanted!r}")


def _pattern_properties(validator: Any, wanted: dict[str, Any], value: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for pattern, part in wanted.items():
        search = pattern_search(pattern)
        for key, inner in value.items():
            _step()
            if search(utf8(key)) is not None:
                yield from validator.descend(inner, part, path=key, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    known = schema.get("properties", {})
    patterns = [pattern_search(one) for one in schema.get("patternProperties", {})]
    _step(len(value) * len(patterns))
    extra = [key for key in value if key not in known and not any(one(utf8(key)) for one in patterns)]
    if wanted is False and extra:
        yield _error(f"there may be no {', '.join(repr(key) for key in extra[:5])}")
    elif wanted is not False:
        for key in extra:
            yield from validator.descend(value[key], wanted, path=key)


def _unique_items(validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[Any]:
    if not wanted or not validator.is_type(value, "array"):
        return
    texts = [_canonical(one) for one in value]
    _step(sum(map(len, texts)) // 20)
    if len(set(texts)) != len(texts):
        yield _error("an item is there twice")


def _canonical(value: Any) -> str:
    """The same text for values that JSON Schema calls equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_numbers(value), sort_keys=True)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
