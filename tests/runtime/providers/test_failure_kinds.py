"""What providers say about failures, read into one vocabulary; Retry-After; SDKs that are not installed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from policyengine.runtime.providers import sdk
from policyengine.runtime.providers.anthropic import Anthropic
from policyengine.runtime.providers.failures import failure, kind_of, retry_after_s, told
from policyengine.runtime.providers.gemini import Gemini
from policyengine.runtime.providers.openai_chat import ChatOptions, OpenAIChat
from policyengine.runtime.providers.openai_responses import OpenAIResponses
from policyengine.runtime.providers.opening import open_provider
from policyengine.runtime.providers.streaming import SdkProvider
from policyengine.source.errors import InputError, MissingExtraError


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"code": "context_length_exceeded", "type": "invalid_request_error"}}, "context_overflow"),
        (400, {"error": {"type": "exceed_context_size_error", "code": 400}}, "context_overflow"),
        (400, {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}, "context_overflow"),
        (
            400,
            {
                "error": {
                    "type": "invalid_request_error",
                    "message": "input length and `max_tokens` exceed 9",
                }
            },
            "context_overflow",
        ),
        (
            400,
            {"error": {"code": 400, "message": "This model's maximum context length is 8192 tokens."}},
            "context_overflow",
        ),
        (400, {"error": {"status": "INVALID_ARGUMENT", "message": "The model is overloaded"}}, "refused"),
        (413, {"error": {"type": "request_too_large"}}, "context_overflow"),
        (413, None, "context_overflow"),
        (429, {"error": {"code": "rate_limit_exceeded", "message": "prompt is too long for the limit"}}, "rate_limit"),
        (429, {"error": {"code": "insufficient_quota"}}, "refused"),
        (429, {"error": {"status": "RESOURCE_EXHAUSTED"}}, "rate_limit"),
        (429, {"error": {"code": "Throttling.RateQuota"}}, "rate_limit"),
        (529, {"error": {"type": "overloaded_error"}}, "overloaded"),
        (500, {"error": "boom"}, "overloaded"),
        (504, None, "timeout"),
        (408, None, "timeout"),
        (401, None, "auth"),
        (403, {"error": {"status": "PERMISSION_DENIED"}}, "auth"),
        (400, {"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}, "auth"),
        (404, {"error": {"type": "not_found_error"}}, "refused"),
        (400, {"error": {"code": "data_inspection_failed"}}, "refused"),
        (200, {"error": {"code": "unheard_of"}}, "overloaded"),
        (200, {"type": "error", "error": {"type": "invalid_request_error"}}, "refused"),
        (None, [{"error": {"status": "UNAVAILABLE"}}], "overloaded"),
        (None, "no JSON", "overloaded"),
    ],
)
def test_kinds(status: int | None, body: Any, kind: str) -> None:
    assert kind_of(told(body, status)) == kind


def test_an_error_shows_codes_and_never_the_message() -> None:
    body = {"error": {"code": "rate_limit_exceeded", "type": "tokens", "message": "sk-abcdefghijklmnop said hello"}}
    error = failure("openai", told(body, 429))
    assert str(error) == "openai: too many requests (HTTP 429, rate_limit_exceeded, tokens)"
    odd = {"error": {"code": "sk-abcdefghijklmnop1234", "type": "a prompt with spaces"}}
    assert str(failure("openai", told(odd, 429))) == "openai: too many requests (HTTP 429)"


NOW = "Mon, 30 Nov 2026 08:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 08:00:20 GMT", "date": NOW}, 20),
        ({"retry-after": "Mon, 30 Nov 2026 07:00:00 GMT", "date": NOW}, 0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_geminis_retry_info() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.07s"}]
    assert told({"error": {"code": 429, "details": details}}, 429).retry_after_s == 34.07


def test_a_missing_sdk_says_which_extra_to_install() -> None:
    for name in ("google.genai_is_not_here", "nothing_of_this_name.at_all"):
        missing = sdk.Sdk(name, "google-genai", "gemini")
        for ask in (missing.check, missing.load):
            with pytest.raises(MissingExtraError, match=r"policyengine\[gemini\]"):
                ask()


@pytest.mark.parametrize(
    ("kind", "name"),
    [(OpenAIChat, "openai"), (OpenAIResponses, "openai-responses"), (Anthropic, "anthropic"), (Gemini, "gemini")],
)
def test_a_provider_without_its_sdk_says_so_when_it_is_opened(
    kind: type[SdkProvider], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "sdk", sdk.Sdk("nothing_of_this_name", "the-sdk", "its-extra"))
    with pytest.raises(MissingExtraError) as raised:
        open_provider(name, api_key="k")
    assert str(raised.value) == (
        "the provider its-extra needs the-sdk; install it with: pip install 'policyengine[its-extra]'"
    )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("openai", {"nonsense": 1}, "the provider openai has no option `nonsense`; it has: api_key, base_url, "),
        ("anthropic", {"plain_txt": True}, "the provider anthropic has no option `plain_txt`; it has: "),
        ("qwen", {"plain_txt": True}, "the provider qwen has no option `plain_txt`; did you mean `plain_text`?"),
        ("openai", {"cap_field": "cap"}, "`cap_field` of the provider openai is `max_tokens` or `max_completion"),
        ("gemini", {"timeout_s": -1}, "`timeout_s` of the provider gemini is a number of seconds above 0 or None"),
        ("openai-responses", {"api_key": 12345}, "`api_key` of the provider openai-responses is a text or None"),
        ("openai", {"plain_text": "yes"}, "`plain_text` of the provider openai is true or false"),
        ("openai", {"script": "x.yaml"}, "script is for the provider scripted, not for openai"),
        ("scripted", {"script": "x.yaml", "api_key": "k"}, "the provider scripted has no option `api_key`"),
        ("scripted", {}, "the provider scripted plays a script"),
        ("opnai", {}, "there is no provider `opnai`; did you mean `openai`?"),
        (None, {}, "there is no provider `None`"),
    ],
)
def test_what_a_provider_does_not_take_is_refused_when_it_is_opened(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError) as raised:
        open_provider(name, **options)
    assert message in str(raised.value)
    assert "12345" not in str(raised.value)


def test_no_key_is_shown() -> None:
    assert "secret" not in repr(ChatOptions(api_key="a secret"))


def test_no_sdk_is_imported_before_it_is_used() -> None:
    script = (
        "import sys\n"
        "from policyengine.runtime.providers.opening import open_provider\n"
        "[open_provider(n, api_key='k') for n in ('openai', 'openai-responses', 'qwen', 'anthropic', 'gemini')]\n"
        "print([n for n in ('openai', 'anthropic', 'google.genai', 'httpx2') if n in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == "[]"
