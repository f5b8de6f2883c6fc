"""The report over spans of every length: bars that can be seen, and no line across times of which nothing is known."""

import json
from datetime import datetime, timedelta

import pytest

from policyengine.kinds.bundle import load
from policyengine.log.report.charts import charts
from policyengine.log.report.data import gather

DAY = timedelta(days=1)
START = datetime(2026, 1, 1, 12)


@pytest.fixture
def chart(tmp_path):
    def of(name, times):
        path = tmp_path / "log.jsonl"
        records = (
            {
                "kind": "Routing", "policy": "routing", "time": f"{time.isoformat()}.000+00:00",
                "session_id": f"s{number}", "round": 2, "decision": "fast", "prompt_tokens": 1000,
                "cached_tokens": 900, "tier_actual": "primary",
                "response": "text",
            }
            for number, time in enumerate(times)
        )  # fmt: skip
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
        data = gather([path], load())
        return data.by, next(one for one in charts(data) if one.id == name)

    return of


@pytest.mark.parametrize(
    ("days", "by", "bars"),
    [(1, "hour", 1), (2, "hour", 2), (3, "day", 3), (92, "day", 92), (93, "month", 4), (400, "month", 14)],
)
def test_the_bars_suit_the_span(chart, days, by, bars):
    found, split = chart("split", [START + n * DAY for n in range(days)])
    assert found == by
    for trace in split.traces:
        assert len(trace["x"]) == len(trace["y"]) == bars
        # An edge would be all that is left of a narrow bar.
        assert trace["marker"]["line"]["width"] == (1 if bars <= 31 else 0)
    assert sum(split.traces[0]["y"]) == days
    assert [row[1] for row in split.rows] == split.traces[0]["y"]


def test_two_days_that_lie_months_apart_are_no_hours(chart):
    by, split = chart("split", [START, START + 270 * DAY])
    assert by == "month"
    assert split.traces[0]["x"] == ["2026-01", "2026-09"]
    assert split.layout["xaxis"]["type"] == "date"


@pytest.mark.parametrize(
    ("days", "x", "y"),
    [
        ((0, 1, 2), ["2026-01-01", "2026-01-02", "2026-01-03"], [0.9] * 3),
        ((0, 1, 9), ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-10"], [0.9, 0.9, None, 0.9]),
        ((0, 31, 300), ["2026-01", "2026-02", "2026-03", "2026-10"], [0.9, 0.9, None, 0.9]),
    ],
)
def test_no_line_is_drawn_across_a_gap(chart, days, x, y):
    _, cache = chart("cache", [START + n * DAY for n in days])
    line = cache.traces[0]
    assert (line["x"], line["y"], line["connectgaps"]) == (x, y, False)
    # The table names what was recorded, and nothing else.
    assert [row[0] for row in cache.rows] == [name for name, value in zip(x, y, strict=True) if value is not None]
    assert cache.layout["xaxis"]["type"] == ("date" if None in y else "category")


def test_hours_break_too(chart):
    hours = [START, START + timedelta(hours=1), START + timedelta(hours=6)]
    _, cache = chart("cache", hours)
    assert cache.traces[0]["x"] == [f"2026-01-01T{hour}:00" for hour in (12, 13, 14, 18)]
    assert cache.traces[0]["y"] == [0.9, 0.9, None, 0.9]
