"""Work on many pieces with all cores, results in the order of the pieces."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Piece = TypeVar("_Piece")
_Result = TypeVar("_Result")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def mapped(
    work: Callable[[_Piece], _Result], pieces: Sequence[_Piece], processes: int | None = None
) -> Iterator[_Result]:
    """`work` of each piece. With one piece or one core it runs in this process."""
    workers = min(processes or cores(), len(pieces))
    if workers <= 1:
        yield from map(work, pieces)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(_method())) as pool:
        yield from pool.map(work, pieces)


def _method() -> str:
    """Forking is quick, and safe as long as no other thread may hold a lock."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"
