"""Turns that say their calls outright, for tests that are not about language.

``charge_card(order_id=4411, amount=40.00); send_receipt(order_id=4411)`` is read as exactly these two calls. Values are
taken as text, as a selector would give them.
"""

import datetime as dt
import re
from collections.abc import Sequence

from ..contract.reading import Argument, Language, ReadCall, Reading, Span, Unread
from ..contract.tool import ToolContract

__all__ = ["PlainSelector", "compile_plain_selector"]

_CALL = re.compile(r"\s*([a-z][a-z0-9_]*)\(([^()]*)\)\s*")


class PlainSelector:
    """Reads turns made of plain calls, separated by semicolons."""

    def __init__(self, language: Language, tools: Sequence[ToolContract]) -> None:
        self.language = language
        self.lexicon = "plain"
        self._tools = {tool.name for tool in tools}

    def read(self, turn: str, today: dt.date | None = None) -> Reading | Unread:
        """Read a turn; anything that is no list of plain calls stays unread."""
        del today
        calls: list[ReadCall] = []
        for part in turn.split(";"):
            match = _CALL.fullmatch(part)
            if match is None or match[1] not in self._tools:
                return Unread(code="no_tool", language=self.language, text=part.strip())
            pairs = (item.split("=", 1) for item in match[2].split(",") if item.strip())
            arguments = {name.strip(): Argument(value=value.strip(), kind="text", by="noun") for name, value in pairs}
            calls.append(ReadCall(tool=match[1], arguments=arguments, span=Span(start=0, end=len(turn))))
        return Reading(language=self.language, lexicon=self.lexicon, calls=tuple(calls))


def compile_plain_selector(language: Language, tools: Sequence[ToolContract], vocabulary: object) -> PlainSelector:
    """Make a selector of plain calls: give it to `load_agent` as ``compile_selector``."""
    del vocabulary
    return PlainSelector(language, tools)
