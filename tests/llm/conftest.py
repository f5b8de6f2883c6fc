"""A server with a real model, for the tests that ask for it, and a bundle whose numbers fit so small a model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from real_server import Server, missing, serving

from policyengine.kinds.bundle import load
from policyengine.source.resources import policies_folder

CHANGES = Path(__file__).parent / "policies.yaml"


def _laid_over(under: Any, over: Any) -> Any:
    if isinstance(under, dict) and isinstance(over, Mapping):
        return {**under, **{name: _laid_over(under.get(name), value) for name, value in over.items()}}
    return over


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built-in policies with `policies.yaml` laid over them."""
    folder = tmp_path_factory.mktemp("bundle") / "policies"
    shutil.copytree(policies_folder(), folder, ignore=shutil.ignore_patterns("*.test.yaml", "gates"))
    for name, changes in yaml.safe_load(CHANGES.read_text(encoding="utf-8")).items():
        file = folder / name
        document = _laid_over(yaml.safe_load(file.read_text(encoding="utf-8")), changes)
        # Derived values build on those before them: their order counts.
        file.write_text(yaml.safe_dump(document, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def running(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if absent := missing():
        reason = f"not installed: {', '.join(absent)} (extra: llm-test)"
        # `make test-llm` says that they are required: it may not pass with nothing run.
        if os.environ.get("LLM_REQUIRED"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    window = load(bundle).serving("ModelCatalogue").spec["models"][0]["window"]
    with serving(window, tmp_path_factory.mktemp("llm") / "server.log") as server:
        yield server


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    """The server. What it logs during a test is printed: pytest shows that where the test fails."""
    before = running.log.stat().st_size
    yield running
    with running.log.open("rb") as log:
        log.seek(before)
        print(log.read().decode(errors="replace")[-4000:])
