"""`--max-changed`: how many decisions may change, as a share of them (5%) or as a count (10)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class MaxChanged:
    """What is allowed: `share` (0 to 1) of the decisions, or `count` of them; the other one is None."""

    text: str
    share: Fraction | None = None
    count: int | None = None

    def refusal(self, changed: int, decisions: int) -> str | None:
        """Why so many changed decisions are too many, in one line; None where they are allowed.

        Where nothing was decided, nobody knows what would change: that is never allowed.
        """
        if not decisions:
            return f"nothing was decided, so --max-changed {self.text} cannot be judged; give recordings with decisions"
        most = self.count if self.share is None else self.share * decisions
        assert most is not None
        if changed <= most:
            return None
        are = "decision changes" if changed == 1 else "decisions change"
        return f"{changed} of {decisions} {are} ({changed / decisions:.1%}), more than --max-changed {self.text} allows"


def _parsed(_ctx: click.Context, _param: click.Parameter, value: str | None) -> MaxChanged | None:
    if value is None:
        return None
    text = value.strip()
    if (share := _SHARE.fullmatch(text)) and Fraction(share[1]) <= 100:
        return MaxChanged(text, share=Fraction(share[1]) / 100)
    if _COUNT.fullmatch(text):
        return MaxChanged(text, count=int(text))
    raise click.BadParameter(f"{value!r}: write a share of the decisions (5%) or a count of them (10)")


def max_changed_option(help: str) -> Callable[[Any], Any]:
    """The option, as a command describes it."""
    return click.option("--max-changed", metavar="N%|N", callback=_parsed, help=help)
