"""What is public: named in one place, documented, typed, on docs/python.md, and all that the docs import."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import python_page

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "policyengine"
PUBLIC = list(python_page.public())
IDS = [f"{package}.{name}" for package, name, _ in PUBLIC]
LAZY = ("policyengine", "policyengine.runtime", "policyengine.log")


def test_the_page_is_made_from_the_docstrings() -> None:
    assert python_page.PAGE.read_text(encoding="utf-8") == python_page.page(), (
        "run: python -m tests.python_page --write"
    )


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_and_python_see_the_same_names(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == module._HOMES
    assert set(module.__all__) == set(seen)
    assert dir(module) == sorted(seen)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name


def test_no_name_has_two_homes() -> None:
    names = [name for _, name, _ in PUBLIC]
    assert sorted(names) == sorted(set(names))


def _functions(value: Any) -> Iterator[tuple[str, Any]]:
    if inspect.isfunction(value):
        yield "", value
    elif inspect.isclass(value):
        if "__init__" in vars(value) and not getattr(value, "_is_protocol", False):
            yield "__init__", vars(value)["__init__"]
        for name, member in python_page.members(value):
            yield name, getattr(member, "fget", None) or getattr(member, "__func__", member)


@pytest.mark.parametrize(("package", "name", "value"), PUBLIC, ids=IDS)
def test_every_public_name_is_documented_and_typed(package: str, name: str, value: Any) -> None:
    if isinstance(value, str) or python_page.is_alias(value):
        return
    text = inspect.getdoc(value) or ""
    own = value.__dict__.get("__doc__") if inspect.isclass(value) else value.__doc__
    assert own, f"{name} has no text of its own"
    assert not text.startswith(f"{name}("), f"{name} has only what dataclasses say of themselves"
    for member, function in _functions(value):
        assert member == "__init__" or inspect.getdoc(function), f"{name}.{member} has no text"
        signature = inspect.signature(function)
        untyped = [
            one.name
            for one in signature.parameters.values()
            if one.annotation is one.empty and one.name not in ("self", "cls")
        ]
        assert not untyped, f"{name}.{member}: {untyped}"
        assert signature.return_annotation is not inspect.Signature.empty, f"{name}.{member}"


BLOCKS = [
    (page.name, number, block)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if page != python_page.PAGE
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
]
SHOWN = {
    ("README.md", 0): "True ('auto_reached',) ()",
    ("log.md", 0): "True 1 0",
    ("providers.md", 0): "",
    ("runtime.md", 0): "TurnEnded",
    ("runtime.md", 1): "auto True auto_reached\naccepted\n",
    ("runtime.md", 2): "fast fast\n",
}
"""What each block prints, or a part of it."""


def test_every_block_of_code_is_run() -> None:
    assert {(page, number) for page, number, _ in BLOCKS} == set(SHOWN)


@pytest.mark.parametrize(("page", "number", "block"), BLOCKS, ids=[f"{page}-{at}" for page, at, _ in BLOCKS])
def test_the_code_of_the_docs_runs_and_uses_only_what_is_public(
    page: str, number: int, block: str, tmp_path: Path
) -> None:
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("policyengine"):
            assert node.module in python_page.PACKAGES, f"{page}: {node.module} is internal"
            public = importlib.import_module(node.module).__all__
            assert [alias.name for alias in node.names if alias.name not in public] == [], page
        if isinstance(node, ast.Import):
            wrong = [one.name for one in node.names if one.name.startswith("policyengine.")]
            assert [name for name in wrong if name not in python_page.PACKAGES] == [], page
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", block], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert SHOWN[page, number] in done.stdout


def test_the_docs_name_no_internal_module() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"\bpolicyengine\.((?:[a-z_]+\.)*[a-z_]+)", text)
        paths = {name: PACKAGE.joinpath(*name.split(".")) for name in named}
        modules = [name for name, path in paths.items() if path.with_suffix(".py").exists()]
        assert not modules, f"{page.name}: {modules}"


def test_importing_costs_nothing_until_a_name_is_used() -> None:
    script = (
        "import sys, policyengine, policyengine.runtime, policyengine.log\n"
        "print(sorted(name for name in sys.modules if name.startswith('policyengine')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == [
        "policyengine", "policyengine.log", "policyengine.runtime", "policyengine.source", "policyengine.source.lazy",
    ]  # fmt: skip
