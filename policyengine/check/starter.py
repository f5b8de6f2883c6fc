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
from policyengine.source.text import shown_path

SCHEMAS = ".schemas"
"""Where the schemas lie in the new bundle. A bundle's hidden folders are not read as policies."""

CONFIG = "policyengine.toml"
_KIND = re.compile(r"^kind:[ \t]*([A-Za-z]+)", re.MULTILINE)
_OWNER = re.compile(r"^(  owner:).*$", re.MULTILINE)
_CONFIG_TEXT = """\
# Severities of lint rules, where they differ from the rule's own: error, warning, info or off.
# `policyengine rules` lists the rules, `policyengine explain CODE` shows one.
[lint.rules]
# missing-owner = "error"
# ladder-collapse = "off"
"""


@dataclass(frozen=True, slots=True)
class Starter:
    """What was written."""

    folder: Path
    policies: int
    tests: int


def write_starter(folder: Path, owner: str) -> Starter:
    """Write a starter bundle into a new or empty folder. Raises InputError where something lies there already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{shown_path(folder)} is not empty; name a new folder: policyengine init DIR")
    source = policies_folder()
    counted = {True: 0, False: 0}
    folder.mkdir(parents=True, exist_ok=True)
    for file in files(source):
        relative = file.relative_to(source)
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        counted[_kind(text) == TESTS] += 1
        target.write_text(_owned(_hinted(text, len(relative.parts) - 1), owner), encoding="utf-8")
    schemas = schemas_folder()
    for schema in sorted(schemas.rglob("*.schema.json")):
        target = folder / SCHEMAS / schema.relative_to(schemas)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(schema, target)
    (folder / CONFIG).write_text(_CONFIG_TEXT, encoding="utf-8")
    return Starter(folder, counted[False], counted[True])


def _kind(text: str) -> str:
    found = _KIND.search(text)
    return found[1] if found else ""


def _hinted(text: str, depth: int) -> str:
    """The text below a line that tells an editor's YAML language server where the schema is, seen from the file."""
    kind = _kind(text)
    name = "tests" if kind == TESTS else KINDS[kind].file
    return f"# yaml-language-server: $schema={'../' * depth}{SCHEMAS}/{name}.schema.json\n{text}"


def _owned(text: str, owner: str) -> str:
    return _OWNER.sub(lambda found: f"{found[1]} {owner}", text, count=1)
