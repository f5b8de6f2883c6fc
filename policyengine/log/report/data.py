"""What the report shows, gathered from logs and from the bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.policy import Policy
from policyengine.log.filters import ALL_TIME, Period
from policyengine.log.metrics.tally import Tally
from policyengine.log.read import records
from policyengine.log.scan import Counted, count
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean

_SESSIONS = 3
"""Sessions that are shown where none is asked for: those with the most rounds."""

_BY_HOUR, _BY_DAY = 2, 92
"""The most days that are shown hour by hour, and day by day: a bar for each is still seen on a phone."""

WINDOWS = tuple(base * 2**step // 4 for step in range(9) for base in (32_000, 40_000, 48_000, 56_000))
"""Windows (tokens) at which the ladder is drawn: 8 000 to 3.6 million, four to each doubling."""


@dataclass(slots=True)
class SessionRound:
    """One round of a session, as its records tell it. Tokens."""

    number: int
    tokens: int | None = None
    tier: str | None = None
    window: int | None = None
    thresholds: Mapping[str, int | None] = field(default_factory=dict)
    compaction: str | None = None
    tip: str | None = None
    decision: str | None = None
    veto: str | None = None


@dataclass(slots=True)
class Data:
    """Everything the report shows."""

    counted: Counted
    by: str
    """`hour`, `day` or `month`: what a group of `counted` is."""
    sessions: dict[str, list[SessionRound]]
    ladders: dict[str, list[tuple[int, Mapping[str, Any]]]]
    """Thresholds of each ladder by window; the one that serves comes first."""
    lines: Mapping[str, float]
    """Gate lines, by name."""
    bundle: str

    @property
    def whole(self) -> Tally:
        """Everything together."""
        return self.counted.whole

    @property
    def groups(self) -> list[tuple[str, Tally]]:
        """The hours, days or months, in order."""
        return sorted(self.counted.groups.items())


def gather(
    files: Sequence[Path], bundle: Bundle, wanted: Period = ALL_TIME, sessions: Sequence[str] = ()
) -> Data:  # fmt: skip
    """Read the logs. Raises `InputError` where they cannot be read, or hold no such session."""
    counted = count(files, "day", wanted)
    by = bin_of(counted.groups)
    if by == "hour":
        counted = count(files, "hour", wanted)
    elif by == "month":
        counted = _by_month(counted)
    if not counted.whole.records:
        when = "" if wanted == ALL_TIME else " in that period"
        raise InputError(f"{files[0]}: there is no record in this log{when}" if files else "there is no log")
    return Data(
        counted,
        by,
        _sessions(files, wanted, sessions),
        {policy.name: _ladder(policy) for policy in _ladders(bundle)},
        _lines(bundle),
        f"{bundle.name} {bundle.version}",
    )


def bin_of(days: Iterable[str]) -> str:
    """What a point of the charts stands for: `hour`, `day` or `month`, by how many days lie between these."""
    times = sorted(found for day in days if (found := moment_of(day)) is not None)
    span = (times[-1] - times[0]).days + 1 if times else 0
    return "hour" if span <= _BY_HOUR else "day" if span <= _BY_DAY else "month"


def moment_of(name: str) -> datetime | None:
    """When an hour, day or month of the charts begins; None for a text that is no time."""
    for form in ("%Y-%m-%dT%H", "%Y-%m-%d", "%Y-%m"):
        try:
            return datetime.strptime(name, form)
        except ValueError:
            continue
    return None


def _by_month(counted: Counted) -> Counted:
    found = Counted(counted.whole)
    for day, tally in sorted(counted.groups.items()):
        found.groups.setdefault(day[: len("2026-03")], Tally()).merge(tally)
    return found


def _sessions(files: Sequence[Path], wanted: Period, asked: Sequence[str]) -> dict[str, list[SessionRound]]:
    """The rounds of the sessions that were asked for, or of the longest ones."""
    sizes: Counter[str] = Counter()
    found: dict[str, dict[int, SessionRound]] = {}
    for path in files:
        for record in records(path):
            session, number = record.get("session_id"), record.get("round")
            if session is None or number is None or not wanted.holds(record.get("time")):
                continue
            sizes[session] = max(sizes[session], number)
            if not asked or session in asked:
                rounds = found.setdefault(session, {})
                _take(rounds.setdefault(number, SessionRound(number)), record)
    for session in asked:
        if session not in found:
            hint = did_you_mean(session, list(sizes)) or "`policyengine log stats --by session` lists them"
            raise InputError(f"there is no session {session!r} in these logs; {hint}")
    chosen = list(asked) or sorted(found, key=lambda name: (-len(found[name]), name))[:_SESSIONS]
    return {name: [found[name][number] for number in sorted(found[name])] for name in chosen}


def _take(one: SessionRound, record: Mapping[str, Any]) -> None:
    outcome, given = record.get("outcome") or {}, record.get("input") or {}
    match record["kind"]:
        case "Ladder":
            one.tokens, one.window, one.tier = given.get("tokens"), given.get("window"), outcome.get("tier")
            one.thresholds = {name: outcome.get(name) for name in ("warn", "auto", "hard")}
        case "CompactionGate":
            if outcome.get("compact"):
                one.compaction = record.get("compaction_outcome") or str(outcome.get("reason", "decided"))
        case "Tips":
            one.tip = outcome.get("tip")
        case "Routing":
            one.decision, one.veto = record.get("decision"), record.get("veto_reason")


def _ladders(bundle: Bundle) -> list[Policy]:
    if not bundle.of_kind("Ladder"):
        return []
    serving = bundle.serving("Ladder")
    return [serving, *(policy for policy in bundle.of_kind("Ladder") if policy.name != serving.name)]


def _ladder(policy: Policy) -> list[tuple[int, Mapping[str, Any]]]:
    return [(window, policy.outcome({"window": window, "tokens": 0})) for window in WINDOWS]


def _lines(bundle: Bundle) -> dict[str, float]:
    """The numbers of the bundle's gates that charts show as lines."""
    wanted = {
        "fallback": ("quality", "max_fallback_rate"),
        "cache_ceiling": ("cache-hit-rate", "near_ceiling"),
        "cache_low": ("cache-hit-rate", "low"),
    }
    found = {}
    for line, (name, constant) in wanted.items():
        policy = bundle.find(name)
        value = policy.constants.get(constant) if policy else None
        if isinstance(value, int | float):
            found[line] = float(value)
    return found
