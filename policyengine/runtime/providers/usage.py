"""Usage as a stream reports it: field by field, the last report of a field counts."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from policyengine.runtime.provider import UsageReport

FIELDS = tuple(field.name for field in fields(UsageReport))


class UsageSoFar:
    """What was reported until now."""

    def __init__(self) -> None:
        self._report = UsageReport()
        self._seen = False

    @property
    def report(self) -> UsageReport | None:
        """Everything that was reported until now; None where nothing was."""
        return self._report if self._seen else None

    def take(self, **reported: object) -> UsageReport | None:
        """Take a report; what is no count changes nothing. Returns the new state where it is another one."""
        counts = {
            name: value
            for name, value in reported.items()
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0
        }
        if not counts.get("input", 1) and not counts.get("cache_read") and not counts.get("cache_write"):
            # No prompt is empty: such a zero means that the provider does not know.
            del counts["input"]
        changed = replace(self._report, **counts)
        if not counts or (self._seen and changed == self._report):
            return None
        self._report, self._seen = changed, True
        return changed


def sources(report: UsageReport | None) -> dict[str, Literal["usage", "estimated"]]:
    """Where each field of a report has to come from: the provider said it, or it must be estimated."""
    return {name: "estimated" if getattr(report, name, None) is None else "usage" for name in FIELDS}
