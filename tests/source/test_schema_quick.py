"""The quick check says exactly what jsonschema says, and so does the function that is written for a schema."""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from policyengine.source.resources import policies_folder, schemas_folder
from policyengine.source.schema import input_check, input_misfits, load_schema
from policyengine.source.schema_code import function_of
from policyengine.source.schema_quick import Compiler, UnsupportedError
from policyengine.source.yaml import read_documents
from tests.conftest import examples

NO_FILES = "file:///schemas/unnamed"


class _Text(str):
    pass


class _Whole(int):
    pass


class _Real(float):
    pass


class _List(list[Any]):
    pass


ODD = [-0.0, 10**400, 2**53 + 1, 1e308, _Text("a"), _Whole(1), _Real(1.0), _Real(1.5), "\ud800", "a\0", _List(["a"])]
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, -1, "", "a", "b", "aa", "1", *ODD]),
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


@settings(max_examples=examples(120))
@given(SCHEMAS, st.sampled_from([{"type": "string"}, {"minimum": 1}, True]), st.lists(VALUES, min_size=1, max_size=5))
def test_generated_schemas(schema: dict[str, Any], shared: Any, values: list[Any]) -> None:
    schema = {**schema, "$defs": {"x": shared}}
    check = Compiler(_no_load).check(schema, NO_FILES)
    written = function_of(schema, NO_FILES, Compiler(_no_load))
    validator = Draft202012Validator(schema)
    for value in values:
        assert check(value) == written(value) == validator.is_valid(value), value


def test_a_schema_that_refers_to_itself() -> None:
    schema = {"type": ["object", "integer"], "additionalProperties": {"$ref": "#"}}
    for check in (Compiler(_no_load).check(schema, NO_FILES), function_of(schema, NO_FILES, Compiler(_no_load))):
        assert [check({"a": {"b": last}}) for last in (1, {}, "x")] == [True, True, False]


@pytest.mark.parametrize("make", [Compiler(_no_load).check, lambda *of: function_of(*of, Compiler(_no_load))])
def test_another_keyword_is_left_to_jsonschema(make: Any) -> None:
    with pytest.raises(UnsupportedError):
        make({"items": {"unevaluatedProperties": False}}, NO_FILES)


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


@settings(max_examples=examples(60), deadline=None)
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


CLOSED = st.fixed_dictionaries(
    {"additionalProperties": st.booleans(), "properties": st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3)},
    optional={"required": LEAVES["required"], "type": LEAVES["type"]},
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@settings(max_examples=examples(120))
@given(CLOSED, st.lists(OBJECTS | VALUES, min_size=1, max_size=5))
def test_written_functions_of_objects(schema: dict[str, Any], values: list[Any]) -> None:
    schema = {**schema, "$defs": {"x": {"type": "string"}}}
    written = function_of(schema, NO_FILES, Compiler(_no_load))
    validator = Draft202012Validator(schema)
    for value in values:
        before = copy.deepcopy(value)
        assert written(value) == validator.is_valid(value), value
        assert value == before


def test_a_written_function_of_a_large_or_deep_schema() -> None:
    deep: dict[str, Any] = {"type": "integer"}
    for _ in range(150):
        deep = {"type": "array", "items": deep}
    value: Any = 1
    for _ in range(150):
        value = [value]
    check = function_of(deep, NO_FILES, Compiler(_no_load))
    assert check(value)
    assert not check([value])
    wide = {"properties": {f"p{at}": {"type": "object", "required": ["a"]} for at in range(3000)}}
    check = function_of(wide, NO_FILES, Compiler(_no_load))
    assert check({f"p{at}": {"a": 1} for at in range(3000)})
    assert not check({"p2999": {}})


@pytest.mark.parametrize("bounds", [{}, {"minimum": 0}, {"maximum": 1}, {"minimum": 0, "maximum": 1}])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, _Real("nan"), _Real("inf")])
def test_what_json_has_no_number_for_is_none(value: float, bounds: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["number", "null"], **bounds}}}
    for check in (Compiler(_no_load).check(schema, NO_FILES), function_of(schema, NO_FILES, Compiler(_no_load))):
        assert check({"a": 1})
        assert not check({"a": value})
    for named in (schema, {**schema, "$id": "file:///schemas/named"}):
        assert not input_check(named)({"a": value})
        assert input_misfits({"a": value}, named) == ["`a`: expected a number or null"]


def test_a_dict_that_makes_up_its_keys_is_not_changed() -> None:
    check = function_of({"type": "object", "required": ["a"], "properties": {"a": {}}}, NO_FILES, Compiler(_no_load))
    made_up: dict[str, int] = defaultdict(int)
    assert not check(made_up)
    assert not made_up


INPUTS = sorted(path.name.removesuffix(".schema.json") for path in (schemas_folder() / "inputs").glob("*.schema.json"))


@pytest.mark.parametrize("name", INPUTS)
def test_the_inputs_of_the_project(name: str) -> None:
    schema = load_schema(f"inputs/{name}")
    check = function_of(schema, schema["$id"], Compiler(lambda at: load_schema(at.partition("/schemas/")[2])))
    for example in schema["examples"]:
        assert check(example)
        assert not check({**example, "unheard_of": 1})
        for key in example:
            left = {other: value for other, value in example.items() if other != key}
            assert check(left) == (key not in schema.get("required", ()))
