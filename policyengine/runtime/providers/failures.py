"""Failures of all providers in one vocabulary. What a provider said is read, never shown: it may quote the prompt."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from policyengine.runtime.provider import FailureKind, ProviderError, UsageReport
from policyengine.source.secrets import looks_secret

_SENTENCES: Mapping[FailureKind, str] = {
    "timeout": "no answer in time",
    "rate_limit": "too many requests",
    "overloaded": "the provider is overloaded or has an error of its own",
    "connection": "no connection",
    "incomplete": "the stream ended before its end marker",
    "context_overflow": "the prompt is longer than the model takes",
    "refused": "the request was refused",
    "auth": "the key is missing, wrong or not allowed to do this",
    "protocol": "the answer could not be read",
}

# Words of the providers (codes, types, statuses; lower case), before the HTTP status: they say more.
_WORDS: Mapping[str, FailureKind] = {
    "context_length_exceeded": "context_overflow",
    "exceed_context_size_error": "context_overflow",
    "request_too_large": "context_overflow",
    "request_body_too_large_after_decoding": "context_overflow",
    "insufficient_quota": "refused",
    "arrearage": "refused",
    "billing_error": "refused",
    "rate_limit_exceeded": "rate_limit",
    "rate_limit_error": "rate_limit",
    "limit_requests": "rate_limit",
    "resource_exhausted": "rate_limit",
    "overloaded_error": "overloaded",
    "server_overloaded": "overloaded",
    "slow_down": "overloaded",
    "unavailable": "overloaded",
    "api_error": "overloaded",
    "server_error": "overloaded",
    "internal": "overloaded",
    "internal_error": "overloaded",
    "internal_server_error": "overloaded",
    "invalid_api_key": "auth",
    "invalidapikey": "auth",
    "api_key_invalid": "auth",
    "authentication_error": "auth",
    "permission_error": "auth",
    "permission_denied": "auth",
    "unauthenticated": "auth",
    "accessdenied": "auth",
    "timeout_error": "timeout",
    "deadline_exceeded": "timeout",
    "requesttimeout": "timeout",
    "invalid_request_error": "refused",
    "not_found_error": "refused",
    "invalid_argument": "refused",
    "failed_precondition": "refused",
    "not_found": "refused",
    "data_inspection_failed": "refused",
    "datainspectionfailed": "refused",
}
_STATUSES: Mapping[int, FailureKind] = {
    401: "auth",
    403: "auth",
    407: "auth",
    408: "timeout",
    413: "context_overflow",
    425: "overloaded",
    429: "rate_limit",
    504: "timeout",
}
# Anthropic, Gemini, DashScope and several compatible servers give an overflow no word of its own.
_OVERFLOW = re.compile(
    r"prompt is too long|input is too long|exceeds? the maximum number of (?:input )?tokens|maximum context length"
    r"|exceeds? (?:the )?(?:model's )?(?:available )?context (?:window|length|size|limit)"
    r"|range of input length should be|input length and `max_tokens` exceed",
    re.IGNORECASE,
)
_NEVER_OVERFLOW = (401, 403, 429)
_SHOWN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,47}\Z")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s?\Z")


@dataclass(frozen=True, slots=True)
class Told:
    """What a provider said about a failure. `words` are its codes and types; `message` is only searched."""

    status: int | None = None
    words: tuple[str, ...] = ()
    message: str = ""
    retry_after_s: float | None = None


def told(body: Any, status: int | None = None, headers: Mapping[str, str] | None = None) -> Told:
    """What an error body of any of the providers says: `{"error": {...}}`, its inside, or a list of one."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    inside = body
    if isinstance(body, Mapping) and body.get("error"):
        inside = body["error"]
    if isinstance(inside, str):
        inside = {"message": inside}
    if not isinstance(inside, Mapping):
        inside = {}
    message = inside.get("message")
    delay = retry_after_s(headers or {})
    return Told(
        status,
        tuple(dict.fromkeys(_words(inside))),
        message if isinstance(message, str) else "",
        _retry_info(inside) if delay is None else delay,
    )


def is_error(body: Any) -> bool:
    """Whether a JSON value is an error body."""
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, Mapping):
        return False
    return bool(body.get("error")) or ("message" in body and ("code" in body or "type" in body))


def body_error(head: bytes) -> Any:
    """The error body that `head`, the first bytes of an answer, holds; None where it is none."""
    try:
        body = json.loads(head)
    except ValueError:
        return None
    return body if is_error(body) else None


def kind_of(said: Told) -> FailureKind:
    """The kind of failure."""
    kinds = [kind for word in said.words if (kind := _word_kind(word))]
    if "context_overflow" in kinds:
        return "context_overflow"
    # A general word (invalid_request_error) says less than the message or a more special one beside it.
    if said.status not in _NEVER_OVERFLOW and _OVERFLOW.search(said.message):
        return "context_overflow"
    special = [kind for kind in kinds if kind != "refused"]
    if "insufficient_quota" in said.words or "billing_error" in said.words:
        return "refused"
    if special:
        return special[0]
    if said.status is not None and said.status >= 400:
        return _STATUSES.get(said.status) or ("overloaded" if said.status >= 500 else "refused")
    # An error inside a 200 without a word that is known: the provider's own trouble, by its silence.
    return kinds[0] if kinds else "overloaded"


def failure(provider: str, said: Told, usage: UsageReport | None = None) -> ProviderError:
    """The error to raise for what a provider said."""
    shown = [word for word in said.words if _SHOWN_WORD.match(word) and not looks_secret(word)]
    if said.status is not None:
        shown.insert(0, f"HTTP {said.status}")
    return plain_failure(
        provider,
        kind_of(said),
        ", ".join(shown),
        status=said.status,
        retry_after_s=said.retry_after_s,
        usage=usage,
    )


def plain_failure(
    provider: str,
    kind: FailureKind,
    detail: str = "",
    *,
    status: int | None = None,
    retry_after_s: float | None = None,
    usage: UsageReport | None = None,
) -> ProviderError:
    """The error of a kind; `detail` is our own words."""
    message = f"{provider}: {_SENTENCES[kind]}" + (f" ({detail})" if detail else "")
    return ProviderError(kind, message, status=status, retry_after_s=retry_after_s, usage=usage)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """What `Retry-After` asks for, in seconds from now; None where it is missing or no duration or date.

    A date is measured against the response's own `Date`, so that a wrong clock on either side does no harm.
    """
    exact = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d+(\.\d+)?", exact):
        return float(exact) / 1000
    given = headers.get("retry-after", "").strip()
    if found := _SECONDS.match(given):
        return float(found[1])
    when = _moment(given)
    if when is None:
        return None
    now = _moment(headers.get("date", "")) or time.time()
    return max(0.0, when - now)


def _moment(date: str) -> float | None:
    try:
        parsed = parsedate_to_datetime(date)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def _words(inside: Mapping[str, Any]) -> Iterator[str]:
    for field in ("code", "type", "status"):
        word = inside.get(field)
        if isinstance(word, str) and word:
            yield word
    details = inside.get("details")
    if isinstance(details, Mapping):
        details = [details]
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping):
            for field in ("reason", "error_code"):
                if isinstance(word := detail.get(field), str) and word:
                    yield word


def _word_kind(word: str) -> FailureKind | None:
    lower = word.lower()
    if lower.startswith("throttling"):
        return "rate_limit"
    return _WORDS.get(lower)


def _retry_info(inside: Mapping[str, Any]) -> float | None:
    """Gemini's `RetryInfo`."""
    details = inside.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, Mapping) and isinstance(delay := detail.get("retryDelay"), str):
            found = _SECONDS.match(delay)
            if found:
                return float(found[1])
    return None
