"""Schemas of others: what is wrong with one is said at once, and judging never hangs, fetches or raises what is no
error of ours."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from policyengine.source.foreign_schema import (
    MAX_DEPTH,
    MAX_VALUES,
    ForeignSchema,
    ForeignSchemaError,
    UncheckableError,
)

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
NEWEST = "https://json-schema.org/draft/2020-12/schema"


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


def _doubling(levels: int) -> dict[str, Any]:
    """A schema of few lines that is as good as 2 ** levels long."""
    parts: dict[str, Any] = {f"a{level}": {"allOf": [{"$ref": f"#/$defs/a{level + 1}"}] * 2} for level in range(levels)}
    return {"$defs": {**parts, f"a{levels}": {"type": "object"}}, "$ref": "#/$defs/a0"}


def _itself() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    schema["not"] = schema
    return schema


REFUSED: dict[str, tuple[Any, str]] = {
    "a reference to nothing": ({"$ref": "#/nope"}, "at $ref: this leads to nothing"),
    "a reference to a server": ({"$ref": "https://example.com/a.json"}, "nothing is fetched"),
    "a reference to a file": ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "at properties/a/$ref"),
    "a reference below an address of its own": (
        {"$id": "https://example.com/", "items": {"$ref": "other"}}, "at items/$ref",
    ),
    "a dynamic reference to nothing": ({"$dynamicRef": "#nope"}, "at $dynamicRef"),
    "a reference to a text": ({"$ref": "#/title", "title": "x"}, "what this leads to is no schema"),
    "a reference to a broken part that is no schema's place": (
        {"$ref": "#/x", "x": {"type": "strng"}}, "at x/type: this is no valid JSON Schema",
    ),
    "a type that there is not": ({"properties": {"a": {"type": "strng"}}}, "at properties/a/type"),
    "an address that is none": ({"$id": "http://[", "properties": {"a": {"$id": "http://[::"}}}, "cannot be used"),
    "a dialect that nobody knows": ({"$schema": "https://example.com/"}, "at $schema: this dialect is not known"),
    "a part in another dialect": ({"not": {"$schema": DRAFT_7}}, "at not/$schema"),
    "a pattern with lookahead": ({"pattern": "^(?!a)"}, "at pattern: RE2 does not take this pattern"),
    "a pattern with a back-reference": ({"patternProperties": {"(a)\\1": {}}}, "at patternProperties: RE2"),
    "a pattern that would take much memory": ({"pattern": "((a{1000}){1000}){1000}"}, "at pattern: RE2"),
    "a long pattern": ({"pattern": "a" * 5000}, "longer than"),
    "keywords that would match by Python's patterns": (
        {"patternProperties": {"a": {}}, "unevaluatedProperties": False}, "at unevaluatedProperties",
    ),
    "deep": (_nested(MAX_DEPTH + 1), "nested deeper"),
    "large": ({"enum": list(range(MAX_VALUES))}, "more than"),
    "one that holds itself": (_itself(), "nested deeper"),
    "no object": ("text", "a schema is an object"),
    "nothing": (None, "a schema is an object"),
    "a set": ({"enum": {1}}, "at enum: this value is no JSON"),
    "not a number": ({"minimum": float("nan")}, "at minimum: this value is no JSON"),
    "a key that is no text": ({"properties": {1: {}}}, "at properties: a key is no text"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_schema_that_cannot_be_used_is_refused_with_its_place(name: str) -> None:
    schema, said = REFUSED[name]
    with pytest.raises(ForeignSchemaError) as error:
        ForeignSchema(schema)
    assert said in str(error.value)
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


EVIL = "^(a+)+$"
LONG = "a" * 40 + "b"
JUDGED: dict[str, tuple[Any, Any, str | None]] = {
    "fits": ({"type": "object", "required": ["a"]}, {"a": 1}, None),
    "a key is missing": ({"type": "object", "required": ["a"]}, {}, "'a' is a required property"),
    "a place": ({"properties": {"a": {"items": {"type": "integer"}}}}, {"a": [1, "x"]}, "a/1: "),
    "a pattern that hangs Python": ({"pattern": EVIL}, LONG, "does not match"),
    "the same for keys": ({"patternProperties": {EVIL: False}}, {LONG: 1}, None),
    "the same where other keys are refused": (
        {"patternProperties": {EVIL: {}}, "additionalProperties": False}, {LONG: 1}, "there may be no",
    ),
    "the same by way of the stated dialect": (
        {"$schema": NEWEST, "properties": {"a": {"$ref": "#"}}, "pattern": EVIL}, {"a": LONG}, "a: ",
    ),
    "an escape that only JavaScript has": ({"pattern": "^[\\u4e00-\\u9fff]+$"}, "中文", None),
    "the end is the end, not the line's": ({"pattern": "a$"}, "a\n", "does not match"),
    "half a character": ({"pattern": "^a"}, "\ud800", "does not match"),
    "an older dialect": (
        {"$schema": DRAFT_7, "definitions": {"a": {"type": "string"}}, "items": [{"$ref": "#/definitions/a"}]},
        [1], "0: ",
    ),
    "a schema that refers to itself": ({"properties": {"a": {"$ref": "#"}}, "type": "object"}, {"a": {"a": 1}}, "a/a:"),
    "1 and 1.0 are the same": ({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], "an item is there twice"),
    "1 and true are not": ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}], None),
    "what is not matched by a key pattern": (
        {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}}, {"x": 1, "y": 2}, "y: ",
    ),
    "unevaluated keys": ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, {"b": 1}, "'b'"),
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_data_is_judged(name: str) -> None:
    schema, data, said = JUDGED[name]
    wrong = ForeignSchema(schema).misfit(data)
    assert (wrong is None) == (said is None), wrong
    assert said is None or said in (wrong or "")


def _deep_list(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


UNCHECKABLE: dict[str, tuple[Any, Any, str]] = {
    "a schema that is nothing but itself": ({"$ref": "#"}, {}, "nested too deeply"),
    "a schema that doubles and doubles": (_doubling(40), {}, "steps"),
    "data that is nested deeply": ({"items": {"$ref": "#"}}, _deep_list(3000), "nested too deeply"),
    "many large values to compare": (
        {"items": {"enum": [["x" * 10] * 1000]}}, [["x" * 10] * 1000] * 1000, "steps",
    ),
    "a number beyond what the check can do": ({"multipleOf": 0.1}, 10**400, "OverflowError"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCHECKABLE)
def test_what_cannot_be_judged_is_said(name: str) -> None:
    schema, data, said = UNCHECKABLE[name]
    with pytest.raises(UncheckableError) as error:
        ForeignSchema(schema).misfit(data)
    assert said in str(error.value)


ENDLESS: dict[str, Any] = {
    "not": {"not": {"$ref": "#"}},
    "anyOf": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]},
    "if": {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"if": {"$ref": "#/$defs/a"}}]}}},
}


@pytest.mark.parametrize("name", ENDLESS)
def test_the_stack_does_not_run_out_wherever_the_caller_stands_on_it(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    # What jsonschema stands on answers a stack that runs out with an exception of its own, which is no `Exception`.
    schema = ForeignSchema(ENDLESS[name])

    def below(frames: int) -> str:
        if frames:
            return below(frames - 1)
        with pytest.raises(UncheckableError) as error:
            schema.misfit("x")
        return str(error.value)

    for frames in range(0, 400, 7):
        assert "nested too deeply" in below(frames)
    assert capfd.readouterr().err == ""


def test_data_of_a_schema_that_repeats_itself_may_be_deep() -> None:
    schema = ForeignSchema({"type": "object", "properties": {"inside": {"type": "array", "items": {"$ref": "#"}}}})
    tree: Any = {"inside": []}
    for _ in range(45):
        tree = {"inside": [{}, tree]}
    assert schema.misfit(tree) is None


def test_nothing_is_ever_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        for schema in ({"$ref": address}, {"$schema": address}, {"$id": address, "$ref": "other.json"}):
            with pytest.raises(ForeignSchemaError):
                ForeignSchema(schema)
        ForeignSchema({"$id": address, "type": "object"}).misfit({})
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_later_change_of_what_was_given_changes_nothing() -> None:
    given: dict[str, Any] = {"type": "object"}
    schema = ForeignSchema(given)
    given["$ref"] = "https://example.com/"
    assert schema.misfit({}) is None
