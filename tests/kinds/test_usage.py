"""How providers count: every row of data/usage.yaml, with the contracts of the default model catalogue."""

from pathlib import Path

import pytest

from policyengine.kinds.bundle import load
from policyengine.kinds.usage import next_prompt_tokens, prompt_tokens
from policyengine.runtime.live import Live
from policyengine.source.resources import policies_folder
from policyengine.source.yaml import read_documents

DATA = Path(__file__).parent / "data" / "usage.yaml"
EXTENDING = """\
apiVersion: policyengine/v1
kind: Bundle
metadata: {name: own, version: 1.0.0}
spec: {extends: built-in}
"""
CASES = read_documents(DATA)[0][0].data["cases"]


@pytest.fixture(scope="module")
def contracts():
    return load().serving("ModelCatalogue").spec["usage"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_counts_are_read_as_their_provider_means_them(case, contracts):
    contract = case.get("contract") or contracts[case["provider"]]
    assert prompt_tokens(case["usage"], contract) == case["prompt"]
    assert next_prompt_tokens(case["usage"], contract) == case["next"]


def test_every_row_about_counting_is_here():
    names = " ".join(case["name"] for case in CASES)
    assert [row for row in ("C30", "C31", "C32") if row not in names] == []


OTHERS = {
    "a listed provider": ("anthropic", "", "beside"),
    "the built-in word on others": ("nobody", "", "inside"),
    "no provider": (None, "", "inside"),
    "the catalogue's own word on others": (
        "nobody", "other: {cached: beside, reasoning: inside, reasoning_replayed: false}", "beside",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_provider_that_is_not_listed_counts_as_the_catalogue_says_of_others(name, tmp_path):
    provider, other, cached = OTHERS[name]
    lines = (policies_folder() / "models.yaml").read_text(encoding="utf-8").splitlines()
    (tmp_path / "models.yaml").write_text("\n".join(f"    {other}" if "    other:" in line else line for line in lines))
    (tmp_path / "bundle.yaml").write_text(EXTENDING)
    assert Live(load(tmp_path)).contract(provider)["cached"] == cached
