"""A turn laid out for the charts: its tokens, and the phrases of the lexicon that start at each of them."""

import datetime as dt

from ..contract.reading import Span
from .lexicon import DETERMINER, PREPOSITION, TERM, Lexicon
from .phrases import NOTHING
from .tokens import Token, tokenize

__all__ = ["Sentence"]

MOST_FILLERS = 4  # in a row; more of them is noise that only costs time


class Sentence:
    """One turn while it is read. Positions are token numbers; ``length`` is the position after the last token.

    Raises:
        NotRead: the turn cannot be cut into tokens.
    """

    __slots__ = ("_openings", "_terms", "found", "length", "lexicon", "text", "today", "tokens")

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
        starts: list[tuple[str | None, int]] = [(None, at)]
        starts += [(name, at + length) for name, length in found[at].get(PREPOSITION, NOTHING)]
        opened: list[tuple[str | None, int]] = []
        for name, start in starts:
            opened.append((name, start))
            opened += [(name, start + length) for _, length in found[start].get(DETERMINER, NOTHING)]
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
