"""Mistakes in a file a person wrote: each one names the place, the value and the way out.

A loader collects every mistake it finds before it gives up, so that a file is put right in one go.
"""

import dataclasses
from collections.abc import Iterable

from .errors import AmendsError
from .tool import Origin

__all__ = ["FileMistake", "FileMistakes", "edits_between", "nearest"]

_NEAR_AT_MOST = 3


@dataclasses.dataclass(eq=False)
class FileMistake(AmendsError):  # noqa: N818 -- it is the mistake a person made, not an error of ours
    """One mistake in a file.

    Attributes:
        message: what is wrong and what to write instead, without the place.
        origin: the file and the line.
        near: the known words nearest to the one that is unknown; named, never applied.
    """

    code = "file_mistake"
    message: str
    origin: Origin
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        said = f"{self.message}{_did_you_mean(self.near)}"
        return f"{self.origin}: {said}" if self.origin.file else said

    @property
    def file(self) -> str:
        """The file, as it was named to the loader."""
        return self.origin.file

    @property
    def line(self) -> int:
        """The line, counted from 1; 0 when the mistake has no line."""
        return self.origin.line


@dataclasses.dataclass(eq=False)
class FileMistakes(AmendsError):  # noqa: N818 -- the same
    """Everything that is wrong in one file or in files read together, in the order of the lines.

    Attributes:
        mistakes: at least one.
    """

    code = "file_mistakes"
    mistakes: tuple[FileMistake, ...]

    def __init__(self, mistakes: Iterable[FileMistake]) -> None:
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: (mistake.file, mistake.line)))
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        return "\n".join(str(mistake) for mistake in self.mistakes)


def nearest(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known words within one edit of ``word``, or two when it has six letters or more.

    An edit inserts, deletes or replaces one character, or swaps two neighbours. The nearest come first, then by
    alphabet. The word itself, in any case, is not among them unless only its case differs.
    """
    reach = 2 if len(word) >= 6 else 1
    folded = word.casefold()
    found = {
        (edits_between(folded, other.casefold()), other)
        for other in known
        if other != word and abs(len(other) - len(word)) <= reach
    }
    return tuple(other for distance, other in sorted(found) if distance <= reach)[:_NEAR_AT_MOST]


def edits_between(one: str, other: str) -> int:
    """Count the edits (insert, delete, replace, swap of neighbours) that make ``other`` of ``one``."""
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row]
        for column, against in enumerate(other, 1):
            cost = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before[column - 2] + 1)
            here.append(cost)
        before, above = above, here
    return above[-1]


def _did_you_mean(near: tuple[str, ...]) -> str:
    return f"; did you mean {' or '.join(near)}?" if near else ""
