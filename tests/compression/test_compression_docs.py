"""The tables of docs/compression.md are what the command above them prints."""

import re
import shlex

import pytest
from compression_kit import SHARED

from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "compression.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- policyengine (.+?) -->\n(.+?)\n\n(\|.+?)\n\n", TEXT, re.DOTALL)


def test_there_are_tables():
    assert len(BLOCKS) == 4


@pytest.mark.parametrize(("arguments", "heading", "table"), BLOCKS, ids=[row[0] for row in BLOCKS])
def test_a_table_is_printed_by_its_command(arguments, heading, table, run, monkeypatch):
    if not SHARED.exists():
        pytest.skip("../shared/sessions is not on this machine")
    monkeypatch.chdir(ROOT)
    printed = run(*shlex.split(arguments)).out.strip()
    assert printed == f"{heading}\n\n{table}"


@pytest.mark.parametrize("name", ["auto-compact", "manual-compact"])
def test_the_figures_of_the_re_fetches(name, run):
    path = SHARED / f"claude-code-{name}.jsonl"
    if not path.exists():
        pytest.skip("../shared/sessions is not on this machine")
    (found,) = run("replay", path, "--format", "json").json["sessions"][0]["refetch"]

    def shown(value):
        return f"{value:,}".replace(",", " ")

    column = 1 if name == "auto-compact" else 2
    cells = [line.split("|")[column + 1].strip() for line in TEXT.splitlines() if line.count("|") == 4][2:]
    for value in (
        str(found["known_files"]), f"{found['refetched_files']} ({found['rate']:.1%})".replace("%", " %"),
        f"{found['share_of_reads']:.1%}".replace("%", " %"), f"{found['repeat_share_before']:.1%}".replace("%", " %"),
        shown(found["tokens"]), f"{found['tokens'] / found['tool_output_tokens_after']:.1%}".replace("%", " %"),
        f"{found['changed_before']} of {found['refetched_files']}",
        f"{found['edited_after']} of {found['refetched_files']}",
        f"{found['named_in_summary']} of {found['refetched_files']}",
    ):  # fmt: skip
        assert value in cells
    rows = {(row["fetch_tokens"], row["search_tokens"], row["carried_tokens"]) for row in found["estimates"]}
    written = {tuple(map(int, re.findall(r"\d+", line.replace(" ", "").split("|", 2)[2]))) for line in TEXT.splitlines()
               if re.fullmatch(r"\|[^|]+\|( [\d ]+ \|){3}", line)}  # fmt: skip
    assert rows <= written
