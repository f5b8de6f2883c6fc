"""Where batches are decided: on this machine's cores, or on a Ray cluster. Both run `batch.redecide`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from policyengine.log.parallel import mapped
from policyengine.log.read import row_groups
from policyengine.log.redecide.batch import Packed, redecide
from policyengine.log.redecide.moves import Moves
from policyengine.log.scan import Shard, shards
from policyengine.source.errors import InputError, MissingExtraError

_SHARD = 1 << 24
"""Bytes of a batch: some ten thousand records."""

ENGINES = ("local", "ray")


def run(
    files: Sequence[Path], bundle: Packed, *, engine: str = "local", output: str | None = None,
    processes: int | None = None, progress: Callable[[int, int], None] | None = None,
) -> Moves:  # fmt: skip
    """Decide the records of logs again.

    `output` is a folder for one Parquet file a batch. `progress` is called with the batches done and all of them.
    Raises `InputError`, `MissingExtraError`.
    """
    if output is not None:
        _needs_pyarrow()
    batches = list(_batches(files))
    if engine == "ray":
        results = _on_ray(batches, bundle, output, processes)
    else:
        results = mapped(partial(redecide, bundle=bundle, output=output), batches, processes)
    found = Moves()
    for done, part in enumerate(results, 1):
        found.merge(part)
        if progress is not None:
            progress(done, len(batches))
    return found


def _batches(files: Sequence[Path]) -> Iterator[Shard]:
    for path in files:
        if path.suffix == ".parquet":
            yield from (Shard(path, number) for number in range(row_groups(path)))
        else:
            yield from shards([path], _SHARD)


def _on_ray(batches: Sequence[Shard], bundle: Packed, output: str | None, processes: int | None) -> Iterator[Moves]:
    """On the cluster that RAY_ADDRESS names, or on one of this machine. The logs have to be readable on its nodes."""
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise MissingExtraError("ray", "ray", "`--engine ray`") from None
    started = not ray.is_initialized()
    if started:
        address = os.environ.get("RAY_ADDRESS")
        local: dict[str, Any] = {} if address else {"num_cpus": processes, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
        except Exception as error:
            raise InputError(f"Ray cannot be started: {str(error).splitlines()[0]}") from None
    try:
        task = ray.remote(num_cpus=1)(redecide)
        shared = ray.put(bundle)
        folder = str(Path(output).resolve()) if output else None
        most = 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = []
        for batch in batches:
            absolute = Shard(batch.path.resolve(), batch.start, batch.end)
            waiting.append(task.remote(absolute, shared, folder))
            if len(waiting) >= most:
                done, waiting = ray.wait(waiting, num_returns=1)
                yield from ray.get(done)
        while waiting:
            done, waiting = ray.wait(waiting, num_returns=1)
            yield from ray.get(done)
    finally:
        if started:
            ray.shutdown()


def _needs_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "writing Parquet") from None
