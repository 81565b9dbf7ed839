"""Tokens: a turn cut into words, numbers, quoted strings and marks, or refused at the first character it may not have.

One regular expression without nested repetition does the cutting. A character it has no place for ends the reading:
zero-width and bidirectional controls, digits and letters of other scripts, a minus sign before a number, ``%`` and
``/``. The text is normalised to NFC, never to NFKC, which would turn ``½`` or a full-width ``４`` into plain digits.
"""

# ruff: noqa: RUF001, RUF002 -- the look-alike characters are what this file is about

import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from ..contract.reading import Span
from .faults import not_read

__all__ = ["LONGEST_TURN", "MOST_TOKENS", "Token", "TokenKind", "fold", "phrase_words", "tokenize"]

LONGEST_TURN = 2_000
MOST_TOKENS = 200
_LONGEST_RAW = 3 * LONGEST_TURN

TokenKind = Literal[
    "quoted", "email", "iso_date", "slash_date", "currency", "id", "number", "word", "newline", "mark", "end"
]

_TOKEN = re.compile(
    r"""
      (?P<quoted>"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|(?<![^\W_])'[^'\n]*'(?![^\W_]))
    | (?P<email>(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}(?![^\W_]))
    | (?P<iso_date>[0-9]{4}-[0-9]{2}-[0-9]{2}(?![\w-]))
    | (?P<slash_date>[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?![\w/]))
    | (?P<currency>[Rr]\$|[Uu][Ss]\$|[$€£])
    | (?P<abbreviation>[Nn]\.?º|[Nn]°|(?:[Nn][Oo]|[Nn][Uu][Mm]|[Nn][Rr][Oo])\.(?=[ \t]*\#?[0-9]))
    | (?P<id>[A-Za-z]+[-_]?[0-9][A-Za-z0-9_-]*|[0-9]+[A-Za-z_-][A-Za-z0-9_-]*)
    | (?P<number>[0-9]+(?:[.,][0-9]+)*)
    | (?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)
    | (?P<newline>\r?\n[ \t\u00a0\r\n]*)
    | (?P<space>[ \t\u00a0]+)
    | (?P<mark>[.,;:!?\#=])
    | (?P<odd>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LIST_MARK = re.compile(r"(?:([0-9]{1,2})[.)]|[-*•])[ \t\u00a0]+")
_WHITE = " \t\u00a0\r\n"
_QUOTES = frozenset("\"“”«»'’‘")
_LETTER = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ'’-]+\Z")
_HIDDEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Token(NamedTuple):
    """A piece of the turn: what it is, as written, in small letters, without accents, and its place in the NFC text."""

    kind: TokenKind
    text: str
    small: str
    plain: str
    start: int
    end: int


def fold(text: str) -> str:
    """Return ``text`` without its accents."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def tokenize(turn: str) -> tuple[str, list[Token]]:
    """Cut a turn into tokens.

    Returns:
        The turn in NFC and its tokens, white space left out, leading and trailing line breaks too.

    Raises:
        NotRead: `too_long`, `odd_character`, `unbalanced_quote` or `list_order`.
    """
    if len(turn) > _LONGEST_RAW:
        raise not_read("too_long", limit=str(LONGEST_TURN))
    text = unicodedata.normalize("NFC", turn)
    if len(text) > LONGEST_TURN:
        raise not_read("too_long", limit=str(LONGEST_TURN))
    tokens = _cut(text)
    first, last = 0, len(tokens)
    while first < last and tokens[first].kind == "newline":
        first += 1
    while last > first and tokens[last - 1].kind == "newline":
        last -= 1
    return text, tokens[first:last]


@lru_cache(maxsize=4_096)
def phrase_words(phrase: str) -> tuple[tuple[str, str], ...]:
    """Cut a phrase of the lexicon into its words, each in small letters and without accents.

    Raises:
        NotRead: the phrase holds a character no turn may have, or more words than a turn may.
    """
    tokens = _cut(unicodedata.normalize("NFC", phrase) + " 0")[:-1]  # "no." is one token before a number only
    return tuple((token.small, token.plain) for token in tokens)


def _cut(text: str) -> list[Token]:
    tokens: list[Token] = []
    at, listed = _first_list_mark(text)
    scan = _TOKEN.match
    while at < len(text):
        match = scan(text, at)
        assert match is not None  # the last alternative takes any character
        kind = match.lastgroup
        start, at = match.span()
        if kind == "space":
            continue
        if len(tokens) == MOST_TOKENS:
            raise not_read("too_long", limit=str(LONGEST_TURN))
        said = match.group()
        if kind == "word":
            if not said.isascii() and not _LETTER.match(said):
                raise _odd(text, start, next(c for c in said if not _LETTER.match(c)))
            tokens.append(_word("word", said, start, at))
        elif kind == "newline":
            at, listed = _list_mark(text, at, listed)
            tokens.append(Token("newline", "\n", "\n", "\n", start, at))
        elif kind == "odd":
            raise _odd(text, start, said)
        else:
            tokens.append(_other(kind, said, start, at, text))
        if len(tokens) > 1 and tokens[-2].end == start:
            _refuse_broken_number(text, tokens[-2], tokens[-1])
    return tokens


def _refuse_broken_number(text: str, before: Token, after: Token) -> None:
    """Refuse a number that something stands against: ",50" may be fifty cents, "40.00then" may lack a digit."""
    led = before.kind == "mark" and before.text in ",." and after.kind == "number"
    trailed = before.kind == "number" and after.kind == "word"
    if led or trailed:
        span = Span(start=before.start, end=after.end)
        raise not_read("number_form", at=span, text=text[before.start : after.end])


def _word(kind: TokenKind, said: str, start: int, end: int) -> Token:
    small = said.casefold()
    if "’" in small:
        small = small.replace("’", "'")
    return Token(kind, said, small, small if small.isascii() else fold(small), start, end)


def _other(kind: str | None, said: str, start: int, end: int, text: str) -> Token:
    match kind:
        case "quoted":
            hidden = _HIDDEN.search(said)
            if hidden:
                raise _odd(text, start + hidden.start(), hidden.group())
            return Token("quoted", said, said, said, start, end)
        case "number" | "mark" | "iso_date" | "slash_date" | "email":
            return Token(kind, said, said, said, start, end)
        case "abbreviation":
            return _word("word", said, start, end)
        case "id" | "currency":
            return _word(kind, said, start, end)
        case _:
            raise AssertionError(kind)


def _first_list_mark(text: str) -> tuple[int, int]:
    """Skip the mark of a list's first line, if a second line has a mark too."""
    at = len(text) - len(text.lstrip(_WHITE))
    first = _LIST_MARK.match(text, at)
    if first is None or first.group(1) not in (None, "1"):
        return 0, 0
    for line in text[first.end() :].split("\n")[1:]:
        if _LIST_MARK.match(line.lstrip(_WHITE)):
            return first.end(), int(first.group(1) or 0)
    return 0, 0


def _list_mark(text: str, at: int, listed: int) -> tuple[int, int]:
    """Skip a list mark after a line break. Numbers must run 1, 2, 3, since they state the order of the calls."""
    mark = _LIST_MARK.match(text, at)
    if mark is None:
        return at, listed
    if mark.group(1) is None:
        return mark.end(), listed
    if int(mark.group(1)) != listed + 1:
        raise not_read("list_order", at=Span(start=mark.start(), end=mark.end()), text=mark.group().strip())
    return mark.end(), listed + 1


def _odd(text: str, at: int, character: str) -> Exception:
    place = text.index(character, at)
    span = Span(start=place, end=place + 1)
    if character in _QUOTES:
        return not_read("unbalanced_quote", at=span, text=character)
    shown = character if character.isprintable() else ""
    return not_read("odd_character", at=span, text=shown, character=f"U+{ord(character):04X}")
