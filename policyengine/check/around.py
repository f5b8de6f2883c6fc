"""Which bundle lies around a path: the nearest folder from it up that holds a Bundle document."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from policyengine.kinds import bundle as bundles
from policyengine.kinds.bundle import SUFFIXES, TEST_STEM, Bundle
from policyengine.kinds.registry import KINDS
from policyengine.source.errors import BundleError, InputError
from policyengine.source.finding import Finding, Severity
from policyengine.source.text import shown_path

LOCAL = Path("policies")
"""Where a project's own bundle is when nobody says."""

PROJECT_FILES = ("pyproject.toml", "policyengine.toml")
"""Files that stand at the top of a project: no bundle is looked for above them."""

_MANIFEST = re.compile(rb"^kind:[ \t]*[\"']?Bundle\b", re.MULTILINE)
_LOOKED_AT = 4096


def local_bundle(doing: str) -> Path:
    """./policies, for a command that is told no path. Raises `InputError` where it is not there: all could be well."""
    if LOCAL.is_dir():
        return LOCAL
    built_in = f", or `{bundles.BUILT_IN}`" if doing != "format" else ""
    raise InputError(f"there is no folder ./{LOCAL} here; say what to {doing}: policies, a folder of them{built_in}")


def bundle_around(path: Path) -> Path | None:
    """The bundle that a file or folder lies in; None where there is none in the project around it."""
    folder = path if path.is_dir() else path.parent
    for _ in range(len(folder.resolve().parts)):
        if any(_is_manifest(file) for file in sorted(folder.glob("*.y*ml"))):
            return folder
        if any((folder / name).exists() for name in (".git", *PROJECT_FILES)):
            return None
        # `a/..` would name the same folder by another path than the files found in it.
        folder = folder.parent if folder.name not in ("", "..") else folder / ".."
    return None


def read_around(path: Path) -> tuple[Bundle | None, list[Finding]]:
    """What is in a folder, or in a file, and what is wrong with it; a file is read within the bundle around it.

    So a policy finds the word lists that it uses, and the file's own policies are all that there is. The bundle is
    None where nothing in it can be used; then findings of other files say why, where the file has none. Raises
    `InputError` where there is nothing to read.
    """
    root = bundle_around(path) if path.is_file() and not path.stem.endswith(TEST_STEM) else None
    if root is None:
        return bundles.check(path, tests=False)
    whole, findings = bundles.check(root, tests=False)
    own = [finding for finding in findings if _same_file(finding.place.file, path)]
    if whole is None:
        return None, own or findings
    documents = tuple(document for document in whole.documents if _same_file(document.file, path))
    policies = {name: one for name, one in whole.policies.items() if one.document in documents}
    names = {document.data["metadata"]["name"] for document in documents if _decides(document.data["kind"])}
    unbuilt = names - policies.keys()  # for want of something in another file
    if not documents or unbuilt:
        own = own or [finding for finding in findings if finding.severity is Severity.ERROR]
    use = {kind: name for kind, name in whole.use.items() if name in policies}
    return (replace(whole, path=path, policies=policies, documents=documents, use=use) if documents else None), own


def load_around(path: str | Path | None = None) -> Bundle:
    """The bundle in a folder or, within the bundle around it, in a file; the built-in one without a path.

    Raises `BundleError` where something in it is wrong, `InputError` where nothing in it decides.
    """
    if path is None or not Path(path).is_file():
        return bundles.load(path)
    bundle, findings = read_around(Path(path))
    bundle = usable(bundle, findings, Path(path))
    if not bundle.policies:
        raise InputError(f"{shown_path(path)}: {bundles.NOTHING_DECIDES}")
    return bundle


def usable(bundle: Bundle | None, findings: list[Finding], path: Path) -> Bundle:
    """The bundle where nothing is wrong with it. Raises `BundleError` and `InputError` as `load_around` does."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if bundle is not None and not errors:
        return bundle
    if not errors:
        raise InputError(f"{shown_path(path)}: {bundles.NOTHING_DECIDES}")
    more = f" (and {len(errors) - 1} more; `policyengine lint` lists them)" if len(errors) > 1 else ""
    raise BundleError(f"{errors[0].place}: {errors[0].message}{more}", errors)


def _decides(kind: str) -> bool:
    return KINDS[kind].build is not None


def _same_file(one: str, other: Path) -> bool:
    return Path(one).resolve() == other.resolve()


def _is_manifest(file: Path) -> bool:
    if file.suffix not in SUFFIXES or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return _MANIFEST.search(stream.read(_LOOKED_AT)) is not None
    except OSError:
        return False
