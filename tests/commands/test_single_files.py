"""A file of a bundle is read within that bundle by every command, so that it finds what it uses in other files."""

import pytest

from policyengine.kinds.bundle import load

COMMANDS = [
    ["lint", "FILE"],
    ["verify", "FILE"],
    ["verify", "--bundle", "FILE"],
    ["eval", "prompt-class", "--bundle", "FILE", "--example"],
    ["diff", "FILE", "FILE"],
    ["test", "FILE"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_file_that_uses_another_one(command, run):
    result = run(*("policies/prompt-class.yaml" if word == "FILE" else word for word in command))
    assert result.status == 0, result.out + result.err


@pytest.mark.parametrize(
    "command", [["verify", "FILE"], ["eval", "routing", "--bundle", "FILE", "--example"]], ids=" ".join
)
def test_a_file_has_its_own_policies_only(command, run):
    result = run(*("policies/prompt-class.yaml" if word == "FILE" else word for word in command))
    if command[0] == "verify":
        assert "prompt-class" in result.out
        assert "routing" not in result.out
    else:
        assert result.status == 2
        assert "no policy `routing`" in result.err


@pytest.mark.parametrize("file", ["policies/word-lists.yaml", "policies/bundle.yaml", "policies/routing.test.yaml"])
def test_a_file_in_which_nothing_decides_says_so(file, run):
    result = run("verify", file)
    assert result.status == 2
    assert f"{file}: no policy that decides anything is here" in result.err


def test_what_is_wrong_in_another_file_counts_only_where_it_is_needed(tmp_path, run):
    words = load().path / "word-lists.yaml"
    for name in ("prompt-class.yaml", "bundle.yaml", "retry.yaml"):
        (tmp_path / name).write_text((load().path / name).read_text())
    (tmp_path / "bundle.yaml").write_text(
        "apiVersion: policyengine/v1\nkind: Bundle\nmetadata: {name: b, version: 1.0.0, owner: me}\nspec: {}\n"
    )
    (tmp_path / "word-lists.yaml").write_text(words.read_text().replace("  words:", "  wrods:"))
    assert run("verify", tmp_path / "retry.yaml").status == 0
    needed = run("verify", tmp_path / "prompt-class.yaml")
    assert needed.status == 2
    assert "unknown key `wrods`" in needed.err
