"""Dates as people write them in full. No clock is read: for "today" the caller tells which day that is."""

import datetime as dt
from collections.abc import Iterator

from .lexicon import DAY, MONTH
from .phrases import NOTHING
from .sentence import Sentence

__all__ = ["dates_at"]


def dates_at(sentence: Sentence, at: int) -> Iterator[tuple[str, int]]:
    """Yield the dates that start at a position, in ISO form, each with the position behind it."""
    token = sentence.tokens[at]
    match token.kind:
        case "iso_date":
            year, month, day = token.text.split("-")
            yield from _date(int(year), int(month), int(day), at + 1)
        case "slash_date":
            yield from _slashed(sentence, token.text, at + 1)
        case "number" if token.text.isdigit() and len(token.text) <= 2:
            yield from _day_first(sentence, int(token.text), at + 1)
        case "word":
            yield from _month_first(sentence, at)
            if sentence.today is not None:
                for offset, length in sentence.found[at].get(DAY, NOTHING):
                    yield (sentence.today + dt.timedelta(days=offset)).isoformat(), at + length
        case _:
            return


def _slashed(sentence: Sentence, text: str, end: int) -> Iterator[tuple[str, int]]:
    first, second, year = (int(part) for part in text.split("/"))
    if sentence.lexicon.date_order == "dmy":
        yield from _date(year, second, first, end)
    elif sentence.lexicon.date_order == "mdy":
        yield from _date(year, first, second, end)


def _day_first(sentence: Sentence, day: int, at: int) -> Iterator[tuple[str, int]]:
    """5 March 2026, 5 of March 2026, 5 de março de 2026."""
    link = sentence.lexicon.language.month_link
    at += sentence.tokens[at].small == link
    for month, length in sentence.found[at].get(MONTH, NOTHING):
        year_at = at + length
        year_at += sentence.tokens[year_at].small == link
        year = _year(sentence, year_at)
        if year:
            yield from _date(year, month, day, year_at + 1)


def _month_first(sentence: Sentence, at: int) -> Iterator[tuple[str, int]]:
    """March 5, 2026."""
    for month, length in sentence.found[at].get(MONTH, NOTHING):
        day = sentence.tokens[at + length]
        if day.kind != "number" or not day.text.isdigit() or len(day.text) > 2:
            continue
        year_at = at + length + 1
        year_at += sentence.tokens[year_at].text == ","
        year = _year(sentence, year_at)
        if year:
            yield from _date(year, month, int(day.text), year_at + 1)


def _year(sentence: Sentence, at: int) -> int:
    token = sentence.tokens[at]
    return int(token.text) if token.kind == "number" and len(token.text) == 4 and token.text.isdigit() else 0


def _date(year: int, month: int, day: int, end: int) -> Iterator[tuple[str, int]]:
    try:
        yield dt.date(year, month, day).isoformat(), end
    except ValueError:
        return
