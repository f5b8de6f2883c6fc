"""The engines: each makes a function from an input to the id of the rule that decides.

`python -m tests.bench.engines NAME` measures one in a process of its own and prints JSON: cel-python's parser is one
per process, and no engine should find the other's caches or recursion limit.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from policyengine.cel.functions import matcher
from policyengine.rules.table import Table
from tests.bench.routing import PROMPTS, Decide, by_hand, example, plain_conditions, table

Make = Callable[[Table], Decide]


def hand(policy: Table) -> Decide:
    decide = by_hand(policy)
    return lambda input: decide(input)["reason"]


def ours(policy: Table) -> Decide:
    from policyengine.rules.compile import compile_table

    outcome = compile_table(policy).outcome
    return lambda input: outcome(input)["reason"]


def traced(policy: Table) -> Decide:
    from policyengine.rules.compile import compile_table

    decide = compile_table(policy).decide
    return lambda input: decide(input, trace=True).outcome["reason"]


def _first(conditions: list[tuple[str, Callable[[Any], Any] | None]], prepare: Callable[[Any], Any]) -> Decide:
    def decide(input: Mapping[str, Any]) -> str:
        prepared = prepare(input)
        for name, holds in conditions:
            if holds is None or holds(prepared):
                return name
        return "none"

    return decide


def _cel_python(policy: Table, runner: Any) -> Decide:
    import celpy

    environment = celpy.Environment(runner_class=runner)
    conditions = [
        (name, None if text is None else environment.program(environment.compile(_for_cel_python(text))).evaluate)
        for name, text in plain_conditions(policy)
    ]
    return _first(conditions, lambda input: {key: celpy.json_to_cel(value) for key, value in input.items()})


def _for_cel_python(text: str) -> str:
    """Comparing a number with null is an error there."""
    return re.sub(r"(\w+) ([!=]=) null", r"type(\1) \2 null_type", text)


def cel_python(policy: Table) -> Decide:
    import celpy

    return _cel_python(policy, celpy.InterpretedRunner)


def cel_python_transpiled(policy: Table) -> Decide:
    import celpy

    return _cel_python(policy, celpy.CompiledRunner)


def cel_expr_python(policy: Table) -> Decide:
    from cel_expr_python import cel

    variables = dict.fromkeys(policy.input_schema["properties"], cel.Type.DYN)
    environment = cel.NewEnv(variables=variables)
    conditions: list[tuple[str, Callable[[Any], Any] | None]] = []
    for name, text in plain_conditions(policy):
        compiled = None if text is None else environment.compile(text)
        conditions.append((name, None if compiled is None else lambda it, one=compiled: one.eval(it).plain_value()))
    return _first(conditions, environment.Activation)


def common_expression_language(policy: Table) -> Decide:
    import cel

    conditions = [
        (name, None if text is None else cel.compile(text).execute) for name, text in plain_conditions(policy)
    ]
    return _first(conditions, cel.Context)


def regorus(policy: Table) -> Decide:
    """The rules as one Rego rule with an else chain, its inputs handed over as JSON."""
    import regorus

    lists = ("action", "analysis", "english", "foreign")
    patterns = {name: f"regex.match(`{text}`, input.prompt)" for name, text in _patterns(policy, True).items()}
    patterns |= {name: f"mentions_{name}" for name in lists}
    batch = "some call in input.batch; call"
    bodies = [
        ("explicit_model", ["input.explicit_model != null"]),
        ("out_of_scope", ['input.turn_kind != "interactive"']),
        ("always_primary", ['input.strategy == "always_primary"']),
        ("always_fast", ['input.strategy == "always_fast"']),
        ("not_activated", ["not input.activated"]),
        ("further_action", [patterns["action"]]),
        ("write_tool", [f'{batch}.kind in {{"edit", "delete", "move", "execute"}}']),
        ("unresolved_error", ["input.unresolved_errors > 0", f"{batch}.error"]),
        ("deep_reasoning", [patterns["analysis"]]),
        ("cross_result", [f"input.distinct_calls >= {policy.constants['cross_result_calls']}"]),
        ("output_tokens", [f"input.tool_output_tokens > {policy.constants['max_tool_output_tokens']}"]),
        ("would_compress", ["input.fast_auto == null", "input.history_tokens >= input.fast_auto"]),
        (
            "lang_unsupported",
            [f"not {patterns['han']}; not {patterns['english']}", patterns["others"], patterns["foreign"]],
        ),
        ("compact_or_clear", ["input.compacted_or_cleared"]),
    ]
    flat = [(name, body) for name, alternatives in bodies for body in alternatives]
    text = "package routing\nimport rego.v1\nprompt := lower(input.prompt)\n"
    for name in lists:
        text += f"mentions_{name} if {{ some pattern in data.{name}; regex.match(pattern, prompt) }}\n"
    text += " else ".join(
        f'{"reason " if at == 0 else ""}:= "{name}" if {{ {body} }}' for at, (name, body) in enumerate(flat)
    )
    engine = regorus.Engine()
    engine.set_policy_length_config(max_col=100_000, max_file_bytes=10_000_000, max_lines=100_000)
    # its patterns have a bound on their compiled size: a word list becomes several of them
    engine.add_data({name: _pieces(policy.words[name]) for name in lists})
    engine.add_policy("routing.rego", text + '\ndefault reason := "fast"\n')

    def decide(input: Mapping[str, Any]) -> Any:
        engine.set_input(input)
        return engine.eval_rule("data.routing.reason")

    return decide


def _pieces(words: Sequence[str], size: int = 60) -> list[str]:
    parts = [tuple(words[at : at + size]) for at in range(0, len(words), size)]
    return [matcher(part).pattern.replace(r"\p{Latin}", "a-zà-ÿ") for part in parts]


def _patterns(policy: Table, unicode_classes: bool) -> dict[str, str]:
    from tests.bench.routing import pattern_of

    found = {name: pattern_of(policy, name, unicode_classes) for name in ("action", "analysis", "english", "foreign")}
    if unicode_classes:
        found["han"] = r"\p{Han}"
        found["others"] = (
            r"[\p{Hiragana}\p{Katakana}\p{Hangul}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Thai}\p{Devanagari}\p{Greek}]"
        )
    else:
        found["han"] = "[一-鿿㐀-䶿]"
        found["others"] = "[぀-ヿ가-힯Ѐ-ӿ؀-ۿ֐-׿฀-๿ऀ-ॿͰ-Ͽ]"
    return found


def rule_engine(policy: Table) -> Decide:
    import rule_engine as engine

    patterns = {name: json.dumps(text, ensure_ascii=False) for name, text in _patterns(policy, False).items()}
    texts = [
        ("explicit_model", "explicit_model != null"),
        ("out_of_scope", 'turn_kind != "interactive"'),
        ("always_primary", 'strategy == "always_primary"'),
        ("always_fast", 'strategy == "always_fast"'),
        ("not_activated", "not activated"),
        ("further_action", f"prompt =~~ {patterns['action']}"),
        ("write_tool", '[c for c in batch if c["kind"] in ["edit", "delete", "move", "execute"]].length > 0'),
        ("unresolved_error", 'unresolved_errors > 0 or [c for c in batch if c["error"]].length > 0'),
        ("deep_reasoning", f"prompt =~~ {patterns['analysis']}"),
        ("cross_result", f"distinct_calls >= {policy.constants['cross_result_calls']}"),
        ("output_tokens", f"tool_output_tokens > {policy.constants['max_tool_output_tokens']}"),
        ("would_compress", "fast_auto == null or history_tokens >= fast_auto"),
        (
            "lang_unsupported",
            f"not (prompt =~~ {patterns['han']} or prompt =~~ {patterns['english']})"
            f" or prompt =~~ {patterns['others']} or prompt =~~ {patterns['foreign']}",
        ),
        ("compact_or_clear", "compacted_or_cleared"),
    ]
    conditions: list[tuple[str, Callable[[Any], Any] | None]] = [
        (name, engine.Rule(text).matches) for name, text in texts
    ]
    return _first([*conditions, ("fast", None)], lambda input: input)


def zen_engine(policy: Table) -> Decide:
    """One decision table, first hit, each cell a whole condition."""
    import zen

    patterns = {name: json.dumps(text, ensure_ascii=False) for name, text in _patterns(policy, True).items()}
    texts = [
        ("explicit_model", "explicit_model != null"),
        ("out_of_scope", 'turn_kind != "interactive"'),
        ("always_primary", 'strategy == "always_primary"'),
        ("always_fast", 'strategy == "always_fast"'),
        ("not_activated", "not activated"),
        ("further_action", f"matches(prompt, {patterns['action']})"),
        ("write_tool", 'some(batch, #.kind in ["edit", "delete", "move", "execute"])'),
        ("unresolved_error", "unresolved_errors > 0 or some(batch, #.error)"),
        ("deep_reasoning", f"matches(prompt, {patterns['analysis']})"),
        ("cross_result", f"distinct_calls >= {policy.constants['cross_result_calls']}"),
        ("output_tokens", f"tool_output_tokens > {policy.constants['max_tool_output_tokens']}"),
        ("would_compress", "fast_auto == null or history_tokens >= fast_auto"),
        (
            "lang_unsupported",
            f"not (matches(prompt, {patterns['han']}) or matches(prompt, {patterns['english']}))"
            f" or matches(prompt, {patterns['others']}) or matches(prompt, {patterns['foreign']})",
        ),
        ("compact_or_clear", "compacted_or_cleared"),
        ("fast", ""),
    ]
    rows = [{"_id": name, "when": text, "out": f'"{name}"'} for name, text in texts]
    node = {
        "id": "t",
        "name": "t",
        "type": "decisionTableNode",
        "content": {
            "hitPolicy": "first",
            "inputs": [{"id": "when", "name": "when"}],
            "outputs": [{"id": "out", "name": "reason", "field": "reason"}],
            "rules": rows,
        },
    }
    graph = {
        "nodes": [{"id": "i", "name": "i", "type": "inputNode"}, node, {"id": "o", "name": "o", "type": "outputNode"}],
        "edges": [
            {"id": "1", "sourceId": "i", "targetId": "t", "type": "edge"},
            {"id": "2", "sourceId": "t", "targetId": "o", "type": "edge"},
        ],
    }
    decision = zen.ZenEngine().create_decision(json.dumps(graph))
    return lambda input: decision.evaluate(dict(input))["result"]["reason"]


ENGINES: dict[str, Make] = {
    "by hand": hand,
    "policyengine": ours,
    "policyengine, traced": traced,
    "cel-python, interpreted": cel_python,
    "cel-python, transpiled": cel_python_transpiled,
    "cel-expr-python": cel_expr_python,
    "common-expression-language": common_expression_language,
    "gordon-to-regorus": regorus,
    "rule-engine": rule_engine,
    "zen-engine": zen_engine,
}


def per_call(work: Callable[[], Any], seconds: float = 0.25) -> float:
    """Microseconds of processor time of one call: the best of several runs."""
    work()
    begun = time.process_time()
    work()
    count = max(1, int(seconds / 4 / max(time.process_time() - begun, 1e-7)))
    best = float("inf")
    for _ in range(4):
        begun = time.process_time()
        for _ in range(count):
            work()
        best = min(best, (time.process_time() - begun) / count)
    return best * 1e6


def main(name: str) -> None:
    """Measure one engine and print JSON: microseconds and the answer, by prompt."""
    try:
        decide = ENGINES[name](table())
    except ImportError:
        print(json.dumps({"missing": True}))
        return
    found = {}
    for length, prompt in PROMPTS.items():
        input = {**example(), "prompt": prompt}
        found[length] = {"us": per_call(partial(decide, input)), "answer": str(decide(input))}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
