"""The words that may be said of a tool, and how what a file says goes over what the decorator says (SPEC 1.1, 1.2)."""

from collections.abc import Mapping
from typing import Final

from pydantic import Field, JsonValue

from ..contract.model import Stated
from ..contract.tool import LONGEST_CALL_MS, QueryBinding, ToolName, UndoBinding

__all__ = ["DECLARATION", "Declaration", "Undo"]

DECLARATION: Final = "__amends_tool__"
"""The attribute under which the decorator leaves a `Declaration` on the function."""


class Undo:
    """How a write is undone when names alone cannot say it: ``Undo("label", add="$args.remove", remove="$args.add")``.

    Args:
        tool: the name of the tool that undoes the write; it may be the write itself.
        arguments: for each parameter of that tool ``$args.<name>``, an argument of the write, ``$result.<field>``, a
            field of what it returned (``$result.card.id`` reaches inside), or a plain value. Without any, each
            parameter is bound by its name, as in the short form.
    """

    __slots__ = ("arguments", "tool")

    def __init__(self, tool: str, /, **arguments: JsonValue) -> None:
        self.tool = tool
        self.arguments = arguments

    def __repr__(self) -> str:
        return f"Undo({self.tool!r}{''.join(f', {name}={value!r}' for name, value in self.arguments.items())})"

    @property
    def binding(self) -> UndoBinding:
        """The same as it travels.

        Raises:
            pydantic.ValidationError: the name is no tool name, or an argument is no plain value.
        """
        return UndoBinding(tool=self.tool, arguments=self.arguments or None)


class Declaration(Stated):
    """What one place, a decorator or an entry of ``agent.yaml``, says of a tool.

    Only what was said counts: `said` tells a word that was given from one that has its default, so that an entry
    overrides exactly the words it names. ``undo`` None, once said, is ``undo: none``: on purpose, a failed run may
    leave this write. ``timeout_ms`` is in milliseconds.
    """

    name: ToolName | None = None
    writes: bool = False
    undo: UndoBinding | None = None
    irreversible: bool = False
    retry_safe: bool = False
    undo_priority: int = 0
    outcome_query: QueryBinding | None = None
    reads_outside: bool = False
    sends_out: bool = False
    after: tuple[ToolName, ...] = ()
    not_after: tuple[ToolName, ...] = ()
    at_most: int | None = Field(default=None, ge=0)
    timeout_ms: int = Field(default=60_000, ge=1, le=LONGEST_CALL_MS)

    @property
    def said(self) -> Mapping[str, object]:
        """The words that were given here, with their values."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    def overridden_by(self, other: "Declaration") -> "Declaration":
        """Return what the two say together; where both speak, ``other`` stands.

        ``undo`` and ``irreversible`` answer one question, so saying either takes the other back.
        """
        kept = dict(self.said)
        if other.undo is not None:
            kept.pop("irreversible", None)
        if other.irreversible:
            kept.pop("undo", None)
        return Declaration.model_validate({**kept, **other.said})

    def contradiction(self) -> str | None:
        """Return what two of these words make nonsense of each other, with the way out; None when nothing does."""
        if self.irreversible and self.undo is not None:
            return f"it is irreversible and undone by {self.undo.tool}: keep one of the two"
        if self.irreversible and "undo" in self.model_fields_set:
            return "it is irreversible and undo: none; irreversible alone says it"
        about_writes = {
            "undo": self.undo is not None,
            "irreversible": self.irreversible,
            "outcome_query": self.outcome_query is not None,
        }
        if not self.writes and any(about_writes.values()):
            word = next(word for word, said in about_writes.items() if said)
            return f"it says {word} but not that it writes: add writes: true, or take {word} away"
        return None
