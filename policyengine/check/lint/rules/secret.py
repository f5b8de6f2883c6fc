"""Something that looks like a key or a password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.place import Place
from policyengine.source.secrets import mask, mask_line

_HARMLESS = re.compile(
    r"""^[^:]*:\s+["']?(?:[-+0-9._]+|true|false|null|~|\$\{?\w+\}?|\[.*|\{.*|[|>&*].*)["']?\s*(?:#.*)?$"""
)
"""A line whose value is a number, a reference to the environment or a collection, whatever its key is called."""

# Most lines hold nothing long enough to be a key and are not called like one; this sorts them out quickly.
_LIKELY = re.compile(r"[A-Za-z0-9+/_=.~-]{12}|://|BEGIN|(?i:key|secret|pass|credential|authorization|token)")


def check(context: Context) -> Iterator[Hit]:
    """Every line of every file, comments too. What was found is not repeated in the message."""
    for file, text in context.texts.items():
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            if not _LIKELY.search(line):
                continue
            covered = mask(line) if _HARMLESS.match(line) else mask_line(line)
            if covered == line:
                continue
            differing = [at for at, (one, two) in enumerate(zip(line, covered, strict=True)) if one != two]
            place = Place(file, number, differing[0] + 1, number, differing[-1] + 2)
            message = f"this looks like a key or a password ({differing[-1] - differing[0] + 1} characters)"
            yield Hit(place, message, "take it out of the file, and replace it where it was in use")


RULE = Rule(
    code="secret",
    title="A value looks like a secret",
    why="""\
Policies are reviewed, copied and logged by digest; a key in one is a key in every clone. Policies never need one:
providers' keys come from the environment of the agent.
""",
    bad="""\
constants: {api_key: "sk-live-0123456789abcdef0123"}
""",
    good="""\
constants: {api_key_variable: ACME_API_KEY}
""",
    check=check,
)
