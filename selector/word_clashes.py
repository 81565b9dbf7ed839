"""Which words a tool may not have: those the grammar needs for itself.

A word clashes with another when some token of a turn would match both: *pôr* typed without its accent is the
preposition *por*. Made words that clash are dropped with a warning; words of a vocabulary file that clash are mistakes
in it.
"""

from .language import LanguageFile, ReservedCode
from .tokens import phrase_words

__all__ = ["Clashes"]

_Words = tuple[tuple[str, str], ...]


class Clashes:
    """The reserved words and the closed class of one language, ready to be asked."""

    def __init__(self, language: LanguageFile) -> None:
        self._reserved = [
            (phrase_words(phrase), code) for code, phrases in language.reserved.items() for phrase in phrases
        ]
        self._closed = {spelling for phrase in language.closed_class for spelling in _spellings(phrase_words(phrase))}

    def reserved(self, phrase: str) -> ReservedCode | None:
        """Return why a turn that holds ``phrase`` would never be read, if it holds a reserved word."""
        words = phrase_words(phrase)
        for reserved, code in self._reserved:
            if any(_same(words[at : at + len(reserved)], reserved) for at in range(len(words) - len(reserved) + 1)):
                return code
        return None

    def reserved_whole(self, phrase: str) -> ReservedCode | None:
        """Return the code of the reserved word that ``phrase`` is, if it is one and nothing more."""
        words = phrase_words(phrase)
        return next((code for reserved, code in self._reserved if _same(words, reserved)), None)

    def closed(self, phrase: str) -> bool:
        """Whether the whole phrase is one the grammar gives a fixed part."""
        return any(spelling in self._closed for spelling in _spellings(phrase_words(phrase)))


def _spellings(words: _Words) -> set[tuple[str, ...]]:
    """The two spellings people type: with all accents and without any."""
    return {tuple(small for small, _ in words), tuple(plain for _, plain in words)}


def _same(words: _Words, others: _Words) -> bool:
    return len(words) == len(others) and all({*word} & {*other} for word, other in zip(words, others, strict=True))
