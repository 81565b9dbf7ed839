"""The phrase index: every phrase of the lexicon, found at every place of a turn with one look-up a token.

A phrase is stored with its accents. A token matches a word of it when it is that word, or that word without accents:
``cartão`` and ``cartao`` match *cartão*, a wrong accent as in ``cartáo`` does not, and ``é`` never matches *e*.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from .tokens import Token, phrase_words

__all__ = ["NOTHING", "Found", "Index", "Tag"]

T = TypeVar("T")


class Tag(Generic[T]):
    """What a phrase is taken as, and the type of what it says: ``PREPOSITION: Tag[str]``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Tag({self.name})"


class Found(Protocol):
    """The phrases that start at one place: for each tag, pairs of what is said and how many tokens say it."""

    def get(self, tag: Tag[T], nothing: tuple[()], /) -> tuple[tuple[T, int], ...]:
        """Return the phrases of one tag, longest first."""
        ...


_AnyFound = dict[Tag[Any], tuple[tuple[Any, int], ...]]  # the seam: what a Tag[T] holds is always pairs of T and int
NOTHING: tuple[()] = ()
_EMPTY = cast("Found", {})


class _Entry:
    __slots__ = ("said", "tag", "words")

    def __init__(self, words: tuple[tuple[str, str], ...], tag: Tag[Any], said: object) -> None:
        self.words, self.tag, self.said = words, tag, said


class Index:
    """Phrases by their first word. Filled once by `add`, then only read."""

    def __init__(self) -> None:
        self._by_first: dict[str, list[_Entry]] = {}
        self._ready: dict[str, _AnyFound] = {}

    def add(self, phrase: str, tag: Tag[T], said: T) -> None:
        """Add a phrase; the same phrase may be added under several tags, and with several sayings.

        Raises:
            NotRead: the phrase holds a character no turn may have.
        """
        words = phrase_words(phrase)
        if not words:
            return
        entries = self._by_first.setdefault(words[0][1], [])
        if not any(e.words == words and e.tag is tag and e.said == said for e in entries):
            entries.append(_Entry(words, tag, said))
            entries.sort(key=lambda entry: -len(entry.words))
            self._ready = {}

    def freeze(self) -> None:
        """Prepare the answers for tokens that need no look at their neighbours or accents."""
        for first, entries in self._by_first.items():
            if all(len(entry.words) == 1 for entry in entries):
                self._ready[first] = _grouped(entries)

    def find(self, tokens: Sequence[Token]) -> list[Found]:
        """Return what starts at each token, and nothing at the place after the last one."""
        found = [self._at(tokens, at, token) for at, token in enumerate(tokens)]
        found.append(_EMPTY)
        return found

    def words(self) -> Iterator[tuple[str, str, Tag[Any]]]:
        """Yield every word of every phrase, with accents, without, and the tag of its phrase."""
        for entries in self._by_first.values():
            for entry in entries:
                for small, plain in entry.words:
                    yield small, plain, entry.tag

    def _at(self, tokens: Sequence[Token], at: int, token: Token) -> Found:
        plain = token.plain
        if token.small == plain:
            ready = self._ready.get(plain)
            if ready is not None:
                return cast("Found", ready)
        entries = self._by_first.get(plain)
        if entries is None:
            return _EMPTY
        return cast("Found", _grouped(entry for entry in entries if _matches(entry, tokens, at)))


def _grouped(entries: Iterable[_Entry]) -> _AnyFound:
    found: _AnyFound = {}
    for entry in entries:
        found[entry.tag] = (*found.get(entry.tag, NOTHING), (entry.said, len(entry.words)))
    return found


def _matches(entry: _Entry, tokens: Sequence[Token], at: int) -> bool:
    words = entry.words
    if at + len(words) > len(tokens):
        return False
    for offset, (small, plain) in enumerate(words):
        said = tokens[at + offset].small
        if said not in (plain, small):
            return False
    return True
