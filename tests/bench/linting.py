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


def rows() -> list[dict[str, object]]:
    """One measurement for the default bundle and one for many files."""
    found = [_row("lint the default bundle, cold", *measure(ROOT / "policies"), goal=0.5)]
    with tempfile.TemporaryDirectory(prefix="policyengine-bench-") as folder:
        for number in range(FILES):
            text = _TABLE.format(number=number, limit=1000 + number)
            Path(folder, f"table-{number}.yaml").write_text(text, encoding="utf-8")
        found.append(_row(f"lint {FILES} policy files, cold", *measure(Path(folder)), goal=3))
    return found


def _row(name: str, wall: float, processor: float, goal: float) -> dict[str, object]:
    return {
        "name": name,
        "value": round(wall * 1000),
        "unit": "ms",
        "ratio": round(wall / goal, 3),
        "against": f"the goal; processor time {processor * 1000:.0f} ms",
        "goal": f"{goal * 1000:.0f} ms",
    }


def main() -> None:
    """Print the measurements."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; medians of {RUNS} cold starts\n")
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
