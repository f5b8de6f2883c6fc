"""Gaps and overlaps of tips, and relations between documents, beyond the one case of each rule."""

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from tests.check.lint.bundles import HEAD

TIPS = (
    HEAD
    + """\
kind: Tips
metadata: {name: tips, version: 1.0.0, owner: team}
spec:
  fallback: {warn: 0.5, auto: 0.8, hard: 0.95}
  tips:
"""
)


def tip(name, start, below=None, when=None):
    end = f", below: {below}" if below else ""
    condition = f', when: "{when}"' if when else ""
    return f"    - {{id: {name}, from: {start}{end}{condition}, text: {name}}}\n"


@pytest.fixture
def found(tmp_path):
    def call(text):
        file = tmp_path / "bundle.yaml"
        file.write_text(text)
        return [(finding.code, finding.place.line, finding.message) for finding in lint(file, Config()).findings]

    return call


def test_tips_that_follow_each_other(found):
    assert found(TIPS + tip("a", "warn", "auto") + tip("b", "auto", "hard") + tip("c", "hard")) == []
    assert found(TIPS + tip("a", "auto", "hard") + tip("b", "hard")) == [], "nothing need be shown below the first"


def test_gaps(found):
    between = "no tip is shown between `auto` and `hard`"
    assert found(TIPS + tip("a", "warn", "auto") + tip("c", "hard")) == [("range-gap", 7, between)]
    above = "no tip is shown between `hard` and the end"
    assert found(TIPS + tip("a", "warn", "hard")) == [("range-gap", 7, above)]
    wide = "no tip is shown between `auto` and the end"
    assert found(TIPS + tip("a", "warn", "auto")) == [("range-gap", 7, wide)]


def test_overlaps_are_shown_on_an_input(found):
    ((code, line, message),) = found(TIPS + tip("a", "warn", "hard") + tip("b", "auto"))
    assert (code, line) == ("range-overlap", 8)
    assert message.startswith("`a` and `b` both match, for example tokens ")


def test_conditions_that_exclude_each_other_do_not_overlap(found):
    few, many = "session_prompt_count < 5", "session_prompt_count >= 5"
    assert found(TIPS + tip("a", "warn", when=few) + tip("b", "warn", when=many)) == []
    overlap = found(TIPS + tip("a", "warn", when=few) + tip("b", "warn", when="session_prompt_count >= 4"))
    assert [code for code, _, _ in overlap] == ["range-overlap"]


CALL = (
    HEAD
    + """\
kind: CompactionCall
metadata: {name: call, version: 1.0.0, owner: team}
spec:
  constants: {compact_max_output_tokens: CAP}
  rules: []
  default:
    outcome: {call: true, thinking: "off"}
    compute: {max_output_tokens: compact_max_output_tokens}
---
"""
)
LADDER = (
    HEAD
    + """\
kind: Ladder
metadata: {name: ladder, version: 1.0.0, owner: team}
spec:
  constants: {compact_max_output_tokens: 20000}
  derived: {effective_window: window - compact_max_output_tokens}
  thresholds:
    auto: {least: {abs: effective_window - 13000.0}}
    warn: {least: {abs: auto - 20000.0}}
    hard: {least: {abs: effective_window - 3000.0}}
  windows: {from: 100000, to: 2000000}
"""
)


def test_the_call_may_write_what_the_ladder_reserves(found):
    assert found(CALL.replace("CAP", "20000") + LADDER) == []
    ((code, line, message),) = found(CALL.replace("CAP", "32000") + LADDER)
    assert (code, line) == ("reserve-not-cap", 5)
    assert message == "`compact_max_output_tokens` is 32 000 here and 20 000 in the ladder `ladder`"


def test_a_failure_that_the_owner_accepts_is_not_told_again(found):
    loose = LADDER.replace("effective_window - 13000.0", "0.95 * window").replace("- 3000.0", "+ 19000.0")
    assert [code for code, _, _ in found(loose)] == ["self-hosting"]
    accepted = (
        loose
        + "  properties:\n    - id: fits\n      assert: auto + compact_max_output_tokens <= window\n"
        + "      accepted: {domain: window <= 400000.0, reason: small windows}\n"
    )
    assert [code for code, _, _ in found(accepted)] == []
    too_narrow = accepted.replace("<= 400000.0", "<= 300000.0")
    assert [code for code, _, _ in found(too_narrow)] == ["self-hosting"]


def test_numbers_in_messages_are_grouped_as_everywhere_else(run, tmp_path):
    run("init", tmp_path / "own", "--only", "Ladder", "--owner", "us")
    ladder = tmp_path / "own" / "ladders" / "floor.yaml"
    text = (
        ladder.read_text(encoding="utf-8")
        .replace("pct: 0.7", "pct: 0.85")
        .replace("hard_buffer: 3000", "hard_buffer: 0")
    )
    ladder.write_text(text, encoding="utf-8")
    said = run("lint", tmp_path / "own").out
    assert "for windows from 1 to 133 333: 113 334 + 20 000 tokens at 133 333" in said
