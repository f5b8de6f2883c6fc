"""The examples that `policyengine explain` shows: the bad one fires its own rule, the good one does not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
import yaml

from policyengine.check.lint.config import Config, read_config
from policyengine.check.lint.engine import lint
from policyengine.check.lint.registry import RULES
from policyengine.source.resources import policies_folder

DATA = yaml.safe_load((Path(__file__).parent / "examples.yaml").read_text(encoding="utf-8"))


LISTS = {"catch_all": "technical details", "debugging": "debug", "migration": "migrate"}
"""The word lists that the default summary sections use."""


def _whole(code: str, which: str, excerpt: str) -> str:
    around = DATA["around"][DATA["codes"][code].get(which) or DATA["codes"][code]["both"]]
    before, _, after = around.partition("@@")
    indent = before.rpartition("\n")[2]
    return before.removesuffix(indent) + textwrap.indent(excerpt.rstrip("\n"), indent) + after


def _in_policy(excerpt: str, file: str, *path: str) -> str:
    """A default policy with what an excerpt holds in one place of it."""
    data = yaml.safe_load((policies_folder() / file).read_text(encoding="utf-8"))
    at = data["spec"]
    for step in path:
        at = at[step]
    for key, value in yaml.safe_load(excerpt).items():
        at[key] = {**next(iter(at[key].values())), **value} if isinstance(at.get(key), dict) else value
    return yaml.safe_dump(data, allow_unicode=True)


def _fired(folder: Path, code: str, which: str, excerpt: str) -> set[str]:
    if code == "config":
        file = folder / "policyengine.toml"
        file.write_text(excerpt, encoding="utf-8")
        return {finding.code for finding in read_config(file).findings}
    if code == "turn-varying-text":
        text = _in_policy(excerpt, "adapter-settings.yaml", "settings")
    elif code == "catch-all-section":
        text = _sections(excerpt)
    else:
        text = _whole(code, which, excerpt)
    (folder / "example.yaml").write_text(text, encoding="utf-8")
    return {finding.code for finding in lint(folder, Config()).findings}


def _sections(excerpt: str) -> str:
    """The default sections, one of them with the title and the question of the excerpt's, and a list of catch-alls."""
    data = yaml.safe_load((policies_folder() / "summary-sections.yaml").read_text(encoding="utf-8"))
    (section,) = yaml.safe_load(excerpt)["sections"].values()
    data["spec"]["sections"]["root_cause"] |= section
    head = {
        "apiVersion": "policyengine/v1",
        "kind": "WordLists",
        "metadata": {"name": "w", "version": "1.0.0", "owner": "me"},
    }
    words = {**head, "spec": {"words": {name: {"latin": [word]} for name, word in LISTS.items()}}}
    return yaml.safe_dump_all([data, words], allow_unicode=True)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_bad_example_fires_its_rule_and_the_good_one_does_not(rule, tmp_path):
    for which in ("bad", "good"):
        (tmp_path / which).mkdir()
    assert rule.code in _fired(tmp_path / "bad", rule.code, "bad", rule.bad)
    assert rule.code not in _fired(tmp_path / "good", rule.code, "good", rule.good)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_good_example_is_no_error(rule, tmp_path):
    found = _fired(tmp_path, rule.code, "good", rule.good)
    kinds = {one.code: str(one.severity) for one in RULES}
    assert {code for code in found if kinds[code] == "error"} == set()
