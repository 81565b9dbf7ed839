"""A value of a YAML document together with its place, so that every mistake about it has a line."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..contract.mistakes import FileMistake, nearest
from ..contract.tool import Origin
from ..contract.yaml12 import Places, YamlPath, YamlValue
from .comparisons import NotExact

__all__ = ["Entry"]


class Entry(NamedTuple):
    """One value, where it stands, and what it is asked to be."""

    value: YamlValue
    path: YamlPath
    places: Places

    @property
    def origin(self) -> Origin:
        """The file and line of the value."""
        return self.places.of(self.path)

    def mistake(self, message: str, near: tuple[str, ...] = ()) -> FileMistake:
        """A mistake at this place."""
        return FileMistake(message, self.origin, near)

    def not_exact(self, error: NotExact) -> FileMistake:
        """The same, from what a comparison could not make exact."""
        return FileMistake(error.message, self.origin, error.near)

    def mapping(self, keys: Collection[str], otherwise: str) -> dict[str, "Entry"]:
        """Return the entries of a mapping that may have these keys.

        Raises:
            FileMistake: it is no mapping (``otherwise`` says what it should be), or has another key.
        """
        entries = self.open_mapping(otherwise)
        for key, entry in entries.items():
            if key not in keys:
                raise entry.mistake(f"{key} is no key here; the keys are {', '.join(keys)}", nearest(key, keys))
        return entries

    def open_mapping(self, otherwise: str) -> dict[str, "Entry"]:
        """Return the entries of a mapping with any keys, at least one.

        Raises:
            FileMistake: it is no mapping, or has nothing in it.
        """
        if not isinstance(self.value, dict) or not self.value:
            raise self.mistake(otherwise)
        return {key: Entry(value, (*self.path, key), self.places) for key, value in self.value.items()}

    def items(self, otherwise: str) -> list["Entry"]:
        """Return the entries of a list.

        Raises:
            FileMistake: it is no list.
        """
        if not isinstance(self.value, list):
            raise self.mistake(otherwise)
        return list(self._positions(self.value))

    def one_or_more(self, otherwise: str) -> list["Entry"]:
        """Return the entries of a list that is not empty, or the one entry that stands for such a list.

        Raises:
            FileMistake: the list is empty.
        """
        if not isinstance(self.value, list):
            return [self]
        if not self.value:
            raise self.mistake(otherwise)
        return list(self._positions(self.value))

    def text(self, otherwise: str) -> str:
        """Return the text.

        Raises:
            FileMistake: it is no text, or empty.
        """
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.mistake(otherwise)
        return self.value.strip()

    def truth(self, otherwise: str) -> bool:
        """Return the boolean.

        Raises:
            FileMistake: it is neither true nor false.
        """
        if not isinstance(self.value, bool):
            raise self.mistake(otherwise)
        return self.value

    def _positions(self, values: list[YamlValue]) -> Iterator["Entry"]:
        for index, value in enumerate(values):
            yield Entry(value, (*self.path, index), self.places)
