"""`policyengine context`: the ladder table, branches included."""

import pytest

# window: (warn, branch), (auto, branch), (hard, branch)
FLOOR = {
    10_000: ((6_000, "pct"), (7_000, "pct"), (7_000, "collapsed")),
    32_000: ((19_200, "pct"), (22_400, "pct"), (22_400, "collapsed")),
    64_000: ((38_400, "pct"), (44_800, "pct"), (44_800, "collapsed")),
    128_000: ((76_800, "pct"), (95_000, "abs"), (105_000, "abs")),
    200_000: ((147_000, "abs"), (167_000, "abs"), (177_000, "abs")),
    256_000: ((203_000, "abs"), (223_000, "abs"), (233_000, "abs")),
    1_000_000: ((947_000, "abs"), (967_000, "abs"), (977_000, "abs")),
}


@pytest.mark.parametrize("window", FLOOR)
def test_the_floor_ladder(run, window):
    found = run("context", "--window", window, "--tokens", 0, "--format", "json").json
    assert [(found[tier]["at"], found[tier]["branch"]) for tier in ("warn", "auto", "hard")] == list(FLOOR[window])
    assert found["window"] == window
    assert found["effective_window"] == max(0, window - 20_000)
    assert found["tier"] == "none"
    assert found["tokens_left"] == found["auto"]["at"]


@pytest.mark.parametrize(
    ("tokens", "tier", "left"),
    [
        (146_999, "none", 20_001),
        (147_000, "warn", 20_000),
        (166_999, "warn", 1),
        (167_000, "auto", 0),
        (176_999, "auto", 0),
        (177_000, "hard", 0),
        (999_999, "hard", 0),
    ],
)
def test_the_tier_of_a_count(run, tokens, tier, left):
    found = run("context", "--window", 200_000, "--tokens", tokens, "--format", "json").json
    assert (found["tier"], found["tokens_left"]) == (tier, left)


@pytest.mark.parametrize(
    ("ladder", "window", "auto", "hard"),
    [
        ("gap", 60_000, 42_000, 45_000),
        ("ceiling", 32_000, 27_200, 30_200),
        ("ceiling", 64_000, 31_000, 41_000),
        ("ceiling", 128_000, 95_000, 105_000),
        ("ceiling", 200_000, 167_000, 177_000),
        ("ceiling", 1_000_000, 850_000, 977_000),
        ("ceiling", 33_000, 28_050, 31_050),
        ("ceiling", 33_001, 1, 10_001),
        ("proven", 8_000, 5_360, 5_840),
        ("proven", 200_000, 167_000, 177_000),
    ],
)
def test_other_ladders(run, ladder, window, auto, hard):
    found = run("context", "--window", window, "--ladder", ladder, "--format", "json").json
    assert (found["auto"]["at"], found["hard"]["at"]) == (auto, hard)


def test_text_shows_four_lines_with_branches_and_the_mark(run):
    found = run("context", "--window", 128_000, "--tokens", 100_000)
    rows = [line.split() for line in found.out.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("effective", "warn", "auto", "hard")] == [
        "effective", "warn", "auto", "hard",
    ]  # fmt: skip
    auto = next(line for line in found.out.splitlines() if line.startswith("  auto"))
    assert auto.endswith("<")
    assert "by abs" in auto
    assert "pct 89 600" in auto
    assert "abs 95 000" in auto
    assert found.status == 0


def test_a_model_brings_its_window(run):
    found = run("context", "--model", "claude-haiku-4-5-20251001", "--tokens", 170_000, "--format", "json").json
    assert (found["window"], found["tier"]) == (200_000, "auto")


def test_the_prompt_limit_of_a_model_counts_not_its_window(run):
    """OpenAI's 400 000 are 272 000 of input and 128 000 of output."""
    assert run("context", "--model", "gpt-5.3-codex", "--format", "json").json["window"] == 272_000


@pytest.mark.parametrize(
    ("args", "piece"),
    [
        ((), "--window N"),
        (("--window", "0"), "'--window': expected a whole number, 1 or more, not '0'."),
        (("--window", "many"), "'--window': expected a whole number, 1 or more, not 'many'."),
        (("--window", "1.5"), "'--window': expected a whole number, 1 or more, not '1.5'."),
        (("--model", "claude-haiku-4-5-2025"), "claude-haiku-4-5"),
        (("--window", "1000", "--ladder", "flor"), "floor"),
        (("--window", "1000", "--model", "x"), "--window N"),
        (("--window", "1000", "--bundle", "no/such/folder"), "no/such/folder"),
    ],
)
def test_bad_input_is_one_line_and_status_2(run, args, piece):
    found = run("context", *args)
    assert found.status == 2
    assert found.out == ""
    assert len(found.err.splitlines()) == 1
    assert piece in found.err


def test_a_window_without_effective_window_is_said_to_be_infeasible(run):
    """C4: clamped to 0 and said, and no tier fires on a threshold that is not positive."""
    found = run("context", "--window", 10_000, "--tokens", 100)
    assert "infeasible" in found.out
    assert "tier none" in found.out
