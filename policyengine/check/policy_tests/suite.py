"""A whole run: reads the bundle and its test documents, runs the cases, and asks for coverage and mutants."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policyengine.check.policy_tests import reading
from policyengine.check.policy_tests.checking import check
from policyengine.check.policy_tests.coverage import Coverage, coverage
from policyengine.check.policy_tests.model import TestCase, TestDocument
from policyengine.check.policy_tests.mutating import Progress, mutate
from policyengine.check.policy_tests.recordings import Recordings
from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.request import Request, all_count, is_test_file, min_percent
from policyengine.check.policy_tests.running import CaseResult, run_case
from policyengine.check.policy_tests.subjects import Subjects
from policyengine.kinds import bundle as bundles
from policyengine.kinds.bundle import TESTS, Bundle
from policyengine.source.document import Document
from policyengine.source.errors import InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.place import Place
from policyengine.source.text import UnreadableError, read_text, shown_path
from policyengine.source.yaml import read_documents


def run(request: Request, progress: Progress | None = None) -> Report:
    """Run the policy tests. Raises `InputError` where there is no bundle to test.

    Of a bundle that cannot be used the report is `broken`.
    """
    folder = request.folder
    bundle, found = bundles.check(folder)
    of_tests = [finding for finding in found if is_test_file(Path(finding.place.file))]
    if bundle is None or any(f.severity is Severity.ERROR and f not in of_tests for f in found):
        return _broken(folder, [finding for finding in found if finding not in of_tests] or found)
    found = [finding for finding in of_tests if finding.severity is Severity.ERROR]
    subjects = Subjects.of(bundle)
    chosen = _chosen(request, bundle, subjects)
    findings = [*found, *chosen.findings]
    recordings = Recordings(bundle)
    documents: list[TestDocument] = []
    cases: list[TestCase] = []
    for document in chosen.documents:
        tests, wrong = reading.read(document)
        findings += wrong
        if tests is not None:
            documents.append(tests)
            usable, wrong = check(tests, subjects, recordings)
            findings += wrong
            cases += usable
    if not cases and not findings:
        findings.append(_nothing(request, folder, chosen))
    results: list[CaseResult] = []
    for case in cases:
        try:
            results.append(run_case(case, subjects, recordings))
        except InputError as error:
            # A path that fits what the document says, and not what was carried into a later step.
            findings.append(Finding("test", Severity.ERROR, f"{case.name!r} cannot be run: {error}", case.place))
    # A trace may ask other policies on the way; where a person has picked some tests, it is not about those.
    whole = all_count(request, folder)
    tested = sorted({name for case in cases for name in (case.policies if whole else chosen.about(case))})
    names = subjects.names if whole else tested
    report = Report(
        bundle.name,
        bundle.version,
        documents,
        results,
        findings,
        coverage(results, subjects, names),
        min_percent(request, folder),
        request.show_coverage,
        mutants_wanted=request.mutants,
        sources={d.file: d.text for d in (*chosen.documents, *bundle.documents)},
        folder=folder,
    )
    if request.mutants and not report.failed and not findings:
        explained = [one for document in documents for one in document.explained]
        report.mutation = mutate(
            cases, explained, subjects, recordings, tested, seconds=request.max_seconds, progress=progress
        )
    return report


def _broken(folder: Path, findings: list[Finding]) -> Report:
    if not findings:
        raise InputError(f"{shown_path(folder)}: {bundles.NOTHING_DECIDES}")
    texts: dict[str, str] = {}
    for file in {finding.place.file for finding in findings}:
        with suppress(UnreadableError):  # which is what the finding says
            texts[file] = read_text(file)
    name = folder.resolve().name
    return Report(name, "", [], [], findings, Coverage(()), sources=texts, folder=folder, broken=True)


@dataclass(slots=True)
class _Chosen:
    """The test documents of a run, by file and number; `policies` were asked for by their own files."""

    found: dict[tuple[Path, int], Document] = field(default_factory=dict)
    policies: set[str] = field(default_factory=set)
    picked: set[tuple[Path, int]] = field(default_factory=set)
    """Those of `found` that are here because a person named them, not because they ask one of `policies`."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def documents(self) -> list[Document]:
        """The documents, in the order in which they were found."""
        return list(self.found.values())

    def about(self, case: TestCase) -> set[str]:
        """The policies whose rules a case is meant to see deciding."""
        own = {case.policy} if _key(case.document) in self.picked else set()
        return own | (case.policies & self.policies)


def _key(document: Document) -> tuple[Path, int]:
    return Path(document.file).resolve(), document.index


def _chosen(request: Request, bundle: Bundle, subjects: Subjects) -> _Chosen:
    chosen = _Chosen()
    if not request.paths:
        chosen.found = {_key(document): document for document in bundle.tests}
        chosen.picked = set(chosen.found)
    for path in request.paths:
        for file in bundles.files(path):
            _choose_file(file, bundle, chosen)
        if path.is_file():
            _choose_about(path, bundle, subjects, chosen)
    return chosen


def _choose_file(file: Path, bundle: Bundle, chosen: _Chosen) -> None:
    """Take the test documents in a file."""
    read, found = read_documents(file)
    tests = [d for d in read if isinstance(d.data, dict) and d.data.get("kind") == TESTS]
    if tests or is_test_file(file):
        inside = any(file.resolve() == Path(d.file).resolve() for d in bundle.documents)
        chosen.findings += [] if inside else [f for f in found if f.severity is Severity.ERROR]
    for document in tests:
        if document.sound:
            chosen.found[_key(document)] = document
            chosen.picked.add(_key(document))


def _choose_about(file: Path, bundle: Bundle, subjects: Subjects, chosen: _Chosen) -> None:
    """Take the bundle's test documents that ask a policy of the file; all of them where it says what the bundle is."""
    own = [d for d in bundle.documents if d.data["kind"] != TESTS and Path(d.file).resolve() == file.resolve()]
    if any(document.data["kind"] == "Bundle" for document in own):
        names = set(subjects.names)
    else:
        names = {name for d in own if (name := d.data["metadata"]["name"]) in subjects}
    touched = {other for name in names for other in subjects.touched_by(name)}
    chosen.policies |= touched
    for document in bundle.tests:
        if touched & _asked(document):
            chosen.found.setdefault(_key(document), document)


def _asked(document: Document) -> set[str]:
    """The names of policies that a test document asks, wherever in it; it need not be one that can be read."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(value.get("policy"), str):
                found.add(value["policy"])
            for key in ("cases", "steps"):
                look(value.get(key))
        elif isinstance(value, list):
            for one in value:
                look(one)

    look(document.data.get("spec"))
    return found


def _nothing(request: Request, folder: Path, chosen: _Chosen) -> Finding:
    where = ", ".join(map(str, request.paths)) or str(folder)
    hint = "write one beside a policy, NAME.test.yaml, with kind: Tests"
    message = "there is no test document here, so nothing was tested"
    if chosen.policies and not chosen.found:
        shown = ", ".join(f"`{name}`" for name in sorted(chosen.policies))
        message = f"no test document of the bundle asks {shown}, so nothing was tested"
    return Finding("no-cases", Severity.ERROR, message, Place(where), hint)
