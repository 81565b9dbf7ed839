"""The words a lexicon knows, and those only the other language knows: for naming what is unread, never for reading."""

from ..contract.reading import Language
from .lexicon import HEAD, TERM, Lexicon
from .sentence import Sentence
from .suggestions import Suggestions
from .tokens import Token

__all__ = ["KnownWords"]


class KnownWords:
    """The words of one lexicon, with a look at the other language's."""

    def __init__(self, lexicon: Lexicon, other: Lexicon) -> None:
        self._exact, plain = _words(lexicon)
        self._foreign = _words(other)[0] - self._exact
        self._other: Language = other.language.code
        closed = lexicon.language.reserved.values()
        reserved = {word for phrases in closed for phrase in phrases for word in phrase.split()}
        self._suggestions = Suggestions(plain - reserved)

    def knows(self, token: Token) -> bool:
        """Whether the word stands anywhere in the lexicon, reserved words included."""
        return token.small in self._exact

    def near(self, token: Token) -> tuple[str, ...]:
        """Return known words one edit away, reserved words left out."""
        return self._suggestions.near(token.plain)

    def language_of(self, sentence: Sentence) -> Language | None:
        """Return the other language, if at least half of the turn's words are known to that one alone."""
        words = [token for token in sentence.tokens if token.kind == "word"]
        foreign = sum(token.small in self._foreign for token in words)
        return self._other if foreign and 2 * foreign >= len(words) else None


def _words(lexicon: Lexicon) -> tuple[set[str], set[str]]:
    exact: set[str] = set()
    plain: set[str] = set()
    for small, folded, tag in lexicon.index.words():
        exact |= {small, folded}
        if tag in (HEAD, TERM) or folded.isalpha():
            plain.add(folded)
    return exact, plain
