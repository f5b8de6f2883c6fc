"""Numbers near a number: what a typo or a wrong bound would have made of it."""

from __future__ import annotations


def variants(value: int | float, written: str | None = None) -> list[int | float]:
    """One more, one less, twice and nothing; a fraction moves by one in its last written digit.

    None of them is negative where the value is not: in policies numbers are counts, sizes and shares.
    """
    if isinstance(value, int):
        step: int | float = 1
        near: list[int | float] = [value + 1, value - 1, value * 2, 0]
    else:
        digits = len((written or repr(value)).rpartition(".")[2]) if "." in (written or repr(value)) else 0
        step = 1.0 if value.is_integer() else 10.0**-digits
        near = [round(value + step, digits), round(value - step, digits), value * 2, 0.0]
    kept = [number for number in near if number != value and (number >= 0 or value < 0)]
    return list(dict.fromkeys(kept))
