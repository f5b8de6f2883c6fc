"""Findings as text and as JSON."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from policyengine.source.finding import Finding, Severity
from policyengine.source.nearest import did_you_mean, nearest
from policyengine.source.place import Place
from policyengine.source.render import render_json, render_text
from policyengine.source.secrets import mask

SOURCE = "kind: Tips\nspec:\n  中文: wran # note\n  api_key: hunter2hunter2\n"
TYPO = Finding("schema", Severity.ERROR, "expected `warn`", Place("b.yaml", 3, 7, 3, 11), "did you mean `warn`?")
WIDE = Finding("unowned", Severity.WARNING, "no owner", Place("b.yaml", 2, 1, 4, 9))
SECRET = Finding("secret", Severity.INFO, "looks secret", Place("b.yaml", 4, 12, 4, 26))
FIRST = Finding("yaml", Severity.ERROR, "no such file", Place("a.yaml"))


def test_text_shows_line_caret_and_count() -> None:
    text = render_text([TYPO, WIDE, SECRET, FIRST, TYPO], {"b.yaml": SOURCE})
    assert text == (
        "a.yaml: error[yaml]: no such file\n"
        "\n"
        "b.yaml:2:1: warning[unowned]: no owner\n"
        "  |\n"
        "2 | spec:\n"
        "  | ^^^^^\n"
        "\n"
        "b.yaml:3:7: error[schema]: expected `warn`\n"
        "  |\n"
        "3 |   中文: wran # note\n"
        "  |         ^^^^\n"
        "  = hint: did you mean `warn`?\n"
        "\n"
        "b.yaml:4:12: info[secret]: looks secret\n"
        "  |\n"
        "4 |   api_key: **************\n"
        "  |            ^^^^^^^^^^^^^^\n"
        "\n"
        "Found 2 errors, 1 warning, 1 info in 2 files."
    )


def test_a_file_as_a_whole_has_no_line_and_no_column_in_text_and_the_first_in_json() -> None:
    assert (str(Place("a.yaml")), str(Place("a.yaml", 1)), str(Place("a.yaml", 1, 1))) == (
        "a.yaml", "a.yaml:1:1", "a.yaml:1:1",
    )  # fmt: skip
    assert str(replace(Place("a.yaml"), file="b.yaml")) == "b.yaml"
    shown = json.loads(render_json([FIRST]))["findings"][0]
    assert [shown[name] for name in ("file", "line", "column", "end_line", "end_column")] == ["a.yaml", 1, 1, 1, 1]
    # No line of it is meant.
    assert "kind" not in render_text([FIRST], {"a.yaml": SOURCE})


def test_text_without_findings() -> None:
    assert render_text([], {}) == "No findings."


def test_color_only_adds_escapes() -> None:
    import re

    plain = render_text([TYPO], {"b.yaml": SOURCE})
    colored = render_text([TYPO], {"b.yaml": SOURCE}, color=True)
    assert colored != plain
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain


def test_a_long_line_is_cut_around_the_place() -> None:
    line = "x" * 5000 + "HERE" + "y" * 5000
    finding = Finding("schema", Severity.ERROR, "bad", Place("f", 1, 5001, 1, 5005))
    shown, caret = render_text([finding], {"f": line}).split("\n")[2:4]
    assert len(shown) < 200
    assert shown[caret.index("^") : caret.index("^") + caret.count("^")] == "HERE"


def test_a_terminal_is_never_told_to_do_anything() -> None:
    finding = Finding("schema", Severity.ERROR, "bad \x1b[2J\nnext", Place("f", 1, 1, 1, 2))
    text = render_text([finding], {"f": "\ta \x1b[31m"})
    assert "\x1b" not in text
    assert "bad \\x1b[2J\\x0anext" in text


def test_json_is_sorted_and_counted() -> None:
    data = json.loads(render_json([TYPO, FIRST, TYPO]))
    assert data["counts"] == {"error": 2, "warning": 0, "info": 0}
    assert [finding["file"] for finding in data["findings"]] == ["a.yaml", "b.yaml"]
    assert data["findings"][1] == {
        "code": "schema",
        "severity": "error",
        "message": "expected `warn`",
        "hint": "did you mean `warn`?",
        "file": "b.yaml",
        "line": 3,
        "column": 7,
        "end_line": 3,
        "end_column": 11,
        "fix": None,
    }
    assert data["findings"][0]["hint"] is None


def test_nearest() -> None:
    known = ["on_error", "effective_window", "window"]
    assert nearest("onError", known) == "on_error"
    assert nearest("efective_window", known) == "effective_window"
    assert nearest("zzz", known) is None
    assert did_you_mean("windwo", known) == "did you mean `window`?"


@pytest.mark.parametrize("text", ["/" * 100_000, "a/" * 50_000, "a+" * 50_000, "-eyJaaaaaaaa" * 10_000])
def test_masking_takes_linear_time(text: str) -> None:
    begun = time.perf_counter()
    assert mask(text) == text
    assert time.perf_counter() - begun < 10  # 0.5 s on an idle machine; minutes where each place looks at all the rest


@pytest.mark.parametrize(
    "secret",
    ["a" * 100 + "1", "1" * 100 + "a", "eyJ" + "a" * 500 + "." + "b" * 20, "ghp_" + "a1" * 12, "+/" * 20 + "a1"],
)
def test_what_looks_secret_is_masked_behind_any_run(secret: str) -> None:
    assert mask(f"/////{'ghp_' + 'x' * 20}/{secret} end") == f"/////{'*' * 24}/{'*' * len(secret)} end"


def test_many_findings_in_a_line_of_megabytes() -> None:
    line = "x" * 2_000_000
    found = [Finding("a", Severity.ERROR, "m", Place("f", 1, column, 1, column + 1)) for column in range(1, 200)]
    begun = time.perf_counter()
    assert render_text(found, {"f": line}).count("1 | ") == 199
    assert time.perf_counter() - begun < 10
