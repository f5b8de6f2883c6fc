"""Repositories that name programs: the git tools of `run` show them and start none of those programs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from policyengine.runtime.read_only_tools import read_only_tools
from policyengine.runtime.tools import ToolOutput

_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
}  # fmt: skip


class Repository:
    """A repository with one changed file, and a program that leaves a mark where it is started."""

    def __init__(self, root: Path, outside: Path) -> None:
        self.root, self.mark = root, outside / "mark"
        self.program = outside / "evil.sh"
        self.program.write_text(f"#!/bin/sh\necho started >> {self.mark}\nexit 1\n")
        self.program.chmod(0o755)
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        (root / "a.txt").write_text("one\n")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        (root / "a.txt").write_text("two\n")

    def git(self, *command: str, given: str = "", where: Path | None = None, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *command], cwd=where or self.root, env=_ENVIRONMENT, input=given, text=True,
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip()

    def config(self, **values: str) -> None:
        for name, value in values.items():
            self.git("config", name.replace("__", "."), value)

    @property
    def evil(self) -> str:
        return str(self.program)


def _filter(kind: str, name: str = "x") -> Callable[[Repository], None]:
    def make(one: Repository) -> None:
        (one.root / ".gitattributes").write_text(f"* filter={name}\n")
        one.git("config", f"filter.{name}.{kind}", one.evil)
        one.git("config", f"filter.{name}.required", "true")

    return make


def _included_filter(one: Repository) -> None:
    (one.root / ".git/more").write_text(f'[filter "x"]\n\tclean = {one.evil}\n')
    (one.root / ".git/info/attributes").write_text("* filter=x\n")
    one.git("config", "include.path", "more")


def _textconv(one: Repository) -> None:
    (one.root / ".gitattributes").write_text("* diff=x\n")
    one.git("config", "diff.x.textconv", one.evil)


def _driver(one: Repository) -> None:
    (one.root / ".gitattributes").write_text("* diff=x\n")
    one.git("config", "diff.x.command", one.evil)


def _signed(one: Repository, signature: str) -> None:
    text = one.git("cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    body = "".join(f" {line}\n" for line in ["", "AAAA", f"-----END {signature}-----"])
    whole = f"{head}\ngpgsig -----BEGIN {signature}-----\n{body}\n{message}\n"
    made = one.git("hash-object", "-t", "commit", "-w", "--stdin", given=whole)
    one.git("update-ref", "HEAD", made)


def _shown_signature(one: Repository) -> None:
    _signed(one, "PGP SIGNATURE")
    one.config(log__showSignature="true", gpg__program=one.evil)


def _signature_in_the_form(one: Repository) -> None:
    _signed(one, "PGP SIGNATURE")
    one.config(format__pretty="%H %G?", gpg__openpgp__program=one.evil)


def _ssh_signature(one: Repository) -> None:
    _signed(one, "SSH SIGNATURE")
    one.config(log__showSignature="true", gpg__format="ssh", gpg__ssh__program=one.evil)
    one.config(gpg__ssh__allowedSignersFile=one.evil)


def _hook(one: Repository) -> None:
    hook = one.root / ".git/hooks/post-index-change"
    hook.write_text(one.program.read_text())
    hook.chmod(0o755)
    # What was touched and not changed makes git write its index anew.
    (one.root / "a.txt").write_text("one\n")
    os.utime(one.root / "a.txt", (1, 1))


def _hooks_elsewhere(one: Repository) -> None:
    _hook(one)
    (one.root / ".git/hooks/post-index-change").rename(one.program.parent / "post-index-change")
    one.config(core__hooksPath=str(one.program.parent))


def _submodule(one: Repository) -> Path:
    inner = one.root / "inner"
    inner.mkdir()
    one.git("init", "-q", where=inner)
    (inner / "b.txt").write_text("one\n")
    one.git("add", ".", where=inner)
    one.git("commit", "-qm", "inner", where=inner)
    (one.root / ".gitmodules").write_text('[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n')
    one.git("add", ".")
    one.git("commit", "-qm", "with a submodule")
    (inner / "b.txt").write_text("two\n")
    return inner


def _submodule_filter(one: Repository) -> None:
    inner = _submodule(one)
    (inner / ".gitattributes").write_text("* filter=y\n")
    one.git("config", "filter.y.clean", one.evil, where=inner)


def _submodule_diff(one: Repository) -> None:
    inner = _submodule(one)
    one.git("config", "diff.external", one.evil, where=inner)
    one.git("commit", "-qam", "more", where=inner)
    one.config(diff__submodule="diff", status__submoduleSummary="true")


def _missing_object(one: Repository) -> None:
    """A repository that lacks an object and says where from to fetch it."""
    blob = one.git("rev-parse", "HEAD:a.txt")
    (one.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    one.config(core__repositoryformatversion="1", extensions__partialClone="origin", remote__origin__promisor="true")


def _fetched_by_a_program(one: Repository) -> None:
    _missing_object(one)
    one.config(remote__origin__url=f"ext::{one.evil}", protocol__ext__allow="always")


def _fetched_over_ssh(one: Repository) -> None:
    _missing_object(one)
    one.config(remote__origin__url="ssh://example.com/x", core__sshCommand=one.evil)


def _fetched_from_a_folder(one: Repository) -> None:
    _missing_object(one)
    one.config(remote__origin__url=str(one.root), remote__origin__uploadpack=one.evil)


def _merge_driver(one: Repository) -> None:
    one.git("commit", "-qam", "ours")
    one.git("checkout", "-q", "-b", "other", "HEAD~1")
    (one.root / "a.txt").write_text("three\n")
    (one.root / ".gitattributes").write_text("* merge=x\n")
    one.git("add", ".")
    one.git("commit", "-qm", "theirs")
    one.git("merge", "-q", "-s", "ours", "-m", "both", "main")
    one.git("config", "merge.x.driver", one.evil)
    one.config(log__diffMerges="remerge")


@dataclass(frozen=True)
class Case:
    make: Callable[[Repository], None]
    plain: tuple[str, ...] | None
    """What of git's own starts the program; None where only a terminal would, or a newer git."""


CASES: dict[str, Case] = {
    "a filter on the way in": Case(_filter("clean"), ("diff",)),
    "a filter that is a process": Case(_filter("process"), ("diff",)),
    "a filter whose name looks like a setting": Case(_filter("clean", "a=b"), ("diff",)),
    "a filter whose name has dots and capitals": Case(_filter("clean", "A.b.clean"), ("diff",)),
    "a filter from an included file": Case(_included_filter, ("diff",)),
    "a text conversion": Case(_textconv, ("diff",)),
    "a driver for differences": Case(_driver, ("diff",)),
    "a program for all differences": Case(lambda one: one.config(diff__external=one.evil), ("diff",)),
    "a monitor of files": Case(lambda one: one.config(core__fsmonitor=one.evil), ("status",)),
    "signatures that are shown": Case(_shown_signature, ("log",)),
    "signatures in the form": Case(_signature_in_the_form, ("show",)),
    "signatures by ssh": Case(_ssh_signature, ("log",)),
    "a hook": Case(_hook, ("status",)),
    "a hook elsewhere": Case(_hooks_elsewhere, ("status",)),
    "a filter of a submodule": Case(_submodule_filter, ("status",)),
    "differences of a submodule": Case(_submodule_diff, ("diff",)),
    "a missing object from a program": Case(_fetched_by_a_program, ("show",)),
    "a missing object over ssh": Case(_fetched_over_ssh, ("show",)),
    "a missing object from a folder": Case(_fetched_from_a_folder, ("show",)),
    "a driver for merges": Case(_merge_driver, ("show", "--diff-merges=on")),
    "a pager": Case(lambda one: one.config(core__pager=one.evil, pager__log="true", pager__status=one.evil), None),
    "other names of commands": Case(lambda one: one.config(alias__status=f"!{one.evil}"), None),
    "a hook in the configuration": Case(
        lambda one: one.config(hook__x__event="post-index-change", hook__x__command=one.evil), None
    ),
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    outside = tmp_path / "outside"
    outside.mkdir()
    return Repository(tmp_path / "repository", outside)


def _all_tools(root: Path) -> dict[str, ToolOutput]:
    """What each git tool says."""
    found: dict[str, ToolOutput] = {}
    for tool in read_only_tools(root):
        if tool.name.startswith("git_"):
            said = tool.run({"revision": "HEAD"} if tool.name == "git_show" else {})
            assert isinstance(said, ToolOutput)
            found[tool.name] = said
    return found


@pytest.mark.parametrize("name", CASES)
def test_no_program_of_a_repository_is_started(name: str, repository: Repository) -> None:
    case = CASES[name]
    case.make(repository)
    repository.mark.unlink(missing_ok=True)
    said = _all_tools(repository.root)
    assert not repository.mark.exists()
    assert not said["git_log"].error, said["git_log"].text
    assert not said["git_status"].error, said["git_status"].text
    if case.plain is not None:
        repository.git(*case.plain, check=False)
        assert repository.mark.exists(), "git itself no longer starts it: the case tests nothing"


def test_the_tools_still_show_what_changed(repository: Repository) -> None:
    said = _all_tools(repository.root)
    assert " M a.txt" in said["git_status"].text
    assert "+two" in said["git_diff"].text
    assert "first" in said["git_log"].text
    assert "+one" in said["git_show"].text
    assert "first" in said["git_show"].text


def test_a_filter_that_is_needed_does_not_hide_a_file(repository: Repository) -> None:
    _filter("clean")(repository)
    said = _all_tools(repository.root)["git_diff"]
    assert "+two" in said.text
    assert not said.error


def test_a_long_output_is_shown_up_to_a_limit_and_that_is_said(repository: Repository) -> None:
    (repository.root / "a.txt").write_text("line of a long file\n" * 200_000)
    said = _all_tools(repository.root)["git_diff"]
    assert not said.error
    text = said.text
    assert isinstance(text, str)
    assert text.startswith("diff --git a/a.txt b/a.txt\n")
    assert text.endswith("\n[stopped here; there is more]")
    assert len(text) < 2_100_000


STAND_IN = """\
#!/bin/sh
case "$*" in
  *--includes*) printf 'policyengine.probe\\0'; {listed};;
  *) {shown};;
esac
"""


@pytest.mark.parametrize(
    ("listed", "shown", "error", "said"),
    [
        ("true", "exec yes", False, "y\n\n[stopped here; there is more]"),
        ("true", "yes complaint | head -c 5000000 >&2; echo done", False, "done\n"),
        ("true", "yes complaint | head -c 5000000 >&2; exit 1", True, "complaint\ncomplaint"),
        ("exec yes", "echo done", True, "the configuration of this repository is too large"),
    ],
    ids=["output without end", "many complaints", "many complaints and a failure", "settings without end"],
)
def test_what_git_writes_is_read_up_to_a_limit(
    listed: str, shown: str, error: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all of it were read, an output without end would end only with the time that git has."""
    stand_in = tmp_path / "bin" / "git"
    stand_in.parent.mkdir()
    stand_in.write_text(STAND_IN.format(listed=listed, shown=shown))
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in.parent), prepend=os.pathsep)
    found = _all_tools(tmp_path)["git_status"]
    assert found.error == error
    assert isinstance(found.text, str)
    assert said in found.text
    assert len(found.text) < 2_100_000
