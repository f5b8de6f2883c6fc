"""Tables of every kind but ladders, decided with the solver; what is refuted has been confirmed by the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from policyengine.cel import CelError, Program
from policyengine.check.proofs.claims import Claim, claims, names_in_claims
from policyengine.check.proofs.deciding import DEFAULT, Decided, decided, seen_outcome, tests_over_lists
from policyengine.check.proofs.reading import Read, UnreadableError, read_table, tree
from policyengine.check.proofs.results import Example, Result, Verdict
from policyengine.check.proofs.searching import Search
from policyengine.check.proofs.solver import Term, both, either, no
from policyengine.check.proofs.symbols import Symbol
from policyengine.kinds.policy import Policy
from policyengine.rules.decision import Decision
from policyengine.rules.table import HitPolicy
from policyengine.source.counts import counted

REACHABLE, UNIQUE, TOTAL, NO_ERRORS = "rules-reachable", "one-rule", "has-outcome", "no-errors"
BUILT_IN = {
    REACHABLE: "Every rule decides for some input.",
    UNIQUE: "No two rules match at once.",
    TOTAL: "Every input has an outcome.",
    NO_ERRORS: "No expression fails for any input.",
}
_UNIQUE_TITLES = {"Tips": "No two tips are shown at once."}

Confirm = Callable[[Mapping[str, Any], Decision], bool]


class TableProof:
    """One table, and what can be said about it. `timeout_ms` bounds each question to the solver."""

    def __init__(self, policy: Policy, timeout_ms: int = 10_000) -> None:
        self.policy = policy
        self.read: Read = read_table(policy.table)
        self.timeout_ms = timeout_ms
        self.names = names_in_claims(policy)
        self._searches: dict[int, Search] = {}

    def results(self) -> Iterator[Result]:
        """Every claim, decided."""
        built_in = dict(BUILT_IN)
        if self.policy.table.hit is HitPolicy.UNIQUE:
            built_in[UNIQUE] = _UNIQUE_TITLES.get(self.policy.kind.name, built_in[UNIQUE])
        else:
            del built_in[UNIQUE]
        for claim in claims(self.policy, built_in):
            yield self.result(claim)

    def result(self, claim: Claim) -> Result:
        """One claim, decided."""
        try:
            texts = [text for text in (claim.domain, claim.accepted) if text]
            if claim.form == "assert":
                texts.append(claim.text)
            elif claim.form != "check":
                raise UnreadableError(f"`{claim.form}` is for ladders; a table states properties with `assert`")
            elif claim.text not in BUILT_IN:
                raise UnreadableError(f"there is no check {claim.text!r}; there are {', '.join(BUILT_IN)}")
            programs = [self.read.expression(text, self.names) for text in texts]
        except UnreadableError as error:
            return self._made(claim, Verdict.REFUTED, f"it cannot be read: {error}")
        search = self._search(programs)
        made = search.made
        domain = self._condition(claim.domain, made)
        if claim.form == "check" and claim.text == REACHABLE:
            return self._reachable(claim, made, search, domain)
        accepted = self._condition(claim.accepted, made) if claim.accepted else False
        failing, confirm = self._failing(claim, made)
        return self._judged(claim, search, both(domain, failing), accepted, confirm)

    def _search(self, programs: Sequence[Program]) -> Search:
        """A search over the table; the same one for every claim that asks nothing more about lists."""
        tests = tests_over_lists(programs)
        if tests not in self._searches:
            self._searches[tests] = Search(self.policy, self.read, decided(self.read, tests), self.timeout_ms)
        return self._searches[tests]

    def _condition(self, text: str | None, made: Decided) -> Term:
        """Where a boolean expression holds; an expression that fails does not hold."""
        if text is None:
            return True
        found = self._symbol(text, made)
        return both(no(found.error), found.term)

    def _symbol(self, text: str, made: Decided) -> Symbol:
        made.translator.extra = made.property_names()
        try:
            return made.translator.condition(tree(self.read.expression(text, self.names)))
        finally:
            made.translator.extra = {}

    def _failing(self, claim: Claim, made: Decided) -> tuple[Term, Confirm]:
        """Where a claim fails, and how a real decision shows that it does."""
        if claim.form == "assert":
            found = self._symbol(claim.text, made)
            return either(found.error, no(found.term)), self._fails(claim.text)
        if claim.text == UNIQUE:
            return either(*made.clashes.values()), lambda _, decision: any(error.clash for error in decision.errors)
        if claim.text == NO_ERRORS:
            return either(*made.failures.values()), lambda _, seen: not all(error.clash for error in seen.errors)
        empty = self.policy.table.hit is not HitPolicy.COLLECT and not any(_filled(self.read))
        return (made.none if empty else False), lambda _, decision: not decision.outcome

    def _fails(self, text: str) -> Confirm:
        def confirm(input: Mapping[str, Any], decision: Decision) -> bool:
            return self.holds(text, input, decision) is not True

        return confirm

    def holds(self, text: str, input: Mapping[str, Any], decision: Decision) -> Any:
        """The value of a property's expression on a real decision, by the evaluator; an error's text where it fails."""
        outcome, rule = seen_outcome(decision)
        values = {**dict(self.read.values(input)), "outcome": dict(outcome), "rule": rule}
        try:
            return self.read.expression(text, self.names).evaluate(input, values)
        except CelError as error:
            return str(error)

    def _judged(self, claim: Claim, search: Search, failing: Term, accepted: Term, confirm: Confirm) -> Result:
        within = self._confirmed(claim, confirm, outside=True)
        found = search.find(both(failing, no(accepted)), within)
        if found.example is not None:
            said = "it fails outside the accepted domain" if claim.accepted else ""
            return self._made(claim, Verdict.REFUTED, said, (found.example,), search=search)
        if not found.impossible:
            return self._made(claim, Verdict.UNDECIDED, found.why, search=search)
        if claim.accepted is None:
            return self._made(claim, Verdict.PROVEN, search=search)
        inside = search.find(both(failing, accepted), self._confirmed(claim, confirm, outside=False))
        if inside.example is not None:
            return self._made(claim, Verdict.ACCEPTED, "", (inside.example,), search=search)
        if inside.impossible:
            said = "the accepted refutation is not needed: the property holds everywhere; remove `accepted`"
            return self._made(claim, Verdict.REFUTED, said, search=search)
        said = f"whether it really fails in the accepted domain is not decided: {inside.why}"
        return self._made(claim, Verdict.UNDECIDED, said, search=search)

    def _confirmed(self, claim: Claim, confirm: Confirm, outside: bool) -> Confirm:
        """The engine's word that a claim fails, on an input inside its domain and outside (inside) the accepted one."""

        def confirmed(input: Mapping[str, Any], decision: Decision) -> bool:
            if claim.domain and self.holds(claim.domain, input, decision) is not True:
                return False
            if claim.accepted and (self.holds(claim.accepted, input, decision) is True) is outside:
                return False
            return confirm(input, decision)

        return confirmed

    def _reachable(self, claim: Claim, made: Decided, search: Search, domain: Term) -> Result:
        """Every rule decides for some input, and the default where one is written; what the accepted domain names
        (`rule == "..."`) does for none."""
        names = [*made.matched]
        if "default" in self.policy.spec and DEFAULT not in names and self.policy.table.hit is not HitPolicy.COLLECT:
            names += [] if "id" in self.policy.spec["default"] else [DEFAULT]
        dead: list[str] = []
        unsure: list[str] = []
        why = ""
        for name in names:
            reached = made.reached(name) if name in made.matched else both(made.none, no(made.error))
            found = search.find(both(reached, domain), _by(name), small=False)
            if found.impossible:
                dead.append(name)
            elif found.example is None:
                unsure.append(name)
                why = found.why
        allowed = [name for name in names if claim.accepted and self._names(claim.accepted, name)]
        if alive := [name for name in allowed if name not in dead and name not in unsure]:
            said = f"the accepted refutation is not needed: {_listed(alive)} can decide; remove `accepted`"
            return self._made(claim, Verdict.REFUTED, said)
        if unexpected := [name for name in dead if name not in allowed]:
            return self._made(claim, Verdict.REFUTED, f"no input reaches {_listed(unexpected)}", search=search)
        if unsure:
            return self._made(claim, Verdict.UNDECIDED, f"no input was found for {_listed(unsure)}: {why}")
        if dead:
            return self._made(claim, Verdict.ACCEPTED, f"no input reaches {_listed(dead)}", search=search)
        deciding = counted(len(made.matched), "rule decides", "rules decide")
        return self._made(claim, Verdict.PROVEN, f"{deciding} for an input that was found")

    def _names(self, text: str, rule: str) -> bool:
        """Whether an accepted domain, an expression over `rule`, names a rule."""
        try:
            return self.read.expression(text, self.names).evaluate({}, {"rule": rule, "outcome": {}}) is True
        except CelError:
            return False

    def _made(
        self,
        claim: Claim,
        verdict: Verdict,
        detail: str = "",
        examples: tuple[Example, ...] = (),
        search: Search | None = None,
    ) -> Result:
        text = claim.text if claim.form == "assert" else ""
        return Result(
            self.policy.name, claim.id, claim.title, text, verdict, claim.place, claim.built_in, detail, claim.domain,
            examples, None, None, claim.reason, claim.accepted, search.assumes() if search else (),
        )  # fmt: skip


def _by(rule: str) -> Confirm:
    return lambda _, decision: rule in (decision.rules or (() if decision.errors else (DEFAULT,)))


def _filled(read: Read) -> Iterator[bool]:
    default = read.table.default
    yield bool(default.literals or default.computed or read.table.outputs)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"
