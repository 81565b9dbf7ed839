"""What the selector answers: a reading of the whole turn, or why it stays unread (SPEC 2.1, 2.5)."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from .model import Wire
from .tool import KindName

__all__ = ["Argument", "Language", "ReadCall", "Reading", "Span", "Unread", "UnreadCode"]

Language = Literal["en", "pt-BR"]

UnreadCode = Literal[
    "empty", "too_long", "odd_character", "unbalanced_quote", "list_order", "language", "negation", "conditional",
    "choice", "question", "quantity", "number_words", "pronoun", "unknown_word", "number_form", "date_form", "currency",
    "no_tool", "missing_argument", "missing_object", "left_over", "no_antecedent", "ambiguous", "bad_value",
    "repeated_write",
]  # fmt: skip


class Span(Wire):
    """A stretch of the turn, in characters of its NFC form: ``start`` counts, ``end`` does not."""

    start: int
    end: int


class Argument(Wire):
    """One value read from a turn: a canonical string, an int, a bool or a list of those.

    ``by`` says what told which parameter it fills: its noun ("order 4411"), an introducer ("saying ..."), its bare
    shape ("40.00"), a reference ("the same order"), or the answer to a question asked after the turn. ``span`` is where
    the value stands; an answer stands in no place of the turn.
    """

    value: JsonValue
    kind: KindName
    by: Literal["noun", "introducer", "bare", "same", "answer"]
    span: Span | None = None


class ReadCall(Wire):
    """One call read from a turn, with the words it was read from."""

    tool: str
    arguments: Mapping[str, Argument]
    span: Span

    @property
    def values(self) -> dict[str, JsonValue]:
        """The arguments as plain values, by parameter name."""
        return {name: argument.value for name, argument in self.arguments.items()}


class Reading(Wire):
    """A turn read completely: every word of it is covered by exactly one list of calls.

    ``lexicon`` is the SHA-256 of the language file, the vocabulary and the tools it was read with.
    """

    language: Language
    lexicon: str
    calls: tuple[ReadCall, ...]


class Unread(Wire):
    """A turn that was not read: a code, the place, and what would help.

    ``near`` holds known words like the unknown one; they are named, never applied. ``missing`` holds what a call lacks,
    as ``tool.parameter``, or ``tool.object`` under the code ``missing_object``. ``partial`` is that call as far as it
    was read, if only one call is possible: with one missing parameter a caller may ask for its value and complete the
    turn. ``readings`` are the lists of calls an ambiguous turn could mean, each call written as ``tool(name=value)``.
    ``detail`` holds what a sentence for the code needs: the character of ``odd_character``, the wanted currency.
    """

    code: UnreadCode
    language: Language = "en"
    at: Span | None = None
    text: str = ""
    near: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    partial: ReadCall | None = None
    readings: tuple[tuple[str, ...], ...] = ()
    detail: Mapping[str, str] = {}
