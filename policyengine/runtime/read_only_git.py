"""Git commands that only read, and run none of the programs that a repository may name.

A repository is data from others: its configuration and attributes can name programs for filters, hooks, signatures,
monitors, pagers, transports. Each is turned off here, by options, by the environment, or by configuration that comes
after the repository's own.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path
from typing import IO, Final

_GIT_S: Final = 20
_MOST_BYTES: Final = 2_000_000
_MOST_SETTINGS: Final = 2_000
_MOST_SAID: Final = 500
_PIECE: Final = 1 << 16

# A file that cannot be run, for what needs the name of a program.
_NO_PROGRAM: Final = os.devnull

_DIFF: Final = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")
_SAFE: Final = {
    "status": ("--ignore-submodules=dirty",),
    "diff": _DIFF,
    "log": (*_DIFF, "--no-show-signature", "--no-patch"),
    # The form is stated: the repository's own may ask for signatures. A merge is shown as it is, and not made again.
    "show": (*_DIFF, "--no-show-signature", "--format=medium", "--cc"),
}
"""Options of each command. A submodule that is looked into runs git there, under its own configuration."""

_ALWAYS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.askPass": "",
    "core.sshCommand": _NO_PROGRAM,
    "core.gitProxy": "",
    "core.alternateRefsCommand": _NO_PROGRAM,
    "credential.helper": "",
    "diff.external": "",
    "diff.autoRefreshIndex": "false",
    "diff.submodule": "short",
    "gpg.program": _NO_PROGRAM,
    "gpg.openpgp.program": _NO_PROGRAM,
    "gpg.x509.program": _NO_PROGRAM,
    "gpg.ssh.program": _NO_PROGRAM,
    "gpg.ssh.defaultKeyCommand": _NO_PROGRAM,
    "log.showSignature": "false",
    "protocol.allow": "never",
    "status.submoduleSummary": "false",
    "color.ui": "false",
}
"""Configuration whose names are known beforehand."""

_NAMED: Final = (
    (re.compile(r"(filter\..*)\.(?:clean|smudge|process|required)", re.DOTALL | re.IGNORECASE),
     {"clean": "", "smudge": "", "process": "", "required": "false"}),
    (re.compile(r"(merge\..*)\.driver", re.DOTALL | re.IGNORECASE), {"driver": _NO_PROGRAM}),
    (re.compile(r"(hook\..*)\.[^.]*", re.DOTALL | re.IGNORECASE), {"enabled": "false", "event": "", "command": ""}),
    (re.compile(r"(protocol\..*)\.allow", re.DOTALL | re.IGNORECASE), {"allow": "never"}),
    (re.compile(r"(remote\..*)\.(?:promisor|partialclonefilter)", re.DOTALL | re.IGNORECASE), {"promisor": "false"}),
)  # fmt: skip
"""Configuration that the repository names itself: what is found, and what is set below the same name."""

_PROBE: Final = "policyengine.probe"


def git(root: Path, *command: str) -> str:
    """The output of a git command (status, diff, log or show) in `root`. Raises `ValueError` with the reason where
    there is none."""
    name, *rest = command
    safe = (name, *_SAFE[name], *rest)
    output, more = _run(root, safe, {**_ALWAYS, **_named(root)})
    return (output.decode("utf-8", "replace") or "(nothing)") + ("\n[stopped here; there is more]" if more else "")


def _named(root: Path) -> dict[str, str]:
    """What turns off the programs that the configuration of `root` names."""
    listed, more = _run(root, ("config", "--list", "--name-only", "-z", "--includes"), {**_ALWAYS, _PROBE: "1"})
    if more:
        # A part of the names would leave programs on.
        raise ValueError("the configuration of this repository is too large")
    names = listed.decode("utf-8", "surrogateescape").split("\0")
    if _PROBE not in names:
        # Older versions do not know configuration in the environment: nothing could be turned off.
        raise ValueError("this git is too old to be used safely; 2.31 or newer is needed")
    off: dict[str, str] = {}
    for name in names:
        for pattern, wanted in _NAMED:
            if found := pattern.fullmatch(name):
                off.update({f"{found[1]}.{key}": value for key, value in wanted.items()})
    if len(off) > _MOST_SETTINGS:
        raise ValueError("this repository names too many programs in its configuration")
    return off


def _run(root: Path, command: tuple[str, ...], settings: dict[str, str]) -> tuple[bytes, bool]:
    """The beginning of a command's output, and whether there was more: then the command is stopped.

    A repository of others may have an output of any size. Raises `ValueError` with the reason where there is none.
    """
    try:
        process = subprocess.Popen(
            ["git", "--no-pager", "--literal-pathspecs", *command],
            cwd=root,
            env=_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        raise ValueError("git is not installed") from None
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    assert process.stdout is not None
    assert process.stderr is not None
    said: list[bytes] = []
    listener = threading.Thread(target=_listen, args=(process.stderr, said), daemon=True)
    timer = threading.Timer(_GIT_S, stop)
    timer.daemon = True
    with process:
        try:
            listener.start()
            timer.start()
            output = process.stdout.read(_MOST_BYTES + 1)
            more = len(output) > _MOST_BYTES
            if more:
                process.kill()
            status = process.wait()
            listener.join()
        finally:
            timer.cancel()
            process.kill()
    if late.is_set():
        raise ValueError("git took too long")
    if status != 0 and not more:
        raise ValueError(b"".join(said).decode("utf-8", "replace").strip()[:_MOST_SAID] or "git failed")
    return output[:_MOST_BYTES], more


def _listen(stream: IO[bytes], said: list[bytes]) -> None:
    """Keep the beginning of what is said, and let the rest go: a full pipe would stop the command."""
    said.append(stream.read(_MOST_SAID))
    while stream.read(_PIECE):
        pass


def _environment(settings: dict[str, str]) -> dict[str, str]:
    """The environment of a git command. Configuration goes this way because a name may hold any character."""
    found = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    found |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # Objects that are not here are not fetched: neither by a new git nor, without transports, by an old one.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for index, (name, value) in enumerate(settings.items()):
        found[f"GIT_CONFIG_KEY_{index}"] = name
        found[f"GIT_CONFIG_VALUE_{index}"] = value
    return found
