"""Writes sample-session.jsonl: an invented session in Claude Code's format, on a 200 000-token window.

Nobody's data: the project, its tide ledger and the conversation were made up for this repository. Token
counts follow from the texts: a prompt is the one before it, plus its response, plus what was added, measured
the way a tokenizer would come out (a few percent around bytes / 4 for text and bytes / 2 for tool results).

    python examples/make_sample_session.py > examples/sample-session.jsonl
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

MODEL = "claude-opus-4-5-20251101"
SYSTEM_TOKENS = 21_400  # system text and tool definitions, which a transcript does not hold
IMAGE_TOKENS = 1_600
AUTO = 167_000
SKEW = (0.98, 1.02, 0.99, 1.03, 1.0, 0.97)  # how far the tokenizer is from the rule of thumb, in turn

Call = tuple[str, dict[str, object], str, bool]


def month(number: int) -> str:
    """One month of the ledger: four tides a day, and here and there a reading that nobody took."""
    start = datetime(1954, number, 1, 2, 40)
    days = ((start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)).day
    rows = ["date,time,metres,kind"]
    for tide in range(days * 24 * 100 // 621):
        moment = start + timedelta(minutes=372.6 * tide)
        high = tide % 2 == 0
        spring = 0.55 * math.cos(2 * math.pi * tide / 57)
        level = f"{(4.1 + spring if high else 0.9 - spring):.2f}"
        missed = not high and (tide * 7 + number) % 53 == 0
        rows.append(f"{moment:%Y-%m-%d,%H:%M},{'' if missed else level},{'high' if high else 'low'}")
    return "\n".join(rows) + "\n"


LEDGER = '''\
"""Turns one scanned page of the tide ledger into readings."""

from tidewatch.clock import to_utc
from tidewatch.columns import COLUMNS, Reading


def parse_page(cells: list[list[str]], year: int) -> list[Reading]:
    """Read a page: one row a tide, columns as the harbour office ruled them."""
    readings = []
    for row in cells:
        if len(row) != len(COLUMNS):
            raise ValueError(f"expected {len(COLUMNS)} cells, got {len(row)}")
        day, clock, metres, kind, keeper = row
        readings.append(
            Reading(
                at=to_utc(year, day, clock),
                metres=float(metres) if metres else None,
                kind="high" if kind.strip().upper() == "H" else "low",
                keeper=keeper.strip() or None,
            )
        )
    return readings
'''
CLOCK = '''\
"""Times in the ledger are what the harbour clock showed."""

from datetime import UTC, datetime, timedelta

SUMMER = {1954: ((4, 11), (10, 3))}


def to_utc(year: int, day: str, clock: str) -> datetime:
    """The harbour clock was put forward an hour in summer."""
    month, date = (int(part) for part in day.split("-"))
    hour, minute = (int(part) for part in clock.split(":"))
    shown = datetime(year, month, date, hour, minute, tzinfo=UTC)
    start, end = SUMMER[year]
    if start <= (month, date) <= end:
        return shown + timedelta(hours=1)
    return shown
'''
TEST = """\
from datetime import UTC, datetime

from tidewatch.clock import to_utc


def test_winter_time_is_utc():
    assert to_utc(1954, "02-01", "03:12") == datetime(1954, 2, 1, 3, 12, tzinfo=UTC)
"""
LAST = TEST.splitlines(keepends=True)[-1]
NEW_TEST = """

def test_summer_time_is_an_hour_ahead():
    assert to_utc(1954, "04-12", "03:12") == datetime(1954, 4, 12, 2, 12, tzinfo=UTC)
"""
FAILED = """\
Exit code 1
.F                                                                      [100%]
=================================== FAILURES ===================================
_______________________ test_summer_time_is_an_hour_ahead ______________________
    def test_summer_time_is_an_hour_ahead():
>       assert to_utc(1954, "04-12", "03:12") == datetime(1954, 4, 12, 2, 12, tzinfo=UTC)
E       AssertionError: assert 04:12 == 02:12
tests/test_clock.py:11: AssertionError
1 failed, 1 passed in 0.04s
"""
DIFF = """\
diff --git a/tidewatch/clock.py b/tidewatch/clock.py
--- a/tidewatch/clock.py
+++ b/tidewatch/clock.py
@@ -14,3 +14,3 @@ def to_utc(year: int, day: str, clock: str) -> datetime:
     if start <= (month, date) <= end:
-        return shown + timedelta(hours=1)
+        return shown - timedelta(hours=1)
     return shown
"""
GREP_TIME = """\
tidewatch/clock.py:3:from datetime import UTC, datetime, timedelta
tidewatch/clock.py:8:def to_utc(year: int, day: str, clock: str) -> datetime:
tidewatch/clock.py:12:    shown = datetime(year, month, date, hour, minute, tzinfo=UTC)
tidewatch/clock.py:15:        return shown + timedelta(hours=1)
tidewatch/ledger.py:3:from tidewatch.clock import to_utc
tidewatch/ledger.py:17:                at=to_utc(year, day, clock),
tidewatch/plot.py:22:    axis.set_xlabel("time (UTC)")
"""
SUMMARY = """\
This session is being continued from a previous conversation that ran out of context.

What was asked: find where tidewatch parses ledger pages; list where it handles time; fix the summer shift in
tidewatch/clock.py with a test; say which days of 1954 have no low water reading.

Done: `to_utc` now takes the summer hour off instead of adding it; tests/test_clock.py has a case for 12 April
1954; both tests pass; nothing is committed yet.

Known: `parse_page` in tidewatch/ledger.py expects day, clock, metres, kind, keeper. An empty `metres` means
that the keeper missed the tide. The monthly files are data/1954-01.csv to data/1954-12.csv.

Pending: the list of days without a low water reading. January to November were gone through: each has one or
two such tides. December is left; read data/1954-12.csv, then answer.
"""


def read_file(path: str, text: str) -> Call:
    """A Read call: the product numbers the lines."""
    numbered = "".join(f"{n:>6}\t{line}\n" for n, line in enumerate(text.splitlines(), start=1))
    return ("Read", {"file_path": f"/home/keeper/tidewatch/{path}"}, numbered, False)


def months(*numbers: int) -> list[Call]:
    """Read calls for some months of 1954."""
    return [read_file(f"data/1954-{number:02}.csv", month(number)) for number in numbers]


def grep(pattern: str, found: str) -> Call:
    """A Grep call."""
    return ("Grep", {"pattern": pattern, "output_mode": "content"}, found, False)


def shell(command: str, output: str, error: bool = False) -> Call:
    """A Bash call."""
    return ("Bash", {"command": command}, output, error)


def edit(path: str, old: str, new: str) -> Call:
    """An Edit call."""
    full = f"/home/keeper/tidewatch/{path}"
    return ("Edit", {"file_path": full, "old_string": old, "new_string": new}, f"{full} was updated.", False)


def low_gaps(*numbers: int) -> str:
    """What a search for missed low tides prints."""
    return "".join(
        f"data/1954-{number:02}.csv:{at}:{line}\n"
        for number in numbers
        for at, line in enumerate(month(number).splitlines(), start=1)
        if line.endswith(",,low")
    )


def line_counts() -> str:
    """What counting the lines of every month prints."""
    return "".join(f"{month(n).count(chr(10)):>5} data/1954-{n:02}.csv\n" for n in range(1, 13))


@dataclass
class Reply:
    """One response: hidden thinking (tokens), a text, and calls with what they bring back."""

    thinking: int
    text: str = ""
    calls: list[Call] = field(default_factory=list)


@dataclass
class Prompt:
    """What the person types, and how many scanned pages go with it."""

    text: str
    pages: int = 0


class Compaction:
    """Where the product compacts by itself."""


STORY: list[Prompt | Reply | Compaction] = [
    Prompt("Where does tidewatch parse a ledger page like the ones here, and which columns does it expect?", 63),
    Reply(
        1000,
        "I will look for the parser.",
        [grep("def parse_page", "tidewatch/ledger.py:7:def parse_page(\n")],
    ),
    Reply(950, "", [read_file("tidewatch/ledger.py", LEDGER)]),
    Reply(
        600,
        "`parse_page` in tidewatch/ledger.py does it, one row a tide. It expects five cells in this order: "
        "day, clock, metres, kind (H or L) and keeper. An empty metres cell is a tide that nobody read.",
    ),
    Prompt("这些读数用的是哪个时区？列出代码里所有处理时间的地方。"),
    Reply(900, "我先搜索处理时间的代码。", [grep("datetime|to_utc|UTC", GREP_TIME)]),
    Reply(800, "", [read_file("tidewatch/clock.py", CLOCK), read_file("tests/test_clock.py", TEST)]),
    Reply(
        1000,
        "读数保存为 UTC。处理时间的地方有三处：tidewatch/clock.py 的 to_utc 做换算，"
        "tidewatch/ledger.py 第 17 行调用它，"
        "tidewatch/plot.py 第 22 行只是坐标轴的文字。注意：to_utc 在夏天加了一小时，方向看起来反了。",
    ),
    Prompt("Right, fix the summer shift in clock.py and add a test for 12 April 1954."),
    Reply(1300, "First the test, so that it fails.", [edit("tests/test_clock.py", LAST, LAST + NEW_TEST)]),
    Reply(500, "", [shell("python -m pytest -q", FAILED, True)]),
    Reply(
        800,
        "It fails as expected: two hours apart, so the sign is wrong.",
        [edit("tidewatch/clock.py", "shown + timedelta(hours=1)", "shown - timedelta(hours=1)")],
    ),
    Reply(600, "", [shell("python -m pytest -q", "..                       [100%]\n2 passed in 0.03s\n")]),
    Reply(500, "", [shell("git diff tidewatch", DIFF)]),
    Reply(700, "The summer hour is taken off now, and the new case for 12 April 1954 passes with the other one."),
    Prompt("Which days of 1954 have no low water reading? Go through every month, I want to know it for sure."),
    Reply(1100, "I will read the months in order.", months(1, 2)),
    Reply(1100, "", months(3, 4)),
    Reply(1200, "Five gaps so far.", months(5, 6)),
    Reply(900, "", [grep(",,low$", low_gaps(1, 2, 3, 4, 5, 6))]),
    Reply(1300, "The search agrees with what I read. On to the second half.", months(7, 8)),
    Reply(1300, "", months(9, 10)),
    Reply(1200, "", [shell("wc -l data/1954-*.csv", line_counts())]),
    Reply(1220, "", months(11)),
    Reply(1550, "One month is left.", months(12)),
    Compaction(),
    Reply(900, "I will read December again and then answer.", months(12)),
    Reply(700, "", [grep(",,low$", low_gaps(*range(1, 13)))]),
    Reply(1200, "These tides have no low water reading:\n\n" + low_gaps(*range(1, 13))),
    Prompt("谢谢。现在 git 的状态是什么？"),
    Reply(400, "", [shell("git status --short", " M tests/test_clock.py\n M tidewatch/clock.py\n")]),
    Reply(
        300,
        "有两个文件改动了：tidewatch/clock.py（夏令时的方向）和 tests/test_clock.py（新的测试）。还没有提交。",
    ),
]


class Writer:
    """Writes lines with ids and times that follow from their number, so that each run gives the same file."""

    def __init__(self) -> None:
        self.number = 0
        self.parent: str | None = None
        self.moment = datetime(2026, 3, 9, 8, 30, tzinfo=UTC)
        self.prompt = SYSTEM_TOKENS
        self.output = 0
        self.added: list[float] = []
        self.rounds = 0
        self.context_rounds = 0

    def line(self, kind: str, seconds: float = 0.2, **fields: object) -> str:
        """One line of the transcript."""
        self.number += 1
        self.moment += timedelta(seconds=seconds)
        identity = str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://example.org/tidewatch/{self.number}"))
        head = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "sessionId": "5a11ab1e-0000-4000-8000-000000001954",
            "type": kind,
            "uuid": identity,
            "timestamp": self.moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.parent = identity
        return json.dumps(head | fields, ensure_ascii=False, separators=(",", ":"))

    def add(self, text: str, bytes_per_token: int) -> None:
        """Count what the next prompt has in addition."""
        self.added.append(len(text.encode()) / bytes_per_token)

    def say(self, prompt: Prompt) -> Iterator[str]:
        """A message of the person."""
        page = "https://example.org/ledger/{:02}.png"
        images = [
            {"type": "image", "source": {"type": "url", "url": page.format(number)}}
            for number in range(1, prompt.pages + 1)
        ]
        self.added.append(prompt.pages * IMAGE_TOKENS)
        self.add(prompt.text, 4)
        content = [{"type": "text", "text": prompt.text}, *images] if images else prompt.text
        yield self.line("user", 40, message={"role": "user", "content": content})

    def reply(self, reply: Reply) -> Iterator[str]:
        """A response, one line a block, and the results of its calls."""
        fresh = self.context_rounds == 0
        known = self.prompt
        self.prompt += self.output + round(sum(self.added) * SKEW[self.rounds % len(SKEW)])
        self.added.clear()
        self.rounds += 1
        self.context_rounds += 1
        arguments = [json.dumps(call[1], ensure_ascii=False) for call in reply.calls]
        self.output = reply.thinking + len(reply.text.encode()) // 4 + sum(map(len, arguments)) // 3
        cached = SYSTEM_TOKENS if fresh else known
        message = f"msg_sample{self.rounds:04}"
        ids = [f"toolu_{self.rounds:04}_{at}" for at in range(len(reply.calls))]
        blocks: list[dict[str, object]] = [{"type": "thinking", "thinking": "", "signature": "c2FtcGxl"}]
        if reply.text:
            blocks.append({"type": "text", "text": reply.text})
        for at, (name, values, _, _) in enumerate(reply.calls):
            blocks.append({"type": "tool_use", "id": ids[at], "name": name, "input": values})
        for at, block in enumerate(blocks):
            usage = {
                "input_tokens": 3,
                "cache_creation_input_tokens": self.prompt - cached - 3,
                "cache_read_input_tokens": cached,
                # While the response streams, only the last line knows its length.
                "output_tokens": self.output if at == len(blocks) - 1 else 8,
            }
            body = {
                "model": MODEL,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None,
                "usage": usage,
            }
            yield self.line("assistant", 3.1 if at == 0 else 0.4, message=body)
        for at, (_, _, result, error) in enumerate(reply.calls):
            self.add(result, 2)
            answer = {"type": "tool_result", "tool_use_id": ids[at], "content": result, "is_error": error}
            yield self.line("user", message={"role": "user", "content": [answer]})

    def compact(self) -> Iterator[str]:
        """An automatic compaction, where the estimate has come to the threshold."""
        tokens = self.prompt + self.output + round(sum(self.added))
        assert AUTO <= tokens < AUTO + 1_500, tokens
        metadata = {"trigger": "auto", "preTokens": tokens}
        yield self.line("system", 45, subtype="compact_boundary", compactMetadata=metadata)
        self.prompt, self.output, self.context_rounds = SYSTEM_TOKENS, 0, 0
        self.added.clear()
        self.add(SUMMARY, 4)
        yield self.line("user", isCompactSummary=True, message={"role": "user", "content": SUMMARY})


def main() -> None:
    """Print the session."""
    writer = Writer()
    for step in STORY:
        if isinstance(step, Prompt):
            lines = writer.say(step)
        elif isinstance(step, Reply):
            lines = writer.reply(step)
        else:
            lines = writer.compact()
        for line in lines:
            print(line)


if __name__ == "__main__":
    main()
