"""What a schema asks for and a document lacks is said in one located line each."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from policyengine.source.errors import InputError
from policyengine.source.resources import schemas_folder
from policyengine.source.schema import load_schema, validate, validate_input
from policyengine.source.yaml import parse_documents

FILE = Path(__file__).parent / "data" / "schema-findings.yaml"
DATA: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
NAMES = sorted(
    path.relative_to(schemas_folder()).as_posix().removesuffix(".schema.json")
    for path in schemas_folder().rglob("*.schema.json")
)


@pytest.mark.parametrize("case", DATA["cases"], ids=[case["text"] for case in DATA["cases"]])
def test_findings(case: dict[str, Any]) -> None:
    document = parse_documents(case["text"], "f.yaml")[0][0]
    found = []
    for finding in validate(document.data, DATA["schema"], document):
        hint = f" ({finding.hint})" if finding.hint else ""
        found.append(f"{finding.place.line}:{finding.place.column}: {finding.message}{hint}")
        assert (finding.code, finding.severity) == ("schema", "error")
    assert found == case["findings"]


def test_a_part_of_a_document_keeps_its_places_and_full_path() -> None:
    document = parse_documents("rules:\n  - {a: x}\n", "f.yaml")[0][0]
    schema = {"properties": {"a": {"type": "integer"}}}
    (finding,) = validate(document.data["rules"][0], schema, document, ("rules", 0), code="input")
    assert str(finding) == 'f.yaml:2:9: error[input]: `rules[0].a` is the text "x"; expected a whole number'


def test_inputs_without_places() -> None:
    schema = {
        "type": "object",
        "required": ["tokens"],
        "properties": {"tokens": {"type": "integer", "minimum": 0}},
    }
    assert validate_input({"tokens": 1}, schema) == []
    assert validate_input({"tokens": -1}, schema) == ["`tokens` is -1; expected at least 0"]
    assert validate_input({}, schema) == ["the input has no tokens (add `tokens`)"]
    assert validate_input([], schema) == ["the input is an empty list; expected a mapping"]


def test_names_of_keys_may_be_listed_beside_what_is_no_name() -> None:
    schema = {"type": "object", "propertyNames": {"enum": [None, 3, "tokens"]}}
    assert validate_input({"token": 1}, schema) == ["unknown key `token` (did you mean `tokens`?)"]
    assert validate_input({"a": 1}, {**schema, "propertyNames": {"enum": [None]}}) == ["unknown key `a` (remove it)"]


def test_errors_of_keys_that_are_free_come_in_the_order_of_the_data() -> None:
    wrong = dict.fromkeys("qwertyuiopasdfghjkl", 1)
    catalogue = load_schema("model-catalogue")
    schema = {"$id": catalogue["$id"], **catalogue["properties"]["spec"]["properties"]["usage"]}
    assert [line.partition(" is")[0] for line in validate_input(wrong, schema)] == [f"`{name}`" for name in wrong]


@pytest.mark.parametrize("name", NAMES)
def test_every_packaged_schema_is_one_and_its_references_lead_somewhere(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    for text in _references(schema):
        file, _, pointer = text.partition("#")
        base = (schemas_folder() / f"{name}.schema.json").parent
        target: Any = schema if not file else json.loads((base / file).read_text(encoding="utf-8"))
        for step in pointer.strip("/").split("/") if pointer.strip("/") else ():
            target = target[step.replace("~1", "/").replace("~0", "~")]
    validate_input({"kind": "x"}, schema)


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [text for child in value.values() for text in _references(child)]
    return [text for child in value for text in _references(child)] if isinstance(value, list) else []


@pytest.mark.parametrize("name", ["nope", "../pyproject", "/etc/passwd"])
def test_a_schema_that_is_not_packaged(name: str) -> None:
    with pytest.raises(InputError, match="there is no schema named"):
        load_schema(name)


def test_the_errors_of_a_hostile_file_are_counted_and_not_all_listed() -> None:
    text = "a: 1\nb:\n" + "".join(f"  k{at}: 1\n" for at in range(20_000)) + "c: [" + "x," * 20_000 + "]\n"
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "object", "properties": {"known": {}}, "additionalProperties": False},
            "c": {"type": "array", "items": {"type": "integer"}},
        },
    }
    documents, _ = parse_documents(text, "f.yaml")
    begun = time.perf_counter()
    findings = [finding.message for finding in validate(documents[0].data, schema, documents[0])]
    assert time.perf_counter() - begun < 20
    assert len(findings) < 2100
    assert "`b` has 20000 unknown keys; the rest is not listed" in findings
    assert "there are more than 1000 errors; the rest is not listed" in findings
