"""How long lint takes from a cold start: `python -m tests.bench.linting`.

Each figure is the median of several runs, wall clock and processor time of the process, so that a
busy machine shows.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = 7
FILES = 500

_TABLE = """\
apiVersion: policyengine/v1
kind: Table
metadata: {{name: table-{number}, version: 1.0.0, owner: team}}
spec:
  input:
    type: object
    properties:
      tokens: {{type: integer, minimum: 0}}
      kind: {{enum: [read, edit, execute]}}
      forced: {{type: boolean}}
      prompt: {{type: string}}
    required: [tokens, kind, forced, prompt]
  constants: {{limit: {limit}, kinds: [edit, execute]}}
  derived:
    many: tokens >= limit
    changes: kind in kinds
  rules:
    - {{id: forced, when: forced, outcome: {{result: forced}}}}
    - {{id: changes, when: changes && many, outcome: {{result: changes}}}}
    - {{id: edits, when: kind == "edit" && tokens < 100, outcome: {{result: edits}}}}
    - {{id: asks, when: 'prompt.contains("why") && !changes', outcome: {{result: asks}}}}
    - {{id: many, when: many, outcome: {{result: many}}}}
  default: {{id: none, outcome: {{result: none}}}}
  on_error: {{result: error}}
"""


def measure(folder: Path) -> tuple[float, float]:
    """Median wall clock and processor time (s) of `policyengine lint FOLDER`."""
    code = (
        "import sys; from policyengine.commands import main; sys.argv = ['policyengine', 'lint', sys.argv[1]]; main()"
    )
    walls, processors = [], []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        command = [sys.executable, "-c", code, str(folder)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        walls.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode != 0:
            raise SystemExit(f"lint failed: {done.stdout}{done.stderr}")
    return statistics.median(walls), statistics.median(processors)


def main() -> None:
    """Print one row for the default bundle and one for many files."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; medians of {RUNS} cold starts\n")
    print("| lint of | wall clock | processor | goal |")
    print("|---|---:|---:|---:|")
    wall, processor = measure(ROOT / "policies")
    print(f"| the default bundle | {wall * 1000:.0f} ms | {processor * 1000:.0f} ms | 500 ms |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            text = _TABLE.format(number=number, limit=1000 + number)
            Path(folder, f"table-{number}.yaml").write_text(text, encoding="utf-8")
        wall, processor = measure(Path(folder))
    print(f"| {FILES} policy files | {wall:.2f} s | {processor:.2f} s | 3 s |")


if __name__ == "__main__":
    main()
