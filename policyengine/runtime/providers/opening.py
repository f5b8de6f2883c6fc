"""Providers by the name that a person gives on the command line or in code."""

from __future__ import annotations

import os
from typing import Any

from policyengine.runtime.provider import Provider
from policyengine.runtime.providers.anthropic import Anthropic
from policyengine.runtime.providers.gemini import Gemini, GeminiOptions
from policyengine.runtime.providers.openai_by_model import OpenAIByModel
from policyengine.runtime.providers.openai_chat import ChatOptions, OpenAIChat
from policyengine.runtime.providers.openai_responses import OpenAIResponses
from policyengine.runtime.providers.script import Script
from policyengine.runtime.providers.scripted import Scripted
from policyengine.runtime.providers.streaming import Options
from policyengine.source.errors import InputError
from policyengine.source.nearest import did_you_mean

NAMES = ("openai", "openai-responses", "qwen", "anthropic", "gemini", "scripted")

DASHSCOPE_URL = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
DASHSCOPE_URL_VARIABLE = "DASHSCOPE_BASE_URL"
DASHSCOPE_KEY_VARIABLE = "DASHSCOPE_API_KEY"


def open_provider(name: str, *, script: str | os.PathLike[str] | None = None, **options: Any) -> Provider:
    """The provider called `name` (one of NAMES); `options` are those of its Options class.

    `scripted` needs `script`, the path of its file. Keys come from the provider's usual environment variable
    unless `api_key` is given. Raises InputError for another name or a missing script; the SDK is loaded, and
    missed, only when the first request is made.
    """
    if name == "scripted":
        if script is None:
            raise InputError("the provider scripted plays a script; give one with --script FILE")
        return Scripted(Script.read(script))
    if name == "openai":
        return OpenAIByModel(ChatOptions(**options))
    if name == "openai-responses":
        return OpenAIResponses(Options(**options))
    if name == "qwen":
        options["base_url"] = options.get("base_url") or os.environ.get(DASHSCOPE_URL_VARIABLE) or DASHSCOPE_URL
        options.setdefault("key_variable", DASHSCOPE_KEY_VARIABLE)
        return OpenAIChat(ChatOptions(**options), "qwen")
    if name == "anthropic":
        return Anthropic(Options(**options))
    if name == "gemini":
        return Gemini(GeminiOptions(**options))
    hint = did_you_mean(name, NAMES) or f"use one of {', '.join(NAMES)}"
    raise InputError(f"there is no provider `{name}`; {hint}")
