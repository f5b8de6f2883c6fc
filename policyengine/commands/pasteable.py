"""Commands that a person copies into a shell: plain POSIX, so that any shell takes them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any


def eval_command(policy: str, bundle: str | None, input: Mapping[str, Any]) -> str:
    """The `policyengine eval` that decides this input; `bundle` as the person named it, None for none."""
    where = f" --bundle {shlex.quote(bundle)}" if bundle is not None else ""
    shown = shlex.quote(json.dumps(input, ensure_ascii=False))
    return f"printf %s {shown} | policyengine eval {shlex.quote(policy)}{where} --input -"
