"""Every policy kind there is, in one visible list. A new kind is one module, one line here and its schemas."""

from __future__ import annotations

from policyengine.kinds import (
    breaker,
    compaction_call,
    compaction_gate,
    compaction_result,
    directives,
    history_repair,
    ladder,
    manifest,
    model_catalogue,
    prompt_class,
    retired_settings,
    routing,
    table,
    tips,
    token_estimate,
    tool_catalogue,
    word_lists,
)
from policyengine.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (
        manifest,
        word_lists,
        ladder,
        token_estimate,
        tips,
        breaker,
        compaction_gate,
        compaction_call,
        compaction_result,
        routing,
        prompt_class,
        directives,
        history_repair,
        model_catalogue,
        tool_catalogue,
        retired_settings,
        table,
    )
}
