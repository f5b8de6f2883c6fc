"""Word lists as something that can be tested: which lists a text mentions.

A document of word lists decides nothing by itself. For tests it is taken as a policy whose input is a `text` and
whose decided fields are its lists, each true or false.
"""

from __future__ import annotations

from policyengine.kinds.kind import Kind
from policyengine.kinds.spec import Path, Spec
from policyengine.kinds.word_lists import entries
from policyengine.rules.table import HitPolicy, Outcome, Rule, Table

NAME = "WordLists"

INPUT = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "What is looked through."}},
    "required": ["text"],
    "additionalProperties": False,
}


def build(kind: Kind, spec: Spec) -> Table:
    """A collecting table with one rule a list."""
    rules = []
    lists = entries(spec.document.data["spec"])
    for name in lists:
        path: Path = ("spec", "words", name)
        when = spec.generated(f"text.mentions(words.{name})", path)
        rules.append(Rule(name, when, Outcome(), spec.document.place(path)))
    return Table(
        policy=spec.metadata["name"],
        version=spec.metadata["version"],
        kind=kind.name,
        input_schema=INPUT,
        rules=tuple(rules),
        default=Outcome(),
        on_error={"matches": []},
        hit=HitPolicy.COLLECT,
        words=lists,
        outputs={name: spec.generated(f"text.mentions(words.{name})", ("spec", "words", name)) for name in lists},
    )


KIND = Kind(NAME, "Which word lists a text mentions", build)
