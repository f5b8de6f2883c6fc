"""What the README says of installing holds, and its first policy can be followed to the letter from a fresh clone."""

import os
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
OURS = re.search(r"^(`\w.*) are for contributors\.$", README, re.MULTILINE)[1]


def names(requirements):
    return [re.match(r"[\w.-]+", one)[0] for one in requirements]


def test_the_table_of_extras_is_that_of_pyproject():
    rows = re.findall(r"^\| `([\w-]+)` \| .+ \| ([^|`]+) \|$", README, re.MULTILINE)
    said = {name: packages.split(", ") for name, packages in rows}
    for_contributors = re.findall(r"`([\w-]+)`", OURS)
    assert said.keys().isdisjoint(for_contributors)
    assert {*said, *for_contributors} == EXTRAS.keys()
    assert said == {name: names(EXTRAS[name]) for name in said}


def commands(section):
    """Every command of a section: the lines of its sh blocks, and those of its console blocks behind `$ `."""
    part = README.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    for language, text in re.findall(r"^```(sh|console)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
        yield from text.splitlines() if language == "sh" else re.findall(r"^\$ (.*)$", text, re.MULTILINE)


@pytest.mark.soak
@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("make") is None, reason="needs git and make")
def test_the_first_policy_from_a_fresh_clone(tmp_path):
    def do(*command):
        environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        return subprocess.run(
            command, cwd=tmp_path / "clone", env=environment, capture_output=True, text=True, timeout=600, check=True
        ).stdout

    subprocess.run(["git", "clone", "-q", ROOT, tmp_path / "clone"], check=True)
    assert "rounds 26, turns 5" in do("make", "demo")
    assert not list((tmp_path / "clone" / ".venv").rglob("mypy")), "the demo installs what only contributors need"
    printed = do("bash", "-ec", "\n".join(commands("Your first policy")))
    for shown in ("wrote the bundle my-policies", "No findings.", "3 failed", "passed; rules covered", "warn differs"):
        assert shown in printed
    assert do("git", "status", "--porcelain") == ""
