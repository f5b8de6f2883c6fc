"""The text of `policyengine verify`: policy by policy, with an example that can be pasted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import click

from policyengine.check.proofs.ranges import Ranges
from policyengine.check.proofs.results import Report, Result, Verdict
from policyengine.commands.options import counted, thousands, wants_color
from policyengine.commands.pasteable import eval_command

_STYLE = {
    Verdict.PROVEN: "green",
    Verdict.ACCEPTED: "yellow",
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "magenta",
}
_INDENT = " " * 15
_MOST_RANGES = 4


def text(report: Report, bundle: str | None, everything: bool) -> str:
    """Everything, with totals at the end."""
    lines: list[str] = []
    for policy, results in groupby(report.results, key=lambda result: result.policy):
        lines += [f"policy {policy}", *_policy(list(results), bundle, everything), ""]
    counts = ", ".join(f"{report.count(verdict)} {verdict.value}" for verdict in Verdict if report.count(verdict))
    lines.append(f"{counted(len(report.results), 'claim')}: {counts or 'none'}")
    return "\n".join(lines)


def _policy(results: list[Result], bundle: str | None, everything: bool) -> Iterator[str]:
    quiet = [r for r in results if r.built_in and r.verdict is Verdict.PROVEN and not everything]
    for result in results:
        if result not in quiet:
            yield from _result(result, bundle)
    if quiet:
        yield f"  {_verdict(Verdict.PROVEN)} {', '.join(result.id for result in quiet)}"
    rests = dict.fromkeys(one for result in results for one in result.assumes)
    if rests:
        yield f"{_INDENT}proofs hold where {'; '.join(rests)}"


def _verdict(verdict: Verdict) -> str:
    shown = f"{verdict.value:<12}"
    return click.style(shown, fg=_STYLE[verdict]) if wants_color() else shown


def _result(result: Result, bundle: str | None) -> Iterator[str]:
    yield f"  {_verdict(result.verdict)} {result.id}" + (f": {result.title}" if result.title else "")
    if result.verdict is Verdict.PROVEN:
        return
    if result.claim:
        yield f"{_INDENT}{result.claim}" + (f"   where {result.domain}" if result.domain else "")
    if result.detail:
        yield f"{_INDENT}{result.detail}"
    if result.fails is not None:
        rest = f"; proven for {windows(result.holds)}" if result.holds else ""
        step = "from one window to the next at" if _is_step(result) else "for"
        yield f"{_INDENT}fails {step} {windows(result.fails)}{rest}"
    for example in result.examples:
        yield f"{_INDENT}{_example(example.input, example.seen, example.note)}"
    if result.accepted is not None and result.verdict is Verdict.ACCEPTED:
        yield f"{_INDENT}accepted for {result.accepted}: {result.reason}"
    if result.examples:
        yield f"{_INDENT}{eval_command(result.policy, bundle, result.examples[-1].input)}"
    if result.verdict is Verdict.REFUTED:
        yield f"{_INDENT}{result.place}"


def _is_step(result: Result) -> bool:
    return any(example.note for example in result.examples)


def windows(ranges: Ranges) -> str:
    """`windows 1 to 66 666`."""
    parts = [
        thousands(low) if low == high else f"{thousands(low)} to {thousands(high)}"
        for low, high in ranges.parts[:_MOST_RANGES]
    ]
    more = f" and {counted(len(ranges.parts) - _MOST_RANGES, 'more range')}" if len(ranges.parts) > _MOST_RANGES else ""
    one = len(ranges) == 1
    return f"window{'' if one else 's'} {', '.join(parts)}{more}"


def _example(input: Mapping[str, Any], seen: Mapping[str, Any], note: str) -> str:
    shown = ", ".join(f"{name} = {_value(value)}" for name, value in seen.items())
    if set(input) == {"window", "tokens"}:
        return f"{note or 'at window ' + thousands(input['window'])}: {shown}"
    return f"{note}: {shown}" if shown else note


def _value(value: Any) -> str:
    if isinstance(value, float):
        # As many places as tell it from its neighbours: 0.85 shown as 0.8 would refute something else.
        return f"{value:,.4f}".rstrip("0").rstrip(".").replace(",", " ")
    return json.dumps(value, ensure_ascii=False, default=str)
