"""One batch of records, decided again. The same code runs on this machine's cores and on a Ray cluster."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import Bundle, load
from policyengine.kinds.policy import Policy
from policyengine.log.fields import plain
from policyengine.log.read import Unreadable, row_group
from policyengine.log.redecide.moves import Move, Moves, example_of
from policyengine.log.scan import Shard, shard_records
from policyengine.rules.decision import Decision
from policyengine.source.resources import policies_folder

_HASH = "sha256:"
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=plain).encode


@dataclass(frozen=True, slots=True)
class Packed:
    """A bundle as the bytes of its files, so that it reaches other machines."""

    files: tuple[tuple[str, bytes], ...]


def packed(path: str | None) -> Packed:
    """The bundle in a folder or file; the built-in one without a path. Raises `BundleError`, `InputError`."""
    from policyengine.kinds.bundle import files

    bundle = load(path)  # so that what is wrong with it is said here
    root = bundle.path if path is not None else policies_folder()
    return Packed(
        tuple((str(file.relative_to(root)) if root.is_dir() else file.name, file.read_bytes()) for file in files(root))
    )


@lru_cache(maxsize=2)
def unpacked(bundle: Packed) -> Bundle:
    """The bundle, ready to decide."""
    with tempfile.TemporaryDirectory(prefix="policyengine-") as folder:
        for name, content in bundle.files:
            file = Path(folder) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        return load(folder)


def redecide(shard: Shard, bundle: Packed, output: str | None = None) -> Moves:
    """Decide the records of a shard again. With `output`, a folder, each decision is a row of a Parquet file there."""
    found = Moves()
    rows: list[dict[str, Any]] | None = [] if output else None
    again = Redecider(unpacked(bundle), found, rows)
    unreadable = Unreadable()
    for record in _records(shard, unreadable):
        again.take(record)
    found.unreadable += unreadable.count
    if output and rows is not None:
        _write(rows, Path(output) / f"{shard.path.stem}-{shard.start:015d}.parquet")
    return found


def _records(shard: Shard, unreadable: Unreadable) -> Iterator[dict[str, Any]]:
    # A shard of a Parquet file is one of its row groups here.
    parquet = shard.path.suffix == ".parquet"
    return row_group(shard.path, shard.start) if parquet else shard_records(shard, unreadable)


class Redecider:
    """Decides records again and counts what came of it."""

    def __init__(self, bundle: Bundle, found: Moves, rows: list[dict[str, Any]] | None = None) -> None:
        self._bundle, self._found, self._rows = bundle, found, rows
        self._asks: dict[tuple[str, str], bool] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        """Decide one record again."""
        found = self._found
        found.records += 1
        name = record.get("policy") or ""
        policy = self._bundle.find(name)
        if policy is None or policy.kind.name != record.get("kind"):
            found.no_policy[name] += 1
            return
        masked = record.get("masked") or ()
        given = without(record.get("input") or {}, masked)
        if any(self._asks_for(policy, path) for path in masked):
            self._undecidable(policy, masked)
            return
        # What is masked was taken out: then only what the rules read has to be there.
        decision = policy.decide(given, check=not masked)
        if masked and decision.errors:
            self._undecidable(policy, masked)
            return
        self._digest(record, decision)
        before: Mapping[str, Any] = record.get("outcome") or {}
        after = decision.outcome
        same = before == after
        if not same:
            before, after = comparable(before, after)
            same = before == after
        if same:
            found.same += 1
        else:
            found.add_changed(Move(policy.name, *described(before, after)), example_of(record))
        if self._rows is not None:
            self._rows.append(_row(record, decision, same=same))

    def _undecidable(self, policy: Policy, masked: Iterable[str]) -> None:
        self._found.masked[policy.name, ", ".join(masked)] += 1

    def _asks_for(self, policy: Policy, path: str) -> bool:
        """Whether an expression asks if a masked field is there: then its absence would decide, not an error."""
        name = path.replace("[]", "").split(".")[-1]
        key = policy.name, name
        if key not in self._asks:
            table = policy.table
            everything = [rule.when.text for rule in table.rules if rule.when]
            everything += [one.text for one in (*table.derived.values(), *table.outputs.values())]
            self._asks[key] = re.search(rf"has\([^)]*\b{re.escape(name)}\b", " ".join(everything)) is not None
        return self._asks[key]

    def _digest(self, record: Mapping[str, Any], decision: Decision) -> None:
        about = [
            record.get("session_id"), record.get("round"), record.get("seq"), record.get("time"), decision.policy,
            list(decision.rules), decision.outcome,
        ]  # fmt: skip
        text = _encode(about).encode("utf-8", "surrogatepass")
        self._found.add_digest(int.from_bytes(hashlib.sha256(text).digest(), "big"))


def without(given: Mapping[str, Any], masked: Iterable[str]) -> dict[str, Any]:
    """The input without its masked fields, so that a policy that needs one fails instead of reading a hash."""
    left = dict(given)
    for path in masked:
        left = _without(left, path.replace("[]", ".[]").split("."))
    return left


def _without(value: Any, steps: list[str]) -> Any:
    step, *rest = steps
    if step == "[]":
        return [_without(item, rest) if rest else None for item in value] if isinstance(value, list) else value
    if not isinstance(value, Mapping) or step not in value:
        return value
    if not rest:
        return {name: item for name, item in value.items() if name != step}
    return {**value, step: _without(value[step], rest)}


def comparable(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both outcomes without the fields that the record shows only as hashes."""
    hidden = {name for name, value in before.items() if isinstance(value, str) and value.startswith(_HASH)}
    return (
        {name: value for name, value in before.items() if name not in hidden},
        json.loads(_encode({name: value for name, value in after.items() if name not in hidden})),
    )


def described(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, str]:
    """The fields that changed, on both sides. A number that is another one is only said to be higher or lower."""
    names: list[str] = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    left, right = [], []
    for name in names:
        one: Any = before.get(name)
        other: Any = after.get(name)
        if _number(one) and _number(other):
            left.append(name)
            right.append(f"{name} {'higher' if other > one else 'lower'}")
        else:
            left.append(f"{name} {_shown(one)}")
            right.append(f"{name} {_shown(other)}")
    return ", ".join(left), ", ".join(right)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if _number(value):
        return "a number"
    return value if isinstance(value, str) else _encode(value)


def _row(record: Mapping[str, Any], decision: Decision, *, same: bool) -> dict[str, Any]:
    return {
        "seq": record.get("seq"),
        "time": record.get("time"),
        "session_id": record.get("session_id"),
        "round": record.get("round"),
        "policy": decision.policy,
        "rule_before": record.get("rule"),
        "rule_after": decision.rules[0] if decision.rules else None,
        "outcome_before": _encode(record.get("outcome") or {}),
        "outcome_after": _encode(decision.outcome),
        "same": same,
    }


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    types = {"seq": pyarrow.int64(), "round": pyarrow.int64(), "same": pyarrow.bool_()}
    names = list(_row({}, Decision("", "", {}), same=True))
    schema = pyarrow.schema([(name, types.get(name, pyarrow.string())) for name in names])
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), path)
