"""A whole run: finds the bundle and its test documents, runs the cases, and asks for coverage and mutants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policyengine.check.policy_tests import reading
from policyengine.check.policy_tests.checking import check
from policyengine.check.policy_tests.coverage import coverage
from policyengine.check.policy_tests.model import TestCase, TestDocument
from policyengine.check.policy_tests.mutating import Progress, mutate
from policyengine.check.policy_tests.recordings import Recordings
from policyengine.check.policy_tests.report import Report
from policyengine.check.policy_tests.running import CaseResult, run_case
from policyengine.check.policy_tests.subjects import Subjects
from policyengine.kinds import bundle as bundles
from policyengine.kinds.bundle import TESTS, Bundle
from policyengine.source.document import Document
from policyengine.source.errors import BundleError, InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.place import Place
from policyengine.source.resources import policies_folder
from policyengine.source.yaml import read_documents

MAX_SECONDS = 600.0
"""How long mutants are tried when nobody says otherwise."""

_TEST_FILE = re.compile(r"\.test\.ya?ml$")
_MANIFEST = re.compile(r"^kind:\s*Bundle\s*(?:#.*)?$", re.MULTILINE)
_LOCAL = Path("policies")


@dataclass(frozen=True, slots=True)
class Request:
    """What to run. `paths` are test documents or folders of them; without any, the bundle's own tests."""

    paths: tuple[Path, ...] = ()
    bundle: Path | None = None
    show_coverage: bool = False
    min_percent: float | None = None
    """Share of the rules that has to decide in some case. None: all of them, where a whole bundle is tested."""
    mutants: bool = False
    max_seconds: float = MAX_SECONDS


def run(request: Request, progress: Progress | None = None) -> Report:
    """Run the policy tests. Raises `BundleError` and `InputError` where there is no bundle to test."""
    folder = request.bundle or bundle_folder(request.paths)
    bundle, found = _bundle(folder)
    read, findings = _documents(request, bundle)
    findings = [*found, *findings]
    subjects = Subjects.of(bundle)
    recordings = Recordings(bundle)
    documents: list[TestDocument] = []
    cases: list[TestCase] = []
    for document in read:
        tests, wrong = reading.read(document)
        findings += wrong
        if tests is not None:
            documents.append(tests)
            usable, wrong = check(tests, subjects, recordings)
            findings += wrong
            cases += usable
    if not cases and not findings:
        findings.append(_nothing(request, folder))
    results: list[CaseResult] = []
    for case in cases:
        try:
            results.append(run_case(case, subjects, recordings))
        except InputError as error:
            # A path that fits what the document says, and not what was carried into a later step.
            findings.append(Finding("test", Severity.ERROR, f"{case.name!r} cannot be run: {error}", case.place))
    # A trace may ask other policies on the way; where a person has picked some tests, it is not about those.
    whole = _all_count(request, folder)
    tested = sorted({name for case in cases for name in (case.policies if whole else {case.policy})})
    names = subjects.names if whole else tested
    report = Report(
        bundle.name,
        bundle.version,
        documents,
        results,
        findings,
        coverage(results, subjects, names),
        _min_percent(request, folder),
        request.show_coverage,
        mutants_wanted=request.mutants,
        sources={d.file: d.text for d in (*read, *bundle.documents)},
    )
    if request.mutants and not report.failed and not findings:
        explained = [one for document in documents for one in document.explained]
        report.mutation = mutate(
            cases, explained, subjects, recordings, tested, seconds=request.max_seconds, progress=progress
        )
    return report


def bundle_folder(paths: Sequence[Path]) -> Path:
    """The bundle that test documents at `paths` are about, where nobody says.

    That is the nearest folder around them with a Bundle document, else the folder itself where it holds policies;
    without paths ./policies, and the built-in bundle where there is no such folder.
    """
    found = {folder for path in paths if (folder := _around(path)) is not None}
    if len(found) > 1:
        shown = ", ".join(sorted(map(str, found)))
        raise InputError(f"these tests belong to several bundles ({shown}); say which with --bundle")
    if found:
        return found.pop()
    return _LOCAL if _LOCAL.is_dir() else policies_folder()


def watched(request: Request) -> list[Path]:
    """The files whose change calls for another run."""
    folders = [request.bundle or bundle_folder(request.paths), *request.paths]
    return sorted({file for folder in folders for file in bundles.files(folder)})


def _around(path: Path) -> Path | None:
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give test documents or a folder of them")
    own = path if path.is_dir() else path.parent
    for folder in (own, *own.parents):
        if any(_MANIFEST.search(_text(file)) for file in _yaml_files(folder)):
            return folder
    holds = any("kind:" in _text(file) for file in _yaml_files(own) if not _TEST_FILE.search(file.name))
    return own if holds else None


def _yaml_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.y*ml")) if file.suffix in bundles.SUFFIXES and file.is_file()]


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")[:100_000]
    except OSError:
        return ""


def _bundle(folder: Path) -> tuple[Bundle, list[Finding]]:
    """The bundle, and what is wrong with the test documents in it."""
    bundle, findings = bundles.check(folder)
    tests = [finding for finding in findings if _TEST_FILE.search(finding.place.file)]
    errors = [f for f in findings if f.severity is Severity.ERROR and f not in tests]
    if bundle is None or errors:
        if not errors and not findings:
            raise InputError(f"{folder}: {bundles.NOTHING_DECIDES}")
        first = (errors or findings)[0]
        more = f" (and {len(errors) - 1} more; `policyengine lint` lists them)" if len(errors) > 1 else ""
        raise BundleError(f"{first.place}: {first.message}{more}", errors)
    return bundle, [finding for finding in tests if finding.severity is Severity.ERROR]


def _documents(request: Request, bundle: Bundle) -> tuple[list[Document], list[Finding]]:
    if not request.paths:
        return list(bundle.tests), []
    documents: dict[tuple[str, int], Document] = {}
    findings: list[Finding] = []
    for path in request.paths:
        for file in bundles.files(path):
            read, found = read_documents(file)
            tests = [d for d in read if isinstance(d.data, dict) and d.data.get("kind") == TESTS]
            if tests or _TEST_FILE.search(file.name):
                inside = any(file.resolve() == Path(d.file).resolve() for d in bundle.documents)
                findings += [] if inside else [f for f in found if f.severity is Severity.ERROR]
            documents |= {(str(file.resolve()), d.index): d for d in tests if d.sound}
    return list(documents.values()), findings


def _nothing(request: Request, folder: Path) -> Finding:
    where = ", ".join(map(str, request.paths)) or str(folder)
    hint = "write one beside a policy, NAME.test.yaml, with kind: Tests"
    return Finding(
        "no-cases", Severity.ERROR, "there is no test document here, so nothing was tested", Place(where), hint
    )


def _whole(request: Request, folder: Path) -> bool:
    """Whether the run takes in the whole bundle."""
    return not request.paths or any(path.resolve() == folder.resolve() for path in request.paths)


def _all_count(request: Request, folder: Path) -> bool:
    """Whether rules of policies without a test count: not where a person has picked some tests.

    Tests that are kept apart from their bundle, and are asked for coverage, are all there are.
    """
    asked = request.show_coverage or request.min_percent is not None
    return _whole(request, folder) or (request.bundle is not None and asked)


def _min_percent(request: Request, folder: Path) -> float | None:
    if request.min_percent is not None:
        return request.min_percent
    return 100.0 if request.show_coverage or _whole(request, folder) else None
