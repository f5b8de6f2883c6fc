"""Every policy kind there is, in one visible list. A new kind is one module, one line here and its schemas."""

from __future__ import annotations

from policyengine.kinds import (
    adapter_settings,
    breaker,
    compaction_call,
    compaction_gate,
    compaction_result,
    directives,
    history_repair,
    kill_switch,
    ladder,
    logging,
    manifest,
    masking,
    model_catalogue,
    presentation,
    prevalidation,
    prompt_class,
    retired_settings,
    retry,
    routing,
    send_limits,
    summary_plan,
    summary_round,
    table,
    tips,
    token_estimate,
    tool_catalogue,
    tool_limits,
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
        send_limits,
        tool_limits,
        retry,
        summary_round,
        summary_plan,
        presentation,
        prevalidation,
        kill_switch,
        adapter_settings,
        masking,
        logging,
        table,
    )
}
