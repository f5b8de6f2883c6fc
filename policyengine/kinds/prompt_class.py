"""PromptClass: what a person's message asks for."""

from __future__ import annotations

from policyengine.kinds import plain
from policyengine.kinds.kind import Kind

KIND = Kind("PromptClass", "What a message asks for", plain.build, {"prompt_class": "action", "more_detail": False})
