"""What of a system text is another one each turn, wherever a policy holds such a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.source.resources import policies_folder, schemas_folder

CODE = "turn-varying-text"
FOUND = [
    # a system text, what of it is found
    ("Today is {date}.", ["{date}"]),
    ("Today is {current_date}, at {time_now}.", ["{current_date}", "{time_now}"]),
    ("{{ now }} {{cwd}} ${CWD} $PWD %(today)s $(date)", ["{{ now }}", "{{cwd}}", "${CWD}", "$PWD", "%(today)s",
                                                        "$(date)"]),
    ("The folder is `{cwd}`, the day: 2026-11-30.", ["{cwd}", "2026-11-30"]),
    ("Use tags like <date>. It is 2026-11-30", ["2026-11-30"]),
    ("{currentDate} {workingDirectory} {gitStatus} {sessionId}", ["{currentDate}", "{workingDirectory}", "{gitStatus}",
                                                                 "{sessionId}"]),
    ("{env.cwd} {git-status} {working directory}", ["{env.cwd}", "{git-status}", "{working directory}"]),
    ("{uuid} {random_id} {nonce} {request_id}", ["{uuid}", "{random_id}", "{nonce}", "{request_id}"]),
    ("It is 2026-11-30.", ["2026-11-30"]),
    ("It is 2026-11-30T12:05:18Z now", ["2026-11-30T12:05:18Z"]),
    ("Monday, November 30th, 2026 at 12:05 pm", ["November 30th, 2026", "12:05 pm"]),
    ("30 November 2026; 30.11.2026; 2026/11/30", ["30 November 2026", "30.11.2026", "2026/11/30"]),
    ("今天是 2026年11月30日。", ["2026年11月30日"]),
    ("id 123e4567-e89b-12d3-a456-426614174000", ["123e4567-e89b-12d3-a456-426614174000"]),
    ("你好 {cwd}", ["{cwd}"]),
]  # fmt: skip

FINE = [
    "You answer questions about the files of one folder.",
    'Answer with {"text": "...", "date": "..."} and {sections}; update {summary_format} {language} {max_items}.',
    "Say dates as YYYY-MM-DD, times as HH:MM, and where you are working. {updated} {candidate} {timeout_limit}",
    "Use $1, $2 and 16:9, chapter 2:3, version 2026.1, port 8080.",
    "Put the patch between <diff> and </diff> tags. Name a branch <user>/<branch>; `git show <commit>` shows one.",
    "Write dates in ISO form, for example 2026-01-31, e.g. '2026-01-31', such as \"2026-01-31T10:00:00Z\".",
    "Lines of a log look like `10:32:01 ERROR text`. Cite as file:line:column, main.py:12:34.",
    "日期写成 ISO 格式，例如：2026-01-31。",
    "An id looks like 123e4567. Run `git status` before you commit; look at the current directory.",
]


def _linted(folder: Path, text: str) -> tuple[str, list[tuple[int, int, int, int]]]:
    source = (policies_folder() / "probes.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(source)
    data["spec"]["judge"]["system"] = text
    written = yaml.safe_dump(data, allow_unicode=True, width=10_000)
    (folder / "probes.yaml").write_text(written, encoding="utf-8")
    places = [one.place for one in lint(folder, Config()).findings if one.code == CODE]
    return written, [(place.line, place.column, place.end_line, place.end_column) for place in places]


@pytest.mark.parametrize(("text", "found"), FOUND, ids=[row[0] for row in FOUND])
def test_what_varies_is_found_at_its_line_and_column(tmp_path: Path, text: str, found: list[str]) -> None:
    written, places = _linted(tmp_path, text)
    lines = written.splitlines()
    assert [lines[line - 1][column - 1 : end - 1] for line, column, _, end in places] == found
    assert all(line == end_line for line, _, end_line, _ in places)


@pytest.mark.parametrize("text", FINE)
def test_what_stays_is_not(tmp_path: Path, text: str) -> None:
    assert _linted(tmp_path, text)[1] == []


# Every field of the default policies that holds a system text.
HELD = [
    ("adapter-settings.yaml", ("settings", "run_system")),
    ("summary-sections.yaml", ("texts", "system")),
    ("summary-sections.yaml", ("texts", "regenerative_system")),
    ("probes.yaml", ("judge", "system")),
]


@pytest.mark.parametrize(("file", "path"), HELD, ids=lambda value: str(value))
def test_every_kind_that_holds_a_system_text_is_looked_at(tmp_path: Path, file: str, path: tuple[str, str]) -> None:
    data = yaml.safe_load((policies_folder() / file).read_text(encoding="utf-8"))
    assert data["spec"][path[0]][path[1]]
    data["spec"][path[0]][path[1]] += " {current_date}"
    (tmp_path / file).write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    assert CODE in {one.code for one in lint(tmp_path, Config()).findings}


def test_the_list_of_those_kinds_is_whole() -> None:
    """A schema that says "system text" of a field is about one of the fields above."""
    held = {(file.removesuffix(".yaml"), path[-1]) for file, path in HELD}
    said = set()
    for file in schemas_folder().glob("*.schema.json"):
        stack = [json.loads(file.read_text(encoding="utf-8"))]
        while stack:
            value = stack.pop()
            stack += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
            for name, part in (value.get("properties", {}) if isinstance(value, dict) else {}).items():
                if isinstance(part, dict) and str(part.get("description", "")).lower().startswith("system text"):
                    said.add((file.name.removesuffix(".schema.json"), name))
    assert said <= held


def test_a_field_of_an_input_is_no_system_text(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: Table\nmetadata: {name: t, version: 1.0.0, owner: me}\nspec:\n"
        "  input:\n    type: object\n    required: [operating_system]\n    properties:\n"
        "      operating_system: {type: string, description: Its image of 2026-11-30.}\n"
        "  rules: [{id: a, when: operating_system == 'x', outcome: {r: 1}}]\n  on_error: {r: 0}\n"
    )
    assert CODE not in {one.code for one in lint(tmp_path, Config()).findings}


def test_a_table_of_ones_own_too(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: Table\nmetadata: {name: t, version: 1.0.0, owner: me}\nspec:\n"
        "  input: {type: object, properties: {n: {type: integer}}, required: [n]}\n"
        "  rules: [{id: a, when: n > 1, outcome: {system: ['You are {name}.', 'It is {now}.']}}]\n"
        "  on_error: {my_system: {first: 'In {cwd}'}}\n"
    )
    lines = (tmp_path / "t.yaml").read_text().splitlines()
    places = [finding.place for finding in lint(tmp_path, Config()).findings if finding.code == CODE]
    assert [lines[one.line - 1][one.column - 1 : one.end_column - 1] for one in places] == ["{now}", "{cwd}"]
