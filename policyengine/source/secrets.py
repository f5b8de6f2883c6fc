"""Keeps what looks like a key or a password out of messages."""

from __future__ import annotations

import re

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
    r"(?<![A-Za-z0-9])(?=[A-Za-z+/]{0,128}[0-9])(?=[0-9+/]{0,128}[A-Za-z])[A-Za-z0-9+/]{24,}={0,2}",
)
_SECRET = re.compile("|".join(_KNOWN))
_NAME = re.compile(
    r"(?:^|[_\-.])(?:api[_-]?keys?|secrets?|passwords?|passwd|credentials?|authorization|private[_-]?key"
    r"|(?:access|auth|bearer|refresh|id)[_-]?tokens?)$",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(r"^(\s*(?:-\s+)?[\"']?([A-Za-z0-9_.\-]+)[\"']?\s*:\s+)(\S.*)$")


def looks_secret(text: str) -> bool:
    """Whether `text` holds something that looks like a key or a password."""
    return _SECRET.search(text) is not None


def names_secret(name: str) -> bool:
    """Whether a field of this name is expected to hold a key or a password."""
    return _NAME.search(name) is not None


def mask(text: str) -> str:
    """`text` with each part that looks secret covered by as many `*`, so that columns stay."""
    return _SECRET.sub(lambda found: MASK * len(found.group()), text)


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
