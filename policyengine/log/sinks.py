"""Where decision records go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from policyengine.source.errors import InputError


class JsonlSink:
    """Appends records to a file, one JSON object a line. Raises `InputError` where the file cannot be written."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        try:
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{self._path}: the log cannot be written: {error.strerror}") from None

    def write(self, record: Mapping[str, Any]) -> None:
        """Append one record."""
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=str)
        try:
            self._file.write(line.encode("utf-8", "replace").decode("utf-8") + "\n")
        except OSError as error:
            raise InputError(f"{self._path}: the log cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Write what is buffered and close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise InputError(f"{self._path}: the log cannot be written: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
