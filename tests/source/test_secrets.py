"""What looks like a key is covered, and what a person needs to read, a path above all, is not."""

from __future__ import annotations

import base64
import random

import pytest

from policyengine.source.secrets import looks_secret, mask, masked

KEYS = [
    "sk-live-0123456789abcdef0123",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AKIAABCDEFGHIJKLMNOP",
    "ghp_0123456789abcdefghij",
    "0123456789abcdef0123456789abcdef01234567",
    "bm90IGEgcmVhbCBrZXksIGp1c3QgYSB0ZXN0MTIzNDU2Nzg5",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    "9aB/3xYz+Q7/kLmN0pQrS/tUvWx1yZ2aB",
]

READABLE = [
    "/tmp/tmp.y54bxpe9oz/repo/examples/sample-session.jsonl",
    "/private/var/folders/3x/0b9kdj2x1n5f7c/T/tmpabc/policies",
    "session: ../examples/v2/sessions/long/sample1.jsonl",
    "Users/JohnSmith/Projects2/MyApp/Source/policies",
    "C:/Users/Someone/AppData/Local/Temp/2/policies/floor.yaml",
    "https://github.com/acme/policies2/blob/main/ladders/floor.yaml",
    "/tmp/pytest-of-root/pytest-367/popen-gw1/test_an0/policies",
    "claude-sonnet-4-5-20250929",
    "examples/2024/01/02/session/of/the/day/one.jsonl",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("around", ["{}", "key: {}", "'{}'", "examples/v2/policies/ladders {} after", "({})"])
def test_a_key_is_covered(key: str, around: str) -> None:
    text = around.format(key)
    assert looks_secret(text)
    covered = mask(text)
    assert key not in covered
    assert len(covered) == len(text)


@pytest.mark.parametrize("text", READABLE)
def test_a_path_or_a_name_stays(text: str) -> None:
    assert mask(text) == text
    assert not looks_secret(text)


@pytest.mark.parametrize("key", [key for key in KEYS if "/" not in key])
def test_a_key_in_a_path_is_covered(key: str) -> None:
    assert mask(f"/srv/app2/releases/current/{key}/policies") == f"/srv/app2/releases/current/{'*' * len(key)}/policies"


def test_nearly_every_random_key_with_slashes_is_covered() -> None:
    dice = random.Random(7)
    keys = [base64.b64encode(dice.randbytes(30)).decode() for _ in range(4000)]
    slashed = [key for key in keys if "/" in key]
    assert len(slashed) > 1500
    assert sum(not looks_secret(key) for key in slashed) < len(slashed) / 200


def test_data_is_covered_by_what_it_holds_and_by_its_keys() -> None:
    data = {"api_key": "hunter2", "rows": [{"password": "a b", "n": 5}, "sk-live-0123456789abcdef0123"], "on": True}
    assert masked(data) == {"api_key": "*" * 7, "rows": [{"password": "***", "n": 5}, "*" * 28], "on": True}
