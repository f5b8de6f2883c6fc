"""The schema of a table's input, as a person writes it: what is wrong with it is found at its place, and what is not
wrong can be used, in bounded time, whatever it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.proofs.verify import verify
from policyengine.check.why_not import why_not
from policyengine.kinds.bundle import load
from policyengine.log.masking import Masking
from policyengine.source.errors import BundleError
from policyengine.source.schema import validate_input
from tests.conftest import examples

HEAD = (
    "apiVersion: policyengine/v1\nkind: Table\nmetadata: {name: t, version: 1.0.0, owner: me, description: d}\nspec:\n"
)
TAIL = """  rules: [{id: a, when: 'has(input.n) && dyn(input.n) == 5', outcome: {go: true}}]
  default: {outcome: {go: false}}
  on_error: {go: false}
"""
OBJECT = "type: object, properties: "


def _write(folder: Path, input: str) -> Path:
    (folder / "t.yaml").write_text(f"{HEAD}  input: {{{input}}}\n{TAIL}", encoding="utf-8")
    return folder


WRONG = [
    # what is written below `input:`, the text that the place begins at, what is said
    (OBJECT + "{n: {type: intger}}", "intger", "did you mean `integer`?"),
    (OBJECT + "{n: {type: [integer, nul]}}", "nul]", "did you mean `null`?"),
    (OBJECT + "{n: {type: []}}", "[]", "at least 1"),
    (OBJECT + "{n: {type: integer, minimun: 0}}", "minimun", "did you mean `minimum`?"),
    (OBJECT + "{n: {type: integer, minimum: many}}", "many", "expected a number"),
    (OBJECT + "{n: {type: string, minLength: -1}}", "-1", "at least 0"),
    (OBJECT + "{n: {multipleOf: 0}}", "0}", "more than 0"),
    (OBJECT + "{n: {enum: []}}", "[]", "at least 1"),
    (OBJECT + "{n: integer}", "integer", "expected"),
    (OBJECT + "{n: [integer]}", "[integer]", "expected"),
    (OBJECT + "{n: null}", "null", "expected"),
    (OBJECT + "{n: {items: [{type: string}]}}", "[{", "expected"),
    (OBJECT + "{n: {}}, required: n", "n", "expected a list"),
    (OBJECT + "{n: {}}, required: [n, n]", "[n, n]", "twice"),
    (OBJECT + "{n: {}}, additionalProperties: maybe", "maybe", "expected"),
    (OBJECT + "{n: {}}, $id: x", "$id", "unknown key `$id`"),
    (OBJECT + "{n: {}}, definitions: {}", "definitions", "unknown key `definitions`"),
    (OBJECT + '{n: {}}, $schema: "http://json-schema.org/draft-07/schema#"', '"http', "expected"),
    (OBJECT + "{n: {unevaluatedProperties: false}}", "unevaluatedProperties", "unknown key"),
    (OBJECT + '{n: {$ref: "http://x/y"}}', '"http', "nothing is fetched"),
    (OBJECT + '{n: {$ref: "file:///etc/passwd"}}', '"file', "nothing is fetched"),
    (OBJECT + '{n: {$ref: "common.schema.json#/$defs/metadata"}}', '"common', "nothing is fetched"),
    (OBJECT + '{n: {$ref: "#/properties/m"}, m: {}}', '"#/p', "#/$defs/NAME"),
    (OBJECT + '{n: {$ref: "#"}}', '"#"', "#/$defs/NAME"),
    (OBJECT + '{n: {$ref: ""}}', '""', "#/$defs/NAME"),
    (OBJECT + '{n: {$ref: "#/$defs/x"}}', '"#/$defs', "no `x` under $defs:"),
    (OBJECT + '{n: {$ref: "#/$defs/won"}}, $defs: {own: {}}', '"#/$defs', "did you mean `own`?"),
    (OBJECT + '{n: {}}, $defs: {a: {$ref: "#/$defs/a"}}', '"#/$defs', "leads back"),
    (OBJECT + '{n: {}}, $defs: {a: {not: {$ref: "#/$defs/b"}}, b: {items: {$ref: "#/$defs/a"}}}', '"#/$defs/a', "back"),
    (OBJECT + '{n: {pattern: "("}}', '"("', "no regular expression of RE2"),
    (OBJECT + '{n: {pattern: "(?=a)"}}', '"(?=a)"', "lookaround"),
    (OBJECT + r"{n: {pattern: '(a)\1'}}", "'(a)", "back-references"),
    (OBJECT + '{n: {patternProperties: {"[": {}}}}', '"["', "no regular expression of RE2"),
    (OBJECT + '{n: {if: {anyOf: [{pattern: "*"}]}}}', '"*"', "no regular expression of RE2"),
    (OBJECT + '{n: {}}, $defs: {unused: {pattern: "["}}', '"["', "no regular expression of RE2"),
    ("type: array, properties: {}", "array", "object"),
    ("properties: {}", "{prop", "lacks the key `type`"),
    ("type: object", "{type", "lacks the key `properties`"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "at", "says"), WRONG, ids=[row[0] for row in WRONG])
def test_a_fault_is_found_where_it_stands(tmp_path: Path, run: Any, written: str, at: str, says: str) -> None:
    result = run("lint", _write(tmp_path, written), "--format", "json")
    assert result.status == 1, result.err
    (found,) = [one for one in result.json["findings"] if one["severity"] == "error"]
    assert found["code"] == "schema"
    assert says in f"{found['message']} {found['hint']}"
    line = (tmp_path / "t.yaml").read_text().splitlines()[4]
    assert (found["line"], line[found["column"] - 1 :][: len(at)]) == (5, at)
    for command in (["eval", "t", "--bundle", tmp_path], ["verify", tmp_path]):
        refused = run(*command)
        assert refused.status == 2
        assert "t.yaml:5:" in refused.err


def test_every_fault_is_said(tmp_path: Path, run: Any) -> None:
    written = OBJECT + '{a: {pattern: "("}, b: {$ref: "#/$defs/x"}, c: {items: {pattern: "["}}}'
    assert len(run("lint", _write(tmp_path, written), "--format", "json").json["findings"]) == 3


def _bomb(kind: str, depth: int) -> str:
    """A schema that is small as it is written, and doubles with each reference."""
    parts = [f'd{n}: {{{kind}: [{{$ref: "#/$defs/d{n + 1}"}}, {{$ref: "#/$defs/d{n + 1}"}}]}}' for n in range(depth)]
    return OBJECT + f'{{n: {{$ref: "#/$defs/d0"}}}}, $defs: {{{", ".join(parts)}, d{depth}: {{type: integer}}}}'


@pytest.mark.parametrize("written", [
    _bomb("allOf", 40), _bomb("anyOf", 40), _bomb("oneOf", 40), _bomb("prefixItems", 40),
    OBJECT + "{n: {$ref: '#/$defs/d0'}}, $defs: {"
    + ", ".join(f"d{n}: {{items: {{$ref: '#/$defs/d{n + 1}'}}}}" for n in range(400)) + ", d400: {}}",
], ids=["allOf", "anyOf", "oneOf", "prefixItems", "deep"])  # fmt: skip
def test_a_schema_that_grows_without_end_is_refused(tmp_path: Path, run: Any, written: str) -> None:
    (found,) = run("lint", _write(tmp_path, written), "--format", "json").json["findings"]
    assert "with references followed the schema is" in found["message"]


def test_no_pattern_takes_forever(tmp_path: Path, run: Any) -> None:
    _write(tmp_path, OBJECT + '{n: {pattern: "^(a+)+$"}, m: {patternProperties: {"^(a|a)*$": {}}}}')
    assert run("lint", tmp_path).status == 0
    long = "a" * 5000 + "b"
    refused = run("eval", "t", "--bundle", tmp_path, "--set", f"n={long}")
    assert refused.status == 2
    assert "`n` is the text" in refused.err
    allowed = json.dumps({"m": {long: 1}, "n": "a" * 5000})
    assert run("eval", "t", "--bundle", tmp_path, "--input", "-", input=allowed).status == 0


@pytest.mark.parametrize("listed", ["[[]]", '["a", 3, null, {}]', "[1, 2.0, 2.5, true]", "[{a: 1}, 1.0e+300]"])
@pytest.mark.parametrize("kind", ["string", "integer", "[string, integer, 'null']"])
def test_of_listed_values_those_of_the_stated_type_count(tmp_path: Path, run: Any, kind: str, listed: str) -> None:
    folder = _write(tmp_path, OBJECT + f"{{n: {{type: {kind}, enum: {listed}}}}}")
    assert run("lint", folder).status == 0
    assert run("verify", folder).status in (0, 1)
    _used(folder, [{}, *({"n": value} for value in ([], "a", 3, None, 1, 2, 2.5, True))])


def test_properties_without_a_type_may_be_anything(tmp_path: Path) -> None:
    folder = _write(tmp_path, OBJECT + "{m: {properties: {n: false}}, n: {}}")
    _used(folder, [{"m": value} for value in (False, "a", 3, None, [], {}, {"n": 1}, {"k": 1})])


# Whatever a person writes

_TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
_NUMBERS = st.one_of(st.integers(-5, 5), st.sampled_from([0.5, -0.0, 1e300, 1e-300, 2**62, -(2**63), 3.0]))
_PATTERNS = st.sampled_from(["^a", "(a+)+$", "[0-9]{2,}", "(", "(?=a)", "\\d", "", "\\p{Han}", "a{1000}{1000}"])
_NAMES = st.sampled_from(["n", "m", "a b", "if", "ünï", "", "input", "size", "x.y", "$ref", "type"])
_TEXTS = st.text("aß中0 -", max_size=4)
_PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXTS, st.sampled_from(_TYPES)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=6,
)
_REFERENCES = st.sampled_from(["#/$defs/a", "#/$defs/b", "#/$defs/none", "#", "http://x/y"])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(_NAMES, inner, max_size=3)
    some = st.lists(inner, min_size=1, max_size=3)
    counts, one_type = st.integers(0, 4), st.sampled_from(_TYPES)
    keywords = {
        "type": st.one_of(one_type, st.lists(one_type, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(_PLAIN, min_size=1, max_size=3), "const": _PLAIN, "minimum": _NUMBERS, "maximum": _NUMBERS,
        "exclusiveMinimum": _NUMBERS, "exclusiveMaximum": _NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.1, 1e-300, 1e300, 0.25]), "minLength": counts, "maxLength": counts,
        "pattern": _PATTERNS, "items": inner, "prefixItems": some, "minItems": counts, "maxItems": counts,
        "uniqueItems": st.booleans(), "contains": inner, "minContains": counts, "maxContains": counts,
        "properties": named, "required": st.lists(_NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2, unique=True), max_size=2),
        "additionalProperties": inner, "patternProperties": st.dictionaries(_PATTERNS, inner, max_size=2),
        "propertyNames": inner, "minProperties": counts, "maxProperties": counts, "dependentSchemas": named,
        "allOf": some, "anyOf": some, "oneOf": some, "not": inner, "if": inner, "then": inner, "else": inner,
        "$ref": _REFERENCES, "$defs": st.fixed_dictionaries({}, optional={"a": inner, "b": inner}),
        "examples": st.lists(_PLAIN, max_size=2), "default": _PLAIN, "deprecated": st.booleans(),
        "description": _TEXTS, "x-public": st.booleans(),
    }  # fmt: skip
    chosen = st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: keywords[name] for name in names}))


# Mostly schemas, with something that is none here and there.
_SCHEMA = st.recursive(
    st.one_of(st.booleans(), st.sampled_from(_TYPES).map(lambda name: {"type": name}), _PLAIN), _schemas, max_leaves=12
)
_TABLES = st.builds(
    lambda properties, n, rest: {**rest, "type": "object", "properties": {**properties, "n": n}},
    st.dictionaries(_NAMES, _SCHEMA, max_size=3),
    _SCHEMA,
    _schemas(_SCHEMA).filter(lambda schema: isinstance(schema, dict)),
)


def _used(folder: Path, inputs: list[Any]) -> None:
    """Everything that reads the schema of a table that was accepted."""
    policy = load(folder).policy("t")
    for input in [*inputs, {}]:
        fits = not validate_input(input, policy.input_schema)
        decision = policy.decide(input, trace=True)
        assert set(decision.outcome) == {"go"}
        assert fits or decision.errors
        assert policy.outcome(input) == decision.outcome
        if fits and isinstance(input, dict):
            Masking(None).input(policy, input)
            why_not(policy, input, "go", not decision.outcome["go"])
    assert verify([policy], 200).results


@given(schema=_TABLES, inputs=st.lists(_PLAIN, max_size=3), fields=st.dictionaries(_NAMES, _PLAIN, max_size=3))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], max_examples=examples(60))
def test_whatever_is_written_there_are_findings_or_a_usable_table(
    tmp_path_factory: pytest.TempPathFactory, schema: Any, inputs: list[Any], fields: Any
) -> None:
    folder = tmp_path_factory.mktemp("table")
    _write(folder, "")
    written = json.dumps(schema)
    (folder / "t.yaml").write_text(f"{HEAD}  input: {written}\n{TAIL}", encoding="utf-8")
    found = lint(folder, Config()).findings
    assert all(finding.place.file.endswith("t.yaml") for finding in found)
    if any(str(finding.severity) == "error" for finding in found):
        with pytest.raises(BundleError):
            load(folder)
        return
    _used(folder, [*inputs, fields])


@pytest.mark.soak
@given(schema=_TABLES, inputs=st.lists(_PLAIN, max_size=3), fields=st.dictionaries(_NAMES, _PLAIN, max_size=3))
@settings(suppress_health_check=list(HealthCheck), max_examples=2000)
def test_whatever_is_written_soak(tmp_path_factory: Any, schema: Any, inputs: list[Any], fields: Any) -> None:
    test_whatever_is_written_there_are_findings_or_a_usable_table.hypothesis.inner_test(
        tmp_path_factory, schema, inputs, fields
    )
