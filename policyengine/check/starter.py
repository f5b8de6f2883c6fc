"""A starter bundle: the default policies with their tests, each pointing an editor at its schema."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from policyengine.kinds.bundle import TESTS, files
from policyengine.kinds.registry import KINDS
from policyengine.source.errors import InputError
from policyengine.source.resources import policies_folder, schemas_folder
from policyengine.source.schema import load_schema
from policyengine.source.text import shown_path

SCHEMAS = ".schemas"
"""Where the schemas lie in the new bundle. A bundle's hidden folders are not read as policies."""

_KIND = re.compile(r"^kind:[ \t]*([A-Za-z]+)", re.MULTILINE)
_NAME = re.compile(r"^(  name:).*$", re.MULTILINE)
_OWNER = re.compile(r"^(  owner:).*\n", re.MULTILINE)
_DESCRIPTION = re.compile(r"^(  description:).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Starter:
    """What was written: how many policies, files of tests and schemas, into which folder, as a bundle of which name."""

    folder: Path
    name: str
    policies: int
    tests: int
    schemas: int


def write_starter(folder: Path, owner: str | None = None, name: str | None = None) -> Starter:
    """Write a starter bundle into a new or empty folder.

    The bundle is called `name`, without one as the folder is. Without an owner its policies have none, and lint says
    so. Raises InputError where something lies in the folder already, and for a name that is none.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{shown_path(folder)} is not empty; name a new folder: policyengine init DIR")
    name = _checked(name) if name is not None else _named_after(folder)
    source = policies_folder()
    counted = {True: 0, False: 0}
    folder.mkdir(parents=True, exist_ok=True)
    for file in files(source):
        relative = file.relative_to(source)
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        counted[_kind(text) == TESTS] += 1
        if _kind(text) == "Bundle":
            text = _called(text, name)
        target.write_text(_owned(_hinted(text, len(relative.parts) - 1), owner), encoding="utf-8")
    return Starter(folder, name, counted[False], counted[True], _write_schemas(folder / SCHEMAS))


def _write_schemas(folder: Path) -> int:
    source = schemas_folder()
    schemas = sorted(source.rglob("*.schema.json"))
    for schema in schemas:
        target = folder / schema.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(schema, target)
    return len(schemas)


def _is_name(text: str) -> bool:
    schema = load_schema("common")["$defs"]["name"]
    return re.search(schema["pattern"], text) is not None and len(text) <= schema["maxLength"]


def _checked(name: str) -> str:
    if not _is_name(name):
        raise InputError(f"{name!r} is no name of a bundle; use lower case letters, digits and dashes")
    return name


def _named_after(folder: Path) -> str:
    own = folder.resolve().name
    name = re.sub(r"[\W_]+", "-", own.lower(), flags=re.ASCII).strip("-")
    if not _is_name(name):
        raise InputError(f"the bundle cannot be named after the folder {own!r}; give it a name with --name")
    return name


def _kind(text: str) -> str:
    found = _KIND.search(text)
    return found[1] if found else ""


def _hinted(text: str, depth: int) -> str:
    """The text below a line that tells an editor's YAML language server where the schema is, seen from the file."""
    kind = _kind(text)
    name = "tests" if kind == TESTS else KINDS[kind].file
    return f"# yaml-language-server: $schema={'../' * depth}{SCHEMAS}/{name}.schema.json\n{text}"


def _called(text: str, name: str) -> str:
    """The Bundle document under a name of its own, so that logs tell the two bundles apart."""
    text = _NAME.sub(lambda found: f"{found[1]} {name}", text, count=1)
    return _DESCRIPTION.sub(lambda found: f"{found[1]} Begun as a copy of the built-in bundle.", text, count=1)


def _owned(text: str, owner: str | None) -> str:
    return _OWNER.sub(lambda found: f"{found[1]} {owner}\n" if owner is not None else "", text, count=1)
