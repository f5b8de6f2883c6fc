"""The fault suite over every API, and its table in the docs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.runtime.peers.dialects import DIALECTS
from tests.runtime.providers import fault_table
from tests.runtime.providers.fault_suite import FAULTS, Fault, cut_everywhere
from tests.runtime.providers.support import skip_without_sdk

DOC = Path(__file__).parents[3] / "docs" / "faults.md"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
@pytest.mark.parametrize("name", DIALECTS)
def test_a_fault_ends_as_it_must(name: str, fault: Fault) -> None:
    skip_without_sdk(name)
    assert asyncio.run(fault.run(DIALECTS[name])) == fault.must(name)


def test_the_table_in_the_docs_is_what_the_suite_says() -> None:
    rows = [line for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert rows == fault_table.table({(fault.id, name): fault.must(name) for fault in FAULTS for name in DIALECTS})


@pytest.mark.soak
@pytest.mark.parametrize("how", ["end", "close", "reset"])
@pytest.mark.parametrize("name", DIALECTS)
def test_a_cut_at_any_byte_is_no_success(name: str, how: str) -> None:
    skip_without_sdk(name)
    assert asyncio.run(cut_everywhere(DIALECTS[name], how, every=True)) == {"incomplete"}
