"""Every way a person breaks a bundle gives a located finding or a clear refusal, in bounded time and memory."""

import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from policyengine.check.lint.config import Config
from policyengine.check.lint.engine import lint
from policyengine.check.starter import write_starter
from tests.check.lint.bundles import BREAKER

SECONDS = 60
MEMORY = 600_000_000

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in pairwise("abcdefghi")
)
BROKEN = {
    "tab": (BREAKER.replace("  constants", "\tconstants"), ("yaml", 5, 1)),
    "duplicate key": (BREAKER.replace("spec:", "kind: Breaker\nspec:"), ("yaml", 4, 1)),
    "typo in a field": (BREAKER.replace("  default:", "  defualt:"), ("schema", 8, 3)),
    "wrong type": (BREAKER.replace("rules:", "rules: none\n  more:"), ("schema", 6, 10)),
    "bad expression": (BREAKER.replace(">= max", "=> max"), ("syntax", 7, 45)),
    "unknown kind": (BREAKER.replace("Breaker", "Braker"), ("bundle", 2, 7)),
    "no kind": (BREAKER.replace("kind: Breaker\n", ""), ("bundle", 1, 1)),
    "a list": ("- 1\n- 2\n", ("bundle", 1, 1)),
    "empty": ("", ("yaml", 1, 1)),
    "200 levels deep": ("x: " + "[" * 200 + "]" * 200, ("yaml", 1, None)),
    "200 levels of blocks": ("".join("  " * n + "a:\n" for n in range(200)), ("yaml", None, None)),
    "alias bomb": (BOMB, ("yaml", None, None)),
    "alias of itself": ("a: &a [*a]\n", ("yaml", 1, 8)),
    "5 MB": ("#" + "x" * 5_000_001, ("yaml", 1, 1)),
    "almost 5 MB of values": ("a: [" + "1, " * 1_600_000 + "1]\n", ("yaml", 1, None)),
    "a very long expression": (BREAKER.replace(">= max", "+ 1" * 20_000 + " >= max"), ("limit", 7, None)),
    "deep brackets": (BREAKER.replace("when: ", "when: " + "(" * 500), ("limit", 7, None)),
}  # fmt: skip
BINARY = {
    "binary": bytes(range(256)),
    "UTF-16": BREAKER.encode("utf-16"),
    "Latin-1": BREAKER.replace("team", "té").encode("latin-1"),
    "NUL": BREAKER.encode() + b"\0",
}


def found(file):
    start = time.monotonic()
    findings = lint(file, Config()).findings
    assert time.monotonic() - start < SECONDS
    errors = [finding for finding in findings if finding.severity == "error"]
    assert errors
    assert all(finding.place.file == str(file) for finding in findings)
    return errors


@pytest.mark.parametrize("name", BROKEN)
def test_text(tmp_path, name):
    text, (code, line, column) = BROKEN[name]
    file = tmp_path / "breaker.yaml"
    file.write_text(text)
    first = found(file)[0]
    assert first.code == code
    assert line in (None, first.place.line)
    assert column in (None, first.place.column)
    assert len(first.message) < 400


@pytest.mark.parametrize("name", BINARY)
def test_bytes(tmp_path, name):
    file = tmp_path / "breaker.yaml"
    file.write_bytes(BINARY[name])
    assert found(file)[0].code == "yaml"


def test_one_broken_file_does_not_hide_another(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "b.yaml").write_text("a:\n\t- b\n")
    (tmp_path / "c.yaml").write_text(BREAKER.replace("  default:", "  defualt:"))
    findings = lint(tmp_path, Config()).findings
    assert [finding.place.file[-6:] for finding in findings] == ["a.yaml", "b.yaml", "c.yaml"]


@pytest.fixture
def starter(tmp_path):
    """The starter bundle, and how to change a file of it: gives the errors and warnings that follow."""
    write_starter(tmp_path / "policies", "team")

    def change(name, old, new):
        file = tmp_path / "policies" / name
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), encoding="utf-8")
        findings = lint(tmp_path / "policies", Config()).findings
        return [(finding.code, Path(finding.place.file).name) for finding in findings]

    return change


ALONE = {
    "word lists with a tab": (("word-lists.yaml", "  words:", "\twords:"), "yaml"),
    "word lists with a typo in a field": (("word-lists.yaml", "  words:", "  wrods:"), "schema"),
    "the ladder in use with a tab": (("ladders/floor.yaml", "  derived:", "\tderived:"), "yaml"),
    "the ladder in use with a typo in a field": (("ladders/floor.yaml", "  derived:", "  derved:"), "schema"),
    "the ladder in use with a bad expression": (("ladders/floor.yaml", "auto - warn_buffer", "auto - 2"), "operands"),
    "tests with a tab": (("routing.test.yaml", "  policy:", "\tpolicy:"), "yaml"),
    "a policy with a tab and an ignore comment": (("routing.yaml", "  rules:", "\trules:"), "yaml"),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_mistake_is_one_finding(starter, name):
    """What is missing because its file has a finding is no further finding, nor is a comment that it made idle."""
    change, code = ALONE[name]
    assert starter(*change) == [(code, Path(change[0]).name)]


def test_a_directory_is_no_policy_and_a_dead_link_is_one_that_cannot_be_read(tmp_path):
    (tmp_path / "breaker.yaml").write_text(BREAKER)
    (tmp_path / "folder.yaml").mkdir()
    assert lint(tmp_path, Config()).findings == ()
    (tmp_path / "dead.yaml").symlink_to(tmp_path / "nowhere")
    (found,) = lint(tmp_path, Config()).findings
    assert (found.code, str(found.place)) == ("yaml", str(tmp_path / "dead.yaml"))


@pytest.mark.parametrize("name", ["alias bomb", "almost 5 MB of values", "200 levels deep"])
def test_memory_is_bounded(tmp_path, name):
    file = tmp_path / "breaker.yaml"
    file.write_text(BROKEN[name][0])
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))\n"
        "from policyengine.commands import main\n"
        f"sys.argv = ['policyengine', 'lint', {str(file)!r}]\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "error[yaml]" in done.stdout
