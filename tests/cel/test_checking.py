"""What the checker says before anything runs, and where it points."""

from __future__ import annotations

import pytest

from policyengine.cel import Environment, compile_expression, types
from policyengine.source.finding import Severity
from tests.cel.generate import SCHEMA

ENVIRONMENT = Environment.of_schema(
    SCHEMA,
    constants={"limit": 3, "ratio": 0.5, "kinds": ["read", "edt"], "pattern": "(a", "names": ["a"]},
    words={"action": ("add", "fix")},
)

# expression with the marked place in «», code, part of the message, part of the hint
FINDINGS = [
    ("«tokns» > 3", "unknown-name", "unknown name 'tokns'", None),
    ("«lmit» > 3", "unknown-name", "'lmit'", "did you mean 'limit'?"),
    ("calls.exists(c, c.«knd» == 'a')", "unknown-field", "has no field 'knd'", "did you mean 'kind'?"),
    ("input.«texxt» == 'a'", "unknown-field", "input has no field 'texxt'", None),
    ("s «>» 3", "operands", "'>' does not take string and int", None),
    ("i «==» 1.5", "operands", "'==' does not take int and double", "double(x)"),
    ("i «+» d", "operands", "int and double", "1.0"),
    ("i «==» null", "operands", "int and null", "never null"),
    ("'fix' «in» s", "operands", "'in' does not take string and string", "contains"),
    ("s «+» i", "operands", "string and int", "string(x)"),
    ("«-»s == 'a'", "operands", "'-' does not take string", None),
    ("«!»i", "operands", "'!' does not take int", None),
    ("b && «i»", "not-bool", "operand of && is int, expected bool", None),
    ("«i» ? 1 : 2", "not-bool", "the condition is int", None),
    ("calls.filter(c, «c.kind») == []", "not-bool", "filter()", None),
    ("t == «'edt'»", "never-true", "never true: 'edt' is not among", "did you mean 'edit'?"),
    ("t != «'edt'»", "never-true", "always true", None),
    ("«'edt'» == t", "never-true", "never true", None),
    ("t in ['read', «'edt'»]", "never-true", "'edt'", "did you mean 'edit'?"),
    ("t in «kinds»", "never-true", "'edt'", None),
    ("«maybe» > 1", "optional-field", "'maybe' may be missing", "has(input.maybe)"),
    ("input.«maybe» > 1", "optional-field", "input.maybe may be missing", "has(input.maybe)"),
    ("calls.all(c, c.«note» == '')", "optional-field", "may be missing", "has(c.note)"),
    ("!has(input.maybe) && «maybe» > 1", "optional-field", "may be missing", None),
    ("has(input.maybe) || «maybe» > 1", "optional-field", "may be missing", None),
    ("s.matches(«'(a'»)", "bad-regex", "invalid regular expression: missing )", "RE2"),
    ("s.matches(«pattern»)", "bad-regex", "invalid regular expression", None),
    ("s.matches(«'a{1000}{1000}'»)", "bad-regex", "invalid regular expression", None),
    ("s.«has»('a')", "unknown-function", "unknown method 'has'", None),
    ("s.«contain»('a')", "unknown-function", "unknown method 'contain'", "did you mean 'contains'?"),
    ("«startsWith»(s, 'a')", "unknown-function", "unknown function", "x.startsWith()"),
    ("s.«contains»(i)", "operands", "'contains' does not take string.(int)", "string.contains(string)"),
    ("s.mentions(«words.acton»)", "unknown-words", "unknown word list 'acton'", "did you mean 'action'?"),
    ("s.mentions(«words.unheard»)", "unknown-words", "unknown word list 'unheard'", "known: action"),
    ("s.«mentions»('fix')", "operands", "'mentions' does not take", "words"),
    ("«words.action» == words.action", "operands", "only be looked for", None),
    ("i.«x» == 1", "no-fields", "a value of type int has no fields", None),
    ("«i».exists(x, true)", "operands", "walks over a list or a map, not int", None),
    ("li[«'a'»] == 1", "operands", "[] does not take list(int) and string", None),
    ("{«1.5»: 1} == {}", "map-key", "double keys", None),
    ("b ? «1 : 'a'»", "operands", "the two results differ: int and string", "dyn()"),
    ("i > (b ? «1 : 1.5»)", "operands", "the two results differ: int and double", "write 1.0 for a double"),
    ("'%d'.format(«['a']»)", "operands", "%d does not take string", None),
    ("b &«&»", "syntax", "ends where a value is expected", None),
    ("b «&» b", "syntax", "unexpected character '&'", "&&"),
    ("i «=» 3", "syntax", "unexpected character '='", "=="),
    ("(i > 3«»", "syntax", "ends where ')' is expected", None),
    ('«"»abc', "syntax", "without its closing quote", None),
    ("s == '«\\d»'", "syntax", "unknown escape", "raw string"),
    ("«9223372036854775808» > i", "syntax", "out of range", None),
    ("«while» > 1", "syntax", "reserved word", None),
    ("«has(i)»", "syntax", "has() takes one field", None),
    ("改 > 1".replace("改", "«改»"), "syntax", "unexpected character", None),
    ("b «and» i > 3", "syntax", "unexpected 'and'", "&& for `and`"),
    ("b «OR» i > 3", "syntax", "unexpected 'OR'", "|| for `OR`"),
    ("not «b»", "syntax", "unexpected 'b'", "! for `not`"),
    ("i «is» null", "syntax", "unexpected 'is'", "== for `is`"),
    ("s == '改一下' && «sss»", "unknown-name", "'sss'", None),
]


@pytest.mark.parametrize(("marked", "code", "message", "hint"), FINDINGS)
def test_finding(marked, code, message, hint):
    start = marked.index("«")
    length = marked.index("»") - start - 1
    text = marked.replace("«", "").replace("»", "")
    issues = compile_expression(text, ENVIRONMENT).issues
    found = [issue for issue in issues if issue.code == code]
    assert found, issues
    issue = found[0]
    assert message in issue.message
    assert "\n" not in issue.message
    if marked != "b &«&»":
        assert (issue.offset, max(issue.length, 1)) == (start, max(length, 1)), issue
    if hint is not None:
        assert hint in (issue.hint or "")
    assert issue.severity is Severity.ERROR


CLEAN = [
    "i > limit && d > ratio",
    "has(input.maybe) && maybe > 1",
    "has(input.maybe) && input.maybe > 1",
    "!has(input.maybe) || maybe > 1",
    "has(input.maybe) ? maybe > 1 : b",
    "!(!has(input.maybe) || maybe < 1)",
    "calls.exists(c, has(c.note) && c.note != '')",
    "n == null || n > 3",
    "t == 'edit' && s.mentions(words.action)",
    "x.anything.at[0].all == 1",
    "m.key > 1 && m['other'] < 2",
    "calls.map(c, c.size).exists(size, size > i)",
    "i < d",
    "math.greatest(i, j, 3) > 1",
    "s in names",
]


@pytest.mark.parametrize("text", CLEAN)
def test_nothing_to_say(text):
    program = compile_expression(text, ENVIRONMENT)
    assert program.issues == ()
    assert str(program.type) == "bool"


def test_all_known_word_lists_are_named_however_many_there_are():
    many = Environment.of_schema(SCHEMA, words={f"list_{number:02}": ("a",) for number in range(20)})
    (issue,) = compile_expression("s.mentions(words.unheard)", many).issues
    assert "list_00, list_01" in (issue.hint or "")
    assert "list_19" in (issue.hint or "")
    (issue,) = compile_expression("s.mentions(words.unheard)", Environment.of_schema(SCHEMA)).issues
    assert issue.hint == "known: none"


SCHEMAS = [
    ({"type": "integer"}, "int"),
    ({"type": "number"}, "double"),
    ({"type": ["string", "null"]}, "string or null"),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "int or null"),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "dyn"),
    ({"enum": ["a", "b"]}, "string"),
    ({"enum": ["a", None]}, "string or null"),
    ({"const": 3}, "int"),
    ({}, "dyn"),
    (True, "dyn"),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 3}, "list(string)"),
    ({"type": "array"}, "list(dyn)"),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, "map(string, int)"),
    ({"type": "object"}, "map(string, dyn)"),
    ({"type": "object", "properties": {"a": {"type": "integer"}}}, "input"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}, "bool"),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}, "list(dyn)"),
]


@pytest.mark.parametrize(("schema", "shown"), SCHEMAS)
def test_types_of_json_schema(schema, shown):
    assert str(types.from_json_schema(schema)) == shown
