"""What the docs call a command or an option is one."""

import re

import click
import pytest

from policyengine.commands import group
from tests.conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
COMMAND = re.compile(r"(?:`|^\$ |^ *)policyengine ((?:[a-z]+ ?)+.*?)(?:`|\||$)", re.MULTILINE)


def named():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in COMMAND.finditer(text):
            yield pytest.param(found[1], id=f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}")


@pytest.mark.parametrize("line", list(named()))
def test_a_command_that_a_page_names_is_there_with_its_options(line):
    words = line.replace("[", " ").replace("]", " ").split()
    found, ctx = group, click.Context(group)
    while isinstance(found, click.Group) and words:
        name = words.pop(0)
        below = found.get_command(ctx, name)
        assert below is not None, f"policyengine has no command `{name}`"
        found, ctx = below, click.Context(below, parent=ctx)
    options = {name for option in found.params for name in (*option.opts, *option.secondary_opts)} | {"--help", "-h"}
    assert {word.partition("=")[0] for word in words if re.fullmatch(r"--[a-z-]+(=.*)?", word)} <= options
