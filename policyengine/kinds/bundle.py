"""A bundle: a folder of policies, read, checked and ready to decide."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from policyengine.kinds.kind import Kind
from policyengine.kinds.policy import Policy
from policyengine.kinds.registry import KINDS
from policyengine.kinds.spec import Spec, SpecError
from policyengine.kinds.word_lists import entries
from policyengine.source.document import Document
from policyengine.source.errors import BundleError, InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.nearest import did_you_mean
from policyengine.source.resources import policies_folder
from policyengine.source.text import shown_path
from policyengine.source.yaml import CODE as YAML
from policyengine.source.yaml import read_documents

API_VERSION = "policyengine/v1"
SUFFIXES = (".yaml", ".yml")
TEST_STEM = ".test"
"""How the name of a file that holds only policy tests ends, before `.yaml`."""
NOTHING_DECIDES = "no policy that decides anything is here, only tests, word lists and the like"
BUILT_IN = "built-in"
"""What a Bundle document writes to extend the bundle that comes with the package."""
WORD_LISTS = "WordLists"
TESTS = "Tests"
"""The kind of documents that hold policy tests: they lie beside the policies and decide nothing."""
UNKNOWN_WORDS = "unknown-words"
"""Code of a finding about a word list that the bundle does not have."""
_OPERAND = re.compile(r"^operand of (?:&&|\|\|)(?= is )")


@dataclass(frozen=True, repr=False)
class Bundle:
    """The policies of one folder, and those of the bundle that it extends.

    `policies` are its own that decide, by name; `documents` is everything that was read, tests included. `base` is
    the bundle that serves for every kind of which this one has no policy of its own.
    """

    path: Path
    name: str
    version: str
    policies: Mapping[str, Policy]
    documents: tuple[Document, ...] = ()
    use: Mapping[str, str] = field(default_factory=dict)
    tests: tuple[Document, ...] = ()
    base: Bundle | None = None

    def __repr__(self) -> str:
        more = f", {len(self.inherited)} inherited" if self.base is not None else ""
        return f"<Bundle {self.name} {self.version} (policies: {len(self.policies)}{more})>"

    @cached_property
    def inherited(self) -> Mapping[str, Policy]:
        """The policies of `base` that serve here, by name."""
        if self.base is None:
            return {}
        own = {policy.kind.name for policy in self.policies.values()}
        return {name: policy for name, policy in self.base.policies.items() if policy.kind.name not in own}

    @cached_property
    def words(self) -> Mapping[str, tuple[str, ...]]:
        """The word lists by name: its own, then those of `base` under other names."""
        found = dict(self.base.words) if self.base is not None else {}
        for document in self.documents:
            if document.data["kind"] == WORD_LISTS:
                found.update(entries(document.data["spec"]))
        return found

    def find(self, name: str) -> Policy | None:
        """The policy called `name`, inherited ones included; None where there is none."""
        return self.policies.get(name) or self.inherited.get(name)

    def policy(self, name: str) -> Policy:
        """The policy called `name`, inherited ones included. Raises `InputError` where there is none."""
        found = self.find(name)
        if found is None:
            names = [*self.policies, *self.inherited]
            hint = did_you_mean(str(name), names) or f"it has: {', '.join(names)}"
            raise InputError(f"the bundle {self.path} has no policy `{name}`; {hint}")
        return found

    def serving(self, kind: str) -> Policy:
        """The policy that serves for `kind`. Raises `InputError` where neither the bundle nor its base has one."""
        found = self.of_kind(kind)
        if not found:
            more = "" if self.base is not None else f"; write one, or a Bundle document with `extends: {BUILT_IN}`"
            raise InputError(f"the bundle {self.path} has no policy of kind {kind}{more}")
        return self.policy(self.use[kind]) if kind in self.use else found[0]

    def of_kind(self, kind: str) -> list[Policy]:
        """Every policy of `kind`: its own, or where it has none those of its base."""
        own = [policy for policy in self.policies.values() if policy.kind.name == kind]
        return own or [policy for policy in self.inherited.values() if policy.kind.name == kind]

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of everything that decides: layout and comments of the files do not count."""
        content = sorted(
            json.dumps(document.data, sort_keys=True, ensure_ascii=False)
            for document in self.documents
            if document.data["kind"] != TESTS
        )
        if self.base is not None:
            content.append(self.base.digest)
        return hashlib.sha256("\n".join(content).encode()).hexdigest()


def load(path: str | Path | None = None) -> Bundle:
    """The bundle in the folder (or single file) `path`; the built-in one without a path, or where it is `built-in`.

    Files named `*.test.yaml` are left unread: they decide nothing, and `policyengine lint` and `test` look at them.
    The built-in bundle is read once in a process.

    Raises `BundleError` with every finding where something in it is wrong, `InputError` where there is nothing to
    read.
    """
    if not (path is None or isinstance(path, str | Path)):
        raise InputError(f"a bundle is a folder or a file, given by its path; not a {type(path).__name__}")
    return builtin() if path is None or is_built_in(path) else _read(path)


def _read(path: str | Path | None) -> Bundle:
    bundle, findings = check(path, tests=False)
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if bundle is None or errors:
        if not errors:
            raise InputError(f"{path}: {NOTHING_DECIDES}")
        more = f" (and {len(errors) - 1} more; `policyengine lint` lists them)" if len(errors) > 1 else ""
        first = errors[0]
        raise BundleError(f"{first.place}: {first.message}{more}", errors)
    return bundle


def is_built_in(path: str | Path) -> bool:
    """Whether a path is the word for the built-in bundle. A file or folder of that name comes first."""
    return str(path) == BUILT_IN and not Path(path).exists()


@lru_cache(maxsize=1)
def builtin() -> Bundle:
    """The bundle that comes with the package, read once: it serves for kinds that another bundle leaves out."""
    return _read(None)


def check(path: str | Path | None = None, *, tests: bool = True) -> tuple[Bundle | None, list[Finding]]:
    """The bundle as far as it can be read, and everything that is wrong with it.

    `tests` False leaves files named `*.test.yaml` unread.

    The bundle is None where nothing usable is left. Expressions are checked only in documents that fit their
    schema.
    """
    folder = policies_folder() if path is None or is_built_in(path) else Path(path)
    findings: list[Finding] = []
    documents: list[Document] = []
    for file in files(folder):
        if not tests and file.stem.endswith(TEST_STEM) and file != folder:
            continue
        read, found = read_documents(file)
        findings += found
        documents += [document for document in read if document.sound]
    accepted = [(kind, document) for document in documents if (kind := _accepted(document, findings))]
    blind = bool(findings) and not _all_words(documents, accepted, findings)
    manifest = next((d for k, d in accepted if k.name == "Bundle"), None)
    base = builtin() if manifest is not None and "extends" in manifest.data["spec"] else None
    policies, usable = _policies(accepted, base, findings)
    if blind:
        # Lists are missing because their file has findings; what looks for them has none of its own.
        findings = [finding for finding in findings if finding.code != UNKNOWN_WORDS]
    use = _use(manifest, policies, base, _named(documents), findings, incomplete=unread(findings))
    findings.sort(key=lambda finding: finding.place)
    if not usable and base is None:
        return None, findings
    metadata = manifest.data["metadata"] if manifest else {"name": folder.stem, "version": "0.0.0"}
    beside = tuple(d for d in documents if isinstance(d.data, dict) and d.data.get("kind") == TESTS)
    bundle = Bundle(
        folder,
        metadata["name"],
        metadata["version"],
        policies,
        tuple(d for _, d in accepted) + beside,
        use,
        beside,
        base,
    )
    return bundle, findings


def files(path: Path) -> Iterator[Path]:
    """The YAML files below `path` in order of their names, or `path` itself where it is a file.

    Hidden files and folders are left out. Whatever else is named like a YAML file is among them, also what cannot be
    read (a link that leads to nothing): reading it says so. Links to folders are followed, each folder is looked into
    once. Raises `InputError` where there is no YAML file, or a folder cannot be looked into.
    """
    if path.is_file():
        yield path
        return
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give a folder of YAML policies")
    found = sorted(_yaml_files(path))
    if not found:
        raise InputError(f"{path}: no YAML file (*.yaml, *.yml) in this folder; policies are YAML files")
    yield from found


def _yaml_files(root: Path) -> Iterator[Path]:
    """What is named like a YAML file in a folder and the folders below it; links to folders are followed last."""
    folders: list[Path] = [root]
    links: list[Path] = []
    seen: set[str] = set()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        try:
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as error:
            raise InputError(f"{shown_path(folder)}: the folder cannot be read: {error.strerror or error}") from None
        for path in (folder / name for name in names if not name.startswith(".")):
            if path.is_dir():
                (links if path.is_symlink() else folders).append(path)
            elif path.suffix in SUFFIXES:
                yield path


def _accepted(document: Document, findings: list[Finding]) -> Kind | None:
    """The kind of a document that fits its schema; None, with findings, for any other."""
    data = document.data
    if not isinstance(data, dict):
        _report(findings, document, (), "a policy is a mapping", "start with apiVersion:, kind:, metadata:, spec:")
        return None
    name = data.get("kind")
    if name == TESTS:
        return None
    if not isinstance(name, str) or name not in KINDS:
        known = [*KINDS, TESTS]
        if "kind" not in data:
            message, hint = "`kind` is missing", f"add kind: and one of {', '.join(known)}"
        else:
            message = f"kind: {name!r} is no kind of policy"
            hint = did_you_mean(str(name), known) or f"use one of {', '.join(known)}"
        _report(findings, document, ("kind",), message, hint)
        return None
    kind = KINDS[name]
    found = kind.findings(data, document)
    findings += found
    return None if found else kind


def _policies(
    accepted: Sequence[tuple[Kind, Document]], base: Bundle | None, findings: list[Finding]
) -> tuple[dict[str, Policy], bool]:
    words: dict[str, tuple[str, ...]] = {}
    for kind, document in accepted:
        if kind.name == WORD_LISTS:
            for name, listed in entries(document.data["spec"]).items():
                if name in words:
                    at = ("spec", "words", name)
                    _report(
                        findings,
                        document,
                        at,
                        f"the word list `{name}` is defined twice",
                        "give it another name",
                    )
                words.setdefault(name, listed)
    words = {**(base.words if base is not None else {}), **words}
    own = {kind.name for kind, _ in accepted}
    taken = {one.name: one.kind.name for one in (base.policies.values() if base is not None else ())}
    policies: dict[str, Policy] = {}
    for kind, document in accepted:
        if kind.build is None:
            continue
        policy = Policy(kind, Spec(document, words))
        if policy.name in policies:
            first = policies[policy.name].document.place(("metadata", "name"))
            _report(
                findings,
                document,
                ("metadata", "name"),
                f"the policy name `{policy.name}` is taken",
                f"the first one is at {first.file}:{first.line}",
            )
            continue
        if taken.get(policy.name, kind.name) not in own:
            message = f"the policy name `{policy.name}` is taken: the {BUILT_IN} bundle calls a {taken[policy.name]} so"
            _report(findings, document, ("metadata", "name"), message, "give it another name")
            continue
        if _builds(policy, findings):
            policies[policy.name] = policy
    return policies, bool(policies)


def _builds(policy: Policy, findings: list[Finding]) -> bool:
    """Whether the policy can decide; what its expressions get wrong becomes findings."""
    try:
        compiled = policy.compiled
    except SpecError as error:
        _report(findings, policy.document, error.path, str(error), error.hint)
        return False
    for expression, issue in compiled.issues:
        message = issue.message
        if expression.generated:
            place = expression.place
        else:
            offset = issue.offset - expression.prefix
            inside = 0 <= offset <= len(expression.text) and (expression.length is None or offset <= expression.length)
            place = (
                policy.document.place_in(expression.path, offset, max(issue.length, 1)) if inside else expression.place
            )
            if (offset, issue.length) == (0, expression.length):
                # The operator around the whole of it is ours; a person wrote none.
                message = _OPERAND.sub("the condition", message)
        findings.append(Finding(issue.code, Severity(issue.severity), message, place, issue.hint))
    return not any(Severity(issue.severity) is Severity.ERROR for _, issue in compiled.issues)


def unread(findings: Sequence[Finding]) -> bool:
    """Whether some file could not be read as YAML, so that nobody knows what it holds."""
    return any(finding.code == YAML and finding.severity is Severity.ERROR for finding in findings)


def _all_words(
    documents: Sequence[Document], accepted: Sequence[tuple[Kind, Document]], findings: Sequence[Finding]
) -> bool:
    """Whether every word list of the folder is known."""
    listed = [d for d in documents if isinstance(d.data, dict) and d.data.get("kind") == WORD_LISTS]
    taken = [document for kind, document in accepted if kind.name == WORD_LISTS]
    return len(listed) == len(taken) and not unread(findings)


def _named(documents: Sequence[Document]) -> frozenset[tuple[str, str]]:
    """Kind and name of every document that says them, also of those with findings."""
    heads = [document.data for document in documents if isinstance(document.data, dict)]
    return frozenset(
        (str(head["kind"]), str(head["metadata"]["name"]))
        for head in heads
        if "kind" in head and isinstance(head.get("metadata"), dict) and "name" in head["metadata"]
    )


def _use(
    manifest: Document | None,
    policies: Mapping[str, Policy],
    base: Bundle | None,
    named: frozenset[tuple[str, str]],
    findings: list[Finding],
    *,
    incomplete: bool,
) -> Mapping[str, str]:
    """Which policy serves for which kind; a kind with several and no choice is a finding.

    A policy that is there and cannot be used (`named`, not in `policies`), or may be in a file that cannot be read
    (`incomplete`), has findings of its own.
    """
    use: dict[str, str] = dict(manifest.data["spec"].get("use", {})) if manifest else {}
    by_kind: dict[str, list[Policy]] = {}
    for policy in policies.values():
        by_kind.setdefault(policy.kind.name, []).append(policy)
    inherited = Bundle(Path(), "", "", policies, base=base).inherited
    for kind, name in use.items():
        assert manifest is not None
        at = ("spec", "use", kind)
        if kind not in KINDS:
            _report(findings, manifest, at, f"{kind!r} is no kind of policy", did_you_mean(kind, KINDS))
        elif name not in policies and ((kind, name) in named or incomplete):
            continue
        elif name not in (known := [p.name for p in (by_kind.get(kind) or inherited.values()) if p.kind.name == kind]):
            hint = did_you_mean(name, known) or (f"the bundle has: {', '.join(known)}" if known else None)
            _report(findings, manifest, at, f"the bundle has no {kind} called `{name}`", hint)
    for kind, several in by_kind.items():
        if len(several) > 1 and kind not in use and not KINDS[kind].several:
            names = ", ".join(policy.name for policy in several)
            document = several[1].document
            _report(
                findings,
                document,
                ("kind",),
                f"the bundle has several policies of kind {kind} ({names})",
                f"say in a Bundle document which one serves: use: {{{kind}: {several[0].name}}}",
            )
    if base is not None:
        use = {kind: name for kind, name in base.use.items() if kind not in by_kind} | use
    return use


def _report(
    findings: list[Finding], document: Document, path: Sequence[str | int], message: str, hint: str | None
) -> None:
    findings.append(Finding("bundle", Severity.ERROR, message, document.place(tuple(path)), hint))
