"""Short ways to write sessions, entries and answers for the tests of compression."""

import json
from pathlib import Path

from policyengine.compression.history import Entry
from policyengine.compression.method import Answer
from policyengine.sessions.content import fingerprint, size, to_json
from policyengine.sessions.model import Part, Round, Session, ToolCall, ToolResult, Turn

DATA = Path(__file__).parent / "data"
SHARED = Path(__file__).parents[3] / "shared" / "sessions"
COMPACTED = ("claude-code-auto-compact.jsonl", "claude-code-manual-compact.jsonl")


def text_part(text):
    return Part("text", text, size(text))


def tool_call(name, arguments, output="done", error=False, id=None, cancelled=False):
    """A call with its result; `output` None leaves it without one."""
    key = fingerprint(arguments)
    result = None
    if output is not None:
        result = ToolResult((Part("tool_result", output, size(output), id),), size(output), error, cancelled)
    return ToolCall(id or f"{name}-{key}", name, arguments, key, result)


def session_of(*rounds, prompt="fix the parser", compactions=()):
    """A session of one turn. A round is (texts said, calls made) or (texts sent, texts said, calls made)."""
    made = []
    waiting = (text_part(prompt),)
    for index, row in enumerate(rounds, start=1):
        sent, said, calls = row if len(row) == 3 else ((), *row)
        added = (*waiting, *(text_part(text) for text in sent))
        output = (
            *(text_part(text) for text in said),
            *(Part("tool_call", to_json(c.arguments), size(to_json(c.arguments)), c.id) for c in calls),
        )
        made.append(Round(index, 1, 0, "m", None, added, output, tuple(calls), index > 1))
        waiting = tuple(
            Part("tool_result", p.text, p.bytes, c.id) for c in calls if c.result is not None for p in c.result.parts
        )
    return Session(
        "session.jsonl", "openai", "openai", "m", None, None, tuple(made), (Turn(1, prompt, first_round=1),),
        tuple(compactions), unsent=waiting,
    )  # fmt: skip


def entry(number, role, text="", kind="text", call=None, call_id=None, round=1, turn=1, summary=False):
    return Entry(number, role, kind, text, size(text), round, turn, call, call_id, summary=summary)


def answer(**sections):
    """A structured answer of the coding profile; sections not named are empty."""
    names = ("session_intent", "files_modified", "decisions", "error_messages", "current_state", "next_steps")
    return Answer(json.dumps({name: sections.get(name, []) for name in names}, ensure_ascii=False))


class Scripted:
    """A model that gives the answers it is told, in order, and remembers what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def __call__(self, ask):
        self.asked.append(ask)
        return self.answers.pop(0)
