"""The memory: what a model would read next, folded from the record (SPEC 7.2).

The record is never rewound and the memory is, so the memory is no second truth beside the record but a reading of it:
the person's turn, each call with what became of it, the one reply; and where a failed run has been rewound, the turn
and the reply alone. Undos, keys, questions and error traces are no part of it: a model never reads them.

What travels with a session is bounded: the latest turns, whole, as many as fit. Nothing is lost by that, since the same
fold over the whole record gives the whole memory.
"""

from collections.abc import Iterable
from typing import Literal

from pydantic import JsonValue

from .model import Wire
from .record import Entry

__all__ = ["MOST_BYTES", "Memory", "Message", "Remembered"]

MOST_BYTES = 64_000
"""How much a session carries of its memory, in bytes of JSON. The latest turn is carried whatever its size."""


class Message(Wire):
    """One message: what the person said, what a call came to, or the reply.

    A ``tool`` message has no text: ``tool``, ``arguments``, ``outcome`` (a state of a step, SPEC 4.7) and ``result``
    say what the call was and what came of it. There is never a call without its outcome.
    """

    role: Literal["user", "tool", "assistant"]
    text: str = ""
    run: str = ""
    tool: str = ""
    arguments: JsonValue = None
    outcome: str = ""
    result: JsonValue = None


class Remembered(Wire):
    """A memory as a session carries it: the latest messages, and how many earlier turns the record alone holds."""

    messages: tuple[Message, ...] = ()
    earlier: int = 0


class Memory:
    """The memory of one session.

    Args:
        known: where it stood.
        most: how many bytes to keep; None keeps everything.
    """

    def __init__(self, known: Remembered | None = None, *, most: int | None = MOST_BYTES) -> None:
        known = known or Remembered()
        self._most = most
        self._earlier = known.earlier
        self._held = [(message, _size(message)) for message in known.messages]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> tuple[Message, ...]:
        """Return the whole memory of a whole record."""
        memory = cls(most=None)
        for entry in entries:
            memory.take(entry)
        return memory.remembered.messages

    @property
    def remembered(self) -> Remembered:
        """The memory as it travels."""
        return Remembered(messages=tuple(message for message, _ in self._held), earlier=self._earlier)

    def take(self, entry: Entry) -> None:
        """Take in a line of the record."""
        match entry.kind:
            case "turn":
                self._add(Message(role="user", text=entry.text, run=entry.run))
            case "call":
                self._add(
                    Message(
                        role="tool",
                        run=entry.run,
                        tool=entry.tool,
                        arguments=dict(entry.arguments or {}),
                        outcome=entry.outcome,
                        result=entry.result,
                    )
                )
            case "end" | "unwind":
                self._add(Message(role="assistant", text=entry.text, run=entry.run))
            case "rewind":
                self._held = [held for held in self._held if held[0].role != "tool" or held[0].run != entry.run]

    def _add(self, message: Message) -> None:
        self._held.append((message, _size(message)))
        if self._most is not None:
            while sum(size for _, size in self._held) > self._most and (turn := self._second_turn()):
                del self._held[:turn]
                self._earlier += 1

    def _second_turn(self) -> int:
        """Return the place of the second turn held, or 0 if there is none: only whole turns are let go."""
        places = (place for place, (message, _) in enumerate(self._held) if place and message.role == "user")
        return next(places, 0)


def _size(message: Message) -> int:
    return len(message.model_dump_json())
