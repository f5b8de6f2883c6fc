"""Every measurement from one run: `python -m tests.bench`.

Engines, replay and compile time first; then one table over lint, the log and the adapter.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import policyengine
from policyengine.rules.compile import compile_table
from tests.bench import adapter, linting
from tests.bench.engines import ENGINES
from tests.bench.routing import PROMPTS, ROOT, example, table
from tests.log import bench_log

ROWS = 100_000


def measured(name: str) -> dict[str, Any]:
    """What one engine says about itself, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.engines", name]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return {"failed": "took more than 120 s"}
    lines = run.stdout.strip().splitlines()
    if run.returncode != 0 or not lines:
        return {"failed": (run.stderr.strip().splitlines() or ["no output"])[-1][:60]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def table_of_engines() -> dict[str, dict[str, float]]:
    """Print one row an engine and return the times."""
    print("One routing decision for which every rule is looked at, as ratio to the same rules written by hand.\n")
    print(f"| engine | {' | '.join(f'{length} characters' for length in PROMPTS)} | µs |")
    print(f"|---|{'---:|' * (len(PROMPTS) + 1)}")
    times: dict[str, dict[str, float]] = {}
    for name in ENGINES:
        found = measured(name)
        if "missing" in found or "failed" in found:
            print(f"| {name} | {'not installed' if 'missing' in found else found['failed']} | | |")
            continue
        times[name] = {length: found[length]["us"] for length in PROMPTS}
        ratios = []
        for length in PROMPTS:
            ratio = times[name][length] / times["by hand"][length]
            agrees = "" if found[length]["answer"] == "fast" else f" (answers {found[length]['answer']})"
            ratios.append(f"{ratio:.2f}{agrees}")
        print(
            f"| {name} | {' | '.join(ratios)} | {' / '.join(f'{us:.1f}' for us in times[name].values())} |", flush=True
        )
    return times


def verdict(times: dict[str, dict[str, float]]) -> None:
    """Print what the goals ask: against the function by hand, and against the fastest other engine."""
    own = ("by hand", "policyengine", "policyengine, traced")
    for length in PROMPTS:
        hand, plain, traced = (times[name][length] for name in own)
        others = {name: found[length] for name, found in times.items() if name not in own}
        line = f"{length} characters: plain {plain / hand:.2f} (goal 1.25), traced {traced / hand:.2f} (goal 4)"
        if others:
            fastest = min(others, key=lambda name: others[name])
            line += f", {others[fastest] / plain:.1f} times as fast as {fastest} (goal 4)"
        print(line)


def rows() -> Iterator[dict[str, Any]]:
    """Inputs as a replay has them: a fresh object each, all outcomes among them."""
    base = example()
    kinds = ("read", "search", "edit", "fetch", "execute")
    prompts = (base["prompt"], "fix the tests", "这个文件里有什么", "why does it fail", "what is in the file?")
    for at in range(ROWS):
        call = {**base["batch"][0], "kind": kinds[at % 5], "error": at % 11 == 0}
        yield {
            **base,
            "prompt": f"{prompts[at % 5 if at % 3 else 0]} ({at})",
            "batch": [call] * (at % 4),
            "distinct_calls": at % 4,
            "tool_output_tokens": (at * 37) % 5000,
            "history_tokens": (at * 1009) % 200_000,
        }


def memory() -> float:
    """Peak memory of this process, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def replay() -> None:
    """Decide many recorded inputs and tell how fast, and how memory grew after the first tenth."""
    compiled = compile_table(table())
    tenth, decided = 0.0, 0
    begun = time.process_time()
    for count, decision in enumerate(compiled.decide_many(rows()), 1):
        decided += decision.outcome["decision"] == "fast"
        if count == ROWS // 10:
            tenth = memory()
    spent = time.process_time() - begun
    grown = memory() - tenth
    begun = time.process_time()
    for _ in rows():
        pass
    making = time.process_time() - begun
    print(
        f"\nReplay of {ROWS} inputs: {ROWS / (spent - making):,.0f} decisions/s (goal 60,000), {ROWS / spent:,.0f}"
        f" with making the inputs; peak memory grew by {grown:.1f} MB after the first tenth;"
        f" {decided} went to the fast model."
    )


def compile_time() -> None:
    """Compile every policy of the default bundle."""
    bundle = policyengine.load(str(ROOT / "policies"))
    tables = [policy.table for policy in bundle.policies.values()]
    gc.collect()
    begun = time.process_time()
    for one in tables:
        compile_table(one).prepare()
    spent = time.process_time() - begun
    rules = sum(len(one.rules) for one in tables)
    print(f"\nThe default bundle compiles in {spent * 1000:.0f} ms (goal 300): {len(tables)} policies, {rules} rules.")


def table_of_parts() -> None:
    """Print one row a measurement of lint, log and adapter, each beside what it is measured against."""
    print(f"\nParts, with a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.\n")
    print("| part | this machine | ratio | against | goal |")
    print("|---|---:|---:|---|---|")
    for part in (linting.rows, bench_log.rows, adapter.rows):
        for row in part():
            print(shown(row), flush=True)


def shown(row: Mapping[str, object]) -> str:
    """A measurement as a row of the table."""
    if "skipped" in row:
        return f"| {row['name']} | {row['skipped']} | | | |"
    return (
        f"| {row['name']} | {row['value']} {row['unit']} | {row['ratio']} | {row['against']} | {row.get('goal', '')} |"
    )


def main() -> None:
    """Print everything."""
    verdict(table_of_engines())
    replay()
    compile_time()
    table_of_parts()


if __name__ == "__main__":
    main()
