"""Fixes keep comments, layout and line breaks, and what they leave is clean."""

import stat

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.lint.fixes import fixed, write
from policyengine.check.lint.targets import Target
from policyengine.kinds.bundle import load
from tests.check.lint.bundles import BREAKER, WORDS


@pytest.fixture
def file(tmp_path):
    return tmp_path / "words.yaml"


def fix(file, **how):
    (change,) = fixed(Target(file), Config(), **how)
    return change


def codes(file):
    return [finding.code for finding in lint(file, Config()).findings]


def test_safe_fixes_only(file):
    file.write_text(WORDS)
    assert codes(file) == ["word-redundant", "word-case", "word-redundant"]
    change = fix(file)
    assert file.read_text() == WORDS, "nothing is written until asked"
    assert change.new == WORDS.replace("fix, fix it, add, Add, add,\n          change", "fix, add, Add, change")
    write(change)
    assert codes(file) == ["word-case"]


def test_unsafe_fixes_when_asked(file):
    file.write_text(WORDS)
    change = fix(file, unsafe=True)
    write(change)
    assert "fix, add, change" in change.new
    assert codes(file) == []


def test_no_decision_changes(file):
    texts = ["fix it", "please add", "Add!", "address", "change", "prefix"]
    file.write_text(WORDS)
    before = [load(file).policy("prompt-class").outcome({"prompt": text}) for text in texts]
    write(fix(file))
    assert [load(file).policy("prompt-class").outcome({"prompt": text}) for text in texts] == before


def test_line_breaks_byte_order_mark_and_mode_stay(file):
    text = WORDS.replace("\n", "\r\n")
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    file.chmod(0o640)
    write(fix(file))
    data = file.read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\r\n") == data.count(b"\n") > 10
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [child.name for child in file.parent.iterdir()] == [file.name]


def test_block_lists_lose_whole_lines(file):
    listed = "latin:\n        - fix   # the verb\n        - fix it\n        - add\n"
    start, end = WORDS.index("latin:"), WORDS.index("---")
    file.write_text(WORDS[:start] + listed + WORDS[end:])
    assert "fix it" not in fix(file).new
    assert "- fix   # the verb\n        - add\n" in fix(file).new


def test_an_item_with_a_comment_is_left_to_people(file):
    file.write_text(WORDS.replace("fix, fix it, add, Add, add,", "fix, fix it,  # why?\n          add,"))
    assert codes(file) == ["word-redundant"]
    assert fixed(Target(file), Config()) == []


def test_unused_ignores_are_removed(file):
    file.write_text(
        BREAKER.replace("failures: 3}", "failures: 3}  # policyengine: ignore[breaker-limit] later").replace(
            "  rules:", "  # policyengine: ignore[breaker-limit] above\n  rules:"
        )
    )
    assert fix(file).new == BREAKER


def test_a_bundle_that_cannot_be_read_is_left_alone(file):
    file.write_text(WORDS + "\n\tx: 1\n")
    assert fixed(Target(file), Config()) == []


def test_only_what_was_asked_about_is_fixed(tmp_path):
    (tmp_path / "words.yaml").write_text(WORDS)
    (tmp_path / "breaker.yaml").write_text(BREAKER)
    assert fixed(Target(tmp_path, (tmp_path / "breaker.yaml",)), Config()) == []
    (change,) = fixed(Target(tmp_path, (tmp_path / "words.yaml",)), Config())
    assert change.diff().startswith(f"--- a{tmp_path}/words.yaml\n+++ b{tmp_path}/words.yaml\n@@")
