"""Every example of docs/cel.md, and that no function is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policyengine.cel import Environment, compile_expression
from policyengine.cel.library.registry import STANDARD
from policyengine.cel.limits import RUN_BUDGET
from tests.cel.suite import same

PAGE = Path(__file__).parents[2] / "docs" / "cel.md"
ENVIRONMENT = Environment(words={"action": ("fix", "add", "改")})
EXAMPLES = [
    (left.replace("\\|", "|"), right.strip("`"))
    for left, right in re.findall(r"^\| `(.+)` \| (`.+`) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
]


@pytest.mark.parametrize(("text", "value"), EXAMPLES)
def test_example(text, value):
    program = compile_expression(text, ENVIRONMENT)
    assert [issue for issue in program.issues if issue.code == "syntax"] == []
    assert same(program.evaluate({}), compile_expression(value, ENVIRONMENT).evaluate({}))


def test_there_are_examples():
    assert len(EXAMPLES) > 130


@pytest.mark.parametrize("name", sorted({name for name, _ in STANDARD}))
def test_function_is_on_the_page(name):
    assert any(re.search(rf"(?<![a-zA-Z]){re.escape(name)}\(", text) for text, _ in EXAMPLES)


def test_the_budget_is_the_one_on_the_page():
    assert f"{RUN_BUDGET:,}".replace(",", " ") in PAGE.read_text("utf-8")
