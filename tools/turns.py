"""What reads an agent's turns: our selector, or another that a test or a host puts in its place (SPEC 2.1)."""

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from pydantic import JsonValue

from ..contract.reading import Language, Reading, Unread
from ..contract.tool import ToolContract
from ..selector.compiled import compile_selector
from .vocabulary_file import VocabularyFile

__all__ = ["Clarifying", "CompileSelector", "Selector", "own_selector"]


class Selector(Protocol):
    """Reads turns in one language, with the words of one agent."""

    def read(self, turn: str, *, today: dt.date | None = None) -> Reading | Unread:
        """Read a turn completely, or say why it stays unread. ``today`` is what "today" means, if a turn may say it."""


@runtime_checkable
class Clarifying(Selector, Protocol):
    """A selector that can also read the one value a turn lacks, once it was asked for (SPEC 2.4)."""

    def read_value(self, tool: str, parameter: str, turn: str, *, today: dt.date | None = None) -> JsonValue | Unread:
        """Read the answer with that one value's grammar and nothing else."""

    def complete(
        self, turn: str, tool: str, parameter: str, value: JsonValue, *, today: dt.date | None = None
    ) -> Reading | Unread:
        """Read the turn that lacked the value, with the value."""


CompileSelector: TypeAlias = Callable[[Language, Sequence[ToolContract], VocabularyFile | None], Selector]
"""Makes a selector from a language, the contracts of an agent's tools, and its vocabulary in that language.

Raises ValueError when the tools or the vocabulary cannot be made into one.
"""


def own_selector(language: Language, contracts: Sequence[ToolContract], vocabulary: VocabularyFile | None) -> Selector:
    """Make our selector.

    Raises:
        ValueError: the words of the tools or of the vocabulary cannot be made into one; the message says why.
    """
    words = vocabulary.vocabulary if vocabulary else None
    return compile_selector(contracts, language=language, vocabulary=words)
