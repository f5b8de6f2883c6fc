"""Rules that never matched in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from policyengine.kinds.bundle import Bundle
from policyengine.log.filters import ALL_TIME, Period
from policyengine.log.parallel import mapped
from policyengine.log.read import Unreadable
from policyengine.log.scan import Shard, shard_records, shards
from policyengine.source.errors import InputError

Matches = Counter[tuple[str, str]]
"""How often each rule of each policy matched."""


@dataclass(frozen=True, slots=True)
class Unused:
    """A rule that never matched, though its policy decided `decisions` times; `inherited` from the bundle's base."""

    policy: str
    rule: str
    decisions: int
    place: str
    inherited: bool = False


@dataclass(slots=True)
class Search:
    """The rules that never matched, the policies that never decided in these logs, and lines that are no records."""

    unused: list[Unused] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    unreadable: int = 0


def unused(bundle: Bundle, files: Sequence[Path], wanted: Period = ALL_TIME) -> Search:
    """Which rules of a bundle never matched, those of inherited policies included.

    Raises `InputError`, also where none of its policies decided.
    """
    matches: Matches = Counter()
    decided: Counter[str] = Counter()
    found = Search()
    for some, many, unreadable in mapped(partial(_matches, wanted=wanted), list(shards(files))):
        matches.update(some)
        decided.update(many)
        found.unreadable += unreadable
    policies = {**bundle.policies, **bundle.inherited}
    if not any(decided[name] for name in policies):
        which = "no policy of the bundle decided" if decided else "there is no record"
        raise InputError(f"{which} in these logs{_in(wanted)}: they say nothing about its rules")
    for policy in policies.values():
        if not policy.table.rules:
            continue
        if not decided[policy.name]:
            found.silent.append(policy.name)
            continue
        for rule in policy.table.rules:
            if not matches[policy.name, rule.id]:
                place = f"{rule.place.file}:{rule.place.line}"
                found.unused.append(
                    Unused(policy.name, rule.id, decided[policy.name], place, policy.name in bundle.inherited)
                )
    return found


def _in(wanted: Period) -> str:
    return "" if wanted == ALL_TIME else " in that period"


def _matches(shard: Shard, wanted: Period) -> tuple[Matches, Counter[str], int]:
    matches: Matches = Counter()
    decided: Counter[str] = Counter()
    unreadable = Unreadable()
    for row in shard_records(shard, unreadable):
        if not wanted.holds(row.get("time")):
            continue
        policy = row.get("policy") or ""
        decided[policy] += 1
        for rule in row.get("rules") or ():
            if rule["status"] == "matched":
                matches[policy, rule["id"]] += 1
    return matches, decided, unreadable.count
