"""Ignore comments: what they cover, what they need, and when they are of no use."""

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from tests.check.lint.bundles import BREAKER, closed_breaker


@pytest.fixture
def found(tmp_path):
    def call(text, severities=()):
        file = tmp_path / "breaker.yaml"
        file.write_text(text)
        return [(finding.code, finding.place.line) for finding in lint(file, Config(dict(severities))).findings]

    return call


def test_at_the_end_of_the_line(found):
    assert found(closed_breaker()) == [("breaker-limit", 5)]
    assert found(closed_breaker("  # policyengine: ignore[breaker-limit] closed on purpose")) == []


def test_alone_on_the_line_above(found):
    comment = "  # policyengine: ignore[breaker-limit] closed on purpose\n  constants:"
    assert found(closed_breaker().replace("  constants:", comment)) == []


def test_comments_between_do_not_matter(found):
    comment = "  # policyengine: ignore[breaker-limit] closed on purpose\n  # more about it\n  constants:"
    assert found(closed_breaker().replace("  constants:", comment)) == []


def test_another_line_is_not_covered(found):
    text = closed_breaker().replace("spec:", "spec:  # policyengine: ignore[breaker-limit] not here")
    assert found(text) == [("unused-ignore", 4), ("breaker-limit", 5)]


def test_several_codes(found):
    text = closed_breaker("  # policyengine: ignore[breaker-limit, number-range] closed on purpose")
    assert found(text) == [("unused-ignore", 5)]


@pytest.mark.parametrize(
    "comment",
    [
        "  # policyengine: ignore[breaker-limit]",
        "  # policyengine: ignore",
        "  # policyengine: ignore[] why not",
    ],
)
def test_without_reason_or_code_nothing_is_ignored(found, comment):
    assert found(closed_breaker(comment)) == [("breaker-limit", 5), ("ignore", 5)]


def test_unknown_codes_and_codes_that_cannot_be_ignored(found):
    text = closed_breaker("  # policyengine: ignore[braker-limit] a typo")
    assert ("ignore", 5) in found(text)
    text = BREAKER.replace("consecutive_failures >=", "failures >=").replace(
        "rules:", "rules:  # policyengine: ignore[unknown-name] no"
    )
    assert ("ignore", 6) in found(text)


def test_text_inside_a_value_is_no_comment(found):
    text = BREAKER.replace("owner: team", 'owner: "x # policyengine: ignore[breaker-limit] no"')
    assert found(text) == []


def test_an_ignore_of_a_rule_that_is_off_is_not_unused(found):
    text = BREAKER.replace("failures: 3}", "failures: 3}  # policyengine: ignore[breaker-limit] later")
    assert found(text) == [("unused-ignore", 5)]
    assert found(text, {"breaker-limit": None}) == []
