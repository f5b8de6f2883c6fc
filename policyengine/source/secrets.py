"""Keeps what looks like a key or a password out of messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

MASK = "*"

# Shapes that providers give their keys, so that they can be found; and after them any long run of mixed
# letters and digits. A name like `claude-sonnet-4-5-20250929` has no such run, since `-` ends one.
# What may be looked at again from each place is bounded, so that a text of megabytes takes linear time.
_KNOWN = (
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{12,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"\bgh[pousr]_[A-Za-z0-9]{16,}",
    r"\bgithub_pat_[A-Za-z0-9_]{16,}",
    r"\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bAIza[A-Za-z0-9_-]{20,}",
    r"\bxox[a-z]-[A-Za-z0-9-]{10,}",
    r"\beyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_.-]{8,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*",
    r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
    r"(?i:(?<=bearer ))[A-Za-z0-9._~+/=-]{12,}",
)
_RUN = r"(?<![A-Za-z0-9])(?=[A-Za-z+/]{0,128}[0-9])(?=[0-9+/]{0,128}[A-Za-z])[A-Za-z0-9+/]{24,}={0,2}"
_SECRET = re.compile("|".join((*_KNOWN, f"(?P<run>{_RUN})")))
_SHAPE = re.compile("|".join(_KNOWN))

# A path is such a run too. In base64 capitals, small letters and digits take turns all the time; in the names of a
# path they seldom do.
_LONG_NAME = re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]{0,128}[0-9])(?=[0-9]{0,128}[A-Za-z])[A-Za-z0-9]{24,}={0,2}")
_TURN = re.compile(
    r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[0-9])[A-Za-z]|(?<=[A-Z][A-Z])[a-z]|(?<=[a-z0-9][A-Z])[a-z]"
)
_TURNS, _TURNS_BEHIND_SLASH = 0.25, 0.4
"""How many of the characters of a key, at least, are of another sort than the one before; and where it begins with a
slash, as few keys and many paths do."""
_SHORTEST = 24
_NAME = re.compile(r"[A-Za-z0-9+]{24}")
_TURN = re.compile(
    r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[0-9])[A-Za-z]|(?<=[A-Z][A-Z])[a-z]|(?<=[a-z0-9][A-Z])[a-z]"
)
_TURNS, _TURNS_BEHIND_SLASH = 0.25, 0.4
"""How many of the characters of a key, at least, are of another sort than the one before; and where it begins with a
slash, as few keys and many paths do."""
_NAME = re.compile(
    r"(?:^|[_\-.])(?:api[_-]?keys?|secrets?|passwords?|passwd|credentials?|authorization|private[_-]?key"
    r"|(?:access|auth|bearer|refresh|id)[_-]?tokens?)$",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(r"^(\s*(?:-\s+)?[\"']?([A-Za-z0-9_.\-]+)[\"']?\s*:\s+)(\S.*)$")


def looks_secret(text: str) -> bool:
    """Whether `text` holds something that looks like a key or a password."""
    return next(_found(text), None) is not None


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Where something in a text looks secret."""
    done = 0
    for found in _SECRET.finditer(text):
        if found.lastgroup != "run" or not _is_path(found.group()):
            yield found.span()
            continue
        # A name inside of the path may look like a key by itself, and a known shape may end behind the path.
        at = found.start()
        while 0 <= at < found.end():
            inside = _SHAPE.match(text, at) or _LONG_NAME.match(text, at) if at >= done else None
            if inside is not None:
                yield inside.span()
                done = inside.end()
            at = text.find("/", at, found.end()) + 1 or -1


def _is_path(run: str) -> bool:
    names = _LONG_NAME.sub("", run)
    if "/" not in run or "+" in run or len(names) < _SHORTEST:
        return False
    least = _TURNS_BEHIND_SLASH if run.startswith("/") else _TURNS
    return len(_TURN.findall(names)) < least * len(names)


def names_secret(name: str) -> bool:
    """Whether a field of this name is expected to hold a key or a password."""
    return _NAME.search(name) is not None


def mask(text: str) -> str:
    """`text` with each part that looks secret covered by as many `*`, so that columns stay."""
    parts: list[str] = []
    done = 0
    for start, end in _found(text):
        if start >= done:
            parts += [text[done:start], MASK * (end - start)]
            done = end
    return "".join([*parts, text[done:]]) if done else text


def masked(value: Any, name: str = "") -> Any:
    """Plain data with all that looks secret covered, and every text under a key that names a secret."""
    if isinstance(value, str):
        return MASK * len(value) if names_secret(name) else mask(value)
    if isinstance(value, Mapping):
        return {key: masked(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, name) for item in value]
    return value


def brief(text: str, most: int = 60) -> str:
    """A key or a name as a message shows it: masked, and cut behind `most` characters."""
    text = mask(text)
    return text if len(text) <= most else text[: most - 3] + "..."


def mask_line(line: str) -> str:
    """A line of YAML or JSON, masked; the whole value where the key names a secret."""
    found = _ASSIGNMENT.match(line)
    if found and names_secret(found[2]):
        return found[1] + MASK * len(found[3])
    return mask(line)
