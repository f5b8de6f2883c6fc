"""Imports go down the house map, paths that are named exist, wheel and sdist hold what they should."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "policyengine"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

# Rows of the house map that are packages, from the top down.
LAYERS = re.findall(r"^\| `policyengine/(\w+)/` ", CONTRIBUTING, re.MULTILINE)
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "_bundled" not in path.parts)


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> set[str]:
    """The modules that a module imports, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_the_house_map_names_every_package() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_imports_only_go_down(path: Path) -> None:
    layer = path.relative_to(PACKAGE).parts[0]
    if layer not in LAYERS:
        return  # the package itself, which may import all
    higher = LAYERS[: LAYERS.index(layer)]
    imported = _imports(path)
    assert not sorted(
        name
        for name in imported
        if any(name == f"policyengine.{above}" or name.startswith(f"policyengine.{above}.") for above in higher)
    )
    # What a user imports sits on top; only the commands are above it.
    assert layer == "commands" or "policyengine" not in imported


def test_no_two_modules_import_each_other() -> None:
    """Also not by way of others, nor by an import inside a function. An `__init__` only names what users import."""
    named = {_name(path): path for path in MODULES if path.name != "__init__.py"}
    graph = {name: {other for other in _imports(path) if other in named} for name, path in named.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_one_module_imports_celpy() -> None:
    importers = [_name(path) for path in MODULES if any(name.split(".")[0] == "celpy" for name in _imports(path))]
    assert len(importers) <= 1, importers
    assert all(name.startswith("policyengine.cel.") for name in importers)


def test_paths_named_in_contributing_exist() -> None:
    named = re.findall(r"`([\w./-]+(?:/|\.py|\.md|\.toml))`", CONTRIBUTING)
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel and an sdist, each built directly from a copy of the checkout in which stray files lie."""
    copy = tmp_path_factory.mktemp("checkout") / "project"
    copy.mkdir()
    skipped = shutil.ignore_patterns("__pycache__", "*.pyc", "_bundled")
    for name in ("policyengine", "policies", "schemas", "examples"):
        shutil.copytree(ROOT / name, copy / name, ignore=skipped)
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CONTRIBUTING.md",
        "cli.py",
        "Makefile",
        ".gitignore",
    ):
        shutil.copy(ROOT / name, copy / name)
    for stray in (
        "policies/.env",
        "policies/notes.txt",
        "policyengine/.env",
        "schemas/key.pem",
        "examples/policies/.env",
        ".env",
    ):
        (copy / stray).write_text("SECRET=1\n")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist"]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return copy


def _expected(copy: Path) -> tuple[set[str], set[str]]:
    code = {path.relative_to(copy).as_posix() for path in copy.glob("policyengine/**/*.py")}
    data = {
        path.relative_to(copy).as_posix()
        for pattern in ("policies/**/*.yaml", "schemas/**/*.json", "examples/policies/*.yaml")
        for path in copy.glob(pattern)
    }
    return code | {"policyengine/py.typed"}, data


def test_the_wheel_holds_code_schemas_and_policies_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("dist/*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    code, data = _expected(built)
    assert names == code | {f"policyengine/_bundled/{name}" for name in data}


def test_the_sdist_holds_what_the_wheel_is_built_from(built: Path) -> None:
    (sdist,) = built.glob("dist/*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    code, data = _expected(built)
    assert code | data | {"cli.py", "README.md", "LICENSE", "pyproject.toml"} <= names
    assert not [name for name in names if name.endswith((".env", ".txt", ".pem"))]


def test_an_installed_copy_finds_its_schemas_and_policies(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("dist/*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from policyengine.source.resources import example_folder, policies_folder, schemas_folder\n"
        "print(policies_folder(), schemas_folder(), example_folder().parent)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    printed = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    assert printed == [
        str(tmp_path / "policyengine" / "_bundled" / name) for name in ("policies", "schemas", "examples")
    ]
