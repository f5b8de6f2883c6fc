"""Runs the tests against every mutant of the policies they test; those that no test notices are reported."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from policyengine.check.policy_tests.model import Explained, TestCase
from policyengine.check.policy_tests.mutants import Mutant, deciding, mutants
from policyengine.check.policy_tests.recordings import Recordings
from policyengine.check.policy_tests.running import run_case
from policyengine.check.policy_tests.subjects import Subjects, changed_to
from policyengine.kinds.spec import SpecError
from policyengine.source.errors import InputError

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Mutation:
    """What became of the mutants."""

    noticed: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    """Noticed by no test and explained by nobody."""
    explained: list[tuple[Mutant, Explained]] = field(default_factory=list)
    unused: list[Explained] = field(default_factory=list)
    """Explanations of mutants that are not there or that a test does notice."""
    untried: int = 0
    """Mutants that there was no time for."""

    @property
    def total(self) -> int:
        """All mutants that could be built."""
        return self.noticed + len(self.survivors) + len(self.explained) + self.untried


def mutate(
    cases: Sequence[TestCase],
    explained: Sequence[Explained],
    bundle: Subjects,
    recordings: Recordings,
    names: Iterable[str],
    *,
    seconds: float,
    progress: Progress | None = None,
) -> Mutation:
    """Try every mutant of the policies `names` on `cases`, which all pass, for at most about `seconds`."""
    result = Mutation()
    deadline = time.monotonic() + seconds
    used: set[int] = set()
    for name in names:
        subject = bundle.subject(name)
        touched = bundle.touched_by(name)
        chosen = [case for case in cases if case.policies & touched]
        blobs = [_blob(case) for case in chosen]
        before = deciding(bundle.policy(name).table)
        made = list(mutants(subject.document, bundle.policy(name)))
        for number, mutant in enumerate(made):
            if progress is not None:
                progress(number, len(made))
            if time.monotonic() > deadline:
                result.untried += 1
                continue
            changed = _built(mutant, bundle, before)
            if changed is None:
                continue
            order = sorted(range(len(chosen)), key=lambda n: -sum(hint in blobs[n] for hint in mutant.hints))
            if any(_notices(chosen[n], changed, recordings) for n in order):
                result.noticed += 1
            elif (found := _explanation(mutant, explained)) is not None:
                used.add(found)
                result.explained.append((mutant, explained[found]))
            else:
                result.survivors.append(mutant)
    if not result.untried:
        result.unused = [one for number, one in enumerate(explained) if number not in used]
    return result


def _built(mutant: Mutant, bundle: Subjects, before: object) -> Subjects | None:
    """The bundle with the mutant; None where it cannot be built, or decides exactly as before."""
    try:
        document = changed_to(bundle.subject(mutant.policy).document, mutant.data)
        changed = bundle.with_document(document)
        policy = changed.policy(mutant.policy)
    except (SpecError, ArithmeticError):
        return None
    return None if deciding(policy.table) == before else changed


def _notices(case: TestCase, changed: Subjects, recordings: Recordings) -> bool:
    try:
        return not run_case(case, changed, recordings, trace=False).passed
    except (SpecError, InputError):
        # The case's own constants or settings no longer fit the changed policy: it fails, so it notices.
        return True


def _explanation(mutant: Mutant, explained: Sequence[Explained]) -> int | None:
    for number, one in enumerate(explained):
        if one.policy == mutant.policy and _matches(one.mutant, mutant.id):
            return number
    return None


def _matches(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def _blob(case: TestCase) -> str:
    """What a case has to do with, as one text."""
    return " ".join(
        f"{step.expected.rules} {step.expected.fields} {[one.value for one in step.settings]} {step.start.value}"
        for step in case.steps
    )
