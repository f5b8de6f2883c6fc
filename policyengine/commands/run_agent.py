"""What `policyengine run` does: sets an adapter up, sends one message, prints the events."""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

from policyengine.commands.options import bundle_folder, load_bundle
from policyengine.commands.run_files import check_files
from policyengine.commands.run_text import Printer
from policyengine.kinds.bundle import Bundle, load
from policyengine.runtime.adapter import Adapter
from policyengine.runtime.events import ConfirmationAsked
from policyengine.runtime.provider import Provider
from policyengine.runtime.session import Session
from policyengine.source.errors import InputError

SCRIPTED_MODEL = "scripted"
_DIALECT = ("openai", "qwen")
"""Providers whose dialect other servers speak, which do not agree on all of it."""

_DEMONSTRATION = """\
apiVersion: policyengine/v1
kind: Script
window: 200000
streams:
  - when: {last_role: user, tools: true}
    times: always
    events:
      - text: "I will look at the folder. "
      - call: {name: list_directory, arguments: {path: "."}}
      - usage: {input: 900, output: 30}
      - finish: tool_calls
  - times: always
    events:
      - text: "This is a scripted answer: "
      - text: "no model was asked. Name one with --provider."
      - usage: {input: 1100, output: 20}
      - finish: stop
"""


async def run(
    *, prompt: str, provider: str, base_url: str | None, primary: str | None, fast: str | None, script: str | None,
    tools: str, window: int | None, fast_window: int | None, max_output: int | None, fast_max_output: int | None,
    cap_field: str | None, plain_text: bool, always_summarize: bool, resume: str | None, save: str | None,
    state: str | None, log: str | None, quiet: bool, bundle: str | None,
) -> int:  # fmt: skip
    """One turn. The exit status: 0 where the turn has its answer, 1 where it was stopped."""
    from policyengine.runtime.read_only_tools import read_only_tools

    file = state if state is not None and "://" not in state else None
    check_files({"--save": save, "--log": log, "--state": file, "--resume": resume, "--script": script})
    # Who asked for the answer only is not told whose policies decided.
    loaded = load(bundle_folder(bundle)) if quiet else load_bundle(bundle)
    opened = _open(provider, base_url, script, cap_field, plain_text)
    model = primary or _first_model(loaded, opened.name)
    with ExitStack() as logs:
        async with AsyncExitStack() as stack:
            adapter = Adapter(loaded, [opened], await _store(state, loaded), _log(logs, loaded, log))
            stack.push_async_callback(adapter.close)
            common: dict[str, Any] = {
                "fast": fast,
                "system": adapter.live.settings["run_system"],
                "tools": read_only_tools(Path.cwd()) if tools == "read-only" else (),
                "window": _window(adapter, opened, model, window),
                "fast_window": _window(adapter, opened, fast, fast_window),
                "max_output": max_output,
                "fast_max_output": fast_max_output,
                "always_summarize": always_summarize,
                "fast_routing": True if fast is not None else None,
            }
            if resume is not None:
                session = adapter.resume(resume, model, **common)
            else:
                session = adapter.session(model, **common)
            try:
                status = await _turn(session, prompt, Printer(quiet=quiet))
            finally:
                if save is not None:
                    session.save(save)
    return status


async def _turn(session: Session, prompt: str, printer: Printer) -> int:
    async for event in session.send(prompt):
        printer.show(event)
        if isinstance(event, ConfirmationAsked):
            # Tools of this command never ask; whatever does is refused.
            session.confirm(event.call_id, False)
    return printer.status


def _open(name: str, base_url: str | None, script: str | None, cap_field: str | None, plain_text: bool) -> Provider:
    from policyengine.runtime.providers.opening import open_provider
    from policyengine.runtime.providers.script import Script
    from policyengine.runtime.providers.scripted import Scripted

    if cap_field is not None and name not in _DIALECT:
        raise InputError(f"--cap-field is for {' and '.join(_DIALECT)}; the provider {name} has one name for the cap")
    if plain_text and name not in _DIALECT:
        raise InputError(
            f"--plain-text is for {' and '.join(_DIALECT)}; the provider {name} takes contents as they are"
        )
    if name == "scripted":
        if base_url is not None:
            raise InputError("the scripted provider has no server; leave --base-url out, or name a --provider")
        return Scripted(Script.read(script) if script is not None else Script.parse(_DEMONSTRATION, "demonstration"))
    if script is not None:
        raise InputError(f"--script is for the scripted provider, not for {name}")
    given: dict[str, Any] = {"base_url": base_url, "cap_field": cap_field, "plain_text": plain_text or None}
    return open_provider(name, **{option: value for option, value in given.items() if value is not None})


def _window(adapter: Adapter, provider: Provider, model: str | None, stated: int | None) -> int | None:
    """The window that is stated for a model; a script's own where neither an option nor the catalogue says."""
    from policyengine.runtime.providers.scripted import Scripted

    if stated is not None or model is None or adapter.live.loop.window(model) is not None:
        return stated
    return provider.script.window if isinstance(provider, Scripted) else None


def _first_model(bundle: Bundle, provider: str) -> str:
    """The catalogue's first model of a provider."""
    if provider == "scripted":
        return SCRIPTED_MODEL
    models = bundle.serving("ModelCatalogue").spec["models"]
    found = next((one["id"] for one in models if one.get("provider") == provider), None)
    if found is None:
        raise InputError(f"the model catalogue has no model of {provider}; name one with --primary MODEL")
    name: str = found
    return name


async def _store(where: str | None, bundle: Bundle) -> Any:
    if where is None:
        return None
    from policyengine.runtime.state.opening import open_store, store_errors, store_timeout_s
    from policyengine.runtime.state.sqlite import SqliteStore

    store = open_store(where, timeout_s=store_timeout_s(bundle))
    if isinstance(store, SqliteStore):
        # A file that can hold no state is said before a model is paid for. A server that is down may come back.
        with store_errors(where):
            await store.get("")
    return store


def _log(stack: ExitStack, bundle: Bundle, path: str | None) -> Any:
    if path is None:
        return None
    from policyengine.log.record import Recorder
    from policyengine.log.settings import logging_policy, open_sink
    from policyengine.log.writer import Log

    policy = logging_policy(bundle)
    return stack.enter_context(Log(Recorder(bundle, source="runtime"), [open_sink(path, policy)], policy))
