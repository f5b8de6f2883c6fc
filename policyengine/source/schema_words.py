"""The words in which a message about a schema puts a path, a value, a type, choices, and what was expected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from policyengine.source.core_schema import resolve
from policyengine.source.secrets import looks_secret, names_secret

DOCUMENT, INPUT = "the document", "the input"
"""What the judged data is called in messages."""

# Lengths, in characters, that keep a message on one readable line.
_SHOWN_VALUE = 60
_SHOWN_TEXT = 160
_SHOWN_CHOICES = 12

_TYPE_NAMES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}
_EXPECTATIONS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} character(s)",
    "maxLength": "at most {} characters",
    "pattern": "text that matches {}",
    "format": "text in the format {}",
    "minItems": "at least {} item(s)",
    "maxItems": "at most {} items",
    "uniqueItems": "no item twice",
    "contains": "a list with a certain item",
    "minContains": "at least {} such items",
    "maxContains": "at most {} such items",
    "minProperties": "at least {} key(s)",
    "maxProperties": "at most {} keys",
    "unevaluatedItems": "fewer items",
    "not": "something else",
    "dependentSchemas": "other keys beside it",
}


def dotted(path: Sequence[str | int]) -> str:
    """A path as people write it: `spec.rules[2].when`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            step = short(step)
            step = step if step and all(char.isalnum() or char in "_-" for char in step) else json.dumps(step)
            text += f".{step}" if text else step
    return text


def shown(value: Any, name: str = "") -> str:
    """A value for a message: short, on one line, and hidden where it or its field `name` looks secret."""
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        if looks_secret(value) or (value and names_secret(name)):
            return "a hidden value that looks secret"
        if not value:
            return 'the empty text ""'
        return "the text " + json.dumps(short(value), ensure_ascii=False)
    if value is None or isinstance(value, bool | int | float):
        return short(json.dumps(value))
    return f"a {type(value).__name__}, which JSON does not have"


def short(text: str, length: int = _SHOWN_VALUE) -> str:
    """A text on one line, cut where it is longer than `length` (characters)."""
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= length else text[: length - 3] + "..."


def type_of(value: Any) -> str:
    """The name that JSON Schema has for the type of a value."""
    if value is None:
        return "null"
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
    ):
        if isinstance(value, kind):
            return name
    return "object"


def types(names: Sequence[str]) -> str:
    """One of several types, by their names in JSON Schema."""
    return _or([_TYPE_NAMES.get(name, name) for name in names])


def one_of(choices: Sequence[Any]) -> str:
    """One of several values."""
    texts = [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices]
    if len(texts) == 1:
        return f"`{texts[0]}`"
    more = f" and {len(texts) - _SHOWN_CHOICES} more" if len(texts) > _SHOWN_CHOICES else ""
    return "one of " + ", ".join(f"`{text}`" for text in texts[:_SHOWN_CHOICES]) + more


def _or(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " or " + parts[-1]


def known(keys: Sequence[str]) -> str:
    """What to do about a key that is none of these."""
    if not keys:
        return "remove it"
    more = f" and {len(keys) - _SHOWN_CHOICES} more" if len(keys) > _SHOWN_CHOICES else ""
    return "known keys: " + ", ".join(keys[:_SHOWN_CHOICES]) + more


def about(schema: Any) -> str | None:
    """What the schema says about a value, as a hint."""
    text = schema.get("description") or schema.get("title") if isinstance(schema, dict) else None
    return short(text, _SHOWN_TEXT) if isinstance(text, str) else None


def example(key: str, schema: dict[str, Any]) -> str | None:
    """A key with a value that its schema gives as an example, None where it gives none."""
    for examples in (
        schema.get("examples"),
        schema.get("enum"),
        [schema["const"]] if "const" in schema else None,
    ):
        if isinstance(examples, list) and examples:
            value = examples[0]
            text = value if isinstance(value, str) and _stays_text(value) else json.dumps(value)
            return f"`{key}: {short(text)}`"
    return None


def _stays_text(value: str) -> bool:
    """Whether `value` can stand plain in YAML and stay text, by a careful guess."""
    if not value or value.strip() != value or not (value[0].isalnum() or value[0] in "_./"):
        return False
    try:
        plain = isinstance(resolve(value), str)
    except ValueError:
        return False
    return plain and ": " not in value and " #" not in value and not value.endswith(":") and "\n" not in value


def unquote(value: str, wanted: Sequence[str]) -> str | None:
    """The hint that a quoted value would be of a wanted type without its quotes, None where it would not."""
    try:
        plain = resolve(value.strip())
    except ValueError:
        return None
    number = isinstance(plain, int | float) and not isinstance(plain, bool)
    if (number and {"number", "integer"} & set(wanted)) or (isinstance(plain, bool) and "boolean" in wanted):
        return f"remove the quotes: {value.strip()}"
    return None


def expectation(error: Any) -> str:
    """What was expected, for the keywords that look at one value."""
    wanted = error.validator_value
    wording = _EXPECTATIONS.get(error.validator)
    if wording is None:
        return f"what the schema's `{error.validator}` asks for"
    shown_wanted = wanted if isinstance(wanted, str) else json.dumps(wanted)
    return wording.replace("{}", short(shown_wanted, _SHOWN_TEXT))
