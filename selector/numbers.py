"""Numbers as a language writes them, read exactly or not at all. Nothing is repaired."""

import re

from .language import Numbers

__all__ = ["NumberForms"]

_MOST_DIGITS = 15


class NumberForms:
    """The number forms of one language: digits, perhaps in groups of three, and perhaps decimals."""

    def __init__(self, numbers: Numbers) -> None:
        decimal, group = re.escape(numbers.decimal), re.escape(numbers.group)
        self._decimal, self._group = numbers.decimal, numbers.group
        self._form = re.compile(rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)(?:{decimal}([0-9]+))?\Z")

    @property
    def example(self) -> str:
        """An amount as this language writes it, for telling a person."""
        return f"1{self._group}234{self._decimal}56"

    def money(self, text: str) -> str | None:
        """Return the amount with two decimals, or None. An amount is more than zero and has no or two decimals."""
        match = self._form.match(text)
        if match is None or len(text) > _MOST_DIGITS + 7 or len(match.group(1) or "00") != 2:
            return None
        whole, _, cents = text.replace(self._group, "").partition(self._decimal)
        amount = f"{whole}.{cents or '00'}"
        return amount if amount.strip("0.") else None

    def decimal(self, text: str) -> str | None:
        """Return the number as plain text, or None. Three decimals are another language's groups, so not read."""
        match = self._form.match(text)
        if match is None or len(text) > _MOST_DIGITS + 7 or len(match.group(1) or "") == 3:
            return None
        return text.replace(self._group, "").replace(self._decimal, ".")

    def integer(self, text: str) -> int | None:
        """Return the whole number, or None."""
        match = self._form.match(text)
        if match is None or match.group(1) is not None or len(text) > _MOST_DIGITS + 4:
            return None
        return int(text.replace(self._group, ""))
