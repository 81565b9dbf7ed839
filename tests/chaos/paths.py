"""Choosing every way in turn: what makes a model of a thing that may go one way or another."""

from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["Impossible", "Paths", "every_way"]

_T = TypeVar("_T")
MOST = 200_000


class Impossible(Exception):  # noqa: N818 - it says what a way is
    """This way leads nowhere: what would have to happen on it did not."""


class Paths:
    """One way through a model: at each fork the way that was set, and the first one beyond."""

    def __init__(self, way: tuple[int, ...]) -> None:
        self._way = way
        self.forks: list[int] = []

    def choose(self, *options: _T) -> _T:
        """Return one of the options; every one of them is chosen on some way."""
        at = len(self.forks)
        self.forks.append(len(options))
        return options[self._way[at] if at < len(self._way) else 0]


def every_way(walk: Callable[[Paths], _T]) -> Iterator[_T]:
    """Yield what ``walk`` returns on each way that is possible.

    Raises:
        AssertionError: there are too many ways to try them.
    """
    ways: list[tuple[int, ...]] = [()]
    tried = 0
    while ways:
        tried += 1
        if tried > MOST:
            raise AssertionError(f"more than {MOST} ways through the model")
        way = ways.pop()
        paths = Paths(way)
        try:
            end = walk(paths)
        except Impossible:
            pass
        else:
            yield end
        for at in range(len(way), len(paths.forks)):
            before = (*way, *(0,) * (at - len(way)))
            ways += [(*before, other) for other in range(1, paths.forks[at])]
