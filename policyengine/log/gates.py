"""Gates, checkpoints, rollout stages and the kill switch, asked about the metrics of a decision log."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policyengine.kinds.bundle import Bundle
from policyengine.kinds.policy import Policy
from policyengine.log.metrics.definitions import BY_NAME, measures, vetoes
from policyengine.log.metrics.statistics import Measure
from policyengine.log.metrics.tally import Tally
from policyengine.source.errors import InputError
from policyengine.source.jsonfile import read_json
from policyengine.source.nearest import did_you_mean

KINDS = ("Gate", "Checkpoint", "Stage", "KillSwitch")
STATUS = {"pass": 0, "fail": 1, "not_enough_data": 3}
"""Exit status of each verdict."""

BASELINE = "policyengine.baseline/1"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a log does not say: the stage now and since when, the baseline, and what is known of two models."""

    stage: str = "dogfood"
    stage_days: int = 0
    baseline: Mapping[str, Any] | None = None
    same_family: bool | None = None
    thinking_equal: bool | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate said, and the numbers that its policy reads."""

    policy: str
    version: str
    kind: str
    verdict: str
    outcome: Mapping[str, Any]
    numbers: Mapping[str, Measure]

    @property
    def status(self) -> int:
        """Exit status."""
        return STATUS[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """As `--format json` prints it."""
        return {
            "gate": self.policy,
            "version": self.version,
            "kind": self.kind,
            "verdict": self.verdict,
            "outcome": dict(self.outcome),
            "numbers": {name: measure.as_json() for name, measure in self.numbers.items()},
        }


def gate_policy(bundle: Bundle, name: str) -> Policy:
    """The gate called `name`. Raises `InputError` where the bundle has none of that name."""
    gates = [policy.name for kind in KINDS for policy in bundle.of_kind(kind)]
    if name not in gates:
        known = f"it has: {', '.join(gates)}" if gates else "it has none"
        raise InputError(f"the bundle {bundle.path} has no gate `{name}`; {did_you_mean(name, gates) or known}")
    return bundle.policy(name)


def ask(policy: Policy, tally: Tally, facts: Facts | None = None) -> Verdict:
    """What a gate says about what was counted."""
    facts = facts or Facts()
    if policy.kind.name == "KillSwitch":
        return _kill_switch(policy, tally)
    everything = numbers(tally, facts)
    given: dict[str, Any] = {name: measure.as_json() for name, measure in everything.items()}
    given["vetoes"] = {name: measure.as_json() for name, measure in vetoes(tally).items()}
    given["days"] = len(tally.days)
    if policy.kind.name == "Gate":
        given.update(same_family=facts.same_family, thinking_equal=facts.thinking_equal)
    elif policy.kind.name == "Stage":
        given.update(stage=facts.stage, stage_days=facts.stage_days)
    decision = policy.decide(given)
    read = {name: measure for name, measure in everything.items() if name in _texts(policy)}
    return Verdict(
        policy.name, policy.version, policy.kind.name, decision.outcome["verdict"], decision.outcome, read
    )  # fmt: skip


def numbers(tally: Tally, facts: Facts) -> dict[str, Measure]:
    """Every metric, and what was saved against the baseline."""
    found = measures(tally)
    before = ((facts.baseline or {}).get("metrics") or {}).get("turn_ms_p50") or {}
    now = found["turn_ms_p50"]
    known = before.get("value") is not None and now.value is not None
    saved = Measure(before["value"] - now.value if known else None, min(now.n, before.get("n") or 0))
    return {**found, "turn_saved_ms": saved}


def _kill_switch(policy: Policy, tally: Tally) -> Verdict:
    """The adapter's own kill switch, over a whole log in place of its window."""
    measure = BY_NAME["fallback_rate"].of(tally)
    fallbacks = sum(tally.fallbacks.values())
    decision = policy.decide({"fast_rounds": measure.n, "fallbacks": fallbacks, "tripped": False})
    healthy = decision.outcome["fast"] and decision.outcome.get("reason") != "too_little_data"
    verdict = "pass" if healthy else "not_enough_data" if decision.outcome["fast"] else "fail"
    return Verdict(
        policy.name, policy.version, policy.kind.name, verdict, decision.outcome, {"fallback_rate": measure}
    )  # fmt: skip


def _texts(policy: Policy) -> frozenset[str]:
    """The names of the metrics that a policy's expressions mention."""
    everything = _expressions(policy)
    return frozenset(name for name in (*BY_NAME, "turn_saved_ms") if f"{name}." in everything)


def reads(policy: Policy, name: str) -> bool:
    """Whether an expression of a policy mentions a field of its input."""
    return re.search(rf"\b{re.escape(name)}\b", _expressions(policy)) is not None


def _expressions(policy: Policy) -> str:
    table = policy.table
    texts = [rule.when.text for rule in table.rules if rule.when] + [one.text for one in table.derived.values()]
    return " ".join([*texts, *(one.text for one in table.outputs.values())])


def write_baseline(tally: Tally, path: Path) -> None:
    """Keep the metrics of a log to compare later ones with. Raises `InputError`."""
    found = {
        "schema": BASELINE,
        "records": tally.records,
        "metrics": {n: m.as_json() for n, m in measures(tally).items()},
    }
    try:
        path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def read_baseline(path: str) -> Mapping[str, Any]:
    """A baseline that was kept. Raises `InputError`."""
    found = read_json(path)
    if not isinstance(found, dict) or found.get("schema") != BASELINE:
        raise InputError(f"{path}: is no baseline; `policyengine baseline --log FILE -o {path}` writes one")
    return found


def check_models(bundle: Bundle, policy: Policy, primary: str | None, fast: str | None) -> None:
    """Raises `InputError` where models that a person named say nothing to a gate."""
    if primary is None and fast is None:
        return
    if not (reads(policy, "same_family") or reads(policy, "thinking_equal")):
        raise InputError(f"--primary-model and --fast-model have no effect: `{policy.name}` does not ask about models")
    if primary is None or fast is None:
        raise InputError("--primary-model and --fast-model are compared with each other; give both")
    catalogue = bundle.serving("ModelCatalogue")
    names = [name for row in catalogue.spec["models"] for name in (row["id"], *row.get("aliases", ()))]
    for option, model in (("--primary-model", primary), ("--fast-model", fast)):
        if not catalogue.outcome({"model": model})["known"]:
            hint = did_you_mean(model, names) or "leave both options out: nothing is known of its family"
            raise InputError(f"{option}: the catalogue has no model {model!r}; {hint}")


def model_facts(bundle: Bundle, primary: str | None, fast: str | None) -> tuple[bool | None, bool | None]:
    """Whether two models are of one family and whether they think alike, as the model catalogue knows them.

    None for unknown. They think alike where both do or neither does, or where the fast one's thinking can be off.

    Families of one maker count as one where they share the first part of their name (`claude-haiku`, `claude-opus`).
    """
    if primary is None or fast is None or not bundle.of_kind("ModelCatalogue"):
        return None, None
    catalogue = bundle.serving("ModelCatalogue")
    one, other = (catalogue.outcome({"model": name}) for name in (primary, fast))
    if not (one["known"] and other["known"]):
        return None, None
    families = [str(each["family"]).split("-")[0] if each["family"] else None for each in (one, other)]
    alike = one["thinking"] == other["thinking"] or other["thinking_off"] is not None or other["thinking"] == "none"
    return (
        families[0] == families[1] if all(families) else None,
        alike if one["thinking"] and other["thinking"] else None,
    )
