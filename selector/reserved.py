"""The reserved-word scan: a turn with a negation, a condition, a choice, a quantity or a pronoun stays unread.

It runs before the charts. A quoted string is one token, so nothing inside it is scanned. A reserved word inside a
phrase that has a meaning of its own is let through, as in "after that" or in the declared "without notifying the
customer"; the charts then have to cover exactly that phrase, or the turn is unread all the same.
"""

from typing import Any

from ..contract.reading import Unread
from .language import ReservedCode
from .lexicon import ASK, CONNECTOR, FILLER, FIRST, GREETING, PREFIX, QUESTION, RESERVED, SAME, TERM
from .phrases import NOTHING, Found, Tag
from .sentence import MOST_FILLERS, Sentence

__all__ = ["scan"]

_LONGEST_PHRASE = 8
_EXEMPT: tuple[Tag[Any], ...] = (CONNECTOR, PREFIX, GREETING, FIRST, FILLER, SAME, TERM, ASK)  # only lengths are read


def scan(sentence: Sentence) -> Unread | None:
    """Return why the turn can never be read, or None when the charts may try."""
    fillers = until = 0
    for at in range(sentence.length):
        here = sentence.found[at]
        for code, length in here.get(RESERVED, NOTHING):
            if not _inside_a_phrase(sentence, at, at + length):
                return _refused(sentence, code, at, at + length)
        filler = here.get(FILLER, NOTHING)
        if filler:
            fillers += 1
            until = at + filler[0][1]
            if fillers > MOST_FILLERS:
                return Unread(code="left_over", at=sentence.span(at, at + 1), text=sentence.said(at, at + 1))
        elif at >= until and sentence.tokens[at].kind != "mark":
            fillers = 0
    return None


def _refused(sentence: Sentence, code: ReservedCode, start: int, end: int) -> Unread:
    asked = sentence.tokens[sentence.length - 1].text == "?" and start == 0
    if asked and sentence.found[0].get(QUESTION, NOTHING):
        return Unread(code="question", at=sentence.span(start, end), text=sentence.said(start, end))
    return Unread(code=code, at=sentence.span(start, end), text=sentence.said(start, end))


def _inside_a_phrase(sentence: Sentence, start: int, end: int) -> bool:
    return any(
        _reaches(sentence.found[at], tag, end - at)
        for at in range(max(0, start - _LONGEST_PHRASE), start + 1)
        for tag in _EXEMPT
    )


def _reaches(found: Found, tag: Tag[Any], length: int) -> bool:
    return any(words >= length for _, words in found.get(tag, NOTHING))
