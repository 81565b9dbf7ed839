"""A turn laid out for the charts: its tokens, and the phrases of the lexicon that start at each of them."""

import datetime as dt
from typing import NamedTuple

from ..contract.reading import Span
from .lexicon import DETERMINER, PREPOSITION, SAME, TERM, Lexicon
from .phrases import NOTHING
from .tokens import Token, tokenize

__all__ = ["MOST_FILLERS", "Reference", "Sentence"]

MOST_FILLERS = 4  # in a row; more of them is noise that only costs time


class Reference(NamedTuple):
    """The words "the same order": the preposition with them, where they start, the noun, the position behind."""

    preposition: str | None
    start: int
    noun: str
    end: int


class Sentence:
    """One turn while it is read. Positions are token numbers; ``length`` is the position after the last token.

    Raises:
        NotRead: the turn cannot be cut into tokens.
    """

    __slots__ = ("_openings", "_references", "_terms", "found", "length", "lexicon", "text", "today", "tokens")

    def __init__(self, turn: str, lexicon: Lexicon, today: dt.date | None) -> None:
        self.lexicon = lexicon
        self.today = today
        self.text, tokens = tokenize(turn)
        self.found = lexicon.index.find(tokens)
        self.length = len(tokens)
        end = tokens[-1].end if tokens else 0
        tokens.append(Token("end", "", "", "", end, end))
        self.tokens = tokens
        self._openings: dict[int, list[tuple[str | None, int]]] = {}
        self._references: dict[int, list[Reference]] = {}
        self._terms: dict[int, list[tuple[str | None, str, int]]] = {}

    def span(self, start: int, end: int) -> Span:
        """Return the characters from one position up to another; of an empty stretch, the place where it would be."""
        tokens = self.tokens
        if end <= start:
            return Span(start=tokens[start].start, end=tokens[start].end)
        return Span(start=tokens[start].start, end=tokens[end - 1].end)

    def said(self, start: int, end: int) -> str:
        """Return the words from one position up to another, as written."""
        if end <= start:
            return self.tokens[start].text
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def openings(self, at: int) -> list[tuple[str | None, int]]:
        """Return where a noun may start: here, and after a preposition, a determiner or both."""
        known = self._openings.get(at)
        if known is not None:
            return known
        found = self.found
        opened: list[tuple[str | None, int]] = [(None, at)]
        for _, length in found[at].get(DETERMINER, NOTHING):
            opened.append((None, at + length))
        for name, length in found[at].get(PREPOSITION, NOTHING):
            start = at + length
            opened.append((name, start))
            for _, more in found[start].get(DETERMINER, NOTHING):
                opened.append((name, start + more))
        self._openings[at] = opened
        return opened

    def terms(self, at: int) -> list[tuple[str | None, str, int]]:
        """Return the terms that stand here after an opening: its preposition, the term, the position behind it."""
        known = self._terms.get(at)
        if known is None:
            known = [
                (name, term, start + length)
                for name, start in self.openings(at)
                for term, length in self.found[start].get(TERM, NOTHING)
            ]
            self._terms[at] = known
        return known

    def references(self, at: int) -> list[Reference]:
        """Return each "the same order" that stands here, after a preposition perhaps."""
        known = self._references.get(at)
        if known is not None:
            return known
        found = self.found
        starts: list[tuple[str | None, int]] = [(None, at)]
        starts += [(name, at + length) for name, length in found[at].get(PREPOSITION, NOTHING)]
        known = self._references[at] = [
            Reference(name or contracted, start, noun, start + length + more)
            for name, start in starts
            for contracted, length in found[start].get(SAME, NOTHING)
            if name is None or contracted is None
            for noun, more in found[start + length].get(TERM, NOTHING)
        ]
        return known
