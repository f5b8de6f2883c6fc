"""Severities from policyengine.toml and pyproject.toml, and what is wrong with them."""

import pytest

from policyengine.check.lint.config import find_config, read_config
from policyengine.check.lint.engine import lint
from policyengine.source.errors import InputError
from policyengine.source.finding import Severity
from tests.check.lint.bundles import BREAKER, closed_breaker


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "project" / "policies"
    folder.mkdir(parents=True)
    (folder / "breaker.yaml").write_text(closed_breaker().replace(", owner: team", ""))
    return folder


def codes(folder):
    report = lint(folder, find_config(folder))
    return {finding.code: str(finding.severity) for finding in report.findings}


def test_without_configuration(bundle):
    assert codes(bundle) == {"missing-owner": "warning", "breaker-limit": "error"}


def test_policyengine_toml_above_the_bundle(bundle):
    (bundle.parent / "policyengine.toml").write_text('[lint.rules]\nmissing-owner = "error"\nbreaker-limit = "off"\n')
    assert codes(bundle) == {"missing-owner": "error"}


def test_pyproject(bundle):
    (bundle.parent / "pyproject.toml").write_text('[tool.policyengine.lint.rules]\nbreaker-limit = "info"\n')
    assert codes(bundle) == {"missing-owner": "warning", "breaker-limit": "info"}


def test_a_pyproject_that_says_nothing_about_us_does_not_end_the_search(bundle):
    (bundle.parent / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (bundle.parent.parent / "policyengine.toml").write_text('[lint.rules]\nbreaker-limit = "off"\n')
    assert codes(bundle) == {"missing-owner": "warning"}


def test_the_nearest_file_holds_alone(bundle):
    (bundle.parent / "pyproject.toml").write_text('[tool.policyengine.lint.rules]\nbreaker-limit = "off"\n')
    assert codes(bundle) == {"missing-owner": "warning"}
    (bundle / "policyengine.toml").write_text('[lint.rules]\nmissing-owner = "info"\n')
    assert codes(bundle) == {"missing-owner": "info", "breaker-limit": "error"}
    (bundle / "policyengine.toml").write_text("")
    assert codes(bundle) == {"missing-owner": "warning", "breaker-limit": "error"}


def test_in_one_folder_policyengine_toml_comes_before_pyproject(bundle):
    (bundle.parent / "pyproject.toml").write_text('[tool.policyengine.lint.rules]\nmissing-owner = "off"\n')
    (bundle.parent / "policyengine.toml").write_text('[lint.rules]\nbreaker-limit = "off"\n')
    assert codes(bundle) == {"missing-owner": "warning"}


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('[lint.rules]\nmising-owner = "off"\n', (2, 1), "there is no rule `mising-owner`"),
        ('[lint.rules]\nmissing-owner = "of"\n', (2, 1), "'of' is no severity of a rule"),
        ('[lint.rules]\nyaml = "off"\n', (2, 1), "the severity of `yaml` cannot be changed"),
        ('[lint]\nrule = 1\n', (2, 1), "unknown key `rule` in lint"),
        ("[lnt]\n", (1, 2), "unknown key `lnt` in the file"),
        ("lint = 3\n", (1, 1), "`lint` has to be a table"),
        ("[lint.rules\n", (1, 12), "not valid TOML: Expected ']' at the end of a table declaration"),
    ],
)  # fmt: skip
def test_mistakes_have_a_place(tmp_path, text, place, message):
    file = tmp_path / "policyengine.toml"
    file.write_text(text)
    (finding,) = read_config(file).findings
    assert (finding.code, finding.severity, finding.message) == ("config", Severity.ERROR, message)
    assert (finding.place.line, finding.place.column) == place


@pytest.mark.parametrize("name", ["policyengine.toml", "pyproject.toml"])
@pytest.mark.parametrize("named", [True, False], ids=["named", "found"])
def test_a_file_that_is_no_toml_is_a_finding_and_the_bundle_is_linted(bundle, run, name, named):
    file = bundle.parent / name
    file.write_text('[tool.policyengine.lint.rules]\nbreaker-limit = "off\n')
    result = run("lint", bundle, "--format", "json", *(["--config", file] if named else []))
    assert result.status == 1, result.err
    found = {finding["code"]: finding for finding in result.json["findings"]}
    assert found.keys() == {"config", "missing-owner", "breaker-limit"}
    assert found["config"]["message"].startswith("not valid TOML: Illegal character")
    assert (found["config"]["line"], found["config"]["column"]) == (2, 21)
    assert found["config"]["file"].endswith(name)


def test_nearest_names_are_offered(tmp_path):
    file = tmp_path / "policyengine.toml"
    file.write_text('[lint.rules]\nmising-owner = "off"\n')
    assert read_config(file).findings[0].hint == "did you mean `missing-owner`?"


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_config(tmp_path / "none.toml")


def test_no_severity_hides_that_a_bundle_cannot_be_loaded(tmp_path):
    (tmp_path / "breaker.yaml").write_text(BREAKER.replace("consecutive_failures >=", "failures >="))
    (tmp_path / "policyengine.toml").write_text('[lint.rules]\nunknown-name = "off"\n')
    config = find_config(tmp_path)
    assert [finding.code for finding in config.findings] == ["config"]
    assert [finding.code for finding in lint(tmp_path, config).findings] == ["unknown-name"]
