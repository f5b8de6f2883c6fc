"""Building decision records (`schemas/record.schema.json`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.made import Made
from policyengine.log.fields import SCHEMA, fields
from policyengine.log.kind_fields import kind_fields
from policyengine.log.masking import Masking
from policyengine.log.rule_statuses import rule_statuses
from policyengine.rules.decision import Decision
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean
from policyengine.source.schema import input_check, input_misfits, load_schema
from policyengine.source.version import __version__


@lru_cache(maxsize=1)
def _checks() -> dict[str, Callable[[Any], bool]]:
    """By field: whether it takes a value."""
    return {name: input_check(schema) for name, schema in load_schema("record")["properties"].items()}


def check_about(about: Mapping[str, Any]) -> None:
    """Raise `InputError` for a field that no record has, and for a value that its field does not take."""
    checks = _checks()
    for name, value in about.items():
        check = checks.get(name)
        if check is None:
            hint = did_you_mean(name, fields()) or "see record.schema.json"
            raise InputError(f"a record has no field `{name}`; {hint}")
        if not check(value):
            schema = load_schema("record")["properties"][name]
            raise InputError(input_misfits(value, schema, f"`{name}` of a record")[0])


class Recorder:
    """Turns decisions of one bundle into records.

    - `source` is `replay`, `eval` or `runtime`: where the decisions are made.
    - `show_prompts` writes everything as it is; otherwise `masking` decides, by default the bundle's own policy.
    - `shadow` is a bundle whose decisions on the same inputs are recorded beside, and change nothing.
    - `trace` keeps the values that conditions saw, where the decision was made with its trace.
    """

    def __init__(
        self, bundle: Bundle, *, source: str = "eval", show_prompts: bool = False, masking: Masking | None = None,
        shadow: Bundle | None = None, trace: bool = True,
    ) -> None:  # fmt: skip
        if not isinstance(bundle, Bundle) or not (shadow is None or isinstance(shadow, Bundle)):
            raise InputError("a Recorder records the decisions of a Bundle, as `load` gives it")
        self.masking = Masking(None) if show_prompts else masking or Masking.of(bundle)
        self.source = source
        self.shadow = shadow
        self.trace = trace
        routing = bundle.of_kind("Routing")
        self._fast_models = frozenset(bundle.serving("Routing").spec.get("fast_models", {}).values()) if routing else ()
        self._last = {
            "mask_policy": self.masking.label,
            "mask_key": self.masking.key_id,
            "engine_version": __version__,
            "bundle": bundle.name,
            "bundle_version": bundle.version,
            "bundle_digest": bundle.digest,
        }

    def tier_of(self, model: str | None) -> str | None:
        """`fast` for a model that the bundle routes fast rounds to, `primary` for any other, None for none."""
        return None if model is None else "fast" if model in self._fast_models else "primary"

    def record(
        self, made: Made, *, time_ms: int | None = None, monotonic_ms: int | None = None, **about: Any
    ) -> dict[str, Any]:
        """One record: the fields that apply, in the schema's order.

        `time_ms` is the Unix time of the decision (ms) and `monotonic_ms` that of the process's clock; both are now
        where they are not given, except in a replay. `about` holds further fields of the record (session_id, turn_id,
        round, prompt_tokens, ...). Raises `InputError` for a field that a record does not have, or of another type.
        """
        check_about(about)
        policy, decision = made.policy, made.decision
        if self.source != "replay":
            time_ms = time_ms if time_ms is not None else int(time.time() * 1000)
            monotonic_ms = monotonic_ms if monotonic_ms is not None else time.monotonic_ns() // 1_000_000
        shown, masked = self.masking.input(policy, made.input)
        record: dict[str, Any] = {
            "time": iso(time_ms) if time_ms is not None else None,
            "monotonic_ms": monotonic_ms,
            "source": self.source,
            "kind": policy.kind.name,
            "policy": decision.policy,
            "policy_version": decision.version,
            "rule": decision.rules[0] if decision.rules else None,
            "error_count": len(decision.errors) or None,
            **kind_fields(made),
            **about,
            "rules": rule_statuses(made),
            "outcome": self.masking.outcome(policy, decision.outcome),
            "errors": [{"where": error.where, "message": error.message} for error in decision.errors],
            "input": shown,
            "input_digest": self.masking.digest(made.input),
            "masked": masked,
            "shadow": self._shadowed(made) if self.shadow else None,
            "trace": self._traced(made) if self.trace and decision.trace else None,
            **self._last,
        }
        return {"schema": SCHEMA, **{name: record[name] for name in fields() if record.get(name) is not None}}

    def _traced(self, made: Made) -> list[dict[str, Any]]:
        return [
            {
                "rule": step.rule,
                "status": step.status.value,
                "values": self.masking.trace(made.policy, step.values),
            }
            for step in made.decision.trace
        ]

    def _shadowed(self, made: Made) -> dict[str, Any] | None:
        """What the shadow bundle decides on the same input; None where it has no such policy."""
        assert self.shadow is not None
        other = self.shadow.find(made.policy.name)
        if other is None or other.kind.name != made.policy.kind.name:
            return None
        decision: Decision = other.decide(made.input)
        return {
            "bundle_digest": self.shadow.digest,
            "policy_version": decision.version,
            "rule": decision.rules[0] if decision.rules else None,
            "outcome": self.masking.outcome(other, decision.outcome),
            "same": decision.outcome == made.decision.outcome,
        }


def iso(time_ms: int) -> str:
    """A Unix time (ms) as records write it: ISO 8601 in UTC, to the millisecond; text order is time order."""
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat(timespec="milliseconds")
