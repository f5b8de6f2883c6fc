"""Rules that never matched in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from policyengine.kinds.bundle import Bundle
from policyengine.log.filters import ALL_TIME, Period
from policyengine.log.lines import parse
from policyengine.log.parallel import mapped
from policyengine.log.read import records
from policyengine.log.scan import Shard, pieces, shards

Matches = Counter[tuple[str, str]]
"""How often each rule of each policy matched."""


@dataclass(frozen=True, slots=True)
class Unused:
    """A rule of the bundle that never matched, though its policy decided `decisions` times."""

    policy: str
    rule: str
    decisions: int
    place: str


def unused(bundle: Bundle, files: Sequence[Path], wanted: Period = ALL_TIME) -> tuple[list[Unused], list[str]]:
    """The rules that never matched, and the policies that never decided in these logs. Raises `InputError`."""
    matches: Matches = Counter()
    decided: Counter[str] = Counter()
    for some, many in mapped(partial(_matches, wanted=wanted), list(shards(files))):
        matches.update(some)
        decided.update(many)
    found = []
    silent = []
    for policy in bundle.policies.values():
        if not policy.table.rules:
            continue
        if not decided[policy.name]:
            silent.append(policy.name)
            continue
        for rule in policy.table.rules:
            if not matches[policy.name, rule.id]:
                place = f"{rule.place.file}:{rule.place.line}"
                found.append(Unused(policy.name, rule.id, decided[policy.name], place))
    return found, silent


def _matches(shard: Shard, wanted: Period) -> tuple[Matches, Counter[str]]:
    matches: Matches = Counter()
    decided: Counter[str] = Counter()
    rows = records(shard.path) if shard.end is None else (parse(line) for lines in pieces(shard) for line in lines)
    for row in rows:
        if row is None or not wanted.holds(row.get("time")):
            continue
        policy = row.get("policy", "")
        decided[policy] += 1
        for rule in row.get("rules", ()):
            if rule["status"] == "matched":
                matches[policy, rule["id"]] += 1
    return matches, decided
