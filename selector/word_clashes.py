"""Which words a tool may not have: those the grammar needs for itself.

A word clashes with another when some token of a turn would match both: *pôr* typed without its accent is the
preposition *por*. Since every word may be typed without accents, two words clash when they are the same without them.
Made words that clash are dropped with a warning; words of a vocabulary file that clash are mistakes in it.
"""

from .language import LanguageFile, ReservedCode
from .tokens import phrase_words

__all__ = ["Clashes"]


class Clashes:
    """The reserved words and the closed class of one language, ready to be asked."""

    def __init__(self, language: LanguageFile) -> None:
        self._reserved = {_plain(phrase): code for code, phrases in language.reserved.items() for phrase in phrases}
        self._longest = max(len(words) for words in self._reserved)
        self._closed = {_plain(phrase) for phrase in language.closed_class}

    def reserved(self, phrase: str) -> ReservedCode | None:
        """Return why a turn that holds ``phrase`` would never be read, if it holds a reserved word."""
        words = _plain(phrase)
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + self._longest) + 1):
                code = self._reserved.get(words[start:end])
                if code is not None:
                    return code
        return None

    def reserved_whole(self, phrase: str) -> ReservedCode | None:
        """Return the code of the reserved word that ``phrase`` is, if it is one and nothing more."""
        return self._reserved.get(_plain(phrase))

    def closed(self, phrase: str) -> bool:
        """Whether the whole phrase is one the grammar gives a fixed part."""
        return _plain(phrase) in self._closed


def _plain(phrase: str) -> tuple[str, ...]:
    return tuple(plain for _, plain in phrase_words(phrase))
