"""Values of a policy in a diff: they are shown as they are, mark nothing up in Markdown, and no secret is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from policyengine.check.formats.markdown import block, cell, cell_code, code, plain

NASTY = [
    "plain",
    "the `floor` ladder",
    "`",
    "``two``",
    "a | b || c",
    "\\| and \\\\",
    "ends with \\",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden",
    "a & b &amp; &lt;",
    "**bold** _under_ ~~gone~~",
    "[link](https://example.org) ![](x)",
    "# heading",
    "1. one",
    "- item",
    "> quoted",
    "$x$",
    "```yaml",
    "~~~",
    "` | `",
    "中文 | `é`",
]


def _rendered(text: str) -> list[Any]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def _inline(text: str) -> list[Any]:
    return [child for token in _rendered(text) for child in token.children or ()]


@pytest.mark.parametrize("text", NASTY)
def test_a_code_span_holds_the_text_and_nothing_else(text: str) -> None:
    (span,) = _inline(code(text))
    assert (span.type, span.content) == ("code_inline", text)


@pytest.mark.parametrize("text", NASTY)
def test_plain_text_is_text(text: str) -> None:
    for before in ("", "- "):
        tokens = _rendered(f"{before}{plain(text)}")
        assert {token.type for token in tokens} <= {
            "paragraph_open", "paragraph_close", "inline", "bullet_list_open", "bullet_list_close", "list_item_open",
            "list_item_close",
        }  # fmt: skip
        children = [child for token in tokens for child in token.children or ()]
        assert {child.type for child in children} == {"text"} or text == ""
        assert "".join(child.content for child in children) == text


@pytest.mark.parametrize("text", NASTY)
def test_a_cell_holds_the_text_and_the_row_its_cells(text: str) -> None:
    tokens = _rendered(f"| a | b | c |\n|---|---|---|\n| {plain(text)} | {cell_code(text)} | end |\n")
    cells = [token for token in tokens if token.type == "inline"][3:]
    assert len(cells) == 3
    assert "".join(child.content for child in cells[0].children) == text
    (span,) = cells[1].children
    # What is left of `\|` is what GitHub shows; nothing ends the span or the cell.
    assert (span.type, span.content) == ("code_inline", text)
    assert cells[2].content == "end"


QUOTING = ["no `flor`; did you mean `floor`?", "`a | b` `c`", "`a` and ``", "an odd ` here and `<b>`", "`**x**` **y**"]


@pytest.mark.parametrize("text", [*NASTY, *QUOTING])
def test_a_sentence_in_a_cell_keeps_what_it_quotes_as_code_and_all_else_as_text(text: str) -> None:
    tokens = _rendered(f"| a | b |\n|---|---|\n| {cell(text)} | end |\n")
    first, second = [token for token in tokens if token.type == "inline"][2:]
    assert {child.type for child in first.children} <= {"text", "code_inline"}
    said = [f"`{child.content}`" if child.type == "code_inline" else child.content for child in first.children]
    assert "".join(said) == text
    assert second.content == "end"


@pytest.mark.parametrize("text", [*NASTY, "\n".join(NASTY), "```\n~~~~\n`````"])
def test_a_block_holds_the_text(text: str) -> None:
    fence, after = _rendered(f"{block(text, 'json')}\n\nafter")[0], _rendered(f"{block(text, 'json')}\n\nafter")[-2]
    assert (fence.type, fence.info, fence.content) == ("fence", "json", f"{text}\n")
    assert after.content == "after"


TABLE: dict[str, Any] = {
    "apiVersion": "policyengine/v1",
    "kind": "Table",
    "metadata": {"name": "t", "version": "1.0.0", "owner": "me", "description": "one"},
    "spec": {
        "input": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
        "rules": [{"id": "a", "when": "text == 'x'", "outcome": {"said": "one"}}],
        "default": {"outcome": {"said": "none"}},
        "on_error": {"said": "none"},
    },
}


def _two(folder: Path, changed: dict[str, Any]) -> tuple[Path, Path]:
    for name, data in (("one", TABLE), ("two", changed)):
        (folder / name).mkdir()
        (folder / name / "t.yaml").write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return folder / "one", folder / "two"


@pytest.mark.parametrize("text", NASTY)
def test_a_comment_on_a_pull_request_shows_what_changed(tmp_path: Path, run: Any, text: str) -> None:
    spec = TABLE["spec"]
    rule = {"id": "a", "when": f"text == {json.dumps(text)}", "outcome": {"said": text}, "description": text}
    changed = {
        **TABLE,
        "metadata": {**TABLE["metadata"], "description": text},
        "spec": {**spec, "rules": [rule, {**rule, "id": "b"}], "default": {"outcome": {"said": text}}},
    }
    sides = _two(tmp_path, changed)
    shown = run("diff", *sides, "--format", "markdown")
    assert shown.status == 0, shown.err
    tokens = _rendered(shown.out)
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "code_inline", "strong_open", "strong_close", "softbreak"}
    spans = [child.content for child in inline if child.type == "code_inline"]
    assert text in spans
    assert json.dumps(text, ensure_ascii=False) in spans
    fences = [json.loads(token.content) for token in tokens if token.type == "fence"]
    assert len(fences) == 1
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert len(cells) == 3 * len(rows) == 9


SECRET = "sk-live-0123456789abcdef0123"
HIDDEN = [
    # where a secret is new: a path of the document, and its value
    (("metadata", "description"), f"the key is {SECRET}"),
    (("spec", "constants"), {"api_key": "hunter2hunter2"}),
    (("spec", "constants"), {"name": SECRET}),
    (("spec", "default"), {"outcome": {"said": SECRET}}),
    (("spec", "default"), {"outcome": {"password": "hunter2hunter2"}}),
    (("spec", "rules"), [{"id": "a", "when": f"text == '{SECRET}'", "outcome": {"said": "one"}}]),
    (("spec", "rules"), [{"id": "b", "when": f"text == '{SECRET}'", "outcome": {"said": "two"}}]),
]


@pytest.mark.parametrize(("path", "value"), HIDDEN, ids=str)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_no_secret_is_shown(tmp_path: Path, run: Any, path: tuple[str, str], value: Any, form: str) -> None:
    changed = {**TABLE, path[0]: {**TABLE[path[0]], path[1]: value}}
    one, two = _two(tmp_path, changed)
    for sides in ((one, two), (two, one)):
        shown = run("diff", *sides, "--format", form)
        assert shown.status == 0, shown.err
        assert "changed" in shown.out
        assert SECRET not in shown.out
        assert "hunter2" not in shown.out
        assert "****" in shown.out
