"""Runs something again whenever files change."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

INTERVAL_SECONDS = 0.5
"""Time between two looks at the files: below what a person notices, above what a disk does."""

Stamp = dict[Path, tuple[int, int]]


def watch(
    run: Callable[[], None],
    files: Callable[[], Iterable[Path]],
    *,
    wait: Callable[[float], None] = time.sleep,
    runs: int | None = None,
) -> None:
    """Call `run` now and after every change of the files; for ever, or `runs` times."""
    done = 0
    before: Stamp | None = None
    while runs is None or done < runs:
        now = stamp(files())
        if now != before:
            before = now
            run()
            done += 1
        else:
            wait(INTERVAL_SECONDS)


def stamp(files: Iterable[Path]) -> Stamp:
    """When each file was changed last (ns), and how large it is (bytes); files that are gone are left out."""
    found: Stamp = {}
    for file in files:
        try:
            about = file.stat()
        except OSError:
            continue
        found[file] = (about.st_mtime_ns, about.st_size)
    return found
