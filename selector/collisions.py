"""Tools that no turn can tell apart, or no turn can say: found by reading each tool's canonical turn.

The loader of vocabulary files refuses a file with collisions, and `verify` reports them for tools as they are (QG115).
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..contract.reading import Language, Unread
from ..contract.tool import ToolContract
from .canonical_turns import canonical_turn
from .compiled import Selector, compile_selector
from .language import load_language
from .tool_words import words_of_tool
from .vocabulary_model import Vocabulary
from .word_clashes import Clashes

__all__ = ["Collision", "collisions", "collisions_of", "unsayable"]


class Collision(NamedTuple):
    """The canonical turn of ``tool``, and the tools it could mean: two or more, or one other."""

    tool: str
    turn: str
    meant: tuple[str, ...]


def collisions(
    tools: Sequence[ToolContract], *, language: Language, vocabulary: Vocabulary | None = None
) -> tuple[Collision, ...]:
    """Return every tool whose canonical turn does not read to that tool alone, in the order of the tools.

    Raises:
        ValueError: as `compile_selector`.
    """
    return collisions_of(compile_selector(tools, language=language, vocabulary=vocabulary), tools, vocabulary)


def collisions_of(
    selector: Selector, tools: Sequence[ToolContract], vocabulary: Vocabulary | None = None
) -> tuple[Collision, ...]:
    """Return the collisions of a selector that was compiled from just these tools and this vocabulary."""
    language = load_language(selector.language)
    clashes = Clashes(language)
    found = []
    for tool in tools:
        turn = canonical_turn(words_of_tool(tool, language, vocabulary or Vocabulary(), clashes), language)
        if turn is not None:
            meant = _meant(selector, turn)
            if meant and meant != (tool.name,):
                found.append(Collision(tool.name, turn, meant))
    return tuple(found)


def unsayable(
    tools: Sequence[ToolContract], *, language: Language, vocabulary: Vocabulary | None = None
) -> tuple[str, ...]:
    """Return the tools that no turn of a language can say, in the order of the tools.

    Raises:
        ValueError: as `compile_selector`.
    """
    file = load_language(language)
    clashes = Clashes(file)
    words = (words_of_tool(tool, file, vocabulary or Vocabulary(), clashes) for tool in tools)
    return tuple(said.contract.name for said in words if not said.heads)


def _meant(selector: Selector, turn: str) -> tuple[str, ...]:
    read = selector.read(turn)
    if isinstance(read, Unread):
        return tuple(sorted({call.split("(")[0] for calls in read.readings for call in calls}))
    return tuple(call.tool for call in read.calls)
