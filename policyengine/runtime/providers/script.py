"""Scripts of the scripted provider: read from YAML, checked against their schema, asked for the next answer."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from policyengine.runtime.messages import Message, Result, Text
from policyengine.runtime.provider import Request
from policyengine.source.document import Document
from policyengine.source.errors import BundleError, InputError
from policyengine.source.finding import Finding
from policyengine.source.schema import load_schema, validate
from policyengine.source.yaml import parse_documents, read_documents

Stream = Sequence[Mapping[str, Any]]


class Script:
    """Answers in order. Each call takes the first one left that fits it.

    `window` is that of the models that it plays, tokens; None where it does not say. A session is told it as its own.
    """

    def __init__(
        self, streams: Sequence[Mapping[str, Any]], name: str = "script", *, window: int | None = None
    ) -> None:
        self.name = name
        self.window = window
        self._streams = streams
        self._left: list[int | None] = [
            None if stream.get("times") == "always" else stream.get("times", 1) for stream in streams
        ]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Script:
        """The script in a YAML file. Raises BundleError with every finding, InputError where it holds no script."""
        return cls._from(*read_documents(path), os.fspath(path))

    @classmethod
    def parse(cls, text: str, file: str = "<script>") -> Script:
        """The script in YAML text."""
        return cls._from(*parse_documents(text, file), file)

    @classmethod
    def _from(cls, documents: list[Document], findings: list[Finding], file: str) -> Script:
        for document in documents:
            findings = findings + validate(document.data, load_schema("script"), document)
        if findings:
            more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
            raise BundleError(f"{findings[0].place}: {findings[0].message}{more}", findings)
        if len(documents) != 1:
            raise InputError(
                f"{file}: expected one script, found {len(documents)}; write one document with kind: Script"
            )
        found = documents[0].data
        return cls(found["streams"], file, window=found.get("window"))

    def next(self, request: Request) -> Stream | None:
        """The events of the answer to `request`; None where no answer is left that fits."""
        for index, stream in enumerate(self._streams):
            left = self._left[index]
            if left == 0 or not _fits(stream.get("when", {}), request):
                continue
            if left is not None:
                self._left[index] = left - 1
            events: Stream = stream["events"]
            return events
        return None

    def unused(self) -> int:
        """How many answers were never taken; one that answers always does not count."""
        return sum(left for left in self._left if left is not None)


def _fits(when: Mapping[str, Any], request: Request) -> bool:
    last = request.messages[-1] if request.messages else None
    facts = {
        "model": request.model,
        "last_role": last.role if last else None,
        "tools": bool(request.tools),
        "tool_choice": request.tool_choice,
        "thinking": request.thinking,
    }
    for field, wanted in when.items():
        if field == "last_text_contains":
            if last is None or wanted not in _text(last):
                return False
        elif field == "system_contains":
            if wanted not in request.system:
                return False
        elif facts[field] != wanted:
            return False
    return True


def _text(message: Message) -> str:
    texts: list[str] = []
    for block in message.blocks:
        parts = block.parts if isinstance(block, Result) else (block,)
        texts += [part.text for part in parts if isinstance(part, Text)]
    return "\n".join(texts)
