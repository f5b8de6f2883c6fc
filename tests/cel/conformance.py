"""The table of docs/conformance.md: `python -m tests.cel.conformance --write docs/conformance.md`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from tests.cel import suite
from tests.cel.reference import Reference

_TEXT = """\
# Conformance

The cases are those of the CEL specification's own suite that need no protocol buffers, {total} of them. A case gives an
expression and the value, or the error, that it must have; all cases count, none is left out. For this engine the
checker is judged too: the type that it tells, and that it refuses what the suite refuses; each expression runs once
unchecked, once as a checked program.

cel-python {version} is the pure Python implementation; it is asked for values and errors only, in a process of its own.

| file | cases | policyengine | cel-python |
|---|---:|---:|---:|
{rows}
| **all** | **{total}** | **{ours}** ({ours_share:.1%}) | **{theirs}** ({theirs_share:.1%}) |

This page is printed by `python -m tests.cel.conformance --write docs/conformance.md`.
"""


def page() -> str:
    """Run everything and write the page."""
    from importlib.metadata import version

    cases = suite.cases()
    if not cases:
        raise SystemExit(suite.MISSING)
    total: Counter[str] = Counter(case["file"] for case in cases)
    ours: Counter[str] = Counter()
    theirs: Counter[str] = Counter()
    with Reference() as reference:

        def run(case: suite.Case) -> Any:
            encoded = {name: bound["value"] for name, bound in case.get("bindings", {}).items()}
            return reference.ask(case["expr"], encoded, case.get("container", ""))

        for case in cases:
            ours[case["file"]] += suite.complaint(case) is None
            # what is only checked counts for cel-python as passed: it has no checker to ask
            theirs[case["file"]] += suite.complaint(case, run) is None
    rows = [f"| {name} | {count} | {ours[name]} | {theirs[name]} |" for name, count in total.items()]
    return _TEXT.format(
        rows="\n".join(rows),
        total=len(cases),
        ours=ours.total(),
        theirs=theirs.total(),
        ours_share=ours.total() / len(cases),
        theirs_share=theirs.total() / len(cases),
        version=version("cel-python"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="the file to write; without it the page is printed")
    chosen = parser.parse_args()
    text = page()
    if chosen.write:
        chosen.write.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
