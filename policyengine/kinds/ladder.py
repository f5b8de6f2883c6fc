"""Ladder: thresholds over the window, and the tier that a count of tokens reaches.

Thresholds are real numbers while they are worked out; a tier begins at the first whole token at or above its
threshold. Every number in a ladder is a CEL double, because CEL does not mix int and double in arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec, SpecError
from policyengine.rules.table import Expression, Outcome, Rule, Table
from policyengine.source.schema import load_schema

TIERS = ("hard", "auto", "warn")
"""From the highest down: the order in which a count is compared with them."""

REQUIRED = ("effective_window", "compact_max_output_tokens")
"""What other policies and commands ask a ladder for, besides its thresholds."""

_UNKNOWN: dict[str, Any] = {
    "tier": "none",
    "window_known": False,
    "effective_window": None,
    "compact_max_output_tokens": None,
    "feasible": None,
    **{name: None for tier in TIERS for name in (tier, f"{tier}_branch")},
    "tokens_left": None,
}


def whole_tokens(value: str) -> str:
    """CEL for the first whole token at or above a real threshold, never below 0.

    Rounding to a millionth first takes the noise of binary fractions away (0.1 * 3.0 is a little above 0.3), which
    would otherwise lift an exact whole number by one.
    """
    return f"int(math.ceil(math.round(math.greatest(0.0, {value}) * 1000000.0) / 1000000.0))"


def build(kind: Kind, spec: Spec) -> Table:
    """A table whose derived values are the thresholds and whose rules are the tiers, the highest first."""
    constants = {name: _double(value) for name, value in spec.constants().items()}
    derived: dict[str, Expression] = {
        "window": spec.generated("input.window == null ? 0.0 : double(input.window)", ("spec",))
    }
    for name, expression in spec.derived().items():
        _define(derived, constants, name, expression)
    for tier in spec.get("thresholds"):
        _threshold(spec, derived, constants, tier)
    for name in REQUIRED:
        if name not in derived and name not in constants:
            raise SpecError(
                f"a ladder has to define `{name}`", ("spec",), "add it to derived: or constants:, in tokens"
            )
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=load_schema("inputs/ladder"),
        rules=tuple(_rules(spec)),
        default=Outcome(_UNKNOWN),
        on_error=spec.get("on_error", _UNKNOWN),
        constants=constants,
        words=spec.words,
        derived=derived,
    )


def _double(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _define(derived: dict[str, Expression], constants: Mapping[str, Any], name: str, expression: Expression) -> None:
    if name in derived or name in constants:
        raise SpecError(f"the name `{name}` is taken", expression.path, "give it another name")
    derived[name] = expression


def _threshold(spec: Spec, derived: dict[str, Expression], constants: Mapping[str, Any], tier: str) -> None:
    """Define TIER, TIER_BRANCH, TIER_at and one value per candidate (TIER_CANDIDATE)."""
    path: Path = ("spec", "thresholds", tier)
    parts = spec.get("thresholds")[tier]
    combine = "greatest" if "greatest" in parts else "least"

    def candidates(side: str) -> list[tuple[str, str, str | None]]:
        found = []
        for name, written in parts.get(side, {}).items():
            at: Path = (*path, side, name)
            value = f"{tier}_{name}"
            conditional = isinstance(written, dict)
            _define(derived, constants, value, spec.expression((*at, "value") if conditional else at))
            condition = None
            if conditional and "when" in written:
                condition = f"{value}_applies"
                _define(derived, constants, condition, spec.expression((*at, "when")))
            found.append((name, value, condition))
        return found

    base = candidates(combine)
    fixed = [value for _, value, condition in base if condition is None]
    if not fixed:
        raise SpecError(
            f"every candidate of `{tier}` has a condition, so that none may be left",
            (*path, combine),
            "give one candidate without `when`",
        )
    value = f"math.{combine}({', '.join(fixed)})"
    for _, candidate, condition in base:
        if condition is not None:
            value = f"({condition} ? math.{combine}({value}, {candidate}) : {value})"
    _define(derived, constants, f"{tier}_base", spec.generated(value, path))

    chosen = f"{tier}_base"
    clamps = []
    for side, clamp in (("at_most", "least"), ("at_least", "greatest")):
        for name, candidate, condition in candidates(side):
            joined = f"math.{clamp}({chosen}, {candidate})"
            chosen = f"({condition} ? {joined} : {chosen})" if condition else joined
            clamps.append((name, candidate, condition))
    _define(derived, constants, tier, spec.generated(chosen, path))

    branch = f'"{base[-1][0]}"'
    for name, candidate, condition in reversed(base[:-1]):
        holds = f"{tier}_base == {candidate}"
        branch = f'({condition + " && " if condition else ""}{holds} ? "{name}" : {branch})'
    for name, candidate, condition in reversed(clamps):
        holds = f"{tier} != {tier}_base && {tier} == {candidate}"
        branch = f'({condition + " && " if condition else ""}{holds} ? "{name}" : {branch})'
    _define(derived, constants, f"{tier}_branch", spec.generated(branch, path))
    _define(derived, constants, f"{tier}_at", spec.generated(whole_tokens(tier), path))


def _rules(spec: Spec) -> list[Rule]:
    path: Path = ("spec", "thresholds")
    computed = {
        "effective_window": spec.generated(whole_tokens("effective_window"), path),
        "compact_max_output_tokens": spec.generated(whole_tokens("compact_max_output_tokens"), path),
        "feasible": spec.generated("effective_window > 0.0 && auto > 0.0", path),
        "tokens_left": spec.generated("math.greatest(0, auto_at - tokens)", path),
    }
    for tier in TIERS:
        computed[tier] = spec.generated(f"{tier}_at", (*path, tier))
        computed[f"{tier}_branch"] = spec.generated(f"{tier}_branch", (*path, tier))
    unknown = spec.generated("input.window == null || input.window == 0", path)
    rules = [Rule("unknown_window", unknown, Outcome(_UNKNOWN), spec.document.place(path))]
    for tier in TIERS:
        # A threshold at or below zero would fire on every send; such a tier is infeasible and never fires.
        when = spec.generated(f"{tier} > 0.0 && tokens >= {tier}_at", (*path, tier))
        outcome = Outcome({"tier": tier, "window_known": True}, computed)
        rules.append(Rule(tier, when, outcome, spec.document.place((*path, tier))))
    rules.append(
        Rule(
            "below_warn",
            None,
            Outcome({"tier": "none", "window_known": True}, computed),
            spec.document.place(path),
        )
    )
    return rules


KIND = Kind("Ladder", "Thresholds that say how full the window is", build, _UNKNOWN)
