"""Values: what may stand for a parameter at one position, by the kind of the parameter. Read exactly or not at all."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pydantic import JsonValue

from .dates import dates_at
from .lexicon import AFTER_AMOUNT, BEFORE_AMOUNT, LIST_WORD, TERM, Slot
from .numbers import NumberForms
from .phrases import NOTHING
from .sentence import Sentence
from .shapes import LONGEST_ID

__all__ = ["Value", "Values"]

_LONGEST_LIST = 50

Value: TypeAlias = JsonValue | tuple[JsonValue, ...]
"""What is read for a parameter; the values of a list stand in a tuple, so that readings can be compared."""


class Values:
    """The value grammar over one sentence. Every method yields values, each with the position behind it."""

    __slots__ = ("_numbers", "_sentence")

    def __init__(self, sentence: Sentence, numbers: NumberForms) -> None:
        self._sentence = sentence
        self._numbers = numbers

    def of(self, slot: Slot, at: int) -> Iterable[tuple[Value, int]]:
        """Yield the values of ``slot`` at a position; a parameter that takes a list, every list that starts there."""
        return self._lists(slot, at) if slot.many else self.one(slot, at)

    def one(self, slot: Slot, at: int) -> Iterable[tuple[JsonValue, int]]:
        """Yield the single values of the slot's kind at a position."""
        match slot.kind:
            case "id":
                return self._id(slot, at)
            case "money":
                return self._money(at)
            case "enum" | "bool":
                return self._phrase(slot, at)
            case "date":
                return dates_at(self._sentence, at)
            case "int":
                return self._integer(at)
            case "decimal":
                return self._decimal(at)
            case "text":
                return self._text(at)
            case "email":
                return self._email(at)

    def marked(self, at: int) -> bool:
        """Whether the amount at a position carries a currency sign or word."""
        sentence = self._sentence
        token = sentence.tokens[at]
        if token.kind != "number":
            return True
        return bool(sentence.found[at + 1].get(AFTER_AMOUNT, NOTHING))

    def exact(self, at: int) -> bool:
        """Whether the amount at a position could not be an id: it is marked, or has decimals or groups."""
        return self.marked(at) or not self._sentence.tokens[at].text.isdigit()

    def _id(self, slot: Slot, at: int) -> Iterator[tuple[JsonValue, int]]:
        token = self._sentence.tokens[at]
        if token.kind not in ("number", "id") or len(token.text) > LONGEST_ID:
            return
        if slot.shape is not None and slot.shape.fullmatch(token.text):
            if not slot.whole:
                yield token.text, at + 1
            elif token.text.isdigit() and (token.text == "0" or token.text[0] != "0"):
                yield int(token.text), at + 1

    def _money(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        sentence = self._sentence
        currency = sentence.lexicon.currency
        token = sentence.tokens[at]
        if token.kind == "number":
            amount = self._numbers.money(token.text)
            if amount is not None:
                after = sentence.found[at + 1].get(AFTER_AMOUNT, NOTHING)
                if not after:
                    yield amount, at + 1
                elif after[0][0] == currency:
                    yield amount, at + 1 + after[0][1]
            return
        for code, length in sentence.found[at].get(BEFORE_AMOUNT, NOTHING):
            number = sentence.tokens[at + length]
            amount = self._numbers.money(number.text) if number.kind == "number" else None
            if amount is not None and code == currency:
                yield amount, at + length + 1

    def _integer(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        token = self._sentence.tokens[at]
        if token.kind == "number":
            number = self._numbers.integer(token.text)
            if number is not None:
                yield number, at + 1

    def _decimal(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        token = self._sentence.tokens[at]
        if token.kind == "number":
            number = self._numbers.decimal(token.text)
            if number is not None:
                yield number, at + 1

    def _email(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        token = self._sentence.tokens[at]
        if token.kind == "email":
            yield token.text, at + 1

    def _text(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        token = self._sentence.tokens[at]
        if token.kind == "quoted" and token.text[1:-1].strip():
            yield token.text[1:-1], at + 1

    def _phrase(self, slot: Slot, at: int) -> Iterator[tuple[JsonValue, int]]:
        for term, length in self._sentence.found[at].get(TERM, NOTHING):
            for value in slot.values.get(term, ()):
                yield value, at + length

    def _lists(self, slot: Slot, at: int) -> Iterator[tuple[Value, int]]:
        """One value, or several different ones with commas and a list word: "4411, 4412 and 4413"."""
        said: list[JsonValue] = []
        while len(said) < _LONGEST_LIST:
            value, end = next(iter(self.one(slot, at)), (None, at))
            if end == at or value in said:
                return
            said.append(value)
            yield tuple(said), end
            at = self._after_link(end)
            if at == end:
                return

    def _after_link(self, at: int) -> int:
        sentence = self._sentence
        if sentence.tokens[at].text == ",":
            at += 1
        for _, length in sentence.found[at].get(LIST_WORD, NOTHING):
            return at + length
        return at
