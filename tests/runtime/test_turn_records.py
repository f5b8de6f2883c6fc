"""The decision records of a turn: all of them, as the schema has them, with what metrics ask."""

from __future__ import annotations

import json

import jsonschema
from runtime_kit import LOOK, Script, calls, fast_session, fault, says, turn_of

from policyengine.runtime.provider import TextDelta
from policyengine.source.schema import load_schema


def test_every_decision_has_a_record_that_fits_the_schema_and_holds_no_prompt() -> None:
    script = Script([calls(("c1", "look", {"what": "SECRETARG"})), says("fine")])
    one, log = fast_session(script)
    found = turn_of(one, "show me the SECRETPROMPT")
    kinds = {record["kind"] for record in log.records}
    wanted = {
        "TokenEstimate", "Ladder", "Breaker", "CompactionGate", "Tips", "SendLimits", "SummaryRound", "HistoryRepair",
        "PromptClass", "Directives", "Routing", "ToolLimits", "Presentation",
    }  # fmt: skip
    assert wanted <= kinds
    schema = load_schema("record")
    for record in log.records:
        jsonschema.validate(json.loads(json.dumps(record)), schema)
        assert record["source"] == "runtime"
        assert record["session_id"] == one.id
    everything = json.dumps(log.records) + repr(found) + repr(one.usage)
    assert "SECRET" not in everything


def test_records_tell_what_metrics_ask_of_rounds() -> None:
    script = Script(
        [calls(LOOK), [TextDelta("half"), fault("connection")], says("fine", 150, 7), calls(LOOK), says("ok")]
    )
    one, log = fast_session(script)
    turn_of(one)
    turn_of(one, "show me more details")
    ladders = [r for r in log.records if r["kind"] == "Ladder"]
    assert [(r["response"], r["model_actual"], r["half_written_texts"]) for r in ladders[:2]] == [
        ("tool_call", "big", 0),
        ("text", "big", 0),
    ]
    assert (ladders[1]["model_requested"], ladders[1]["tier_actual"]) == ("small", "primary")
    assert (ladders[1]["prompt_tokens"], ladders[1]["output_tokens"]) == (150, 7)
    asked = [(r.get("more_detail"), r.get("previous_decision")) for r in log.records if r["kind"] == "PromptClass"]
    assert (True, "fast") in asked
    assert [previous for _, previous in asked].count("fast") == 1
