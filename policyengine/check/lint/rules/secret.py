"""Something that looks like a key or a password."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyengine.check.lint.context import Context
from policyengine.check.lint.rule import Hit, Rule
from policyengine.source.place import Place
from policyengine.source.secrets import mask, mask_line
from policyengine.source.text import Lines

_HARMLESS = re.compile(
    r"""^[^:]*:\s+["']?(?:[-+0-9._]+|true|false|null|~|\$\{?\w+\}?|\[.*|\{.*|[|>&*].*)["']?\s*(?:#.*)?$"""
)
"""A line whose value is a number, a reference to the environment or a collection, whatever its key is called."""

# What every key, and every line called like one, has in common. RE2 looks through a whole bundle for it in a
# millisecond or two; the exact patterns, which take fifty times that, then see the few lines it found.
_LIKELY = (
    r"[sprk]k[-_]|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|AIza|xox|eyJ|BEGIN|://|(?i:bearer) |[A-Za-z0-9+/]{24}"
    r"|(?i:key|secret|password|passwd|credential|authorization|token)s?[\"']?[ \t]*:"
)


def check(context: Context) -> Iterator[Hit]:
    """Every line of every file, comments too. What was found is not repeated in the message."""
    for file, text in context.texts.items():
        numbers = _likely_lines(text)
        lines = re.split(r"\r\n|\r|\n", text) if numbers else []
        for number in numbers:
            line = lines[number - 1]
            covered = mask(line) if _HARMLESS.match(line) else mask_line(line)
            if covered == line:
                continue
            differing = [at for at, (one, two) in enumerate(zip(line, covered, strict=True)) if one != two]
            place = Place(file, number, differing[0] + 1, number, differing[-1] + 2)
            message = f"this looks like a key or a password ({differing[-1] - differing[0] + 1} characters)"
            yield Hit(place, message, "take it out of the file, and replace it where it was in use")


def _likely_lines(text: str) -> list[int]:
    """The numbers of the lines that are worth a closer look."""
    import re2

    data = text.encode()
    starts = [found.start() for found in re2.finditer(_LIKELY, data)]
    if not starts:
        return []
    lines = Lines(text, "")
    offsets = starts if len(data) == len(text) else [len(data[:start].decode()) for start in starts]
    return sorted({lines.position(offset)[0] for offset in offsets})


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
