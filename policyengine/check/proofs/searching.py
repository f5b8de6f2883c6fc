"""Looking for an input: first among texts whose answers are known, then among all, then by asking the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from policyengine.check.proofs.deciding import Decided
from policyengine.check.proofs.reading import Read
from policyengine.check.proofs.results import Example
from policyengine.check.proofs.shrinking import shrunk
from policyengine.check.proofs.solver import Term, either, z3
from policyengine.check.proofs.translate import facts
from policyengine.check.proofs.witnesses import Reader, shapes, try_texts, typical_texts
from policyengine.kinds.policy import Policy
from policyengine.rules.decision import Decision
from policyengine.source.schema import validate_input

_MOST_NAMED = 3
"""Unknowns that are named in one line."""

_TRIES = 6
"""Models of the solver that are tried on the engine before it is given up."""


@dataclass(frozen=True, slots=True)
class Found:
    """An input that the engine has confirmed, or that there is none (`impossible`), or why neither is known."""

    example: Example | None = None
    impossible: bool = False
    why: str = ""


class Search:
    """Looks for inputs of one policy."""

    def __init__(
        self, policy: Policy, read: Read, made: Decided, timeout_ms: int, beside: Sequence[tuple[Read, Decided]] = ()
    ) -> None:
        self.policy, self.read, self.made, self.timeout_ms = policy, read, made, timeout_ms
        self._reads = [read, *(other for other, _ in beside)]
        self._made = [made, *(other for _, other in beside)]
        self.keep: list[str] = []
        """Texts that are always among those tried."""
        self._solvers: dict[tuple[bool, int, int], Any] = {}
        """One solver per state of what is known about texts: a claim may bring new texts and functions."""

    def assumes(self) -> tuple[str, ...]:
        """What a proof rests on beside the schema."""
        found = []
        if self._speaks_of("int"):
            found.append("whole numbers have 64 bits")
        if self._speaks_of("double"):
            found.append("doubles are exact numbers")
        if self._unknown:
            found.append(f"{self._unknown} may be anything")
        return tuple(found)

    @property
    def _unknown(self) -> str:
        names = list(dict.fromkeys(name for made in self._made for name in made.translator.unknowns))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        return ", ".join(names[:_MOST_NAMED]) + more

    def _speaks_of(self, kind: str) -> bool:
        programs = (program for read in self._reads for program in read.programs())
        return any(program.node is not None and _mentions(program.node, kind) for program in programs)

    def find(self, wanted: Term, confirm: Callable[[Mapping[str, Any], Decision], bool], small: bool = True) -> Found:
        """An input where `wanted` holds and `confirm` agrees on the real decision; a `small` one to be shown."""
        if wanted is False:
            return Found(impossible=True)
        for example in self._tried(wanted, confirm, small, known_texts=True):
            return Found(example)
        _, answer = self.ask(wanted, known_texts=False)
        if answer == z3().unsat:
            return Found(impossible=True)
        if answer != z3().sat:
            return Found(why=f"the solver found no answer within {self.timeout_ms / 1000:g} s")
        for example in self._tried(wanted, confirm, small, known_texts=False):
            return Found(example)
        if not self._unknown:
            return Found(why=_NOT_CONFIRMED)
        return Found(why=f"it depends on {self._unknown}, and no input was found that shows it")

    def _tried(self, wanted: Term, confirm: Callable[..., bool], small: bool, known_texts: bool) -> Iterator[Example]:
        solver, answer = self.ask(wanted, known_texts)
        unknowns = [shape for read in self._reads for shape in shapes(read)] if self._shapeless else [None]
        for _ in range(_TRIES):
            if answer != z3().sat:
                return
            model = solver.model()
            for input in Reader(self.made.translator.inputs, self.made.texts, model, unknowns).inputs_found():
                if validate_input(input, self.policy.input_schema):
                    continue
                if confirm(input, self.policy.decide(input)):
                    yield self._example(self._small(input, confirm) if small else input)
                    return
            solver.add(_different(model))
            answer = solver.check()

    @cached_property
    def _shapeless(self) -> bool:
        fields = self.made.translator.inputs.whole.fields
        return any(value.kind == "unknown" for _, value in fields.values())

    def ask(self, wanted: Term, known_texts: bool) -> tuple[Any, Any]:
        """A solver that was asked for `wanted`, and its answer."""
        state = (known_texts, len(self.made.texts.numbers), len(self.made.texts.predicates))
        solver = self._solvers.get(state)
        if solver is None:
            solver = self._known_solver() if known_texts else self._solver()
            self._solvers[known_texts, len(self.made.texts.numbers), len(self.made.texts.predicates)] = solver
        solver.pop(solver.num_scopes())
        solver.push()
        solver.add(wanted)
        return solver, solver.check()

    def _known_solver(self) -> Any:
        """A solver in which every free text is one whose properties the engine has told."""
        numbers = [self.made.texts.number(text) for text in self._typical()]
        solver = self._solver()
        for term in self.made.translator.inputs.free_texts:
            solver.add(z3().Or([term == number for number in numbers]))
        return solver

    def _solver(self) -> Any:
        solver = z3().Solver()
        solver.set("timeout", self.timeout_ms)
        solver.set("random_seed", 0)
        for made in self._made:
            solver.add(*made.constraints)
        solver.add(*facts(self.made.texts))
        return solver

    def _typical(self) -> list[str]:
        tried = [text for read in self._reads for text in try_texts(read)]
        return list(dict.fromkeys([*self.keep, *typical_texts(self.made.texts, [*self.made.texts.numbers, *tried])]))

    def _small(self, input: Mapping[str, Any], confirm: Callable[..., bool]) -> Mapping[str, Any]:
        schema = self.policy.input_schema

        def shows(tried: dict[str, Any]) -> bool:
            return not validate_input(tried, schema) and confirm(tried, self.policy.decide(tried))

        return shrunk(input, shows, next(iter(schema.get("examples", ())), None))

    def _example(self, input: Mapping[str, Any]) -> Example:
        decision = self.policy.decide(input)
        seen: dict[str, Any] = dict(decision.outcome)
        by = ", ".join(decision.rules) or ("on_error" if decision.errors else "default")
        failed = "; ".join(f"{error.where}: {error.message}" for error in decision.errors)
        return Example(input, seen, f"decided by {by}" + (f" ({failed})" if failed else ""))


_NOT_CONFIRMED = "the solver's example is not confirmed by the engine"


def _different(model: Any) -> Term:
    """Any other model, in the variables of the input."""
    return either(*(variable() != model[variable] for variable in model.decls() if variable.arity() == 0))


def _mentions(root: Any, kind: str) -> bool:
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type.kind == kind:
            return True
        stack.extend(node.children())
    return False
