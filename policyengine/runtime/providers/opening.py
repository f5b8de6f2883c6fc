"""Providers by the name that a person gives on the command line or in code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

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


_OPTIONS: Mapping[str, type[Options]] = {
    "openai": ChatOptions,
    "openai-responses": Options,
    "qwen": ChatOptions,
    "anthropic": Options,
    "gemini": GeminiOptions,
}


def open_provider(name: str, *, script: str | os.PathLike[str] | None = None, **options: Any) -> Provider:
    """The provider called `name`: openai, openai-responses, qwen, anthropic, gemini or scripted.

    - `api_key`: without it the key comes from the provider's usual environment variable.
    - `base_url`: another server that speaks the provider's API.
    - `timeout_s`: a bound on connecting and on every wait for bytes; None leaves all waiting to the policies.
    - `gap` (`tolerate` or `inject_empty_assistant`) and `filler`: what is done where user and assistant do not
      alternate, and the text of a message that nobody wrote.
    - openai and qwen: `cap_field` (`max_tokens` or `max_completion_tokens`), the name of the output cap on the wire;
      `done_marker` false for servers that end their streams without `[DONE]`; `plain_text` for servers that take
      nothing but strings as contents; `key_variable`, another environment variable for the key.
    - gemini: `unsigned_call_signature`, what stands in for the signature of calls that another model made.
    - scripted: `script`, the path of its file, which it needs.

    Raises `InputError` for another name, an option that the provider does not have, and a missing script;
    `MissingExtraError` where the provider's SDK is not installed. The SDK is imported at the first request.
    """
    if name == "scripted":
        _refuse_unknown(name, options, ("script",))
        if script is None:
            raise InputError("the provider scripted plays a script; give one with --script FILE")
        return Scripted(Script.read(script))
    kind = _OPTIONS.get(name)
    if kind is None:
        hint = did_you_mean(str(name), NAMES) or f"use one of {', '.join(NAMES)}"
        raise InputError(f"there is no provider `{name}`; {hint}")
    if script is not None:
        raise InputError(f"script is for the provider scripted, not for {name}")
    if name == "qwen":
        options["base_url"] = options.get("base_url") or os.environ.get(DASHSCOPE_URL_VARIABLE) or DASHSCOPE_URL
        options.setdefault("key_variable", DASHSCOPE_KEY_VARIABLE)
    made: Any = _checked(name, kind, options)
    if name == "openai":
        return OpenAIByModel(made)
    if name == "openai-responses":
        return OpenAIResponses(made)
    if name == "qwen":
        return OpenAIChat(made, "qwen")
    return Anthropic(made) if name == "anthropic" else Gemini(made)


def _checked(name: str, kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options of a provider. Raises `InputError`, which holds none of them: one is a key."""
    expected = get_type_hints(kind)
    _refuse_unknown(name, given, expected)
    for option, value in given.items():
        if not _fits(value, expected[option]):
            wanted = " or ".join(_told(expected[option]))
            raise InputError(f"the option `{option}` of the provider {name} is {wanted}")
    return kind(**given)


def _refuse_unknown(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    for option in given:
        if option not in known:
            hint = did_you_mean(option, known) or f"it has: {', '.join(known)}"
            raise InputError(f"the provider {name} has no option `{option}`; {hint}")


def _told(expected: Any) -> list[str]:
    """A type of an option, in words."""
    parts = get_args(expected)
    if get_origin(expected) is Literal:
        return [f"`{part}`" for part in parts]
    if parts:
        return [told for part in parts for told in _told(part)]
    return [_WORDS.get(expected, "None")]


_WORDS: Mapping[type, str] = {str: "a text", bool: "true or false", float: "a number of seconds above 0"}


def _fits(value: Any, expected: Any) -> bool:
    """Whether a value is of the type that an option has."""
    parts = get_args(expected)
    if get_origin(expected) is Literal:
        return value in parts
    if parts:
        return any(_fits(value, part) for part in parts)
    if expected is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return isinstance(value, expected)
