"""The answer to a question for one value: read with that value's grammar and nothing else."""

import datetime as dt
import re

from pydantic import JsonValue

from ..contract.reading import Unread
from .explain import explain_words
from .items import Items
from .known_words import KnownWords
from .lexicon import FILLER, TERM, YES_NO, Slot, Tool
from .numbers import NumberForms
from .phrases import NOTHING
from .reserved import scan
from .sentence import Sentence
from .value_reasons import value_reasons
from .values import Value, Values

__all__ = ["read_value", "value_fits"]

_MONEY = re.compile(r"(?:0|[1-9][0-9]*)\.[0-9]{2}\Z")
_DECIMAL = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\Z")


def read_value(
    sentence: Sentence, tool: Tool, slot: Slot, numbers: NumberForms, known: KnownWords
) -> JsonValue | Unread:
    """Read the one value the turn gives, with or without its noun, or say why there is none."""
    if not sentence.length:
        return Unread(code="empty")
    if slot.kind == "bool":
        said = _yes_or_no(sentence)
        if said is not None:
            return said
    refused = scan(sentence)
    if refused is not None:
        return refused
    found: list[Value] = []
    for value, end in _candidates(sentence, tool, slot, Values(sentence, numbers)):
        if _polite(sentence, end) and value not in found:
            found.append(value)
    if len(found) == 1:
        return list(found[0]) if isinstance(found[0], tuple) else found[0]
    if found:
        return Unread(code="ambiguous", at=sentence.span(0, sentence.length), text=sentence.said(0, sentence.length))
    reason = explain_words(sentence, known) or next(value_reasons(sentence, numbers), None)
    return reason or Unread(
        code="left_over",
        at=sentence.span(0, sentence.length),
        text=sentence.said(0, sentence.length),
        detail={"tool": tool.name, "expected": slot.name},
    )


def value_fits(slot: Slot, value: JsonValue) -> bool:
    """Whether ``value`` is in the form `read_value` gives values of this slot."""
    if slot.many:
        return isinstance(value, list) and bool(value) and all(_fits_one(slot, one) for one in value)
    return _fits_one(slot, value)


def _fits_one(slot: Slot, value: JsonValue) -> bool:
    match slot.kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "id" if slot.whole:
            return isinstance(value, int) and not isinstance(value, bool)
        case "id":
            return isinstance(value, str) and slot.shape is not None and slot.shape.fullmatch(value) is not None
        case "money":
            return isinstance(value, str) and _MONEY.match(value) is not None and bool(value.strip("0."))
        case "decimal":
            return isinstance(value, str) and _DECIMAL.match(value) is not None
        case "date":
            return isinstance(value, str) and _is_date(value)
        case "enum":
            return any(value in values for values in slot.values.values())
        case "text" | "email":
            return isinstance(value, str) and bool(value.strip())


def _is_date(value: str) -> bool:
    try:
        return dt.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _candidates(sentence: Sentence, tool: Tool, slot: Slot, values: Values) -> list[tuple[Value, int]]:
    at = 0
    while sentence.found[at].get(FILLER, NOTHING):
        at += sentence.found[at].get(FILLER, NOTHING)[0][1]
        at += sentence.tokens[at].text == ","
    items = Items(sentence, values)
    starts = [start for _, start in sentence.openings(at)]
    starts += items.after_noun(slot, at)
    for _, term, end in sentence.terms(at):
        if term in slot.nouns:
            starts += items.after_noun(slot, end)
    for term, length in sentence.found[at].get(TERM, NOTHING):
        if slot in tool.by_introducer.get(term, ()):
            starts.append(at + length)
    return [pair for start in starts for pair in values.of(slot, start)]


def _yes_or_no(sentence: Sentence) -> bool | None:
    for meaning, length in sentence.found[0].get(YES_NO, NOTHING):
        if _polite(sentence, length):
            return meaning
    return None


def _polite(sentence: Sentence, at: int) -> bool:
    """Whether nothing but thanks and full stops is left."""
    while at < sentence.length:
        filler = sentence.found[at].get(FILLER, NOTHING)
        if not filler and sentence.tokens[at].text not in (",", ".", "!"):
            return False
        at += filler[0][1] if filler else 1
    return True
