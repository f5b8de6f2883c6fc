"""Ladders, decided exactly for every window from their break points, without a solver."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from policyengine.cel import CelError, Program
from policyengine.cel.limits import MAX_INT
from policyengine.check.proofs.arithmetic import disagreement
from policyengine.check.proofs.cells import Cell, Piecewise, UndecidedError
from policyengine.check.proofs.claims import Claim, claims
from policyengine.check.proofs.formulas import Formulas
from policyengine.check.proofs.numbers import Number
from policyengine.check.proofs.ranges import Ranges
from policyengine.check.proofs.reading import Read, UnreadableError, read_table, tree
from policyengine.check.proofs.results import Example, Result, Verdict
from policyengine.kinds.ladder import TIERS
from policyengine.kinds.policy import Policy
from policyengine.source.counts import thousands

DEFAULT_WINDOWS = (1, 10_000_000)
"""The windows for which a ladder's properties are claimed where it names none."""

ORDERED, NOT_NEGATIVE, ENGINE = "ordered-tokens", "not-negative", "engine-agrees"
REACHABLE, NO_ERRORS = "rules-reachable", "no-errors"
BUILT_IN = {
    ORDERED: "In whole tokens a later tier never starts before an earlier one.",
    NOT_NEGATIVE: "No threshold is negative.",
    ENGINE: "The engine's binary arithmetic gives the whole tokens of the exact formulas.",
    REACHABLE: "Every tier is reached for some window.",
    NO_ERRORS: "No expression fails for any window.",
}
_EXPRESSIONS = {
    ORDERED: "warn_at <= auto_at && auto_at <= hard_at",
    NOT_NEGATIVE: "warn >= 0.0 && auto >= 0.0 && hard >= 0.0",
}
_REACHED = {
    "hard": "hard > 0.0",
    "auto": "auto > 0.0 && (hard <= 0.0 || auto_at < hard_at)",
    "warn": "warn > 0.0 && (auto <= 0.0 || warn_at < auto_at) && (hard <= 0.0 || warn_at < hard_at)",
}
"""Where a count of tokens exists that reaches a tier and none above it."""


@dataclass(frozen=True, slots=True)
class Failing:
    """Where a claim fails: single windows, or (`step`) the first window of each step from one window to the next."""

    windows: Ranges
    step: bool = False


def windows_of(policy: Policy) -> tuple[int, int]:
    """The windows for which a ladder's properties are claimed."""
    given = policy.spec.get("windows")
    return (given["from"], given["to"]) if given else DEFAULT_WINDOWS


class LadderProof:
    """One ladder, and what can be said about it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.read: Read = read_table(policy.table)
        self.low, self.high = windows_of(policy)
        self.formulas = Formulas(self.read, self.low, self.high)

    def results(self) -> Iterator[Result]:
        """Every claim, decided."""
        for claim in claims(self.policy, BUILT_IN):
            yield self.result(claim)

    def result(self, claim: Claim) -> Result:
        """One claim, decided."""
        try:
            domain = self.where(claim.domain) if claim.domain else Ranges.of([(self.low, self.high)])
            accepted = self.where(claim.accepted) if claim.accepted else Ranges()
            if claim.form == "check" and (special := _SPECIAL.get(claim.text)):
                return special(self, claim, domain)
            failing = self.failing(claim, domain)
        except (UndecidedError, UnreadableError) as error:
            said = f"it cannot be read: {error}" if isinstance(error, UnreadableError) else f"{error} is not decided"
            verdict = Verdict.REFUTED if isinstance(error, UnreadableError) else Verdict.UNDECIDED
            return self._made(claim, verdict, said)
        return self._judged(claim, domain, accepted, failing)

    def where(self, text: str) -> Ranges:
        """The windows at which a boolean expression holds."""
        return self.formulas.of(tree(self.read.expression(text))).where(_holds)

    def failing(self, claim: Claim, domain: Ranges) -> Failing:
        """Where a claim fails within a domain. Raises UndecidedError, UnreadableError."""
        if claim.form == "nondecreasing":
            return Failing(_falls(self._named(claim.text), domain), step=True)
        if claim.form == "continuous":
            return Failing(_jumps(self._named(claim.text), domain), step=True)
        if claim.form == "check" and claim.text not in _EXPRESSIONS:
            raise UnreadableError(f"there is no check {claim.text!r} for a ladder; there are {', '.join(BUILT_IN)}")
        return Failing(domain - self.where(_expression(claim)))

    def _named(self, name: str) -> Piecewise:
        if name not in self.read.derived and name not in self.read.table.constants:
            raise UnreadableError(f"there is no threshold, derived value or constant `{name}`")
        found = self.formulas.named(name)
        if not all(isinstance(value, Number) for _, value in found.cells):
            raise UnreadableError(f"`{name}` is no number")
        return found

    def _judged(self, claim: Claim, domain: Ranges, accepted: Ranges, failing: Failing) -> Result:
        allowed = accepted & Ranges.of((a - 1, b - 1) for a, b in accepted) if failing.step else accepted
        outside = failing.windows - allowed
        if not failing.windows:
            if claim.accepted:
                said = "the accepted refutation is not needed: the property holds everywhere; remove `accepted`"
                return self._made(claim, Verdict.REFUTED, said, holds=domain)
            return self._made(claim, Verdict.PROVEN, holds=domain)
        shown = outside or failing.windows
        examples = [self._example(claim, window, failing.step) for window in dict.fromkeys((shown.first, shown.last))]
        confirmed = [example for example, agrees in examples if agrees]
        holds = domain - failing.windows
        if not confirmed:
            said = "in exact decimals it fails, in the engine's binary numbers it holds: the margin is below rounding"
            return self._made(claim, Verdict.UNDECIDED, said, fails=failing.windows, holds=holds)
        if outside:
            said = "it fails outside the accepted domain" if claim.accepted else ""
            return self._made(claim, Verdict.REFUTED, said, tuple(confirmed), outside, holds)
        spare = "" if failing.step else _spare((accepted & domain) - failing.windows)
        return self._made(claim, Verdict.ACCEPTED, spare, tuple(confirmed), failing.windows, holds)

    def _engine(self, claim: Claim, domain: Ranges) -> Result:
        found = disagreement(self.policy, self.read, self.formulas, domain)
        if found.window is None:
            verdict = Verdict.UNDECIDED if found.open else Verdict.PROVEN
            return self._made(claim, verdict, found.open, holds=None if found.open else domain)
        example = Example({"window": found.window, "tokens": 0}, found.seen)
        only = Ranges.of([(found.window, found.window)])
        return self._made(claim, Verdict.REFUTED, found.open, (example,), only)

    def _reachable(self, claim: Claim, domain: Ranges) -> Result:
        dead = [tier for tier in TIERS if not any(self._reached(tier, domain))]
        if dead:
            return self._made(claim, Verdict.REFUTED, f"no window and count reach {', '.join(dead)}")
        return self._made(claim, Verdict.PROVEN, holds=domain)

    def _reached(self, tier: str, domain: Ranges) -> Iterator[bool]:
        """Whether the engine agrees on windows at which the tier should be reached."""
        for window in (self.where(_REACHED[tier]) & domain).ends():
            at = int(self.formulas.named(f"{tier}_at").at(window))
            yield self.policy.outcome({"window": window, "tokens": at})["tier"] == tier

    def _no_errors(self, claim: Claim, domain: Ranges) -> Result:
        """What can be read as an exact function has a value everywhere; it only has to fit into the engine's int."""
        for name in self.read.derived:
            for _, _, value in self.formulas.named(name).pieces():
                if isinstance(value, Number) and any(abs(line.at(self.high)) >= MAX_INT for line in value.bounds()):
                    return self._made(claim, Verdict.UNDECIDED, f"`{name}` leaves 64 bits")
        return self._made(claim, Verdict.PROVEN, holds=domain)

    def _made(
        self,
        claim: Claim,
        verdict: Verdict,
        detail: str = "",
        examples: tuple[Example, ...] = (),
        fails: Ranges | None = None,
        holds: Ranges | None = None,
    ) -> Result:
        return Result(
            self.policy.name,
            claim.id,
            claim.title,
            _said(claim),
            verdict,
            claim.place,
            claim.built_in,
            detail,
            claim.domain,
            examples,
            fails,
            holds,
            claim.reason,
            claim.accepted,
        )

    def _example(self, claim: Claim, window: int, step: bool) -> tuple[Example, bool]:
        """A window where a claim fails, as the engine sees it, and whether the engine agrees."""
        if not step:
            program = self.read.expression(_expression(claim))
            seen, value = self._seen(program, window)
            return Example({"window": window, "tokens": 0}, seen), value is not True
        before, after = (self._value(claim.text, at) for at in (window, window + 1))
        exact = self._named(claim.text)
        change = exact.at(window + 1) - exact.at(window)
        agrees = abs(Fraction(after - before) - change) < Fraction(1, 1000)
        seen = {f"{claim.text} at {window}": before, f"{claim.text} at {window + 1}": after}
        return Example({"window": window + 1, "tokens": 0}, seen, f"from window {window} to {window + 1}"), agrees

    def _value(self, name: str, window: int) -> float:
        program = self.read.expression(name)
        input = {"window": window, "tokens": 0}
        value: float = program.evaluate(input, self.read.values(input))
        return value

    def _seen(self, program: Program, window: int) -> tuple[Mapping[str, Any], Any]:
        input = {"window": window, "tokens": 0}
        values = self.read.values(input)
        try:
            return program.observe(input, values), program.evaluate(input, values)
        except CelError as error:
            return {}, str(error)


_SPECIAL: Mapping[str, Callable[[LadderProof, Claim, Ranges], Result]] = {
    ENGINE: LadderProof._engine,
    REACHABLE: LadderProof._reachable,
    NO_ERRORS: LadderProof._no_errors,
}


def _expression(claim: Claim) -> str:
    return _EXPRESSIONS[claim.text] if claim.form == "check" else claim.text


def _spare(windows: Ranges) -> str:
    """What is accepted beyond need, in words; empty where nothing is."""
    if not windows:
        return ""
    low, high = thousands(windows.first), thousands(windows.last)
    where = f"window {low}" if low == high else f"windows between {low} and {high}"
    return f"accepted beyond need: it holds for {where}, too; narrow the accepted domain"


def _said(claim: Claim) -> str:
    if claim.form == "assert":
        return claim.text
    if claim.form == "check":
        return _EXPRESSIONS.get(claim.text, "")
    return f"{claim.text} is {claim.form}"


def _holds(value: Any) -> bool:
    if value is not True and value is not False:
        raise UnreadableError("the expression is not a condition")
    return bool(value)


def _falls(function: Piecewise, domain: Ranges) -> Ranges:
    """The windows of a domain after which the function falls, at the next window of the domain."""
    found: list[tuple[int, int]] = []
    before: tuple[int, Fraction] | None = None
    for low, high, number in function.pieces():
        if number.steps:
            raise UndecidedError("whether a rounded value falls")
        for start, end in domain & Ranges.of([(low, high)]):
            if before is not None and number.at(start) < before[1]:
                found.append((before[0], before[0]))
            if number.slope < 0 and end > start:
                found.append((start, end - 1))
            before = end, number.at(end)
    return Ranges.of(found)


def _jumps(function: Piecewise, domain: Ranges) -> Ranges:
    """The windows after which the function jumps, for a window that grows continuously."""
    found: list[tuple[int, int]] = []
    cells = function.cells
    for (left, one), (right, two) in itertools.pairwise(cells):
        if one.steps or two.steps:
            raise UndecidedError("whether a rounded value jumps")
        at = right.low if right.point else left.high
        if one.at(at) == two.at(at):
            continue
        start = _before(at, right)
        if start in domain and start + 1 in domain:
            found.append((start, start))
    return Ranges.of(found)


def _before(at: Fraction, right: Cell) -> int:
    """The last whole window before a jump: one that happens on reaching `at`, or one on leaving it."""
    return math.ceil(at) - 1 if right.point else math.floor(at)


def tier_values(proof: LadderProof) -> dict[str, Piecewise]:
    """The three thresholds in whole tokens, as exact functions."""
    return {tier: proof.formulas.named(f"{tier}_at") for tier in TIERS}
