"""The command line as a whole."""

import subprocess
import sys

import click
import pytest

from policyengine.commands import COMMANDS, group
from tests.conftest import ROOT


def test_help_lists_every_command_and_imports_none(run):
    found = run("--help")
    assert found.status == 0
    assert all(name in found.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_an_example(run, name):
    found = run(name, "--help")
    assert found.status == 0
    examples = found.out.rpartition("\n  Example")[2].splitlines()[1:]
    # One a line, whole: what is copied runs as it stands.
    assert examples
    assert all(line.startswith("    policyengine ") for line in examples), examples


def _numbers(command, path=()):
    """Every option that takes a number, with the words that lead to it."""
    for param in command.params:
        if isinstance(param.type, click.IntRange | click.FloatRange):
            yield (*path, param.opts[0]), param.type
    for name in getattr(command, "commands", ()):
        yield from _numbers(command.commands[name], (*path, name))


@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_takes_a_number_says_which_one_it_expects(run, name):
    command = group.get_command(click.Context(group), name)
    for words, kind in _numbers(command, (name,)):
        found = run(*words, "abc")
        expected = "a number" if isinstance(kind, click.FloatRange) else "a whole number"
        assert (found.status, found.out) == (2, "")
        least = f", more than {kind.min}" if kind.min_open else f", {kind.min} or more"
        bounds = least if kind.max is None else f" from {kind.min} to {kind.max}"
        assert f"': expected {expected}{bounds}, not 'abc'." in found.err
        assert f"'{words[-1]}'" in found.err


def test_an_unknown_command_names_the_nearest(run):
    found = run("repaly")
    assert (found.status, found.out) == (2, "")
    assert "replay" in found.err
    assert len(found.err.splitlines()) == 1


@pytest.mark.parametrize("args", [(), ("log",)])
def test_nothing_asked_gives_the_help_as_it_stands(run, args):
    """On stderr, because nothing was done; line by line, as `--help` shows it."""
    asked, found = run(*args, "--help"), run(*args)
    assert asked.status == 0
    assert found.out + found.err == asked.out
    assert len(asked.out.splitlines()) > 5


def test_an_error_about_arguments_does_not_repeat_a_whole_prompt(run):
    prompt = ["tell", *["everything"] * 200, "about the sk-secret", *["and more"] * 200]
    found = run("eval", "routing", "--example", "--set", "prompt=please", *prompt)
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("policyengine: Got unexpected extra arguments (tell everything")
    assert len(found.err) < 250
    assert "sk-secret" not in found.err


def test_python_cli_is_the_command_line():
    done = subprocess.run(
        [sys.executable, "cli.py", "context", "--window", "200000"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "167 000" in done.stdout


def test_help_imports_nothing_heavy():
    """`--help` answers at once because it imports only click and the list of commands."""
    heavy = ("celpy", "lark", "jsonschema", "rich", "yaml", "re2", "policyengine.kinds", "policyengine.cel")
    code = (
        "import sys\nsys.argv = ['policyengine', '--help']\nfrom policyengine.commands import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        f"found = [name for name in {heavy!r} if name in sys.modules]\nassert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)


def test_an_internal_error_is_one_line_without_its_text(run, monkeypatch):
    import policyengine.kinds.bundle

    def broken(path):
        raise ValueError("a secret that a person wrote")

    monkeypatch.setattr(policyengine.kinds.bundle, "load", broken)
    found = run("context", "--window", 1000)
    assert (found.status, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    assert "ValueError" in found.err
    assert "secret" not in found.err


def test_output_into_a_closed_pipe_says_nothing():
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} cli.py replay --bundle policies examples/sample-session.jsonl | head -n 1"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
