"""The default routing policy: inputs, the same rules written by hand, and in other engines' words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import re2

import policyengine
from policyengine.cel.functions import matcher
from policyengine.rules.table import Table

ROOT = Path(__file__).parents[2]
SHORT = "show me what the README of this project says about its tests"
PROMPTS = {"60": SHORT, "10 000": ((SHORT + ". ") * 170)[:10_000]}

Decide = Callable[[Mapping[str, Any]], Any]


def table() -> Table:
    """The policy of the default bundle, as the core sees it."""
    return policyengine.load(str(ROOT / "policies")).policy("routing").table


def example() -> dict[str, Any]:
    """An input for which every rule is looked at."""
    schema = json.loads((ROOT / "schemas" / "inputs" / "routing.schema.json").read_text("utf-8"))
    found: dict[str, Any] = {**schema["examples"][0], "prompt": SHORT}
    return found


def by_hand(policy: Table) -> Decide:
    """The rules as a careful person would write them: compiled patterns, early returns, each text prepared once.

    The patterns are RE2's through its ordinary interface, which is faster here than the standard library's `re`.
    """

    def searcher(words: str) -> Callable[[str], Any]:
        options = re2.Options()
        options.never_capture = True
        options.max_mem = 32 << 20
        search: Callable[[str], Any] = re2.compile(matcher(tuple(policy.words[words])).pattern, options).search
        return search

    action, analysis, english, foreign = map(searcher, ("action", "analysis", "english", "foreign"))
    han = re2.compile(r"\p{Han}").search
    others = re2.compile(
        r"[\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Thai}\p{Devanagari}\p{Greek}]"
    ).search
    changing = frozenset(("edit", "delete", "move", "execute"))
    calls, tokens = policy.constants["cross_result_calls"], policy.constants["max_tool_output_tokens"]

    def veto(reason: str) -> dict[str, Any]:
        return {"veto_reason": reason, "model": None, "decision": "primary", "reason": reason}

    def plain(decision: str, reason: str, model: str | None = None) -> dict[str, Any]:
        return {"veto_reason": None, "model": model, "decision": decision, "reason": reason}

    def decide(input: Mapping[str, Any]) -> dict[str, Any]:
        model = input["explicit_model"]
        if model is not None:
            return plain("primary", "explicit_model", model)
        if input["turn_kind"] != "interactive":
            return plain("primary", "out_of_scope")
        strategy = input["strategy"]
        if strategy == "always_primary":
            return plain("primary", "always_primary")
        if strategy == "always_fast":
            return plain("fast", "always_fast")
        if not input["activated"]:
            return plain("primary", "not_activated")
        prompt = input["prompt"]
        lower = prompt.lower()
        if action(lower):
            return veto("further_action")
        batch = input["batch"]
        if any(call["kind"] in changing for call in batch):
            return veto("write_tool")
        if input["unresolved_errors"] > 0 or any(call["error"] for call in batch):
            return veto("unresolved_error")
        if analysis(lower):
            return veto("deep_reasoning")
        if input["distinct_calls"] >= calls:
            return veto("cross_result")
        if input["tool_output_tokens"] > tokens:
            return veto("output_tokens")
        limit = input["fast_auto"]
        if limit is None or input["history_tokens"] >= limit:
            return veto("would_compress")
        if not (han(prompt) or english(lower)) or others(prompt) or foreign(lower):
            return veto("lang_unsupported")
        if input["compacted_or_cleared"]:
            return veto("compact_or_clear")
        return plain("fast", "fast")

    return decide


def pattern_of(policy: Table, words: str, unicode_classes: bool) -> str:
    """A word list as one pattern, for engines that have none; with ranges where classes such as `\\p{Latin}` lack."""
    pattern = "(?i)" + matcher(tuple(policy.words[words])).pattern
    return pattern if unicode_classes else pattern.replace(r"\p{Latin}", "A-Za-zÀ-ɏ")


def plain_conditions(policy: Table, unicode_classes: bool = True) -> list[tuple[str, str | None]]:
    """The rules' ids and conditions in standard CEL: word lists as patterns, constants as literals."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    found: list[tuple[str, str | None]] = []
    for rule in policy.rules:
        text = rule.when.text if rule.when else None
        if text is not None:
            text = re.sub(
                r"\.mentions\(words\.(\w+)\)",
                lambda match: f".matches({quoted(pattern_of(policy, match[1], unicode_classes))})",
                text,
            )
            for name, value in policy.constants.items():
                text = re.sub(rf"\b{name}\b", lambda _, value=value: json.dumps(value), text)
        found.append((rule.id, text))
    return found
