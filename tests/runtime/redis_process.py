"""One process of the shared-breaker test: compactions that fail, through the Redis breaker of a team.

Arguments: URL, number of failing turns. Prints, as JSON, the calls of the summarizer and the last gate's reason.
"""

from __future__ import annotations

import asyncio
import json
import sys

from runtime_kit import Script, adapter, events, fault, quick, says

from policyengine.runtime.history import History
from policyengine.runtime.messages import Message, Text
from policyengine.runtime.provider import Request
from policyengine.runtime.state.redis import RedisStore


def is_summary(request: Request) -> bool:
    last = request.messages[-1].blocks[-1]
    return isinstance(last, Text) and last.text.startswith("Summarise the conversation")


async def main(url: str, turns: int) -> None:
    script = Script([lambda r: [fault("auth", 401)] if is_summary(r) else says("ok", 170_000, 1)])
    made, log = adapter(script, bundle=quick(), store=RedisStore(url, timeout_s=5), scope="team", shared_breaker=True)
    one = made.session("big", window=200_000)
    core = one._core
    texts = (Message("user", (Text("x" * 400_000),), "a"), Message("assistant", (Text("x" * 280_000),), "a"))
    core.history, core.last_prompt_tokens, core.counted = History(texts), 170_000, 2
    for turn in range(turns):
        await events(one.send(f"go on {turn}"))
    gates = [record["outcome"]["reason"] for record in log.records if record["kind"] == "CompactionGate"]
    asked = sum(is_summary(request) for request in script.requests)
    await made.close()
    print(json.dumps({"summaries": asked, "gates": gates, "failures": core.state.consecutive_failures}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
