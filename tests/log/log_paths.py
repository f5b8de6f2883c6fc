"""Files of the checkout that tests of the log use."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "examples" / "sample-session.jsonl"
