"""Known words one edit away from an unknown one, by an index of deletions. They are named, never applied."""

from collections.abc import Iterable

from ..contract.mistakes import edits_between

__all__ = ["Suggestions"]

_SHORTEST = 4
_LONGEST = 32
_MOST = 3


class Suggestions:
    """Finds near words in the time it takes to delete each letter once. Built when an agent is loaded."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_deletion: dict[str, list[str]] = {}
        for word in sorted(set(words)):
            if _SHORTEST <= len(word) <= _LONGEST:
                for shorter in _deletions(word):
                    self._by_deletion.setdefault(shorter, []).append(word)

    def near(self, word: str) -> tuple[str, ...]:
        """Return up to three known words that one insert, delete, replace or swap makes of ``word``."""
        if not _SHORTEST <= len(word) <= _LONGEST:
            return ()
        maybe = {known for shorter in _deletions(word) for known in self._by_deletion.get(shorter, ())}
        return tuple(sorted(known for known in maybe if edits_between(word, known) <= 1))[:_MOST]


def _deletions(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
