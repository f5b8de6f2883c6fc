"""The history of a session, and what must always be true of it. No other module changes messages.

True at every moment, so also wherever a task may be cancelled:

- every call is followed at once by one `tool` message that holds the results of that message's calls, one for
  each, in the order of the calls; there is no other result;
- a call id occurs once;
- no message is empty, and no assistant message holds text of an answer that was not finished;
- a person's message occurs once under its prompt id, however often it is sent.

A batch enters together with placeholders that say it was interrupted; each result then takes the place of its
own. A history that was loaded is repaired first (`repaired`); what a provider wants beyond this is made for each
send (`for_provider`) and never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from policyengine.runtime.messages import Block, Call, Image, Message, Result, Role, Text, Thinking
from policyengine.source.errors import PolicyEngineError


class HistoryError(PolicyEngineError):
    """A change that would break the history was refused. The message names no content."""


class History:
    """The messages of one session. Every method leaves them valid or raises `HistoryError` and changes nothing."""

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        wrong = problems(messages)
        if wrong:
            raise HistoryError(f"the history cannot be used: {wrong[0]}; repair it when it is loaded")
        self._messages = list(messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages as they are now; a copy that later changes do not touch."""
        return tuple(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def push_user(self, blocks: Sequence[Text | Image], prompt_id: str) -> bool:
        """Take a person's message. False, and nothing happens, where its prompt id is there already (a retry)."""
        if any(message.prompt_id == prompt_id for message in self._messages if message.role == "user"):
            return False
        if not blocks:
            raise HistoryError("a message has to hold something")
        self._messages.append(Message("user", tuple(blocks), prompt_id))
        return True

    def push_answer(self, blocks: Sequence[Block], prompt_id: str, interrupted: str) -> Message | None:
        """Take a finished answer. Each of its calls gets a placeholder result that says `interrupted`.

        Call ids that occur already (some servers count from 0 in each response) are made unique; the message that
        is returned has the ids that count. None where the answer is empty: nothing is stored.
        """
        kept = tuple(block for block in blocks if not (isinstance(block, Text) and not block.text))
        if not kept:
            return None
        message = Message("assistant", self._unique(kept), prompt_id)
        calls = calls_of(message)
        self._messages.append(message)
        if calls:
            waiting = tuple(Result(c.id, c.name, (Text(interrupted),), cancelled=True) for c in calls)
            self._messages.append(Message("tool", waiting, prompt_id))
        return message

    def settle(self, result: Result) -> bool:
        """Put a result in the place of its placeholder. False where its call is unknown: it is left out."""
        for index in range(len(self._messages) - 1, -1, -1):
            message = self._messages[index]
            if message.role != "tool":
                continue
            for at, block in enumerate(message.blocks):
                if isinstance(block, Result) and block.call_id == result.call_id:
                    blocks = (*message.blocks[:at], replace(result, name=block.name), *message.blocks[at + 1 :])
                    self._messages[index] = replace(message, blocks=blocks)
                    return True
        return False

    def compact(self, summary: Message, kept: Sequence[Message]) -> None:
        """Replace everything before the kept tail with a summary. `kept` has to be the tail as it is now."""
        tail = tuple(kept)
        if tail and tuple(self._messages[-len(tail) :]) != tail:
            raise HistoryError("what a compaction keeps has to be the end of the history")
        changed = [summary, *tail]
        wrong = problems(changed)
        if wrong:
            raise HistoryError(f"the compaction would break the history: {wrong[0]}")
        self._messages = changed

    def clear(self) -> None:
        """Forget everything."""
        self._messages = []

    def _unique(self, blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        taken = {call.id for message in self._messages for call in calls_of(message)}
        fresh: list[Block] = []
        for block in blocks:
            if isinstance(block, Call):
                name, number = block.id or "call", 2
                unique = name
                while unique in taken or not unique:
                    unique, number = f"{name}~{number}", number + 1
                taken.add(unique)
                block = replace(block, id=unique)
            fresh.append(block)
        return tuple(fresh)


def calls_of(message: Message) -> tuple[Call, ...]:
    """The calls of a message, in order."""
    return tuple(block for block in message.blocks if isinstance(block, Call))


def results_of(message: Message) -> tuple[Result, ...]:
    """The results of a message, in order."""
    return tuple(block for block in message.blocks if isinstance(block, Result))


def problems(messages: Iterable[Message]) -> list[str]:
    """What is wrong with a history, in words that name no content; empty where it is valid."""
    found: list[str] = []
    waiting: tuple[Call, ...] = ()
    ids: set[str] = set()
    prompts: set[str] = set()
    for number, message in enumerate(messages, start=1):
        if not message.blocks:
            found.append(f"message {number} is empty")
        if waiting or message.role == "tool":
            given = [result.call_id for result in results_of(message)]
            if message.role != "tool":
                found.append(f"message {number} stands where the results of the calls before it should")
            elif given != [call.id for call in waiting]:
                found.append(f"the results of message {number} are not those of the calls before it, in order")
        waiting = calls_of(message) if message.role == "assistant" else ()
        found += _misplaced(number, message)
        for call in waiting:
            if call.id in ids:
                found.append(f"message {number} repeats a call id")
            ids.add(call.id)
        if message.role == "user" and message.prompt_id is not None:
            if message.prompt_id in prompts:
                found.append(f"message {number} repeats a prompt")
            prompts.add(message.prompt_id)
    if waiting:
        found.append("the last calls have no results")
    return found


def _misplaced(number: int, message: Message) -> list[str]:
    allowed: Mapping[Role, tuple[type, ...]] = {
        "user": (Text, Image),
        "assistant": (Text, Thinking, Call),
        "tool": (Result,),
    }
    if all(isinstance(block, allowed[message.role]) for block in message.blocks):
        return []
    return [f"message {number} holds what a {message.role} message may not"]


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair did: how many calls were answered or dropped, results and messages dropped or put in order."""

    answered_calls: int = 0
    dropped_calls: int = 0
    dropped_results: int = 0
    moved_results: int = 0
    dropped_messages: int = 0

    @property
    def changed(self) -> bool:
        """Whether it did anything."""
        return self != Repair()


def repaired(
    messages: Sequence[Message],
    *,
    orphan_call: Literal["answer_cancelled", "drop"],
    orphan_result: Literal["drop", "keep"],
    cancelled: str,
) -> tuple[list[Message], Repair]:
    """A valid history out of one that may not be, and what was done. `cancelled` is the text of a missing result.

    A result may stand anywhere after its call; the first one counts. An orphan result that is kept becomes a
    user's text, since no provider takes a result without its call.
    """
    results, places = _first_results(messages)
    done = Repair()
    kept: list[Message] = []
    prompts: set[str] = set()
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message.role == "tool":
            orphans = [r for r in results_of(message) if r.call_id not in places]
            done = replace(done, dropped_results=done.dropped_results + _repeated(message, index, places))
            if orphans and orphan_result == "keep":
                text = tuple(part for result in orphans for part in result.parts)
                if text:
                    kept.append(Message("user", text))
            else:
                done = replace(done, dropped_results=done.dropped_results + len(orphans))
            continue
        allowed = (Text, Thinking, Call) if message.role == "assistant" else (Text, Image)
        blocks = [b for b in message.blocks if isinstance(b, allowed)]
        again = message.role == "user" and message.prompt_id is not None and message.prompt_id in prompts
        answers: list[Result] = []
        gone: set[int] = set()
        for place, call in enumerate(blocks):
            if not isinstance(call, Call):
                continue
            if call.id in seen:
                gone.add(place)
                done = replace(done, dropped_calls=done.dropped_calls + 1)
                continue
            seen.add(call.id)
            found = results.get(call.id)
            if found is not None:
                answers.append(found)
                moved = places[call.id] != (index + 1, len(answers) - 1)
                done = replace(done, moved_results=done.moved_results + moved)
            elif orphan_call == "answer_cancelled":
                answers.append(Result(call.id, call.name, (Text(cancelled),), cancelled=True))
                done = replace(done, answered_calls=done.answered_calls + 1)
            else:
                gone.add(place)
                done = replace(done, dropped_calls=done.dropped_calls + 1)
        blocks = [block for place, block in enumerate(blocks) if place not in gone]
        if not blocks or again:
            done = replace(done, dropped_messages=done.dropped_messages + 1)
            continue
        if message.role == "user" and message.prompt_id is not None:
            prompts.add(message.prompt_id)
        kept.append(replace(message, blocks=tuple(blocks)) if len(blocks) != len(message.blocks) else message)
        if answers:
            whole = messages[index + 1] if index + 1 < len(messages) else None
            same = whole is not None and whole.role == "tool" and list(whole.blocks) == answers
            kept.append(whole if same and whole is not None else Message("tool", tuple(answers), message.prompt_id))
    return kept, done


def _first_results(messages: Sequence[Message]) -> tuple[dict[str, Result], dict[str, tuple[int, int]]]:
    """The first result after each call, and where it stands; a known call without one has the place (-1, -1)."""
    results: dict[str, Result] = {}
    places: dict[str, tuple[int, int]] = {}
    for index, message in enumerate(messages):
        if message.role == "assistant":
            for call in calls_of(message):
                places.setdefault(call.id, (-1, -1))
        elif message.role == "tool":
            for at, result in enumerate(results_of(message)):
                if result.call_id in places and result.call_id not in results:
                    results[result.call_id] = result
                    places[result.call_id] = (index, at)
    return results, places


def _repeated(message: Message, index: int, places: Mapping[str, tuple[int, int]]) -> int:
    """How many results of a message are not the first of their call."""
    return sum(
        1
        for at, result in enumerate(results_of(message))
        if result.call_id in places and places[result.call_id] != (index, at)
    )


def for_provider(
    messages: Sequence[Message], *, provider: str, model: str, gap: str, empty_assistant: str
) -> list[Message]:
    """The history as one provider takes it. Nothing of this is stored.

    Thinking of another model is left out, that of the same one stays byte for byte. Messages of one role in a row
    become one. Between a tool result and a person's message stands an answer where the provider wants one (`gap`).
    """
    ready: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            own = tuple(b for b in message.blocks if not isinstance(b, Thinking) or _is_from(b, provider, model))
            if not any(isinstance(block, Text | Call) for block in own):
                continue
            if len(own) != len(message.blocks):
                message = replace(message, blocks=own)
        last = ready[-1] if ready else None
        if last is not None and last.role == message.role and message.role != "tool":
            ready[-1] = replace(last, blocks=last.blocks + message.blocks, summary=False)
            continue
        if last is not None and last.role == "tool" and message.role == "user" and gap == "inject_empty_assistant":
            ready.append(Message("assistant", (Text(empty_assistant),)))
        ready.append(message)
    return ready


def _is_from(block: Thinking, provider: str, model: str) -> bool:
    return block.provider == provider and block.model == model


def summary_role(before: Message | None, after: Message | None) -> Role:
    """The role of a summary between two messages, by its visible neighbours (a template may skip tool messages).

    At the start of a history it is the user's, which a user's message after it joins; elsewhere the role that
    differs from the one before it.
    """
    if before is None:
        return "user"
    if before.role == "user" and (after is None or after.role != "assistant"):
        return "assistant"
    return "user" if before.role != "user" else "assistant"
