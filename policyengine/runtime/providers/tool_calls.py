"""Tool calls as they come in: pieces put together, and ids that no other call of the session has."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from policyengine.runtime.messages import Call, Message
from policyengine.runtime.provider import CallFinished, CallStarted

SENT_ID = "sent_id"
"""In a call's provider data: the id that the provider sent, where it was taken and the call got another."""

_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class CallIds:
    """Ids of calls, each given once. Some servers count from 0 in every response, or repeat an id in one."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._taken = {block.id for message in messages for block in message.blocks if isinstance(block, Call)}

    def unique(self, sent: str | None) -> str:
        """`sent` where no call has it yet; else an id made from it, or a new one where there is none."""
        found = sent or f"call_{uuid.uuid4().hex[:24]}"
        number = 2
        while found in self._taken:
            found = f"{sent}-{number}"
            number += 1
        self._taken.add(found)
        return found


@dataclass(slots=True)
class OpenCall:
    """A call whose pieces are still coming."""

    index: int
    id: str
    name: str
    sent_id: str | None = None
    pieces: list[str] = field(default_factory=list)

    def started(self) -> CallStarted:
        """The event of its first sign."""
        return CallStarted(self.index, self.id, self.name)

    def finished(self, provider_data: Mapping[str, Any] | None = None) -> CallFinished:
        """The event of its end."""
        data = dict(provider_data or {})
        if self.sent_id and self.sent_id != self.id:
            data[SENT_ID] = self.sent_id
        # A call without arguments comes as nothing at all from some servers.
        return CallFinished(self.index, self.id, self.name, "".join(self.pieces) or "{}", data)


def plain_id(call_id: str) -> str:
    """An id that every API takes: itself, or the same other one each time where it has odd characters."""
    return call_id if _PLAIN_ID.match(call_id) else f"call_{uuid.uuid5(uuid.NAMESPACE_OID, call_id).hex[:24]}"
