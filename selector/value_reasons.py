"""What is wrong with the values of an unread turn: numbers, amounts, dates and ids in a form that is not read."""

from collections.abc import Iterator

from ..contract.reading import Unread, UnreadCode
from .dates import dates_at
from .lexicon import AFTER_AMOUNT, BEFORE_AMOUNT, DATE_WORD, DAY, MONTH, TERM
from .numbers import NumberForms
from .phrases import NOTHING
from .sentence import Sentence

__all__ = ["value_reasons"]

_LONGEST_DATE = 6  # tokens: 5 de março de 2026


def value_reasons(sentence: Sentence, numbers: NumberForms) -> Iterator[Unread]:
    """Yield the reasons by place. They explain a turn that is unread already; a readable turn may have some too."""
    for at in range(sentence.length):
        token = sentence.tokens[at]
        if token.kind == "number":
            yield from _of_number(sentence, numbers, at)
        elif token.kind == "id":
            yield from _of_id(sentence, at)
            if token.text[0].isdigit() and not _is_id(sentence, at):
                yield _number_form(sentence, numbers, at)
        elif _like_a_date(sentence, at) and not _within_a_date(sentence, at):
            yield _reason(sentence, "date_form", at, at + 1)


def _like_a_date(sentence: Sentence, at: int) -> bool:
    here = sentence.found[at]
    if sentence.tokens[at].kind in ("slash_date", "iso_date"):
        return True
    if here.get(TERM, NOTHING):
        return False
    return bool(here.get(DATE_WORD, NOTHING) or here.get(MONTH, NOTHING) or here.get(DAY, NOTHING))


def _of_number(sentence: Sentence, numbers: NumberForms, at: int) -> Iterator[Unread]:
    text = sentence.tokens[at].text
    wanted = sentence.lexicon.currency
    before = [code for back in (1, 2) if at >= back for code in _currency_before(sentence, at - back, back)]
    after = [code for code, _ in sentence.found[at + 1].get(AFTER_AMOUNT, NOTHING)]
    if any(code != wanted for code in (*before, *after)):
        start, end = (at - 1, at + 1) if before else (at, at + 2)
        yield _reason(sentence, "currency", start, end, wanted=wanted)
    elif not (numbers.money(text) if before or after else _readable(sentence, numbers, at)):
        yield _number_form(sentence, numbers, at)
    yield from _of_id(sentence, at)


def _readable(sentence: Sentence, numbers: NumberForms, at: int) -> bool:
    text = sentence.tokens[at].text
    if numbers.integer(text) is not None or numbers.money(text) is not None or _is_id(sentence, at):
        return True
    return sentence.lexicon.has_decimals and numbers.decimal(text) is not None


def _currency_before(sentence: Sentence, at: int, length: int) -> list[str]:
    return [code for code, words in sentence.found[at].get(BEFORE_AMOUNT, NOTHING) if words == length]


def _of_id(sentence: Sentence, at: int) -> Iterator[Unread]:
    """Yield that the word behind an id's noun has not the form of that id."""
    nouns = _nouns_before(sentence, at)
    if not nouns:
        return
    text = sentence.tokens[at].text
    slots = [slot for slot in sentence.lexicon.ids if slot.nouns & nouns]
    if slots and not any(slot.shape is None or slot.shape.fullmatch(text) for slot in slots):
        yield _reason(sentence, "bad_value", at, at + 1, parameter=slots[0].name)


def _nouns_before(sentence: Sentence, at: int) -> set[str]:
    """Return the terms that end right before a position."""
    return {
        term
        for back in (1, 2, 3)
        if at >= back
        for term, length in sentence.found[at - back].get(TERM, NOTHING)
        if length == back
    }


def _is_id(sentence: Sentence, at: int) -> bool:
    text = sentence.tokens[at].text
    return any(slot.shape is not None and slot.shape.fullmatch(text) is not None for slot in sentence.lexicon.ids)


def _within_a_date(sentence: Sentence, at: int) -> bool:
    return any(end > at for start in range(max(0, at - _LONGEST_DATE), at + 1) for _, end in dates_at(sentence, start))


def _number_form(sentence: Sentence, numbers: NumberForms, at: int) -> Unread:
    return _reason(sentence, "number_form", at, at + 1, example=numbers.example)


def _reason(sentence: Sentence, code: UnreadCode, start: int, end: int, **detail: str) -> Unread:
    return Unread(code=code, at=sentence.span(start, end), text=sentence.said(start, end), detail=detail)
