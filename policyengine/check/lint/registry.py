"""Every lint rule there is, in one visible list. A new rule is one module, one line here and two cases in the tests."""

from __future__ import annotations

from policyengine.check.lint.rule import Rule
from policyengine.check.lint.rules import (
    allowlist_unknown_tool,
    bad_regex,
    breaker_limit,
    bundle,
    catch_all_section,
    config,
    cost,
    deprecated_field,
    deprecated_policy,
    duplicate_id,
    fast_window,
    ignore,
    ladder_collapse,
    ladder_order,
    limit,
    map_key,
    missing_capability,
    missing_owner,
    never_matches,
    never_true,
    no_fields,
    not_bool,
    null_operand,
    number_range,
    operands,
    optional_field,
    range_gap,
    range_overlap,
    regex_matches_everything,
    reserve_not_cap,
    schema,
    secret,
    self_hosting,
    shadowed_rule,
    syntax,
    tool_name_taken,
    turn_varying_text,
    unknown_field,
    unknown_function,
    unknown_in_test,
    unknown_model,
    unknown_name,
    unknown_tool,
    unknown_words,
    unpinned_model,
    unreachable_default,
    unreadable_claim,
    unused_derived,
    unused_ignore,
    veto_untested,
    word_blank,
    word_case,
    word_redundant,
    yaml,
)

RULES: tuple[Rule, ...] = tuple(
    module.RULE
    for module in (
        # Whether the file can be read and loaded.
        yaml,
        schema,
        bundle,
        duplicate_id,
        # Expressions.
        syntax,
        limit,
        cost,
        unknown_name,
        unknown_field,
        unknown_function,
        unknown_words,
        optional_field,
        no_fields,
        operands,
        not_bool,
        map_key,
        bad_regex,
        never_true,
        unused_derived,
        # Rules of tables.
        never_matches,
        null_operand,
        shadowed_rule,
        unreachable_default,
        range_gap,
        range_overlap,
        regex_matches_everything,
        unreadable_claim,
        # Ladders, breakers, compaction.
        ladder_order,
        ladder_collapse,
        self_hosting,
        reserve_not_cap,
        breaker_limit,
        number_range,
        # Models and routing.
        unknown_model,
        unpinned_model,
        fast_window,
        missing_capability,
        veto_untested,
        # Tools.
        unknown_tool,
        tool_name_taken,
        allowlist_unknown_tool,
        # Word lists.
        word_case,
        word_redundant,
        word_blank,
        # Summaries and system texts.
        catch_all_section,
        turn_varying_text,
        # Tests.
        unknown_in_test,
        # Any document.
        missing_owner,
        deprecated_policy,
        deprecated_field,
        secret,
        # Lint itself.
        config,
        ignore,
        unused_ignore,
    )
)

BY_CODE: dict[str, Rule] = {rule.code: rule for rule in RULES}
