"""How providers count: every row of data/usage.yaml, with the contracts of the default model catalogue."""

from pathlib import Path

import pytest

from policyengine.kinds.bundle import load
from policyengine.kinds.usage import next_prompt_tokens, prompt_tokens
from policyengine.source.yaml import read_documents

DATA = Path(__file__).parent / "data" / "usage.yaml"
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
