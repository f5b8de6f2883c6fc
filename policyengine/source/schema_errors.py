"""What jsonschema says, in words for the person who wrote the file.

Each error becomes a `Complaint`: the field, the value (shortened, masked), what was expected and what to do.
An `anyOf` or `oneOf` is explained by the branch that was most likely meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from policyengine.source import schema_words as words
from policyengine.source.core_schema import surprise
from policyengine.source.nearest import did_you_mean, nearest
from policyengine.source.schema_references import about_key, known_keys
from policyengine.source.secrets import looks_secret

Path = tuple[str | int, ...]
StyleOf = Callable[[Path], str | None]

MAX_COMPLAINTS = 1000
"""Safety limit: a file with more errors than this was not written by a person, and nobody reads them all."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")
"""What looks like the name of a field: a log may show it."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong at `path` below the judged value; `at_key` where the key is wrong itself.

    `plain` is the message for a log: without any value, and with keys only where they look like names.
    """

    path: Path
    message: str
    plain: str
    hint: str | None = None
    at_key: bool = False
    missing: tuple[str, ...] = ()  # the keys of which one is missing
    meant: str | None = None  # the key that an unknown key was likely meant to be


def complaints(
    errors: Iterable[Any], validator: Any, style: StyleOf, prefix: Path, whole: str = words.DOCUMENT
) -> list[Complaint]:
    """The complaints that `errors` of jsonschema amount to, without doubles.

    `style` tells how the scalar at a path is written in YAML, `prefix` is the path of the judged value, `whole` what
    that is called where it has none.
    """
    explainer = _Explainer(validator, style, prefix, whole)
    found: dict[tuple[Path, str], Complaint] = {}
    late: list[Any] = []
    errors = list(errors)
    mistyped = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
    for error in errors:
        if error.validator != "type" and tuple(error.absolute_path) in mistyped:
            continue  # what else is wrong with a value of the wrong type is no news
        if error.validator in ("unevaluatedProperties", "unevaluatedItems"):
            late.append(error)
            continue
        for complaint in explainer.explain(error):
            found.setdefault((complaint.path, complaint.message), complaint)
    # A failed branch leaves all its keys "unevaluated"; that follows from the other complaints.
    for error in late:
        path = tuple(error.absolute_path)
        if any(complaint.path[: len(path)] == path for complaint in found.values()):
            continue
        for complaint in explainer.explain(error):
            found.setdefault((complaint.path, complaint.message), complaint)
    return _without_echoes(list(found.values()))


def _without_echoes(found: list[Complaint]) -> list[Complaint]:
    """Leave out that a key is missing where a misspelt key beside it already says so."""
    meant = {(complaint.path[:-1], complaint.meant) for complaint in found if complaint.meant is not None}
    return [complaint for complaint in found if not any((complaint.path, key) in meant for key in complaint.missing)]


class _Explainer:
    def __init__(self, validator: Any, style: StyleOf, prefix: Path, whole: str) -> None:
        self._validator = validator
        self._style = style
        self._prefix = prefix
        self._whole = whole

    def explain(self, error: Any) -> Iterator[Complaint]:
        keyword = error.validator
        path = tuple(error.absolute_path)
        if keyword in ("anyOf", "oneOf"):
            yield from self._branches(error, path)
        elif keyword in ("additionalProperties", "unevaluatedProperties"):
            yield from self._unknown_keys(error, path)
        elif keyword == "required":
            yield self._missing(error, path)
        elif keyword == "dependentRequired":
            yield self._complaint(path, f": {_dependent(error)}", hint=words.about(error.schema))
        elif _about_name(error):
            yield self._bad_key(error, path)
        elif keyword in ("type", "enum", "const"):
            expected, hint = self._expected(error, path)
            yield self._wrong(error, path, expected, hint)
        else:
            yield self._wrong(error, path, words.expectation(error), words.about(error.schema))

    # Messages

    def _field(self, path: Path) -> str:
        full = (*self._prefix, *path)
        return f"`{words.dotted(full)}`" if full else self._whole

    def _plain_field(self, path: Path) -> str:
        full = (*self._prefix, *path)
        named = [step if isinstance(step, int) or _NAME.fullmatch(step) else "..." for step in full]
        return f"`{words.dotted(named)}`" if named else self._whole

    def _complaint(self, path: Path, about: str, plain: str | None = None, hint: str | None = None) -> Complaint:
        """A complaint about a field: `about` follows its name; `plain` in its place where that holds a value."""
        return Complaint(
            path, self._field(path) + about, self._plain_field(path) + (about if plain is None else plain), hint
        )

    def _wrong(self, error: Any, path: Path, expected: str, hint: str | None) -> Complaint:
        name = next((step for step in reversed((*self._prefix, *path)) if isinstance(step, str)), "")
        value = words.shown(error.instance, name)
        return self._complaint(path, f" is {value}; expected {expected}", f": expected {expected}", hint)

    def _expected(self, error: Any, path: Path) -> tuple[str, str | None]:
        value = error.instance
        if error.validator == "type":
            wanted = error.validator_value
            wanted = [wanted] if isinstance(wanted, str) else list(wanted)
            return words.types(wanted), self._type_hint(value, wanted, path) or words.about(error.schema)
        choices = [error.validator_value] if error.validator == "const" else list(error.validator_value)
        hint = None
        if isinstance(value, str):
            hint = did_you_mean(value, [choice for choice in choices if isinstance(choice, str)])
        types = list(dict.fromkeys(words.type_of(choice) for choice in choices))
        hint = hint or self._type_hint(value, types, path) or words.about(error.schema)
        return words.one_of(choices), hint

    def _type_hint(self, value: Any, wanted: Sequence[str], path: Path) -> str | None:
        style = self._style(path)
        if isinstance(value, str) and "string" not in wanted:
            if style == "":
                return next((hint for name in wanted if (hint := surprise(value, name))), None)
            if style in ("'", '"'):
                return words.unquote(value, wanted)
            return None
        if "string" in wanted and isinstance(value, bool | int | float):
            return f'quote it to mean the text: "{json.dumps(value)}"'
        if value is None and "null" not in wanted:
            return "write a value, or remove the key"
        if isinstance(value, float) and "integer" in wanted:
            return "write it without a fraction"
        return None

    def _unknown_keys(self, error: Any, path: Path) -> Iterator[Complaint]:
        known = known_keys(error, self._validator)
        unknown = [key for key in error.instance if key not in known]
        for at, key in enumerate(unknown):
            if at == MAX_COMPLAINTS:
                yield self._complaint(path, f" has {len(unknown)} unknown keys; the rest is not listed")
                return
            if not _names_key(error, key):
                continue
            free = [name for name in known if name not in error.instance]
            meant = nearest(key, free) or nearest(key, known)
            hint = f"did you mean `{meant}`?" if meant else words.known(known)
            where = f" in {self._field(path)}" if (*self._prefix, *path) else ""
            message = f"unknown key `{words.short(key)}`{where}"
            plain = f"{self._unknown(key, path)}; {hint}"
            yield Complaint((*path, key), message, plain, hint, at_key=True, meant=meant)

    def _unknown(self, key: str, path: Path) -> str:
        where = f" in {self._plain_field(path)}" if path else ""
        return f"unknown key{f' `{key}`' if _NAME.fullmatch(key) and not looks_secret(key) else ''}{where}"

    def _missing(self, error: Any, path: Path) -> Complaint:
        key = _missing_key(error)
        plain = f"{self._plain_field(path)} has no {key}"
        message = plain if self._whole == words.INPUT else f"{self._field(path)} lacks the key `{key}`"
        return Complaint(path, message, plain, self._hint_of_key(key, error), missing=(key,))

    def _hint_of_key(self, key: str, error: Any) -> str:
        schema = about_key(key, error, self._validator)
        example, about = words.example(key, schema), words.about(schema)
        if example and about:
            return f"{about.rstrip('.')}; for example {example}"
        return about or (f"for example {example}" if example else f"add `{key}`")

    def _bad_key(self, error: Any, path: Path) -> Complaint:
        key = error.instance
        where = f" in {self._field(path)}" if (*self._prefix, *path) else ""
        if error.validator == "enum":
            choices = [choice for choice in error.validator_value if isinstance(choice, str)]
            hint = (did_you_mean(key, choices) if isinstance(key, str) else None) or words.known(choices)
            message = f"unknown key `{words.short(key)}`{where}"
            return Complaint((*path, key), message, self._unknown(key, path), hint, at_key=True)
        message = f"the key `{words.short(key)}`{where} is not allowed; expected {words.expectation(error)}"
        plain = f"{self._plain_field(path)}: expected keys of another form: {words.expectation(error)}"
        return Complaint((*path, key), message, plain, words.about(error.schema), at_key=True)

    # Alternatives

    def _branches(self, error: Any, path: Path) -> Iterator[Complaint]:
        branches: dict[Any, list[Any]] = {}
        for number, child in enumerate(error.context or ()):
            # An error of the branch `false` has no path.
            branches.setdefault(child.schema_path[0] if child.schema_path else f"false {number}", []).append(child)
        if not branches:  # a oneOf of which several branches hold
            yield self._several(error, path)
            return
        lists = list(branches.values())
        here = len(path)
        if all(len(tuple(child.absolute_path)) == here for errors in lists for child in errors):
            joined = self._joined(error, path, lists)
            if joined is not None:
                yield joined
                return
        best = min(lists, key=lambda errors: _distance(errors, here))
        yield from complaints(best, self._validator, self._style, self._prefix, self._whole)

    def _several(self, error: Any, path: Path) -> Complaint:
        required = [tuple(branch.get("required", ())) for branch in error.validator_value if isinstance(branch, dict)]
        present = [
            key for keys in required for key in keys if isinstance(error.instance, dict) and key in error.instance
        ]
        if len(present) > 1:
            names = " and ".join(f"`{key}`" for key in dict.fromkeys(present))
            return self._complaint(path, f" has {names}; expected only one of them", hint="remove one")
        return self._complaint(path, " fits several forms; expected exactly one", hint=words.about(error.schema))

    def _joined(self, error: Any, path: Path, branches: list[list[Any]]) -> Complaint | None:
        """One complaint for branches that all fail at the value itself and for one kind of reason."""
        keywords = {child.validator for errors in branches for child in errors}
        if any(len(errors) != 1 for errors in branches):
            return None
        first = [errors[0] for errors in branches]
        if keywords == {"required"}:
            keys = tuple(dict.fromkeys(_missing_key(child) for child in first))
            names = ", ".join(f"`{key}`" for key in keys)
            about = self._complaint(path, f" needs one of the keys {names}", hint=words.about(error.schema))
            return replace(about, missing=keys)
        if keywords <= {"type"}:
            wanted: list[str] = []
            for child in first:
                value = child.validator_value
                wanted.extend([value] if isinstance(value, str) else value)
            wanted = list(dict.fromkeys(wanted))
            hint = self._type_hint(error.instance, wanted, path) or words.about(error.schema)
            return self._wrong(error, path, words.types(wanted), hint)
        if keywords <= {"type", "enum", "const"}:
            expected = list(dict.fromkeys(self._expected(child, path)[0] for child in first))
            choices = [
                choice
                for child in first
                if child.validator != "type"
                for choice in ([child.validator_value] if child.validator == "const" else child.validator_value)
                if isinstance(choice, str)
            ]
            value = error.instance
            hint = did_you_mean(value, choices) if isinstance(value, str) else None
            return self._wrong(error, path, ", or ".join(expected), hint or words.about(error.schema))
        return None


def _distance(errors: Sequence[Any], depth: int) -> tuple[int, int, int, int]:
    """How far a value is from a branch: wrong type as a whole, another kind, then by the number of errors."""
    wrong_type = wrong_kind = misplaced = 0
    for error in errors:
        at = len(tuple(error.absolute_path)) - depth
        if at == 0 and error.validator in ("type", "enum", "const"):
            wrong_type = 1
        elif at == 1 and error.validator == "const":
            wrong_kind = 1
        elif at == 0 and error.validator in ("required", "additionalProperties", "unevaluatedProperties"):
            misplaced += 1
    return wrong_type, wrong_kind, misplaced, len(errors)


def _about_name(error: Any) -> bool:
    """Whether an error is about the name of a key. A schema of schemas has a property of that name, too."""
    path = list(error.absolute_schema_path)
    return any(step == "propertyNames" and path[at - 1 : at] != ["properties"] for at, step in enumerate(path))


def _names_key(error: Any, key: str) -> bool:
    """Whether jsonschema's message lists `key` among those that are too many; it has no field for that."""
    return repr(key) in error.message


def _missing_key(error: Any) -> str:
    """The key that is missing: jsonschema reports one error for each, and names it in its message only."""
    for key in error.validator_value:
        if key not in error.instance and error.message.startswith(repr(key)):
            return str(key)
    return next(str(key) for key in error.validator_value if key not in error.instance)


def _dependent(error: Any) -> str:
    for key, needed in error.validator_value.items():
        for other in needed:
            if key in error.instance and other not in error.instance:
                return f"the key `{key}` needs the key `{other}` beside it"
    return "a key is missing that another one needs"
