"""Names that a person filters a log by: one that neither the log nor the bundle knows is a slip, no empty answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.registry import KINDS
from policyengine.log.read import records
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean

_NAMED = {"kind": "kind", "policy": "policy", "rule": "rule", "veto_reason": "veto"}
"""The fields whose values are names, and what a person calls them. Sessions and turns are known to the log alone."""


def refuse_unknown(files: Sequence[Path], fields: Mapping[str, frozenset[str]], bundle: Bundle | None) -> None:
    """Raises `InputError` for a name that is asked for and that neither `bundle` nor any record of the logs has.

    The logs are read only where the bundle does not know a name. What is no plain file can be read only once, and is
    left alone.
    """
    known = known_names(bundle)
    unknown = {name: set(fields[name]) - known[name] for name in _NAMED if name in fields}
    if not any(unknown.values()) or not all(path.is_file() for path in files):
        return
    seen: dict[str, set[str]] = {name: set() for name, left in unknown.items() if left}
    for path in files:
        for record in records(path):
            for name, values in seen.items():
                values.add(str(record.get(name)))
    for name, values in seen.items():
        for value in sorted(unknown[name] - values):
            names = sorted(known[name] | values - {"None"})
            hint = did_you_mean(value, names) or f"there are: {', '.join(sorted(values - {'None'})) or 'none'}"
            raise InputError(f"these logs have no {_NAMED[name]} {value!r}, and the bundle knows none; {hint}")


def known_names(bundle: Bundle | None) -> Mapping[str, set[str]]:
    """The kinds, policies, rules and vetoes that a bundle knows, by the field of a record that names them."""
    found: dict[str, set[str]] = {name: set() for name in _NAMED}
    found["kind"] = set(KINDS)
    for policy in (*bundle.policies.values(), *bundle.inherited.values()) if bundle is not None else ():
        found["policy"].add(policy.name)
        for rule in policy.table.rules:
            found["rule"].add(rule.id)
            if (veto := rule.outcome.literals.get("veto_reason")) is not None:
                found["veto_reason"].add(str(veto))
    return found
