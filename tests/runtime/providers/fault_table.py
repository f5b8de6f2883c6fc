"""Runs the fault suite and prints docs/faults.md: `python -m tests.runtime.providers.fault_table > docs/faults.md`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from importlib.metadata import version

from tests.runtime.peers.dialects import DIALECTS
from tests.runtime.providers import fault_suite
from tests.runtime.providers.fault_suite import FAULTS

INTRODUCTION = """# Faults

What comes out of a provider when an answer goes wrong, measured with the official SDKs against a scripted server on
loopback. `whole` is success; anything else is the kind of the `ProviderError`. In every row the request was sent
exactly once, and neither key nor prompt stood in the error. Printed by

    python -m tests.runtime.providers.fault_table > docs/faults.md

with {versions}; {cuts} cuts were tried. `make test` plays every row
(cuts at a sample of offsets), `make soak` the cuts at every offset."""


def table(outcomes: Mapping[tuple[str, str], str]) -> list[str]:
    """The rows of the table: what came out by fault and dialect."""
    names = list(DIALECTS)
    rows = [f"| fault | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for fault in FAULTS:
        cells = [outcomes[fault.id, name] for name in names]
        rows.append(f"| {fault.what} | {' | '.join(cells)} |")
    return rows


async def _play() -> dict[tuple[str, str], str]:
    return {(fault.id, name): await fault.run(dialect) for fault in FAULTS for name, dialect in DIALECTS.items()}


def main() -> int:
    """Print the page; 1 where an outcome is not what it must be."""
    fault_suite.EVERY_OFFSET = True
    outcomes = asyncio.run(_play())
    packages = ", ".join(f"{name} {version(name)}" for name in ("openai", "anthropic", "google-genai"))
    cuts = 3 * sum(len(dialect.whole) for dialect in DIALECTS.values())
    print(INTRODUCTION.format(versions=packages, cuts=cuts))
    print()
    print("\n".join(table(outcomes)))
    wrong = [(fault.id, name) for fault in FAULTS for name in DIALECTS if outcomes[fault.id, name] != fault.must(name)]
    for fault, name in wrong:
        print(f"{fault}, {name}: {outcomes[fault, name]}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
