"""What the adapter adds to a stream of the bare official SDK, over one local server: `python -m tests.bench.adapter`.

The server runs in a process of its own. Streams of both kinds alternate, so that a busy machine meets both; figures
are medians. A decision log is on, as in use. Chunks come as fast as they are read, so that the time for one is the
processor's; to the first token it is the clock's.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHUNKS = 400
RUNS = 40
PROMPT = "show me what the README says"
KEY = "sk-bench"
MODELS = {"openai": "gpt-6-sol", "anthropic": "claude-haiku-5-5", "gemini": "gemini-2.5-flash"}
MODULES = {"openai": "openai", "anthropic": "anthropic", "gemini": "google.genai"}

Texts = Callable[[], AsyncIterator[str]]


def rows(runs: int = RUNS, names: Iterable[str] = MODELS) -> list[dict[str, object]]:
    """Two measurements an SDK: per chunk and to the first token."""
    found: list[dict[str, object]] = []
    for name in names:
        try:
            importlib.import_module(MODULES[name])
        except ImportError:
            found.append({"name": f"adapter over the SDK of {name}", "skipped": "the SDK is not installed"})
            continue
        found += asyncio.run(_measured(name, runs))
    return found


async def _measured(name: str, runs: int) -> list[dict[str, object]]:
    from policyengine.kinds.bundle import load
    from policyengine.log.record import Recorder
    from policyengine.log.settings import open_sink
    from policyengine.log.writer import Log
    from policyengine.runtime.adapter import Adapter
    from policyengine.runtime.events import TextChunk
    from tests.runtime.providers.support import provider

    command = [sys.executable, "-m", "tests.bench.adapter", name]
    with (
        tempfile.TemporaryDirectory(prefix="policyengine-bench-") as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server,
    ):
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            bundle = load()
            log = Log(Recorder(bundle, source="runtime"), [open_sink(Path(folder) / "log.jsonl")], at_exit=False)
            adapter = Adapter(bundle, {name: provider(name, url)}, log=log)

            async def ours() -> AsyncIterator[str]:
                async for event in adapter.session(MODELS[name]).send(PROMPT):
                    if isinstance(event, TextChunk):
                        yield event.text

            bare, close = _bare(name, url)
            figures: dict[str, list[tuple[float, float]]] = {"bare": [], "ours": []}
            for run in range(runs + 3):
                for which, texts in (("bare", bare), ("ours", ours)):
                    gc.collect()
                    first, rest = await _timed(texts)
                    if run >= 3:
                        figures[which].append((first, rest))
            await adapter.close()
            log.close()
            await close()
        finally:
            server.kill()
    first, chunk = (
        {which: statistics.median(run[i] for run in all_) for which, all_ in figures.items()} for i in (0, 1)
    )
    return [
        _row(f"adapter, {name}: added per chunk", chunk, 30e-6),
        _row(f"adapter, {name}: added to the first token", first, 2e-3),
    ]


async def _timed(texts: Texts) -> tuple[float, float]:
    """Seconds to the first text, and processor seconds from there to the last for each text."""
    begun = time.perf_counter()
    first = spent = 0.0
    count = 0
    async for _ in texts():
        if count == 0:
            first, spent = time.perf_counter(), time.thread_time()
        count += 1
        if count == CHUNKS:
            spent = time.thread_time() - spent
    assert count == CHUNKS, count
    return first - begun, spent / (count - 1)


def _bare(name: str, url: str) -> tuple[Texts, Callable[[], Any]]:
    """The SDK as its own pages show it, and what closes its client."""
    model, messages = MODELS[name], [{"role": "user", "content": PROMPT}]
    client: Any
    if name == "openai":
        import openai

        client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)

        async def chat() -> AsyncIterator[str]:
            options = {"include_usage": True}
            stream = await client.chat.completions.create(
                model=model, messages=messages, stream=True, stream_options=options
            )
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    yield chunk.choices[0].delta.content

        return chat, client.close
    if name == "anthropic":
        import anthropic

        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)

        async def claude() -> AsyncIterator[str]:
            stream = await client.messages.create(model=model, messages=messages, max_tokens=8000, stream=True)
            async for event in stream:
                if event.type == "content_block_delta" and event.delta.type == "text_delta":
                    yield event.delta.text

        return claude, client.close
    from google import genai

    client = genai.Client(api_key=KEY, http_options=genai.types.HttpOptions(base_url=url, api_version="v1beta"))

    async def gemini() -> AsyncIterator[str]:
        async for chunk in await client.aio.models.generate_content_stream(model=model, contents=PROMPT):
            if chunk.text:
                yield chunk.text

    return gemini, client.aio.aclose


def _row(name: str, seconds: dict[str, float], goal: float) -> dict[str, object]:
    added = seconds["ours"] - seconds["bare"]
    return {
        "name": name,
        "value": round(added * 1e6, 1),
        "unit": "µs",
        "ratio": round(seconds["ours"] / seconds["bare"], 3),
        "against": f"the bare SDK ({seconds['bare'] * 1e6:.0f} µs); the ratio is of the whole",
        "goal": f"{goal * 1e6:.0f} µs added",
    }


async def _serve(name: str) -> None:
    """Every request is answered by the same stream, each chunk a piece of its own."""
    from tests.runtime.peers.dialects import DIALECTS
    from tests.runtime.peers.server import Peer, answer

    dialect = DIALECTS[name]
    texts = (dialect.text_event(f"word {number} ") for number in range(CHUNKS))
    async with Peer([answer(*dialect.opening, *texts, *dialect.ending)]) as peer:
        print(peer.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(_serve(sys.argv[1]))
    for one in rows():
        print(one)
