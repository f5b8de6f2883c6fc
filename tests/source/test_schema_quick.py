"""The quick check says exactly what jsonschema says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from policyengine.source.resources import policies_folder, schemas_folder
from policyengine.source.schema import load_schema
from policyengine.source.schema_quick import Compiler, UnsupportedError
from policyengine.source.yaml import read_documents

NO_FILES = "file:///schemas/unnamed"
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, -1, "", "a", "b", "aa", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"]
COUNTS = st.integers(0, 2)
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    "dependentRequired": st.dictionaries(
        st.sampled_from("abc"), st.lists(st.sampled_from("abc"), max_size=2, unique=True), max_size=2
    ),
    "pattern": st.sampled_from(["^a", "b$", "[0-9]"]),
    "uniqueItems": st.booleans(),
    "$ref": st.just("#/$defs/x"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), st.integers(-1, 2)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), COUNTS),
}


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    part = inner | st.booleans()
    parts = st.lists(part, min_size=1, max_size=2)
    by_key = st.dictionaries(st.sampled_from("abc"), part, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            **{key: LEAVES[key] for key in ("type", "required", "minProperties")},
            **dict.fromkeys(("items", "additionalProperties", "propertyNames", "not", "if", "then", "else"), part),
            **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), parts),
            **dict.fromkeys(("properties", "patternProperties"), by_key),
        },
    )


SCHEMAS = st.recursive(st.fixed_dictionaries({}, optional=LEAVES), _schemas, max_leaves=4)


def _no_load(address: str) -> dict[str, Any]:
    raise AssertionError(address)


@settings(max_examples=400)
@given(SCHEMAS, st.sampled_from([{"type": "string"}, {"minimum": 1}, True]), st.lists(VALUES, min_size=1, max_size=5))
def test_generated_schemas(schema: dict[str, Any], shared: Any, values: list[Any]) -> None:
    schema = {**schema, "$defs": {"x": shared}}
    check = Compiler(_no_load).check(schema, NO_FILES)
    validator = Draft202012Validator(schema)
    for value in values:
        assert check(value) == validator.is_valid(value), value


def test_a_schema_that_refers_to_itself() -> None:
    schema = {"type": ["object", "integer"], "additionalProperties": {"$ref": "#"}}
    check = Compiler(_no_load).check(schema, NO_FILES)
    assert [check({"a": {"b": last}}) for last in (1, {}, "x")] == [True, True, False]


def test_another_keyword_is_left_to_jsonschema() -> None:
    with pytest.raises(UnsupportedError):
        Compiler(_no_load).check({"items": {"unevaluatedProperties": False}}, NO_FILES)


SIZE = "size#/$defs/size"
FILES = {
    "file:///schemas/size": {"$defs": {"size": {"type": "integer"}, "odd": {"unevaluatedItems": False}}},
    "file:///schemas/tree": {"additionalProperties": {"$ref": "#"}, "properties": {"size": {"$ref": SIZE}}},
    "file:///schemas/odd": {"properties": {"a": {"$ref": "tree#"}, "b": {"$ref": "size#/$defs/odd"}}},
}


def test_files_are_compiled_once_and_a_failed_one_is_forgotten() -> None:
    loaded: list[str] = []

    def load(address: str) -> Any:
        loaded.append(address)
        return FILES[address]

    compiler = Compiler(load)
    with pytest.raises(UnsupportedError):
        compiler.check(FILES["file:///schemas/odd"], "file:///schemas/odd")
    loaded.clear()
    for name in ("one", "other"):
        own = {"type": "object" if name == "one" else "array"}
        schema = {"$defs": {"x": own}, "allOf": [{"$ref": "#/$defs/x"}], "$ref": "tree#"}
        check = compiler.check(schema, "file:///schemas/unnamed")
        given: list[Any] = [{"size": 1}, {"a": {"size": "x"}}, []]
        assert [check(value) for value in given] == [name == "one", False, name == "other"]
    assert loaded == ["file:///schemas/tree", "file:///schemas/size"]


NAMES = sorted(path.name.removesuffix(".schema.json") for path in schemas_folder().glob("*.schema.json"))
KINDS = {load_schema(name).get("properties", {}).get("kind", {}).get("const"): name for name in NAMES}
POLICIES = [
    document
    for path in sorted(policies_folder().rglob("*.yaml"))
    for document in read_documents(path)[0]
    if isinstance(document.data, dict) and KINDS.get(document.data.get("kind"))
]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_changed_default_policies(data: st.DataObject) -> None:
    from policyengine.source.schema import _compiled

    document = data.draw(st.sampled_from(POLICIES))
    check, validator = _compiled(load_schema(KINDS[document.data["kind"]]))
    assert check is not None, "the schemas of the project keep to the keywords that are quick"
    changed: Any = copy.deepcopy(document.data)
    place: Any = changed
    while isinstance(place, dict | list) and place:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.integers(0, 3)) == 0:
            place[key] = data.draw(VALUES)
            break
        place = place[key]
    assert check(document.data) == validator().is_valid(document.data)
    assert check(changed) == validator().is_valid(changed)
