"""`policyengine eval`: one decision of one policy, as a dry run."""

from __future__ import annotations

import json
from typing import Any

import click

from policyengine.commands.options import bundle_option, load_bundle, print_json, refuse_idle
from policyengine.commands.outputs import keep_inputs


@click.command(
    epilog="Example:  policyengine eval routing --input round.json --set 'prompt=fix the test' --trace",
)
@click.argument("policy")
@click.option("--input", "source", metavar="FILE|-", help="The input as a JSON object; - reads stdin.")
@click.option(
    "--set", "settings", multiple=True, metavar="PATH=VALUE",
    help="Set a field, `batch[0].kind=edit`; the value is JSON, or text where it is no JSON.",
)  # fmt: skip
@click.option(
    "--example", is_flag=True, help="Start from the example input of the policy's schema, and show the input."
)
@bundle_option
@click.option("--trace", is_flag=True, help="Every rule that was looked at, and the values it saw.")
@click.option(
    "--why-not", "wanted", metavar="FIELD=VALUE",
    help="Name the nearest change of the input that would give this outcome; `rule=ID` asks for a rule.",
)  # fmt: skip
@click.option("--log", metavar="FILE", help="Append the decision record to this file, JSONL or .sqlite.")
@click.option("--log-prompts", is_flag=True, help="Write prompts into the record as they are, not hashed.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(
    policy: str, source: str | None, settings: tuple[str, ...], example: bool, bundle: str | None, trace: bool,
    wanted: str | None, log: str | None, log_prompts: bool, form: str,
) -> None:  # fmt: skip
    """Decide once by POLICY (its name in the bundle) and show the decision."""
    from policyengine.commands import why_not_text
    from policyengine.kinds.made import Made

    if log is None:
        refuse_idle("says how the record is written; give --log FILE", "log_prompts")
    elif source is not None:
        keep_inputs("--log", log, [source])
    loaded = load_bundle(bundle)
    chosen = loaded.policy(policy)
    given = _input(chosen.input_schema, source, settings, example)
    _check(given, chosen.input_schema, source, policy if not example else None)
    decision = chosen.decide(given, trace=trace)
    if log:
        from policyengine.log.record import Recorder
        from policyengine.log.settings import appending, logging_policy

        recorder = Recorder(loaded, show_prompts=log_prompts)
        with appending(log, logging_policy(loaded)) as write:
            write(recorder.record(Made(chosen, given, decision)))
    other = _why_not(chosen, given, wanted) if wanted is not None else None
    if form == "json":
        print_json(
            {
                "policy": decision.policy,
                "version": decision.version,
                "decision": decision.outcome,
                "rules": list(decision.rules),
                "errors": [{"where": e.where, "message": e.message} for e in decision.errors],
                "trace": [
                    {
                        "rule": s.rule,
                        "status": s.status.value,
                        "when": s.when,
                        "values": s.values,
                        "error": s.error,
                    }
                    for s in decision.trace
                ],
                "derived": decision.derived,
                **({"why_not": why_not_text.as_json(other)} if other is not None else {}),
            }
        )
    else:
        click.echo(_text(decision))
        if example:
            click.echo(f"\n  input {json.dumps(given, ensure_ascii=False)}")
        if other is not None:
            click.echo(f"\n{why_not_text.text(other, str(wanted))}")


def _why_not(policy: Any, given: dict[str, Any], wanted: str) -> Any:
    from policyengine.check.why_not import why_not
    from policyengine.source.errors import InputError

    name, equals, text = wanted.partition("=")
    if not equals or not name:
        raise InputError(f"--why-not {wanted!r}: write FIELD=VALUE, for example decision=fast")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return why_not(policy, given, name, value)


def _input(schema: Any, source: str | None, settings: tuple[str, ...], example: bool) -> dict[str, Any]:
    from policyengine.kinds.paths import set_path
    from policyengine.source.errors import InputError
    from policyengine.source.jsonfile import read_json
    from policyengine.source.secrets import brief

    given: Any = {}
    if example:
        if not schema.get("examples"):
            raise InputError("this policy's input schema holds no example; give --input FILE")
        given = json.loads(json.dumps(schema["examples"][0]))
    if source is not None:
        read = read_json(source)
        if not isinstance(read, dict):
            raise InputError(f"{_shown(source)}: the input is a JSON object, not {type(read).__name__}")
        given = {**given, **read}
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not path:
            raise InputError(f"--set: {brief(setting)!r} is no PATH=VALUE; write for example tokens=120000")
        try:
            value = json.loads(text, parse_constant=_no_number)
        except ValueError:
            value = text
        given = set_path(given, path, value)
    return dict(given)


def _no_number(_: str) -> None:
    raise ValueError  # NaN and Infinity are not JSON: taken as text


def _check(given: dict[str, Any], schema: Any, source: str | None, policy: str | None) -> None:
    """Refuse an input that does not fit. `policy` is named as the way to a full input where fields are missing."""
    from policyengine.source.errors import InputError
    from policyengine.source.schema import validate_input

    if problems := validate_input(given, schema):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        where = f"{_shown(source)}: " if source else ""
        incomplete = policy is not None and schema.get("examples") and set(schema.get("required", ())) - given.keys()
        way = f"; `policyengine eval {policy} --example` shows a full input" if incomplete else ""
        raise InputError(f"{where}the input does not fit the policy: {problems[0]}{more}{way}")


def _shown(source: str) -> str:
    return "stdin" if source == "-" else source


def _seen(value: Any) -> str:
    """What a part of a condition was, or why it was nothing."""
    from policyengine.cel.errors import Failure

    return f"error: {value}" if isinstance(value, Failure) else json.dumps(value, ensure_ascii=False, default=str)


def _text(decision: Any) -> str:
    lines = [f"{decision.policy} {decision.version}"]
    by = ", ".join(decision.rules) or ("on_error" if decision.errors else "default")
    lines.append(f"  decided by  {by}")
    width = max((len(name) for name in decision.outcome), default=0)
    lines += [f"  {name:<{width}}  {json.dumps(value, ensure_ascii=False)}" for name, value in decision.outcome.items()]
    lines += [f"  error in {error.where}: {error.message}" for error in decision.errors]
    if decision.trace:
        lines.append("")
        for step in decision.trace:
            lines.append(f"  {step.status.value:<8} {step.rule}" + (f"   {step.when}" if step.when else ""))
            lines += [f"             {name} = {_seen(value)}" for name, value in step.values.items()]
            if step.error:
                lines.append(f"             {step.error}")
    return "\n".join(lines)
