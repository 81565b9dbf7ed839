"""YAML as people mean it: the booleans of YAML 1.2, exact numbers, and the line of every key and value.

PyYAML's own loader follows YAML 1.1, where the words ``on``, ``off``, ``yes`` and ``no`` are booleans: in a word list
the preposition *on* and the Portuguese *no* would turn into true and false. Here only ``true`` and ``false`` are.
Further: keys are always text as written; a number with a decimal point is a ``Decimal``; digits with a leading zero
stay text, so an id keeps its zeros; dates stay text; a key given twice is a mistake; anchors, aliases and other tags
are refused, so each value stands in one place and a small file cannot grow into a big one.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple, TypeAlias

import yaml

from .mistakes import FileMistake
from .tool import Origin

__all__ = ["Document", "Places", "YamlPath", "YamlValue", "load_yaml"]

YamlValue: TypeAlias = "str | int | Decimal | bool | list[YamlValue] | dict[str, YamlValue] | None"
YamlPath: TypeAlias = tuple[str | int, ...]

_DEEPEST = 40
_TAG = "tag:yaml.org,2002:"
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_DECIMAL = re.compile(r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?|[0-9]+[eE][-+]?[0-9]{1,3})\Z")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")


class Places:
    """Where each key and value of a document is written."""

    def __init__(self, file: str, lines: Mapping[YamlPath, int]) -> None:
        self._file = file
        self._lines = lines

    def of(self, path: YamlPath) -> Origin:
        """Return the origin of ``path``: keys and list positions from the top, ``("tools", "charge_card", 0)``.

        An entry of a mapping is where its key is. A path the document lacks is where its nearest parent is, so a
        mistake about something missing points at what it is missing from.
        """
        while path and path not in self._lines:
            path = path[:-1]
        return Origin(file=self._file, line=self._lines.get(path, 1))


class Document(NamedTuple):
    """A YAML document as plain values, and the places they stand in."""

    value: YamlValue
    places: Places


def load_yaml(text: str, *, file: str) -> Document:
    """Read one YAML document. An empty one has the value None.

    Args:
        text: the document.
        file: what to call it in messages; it is not opened.

    Raises:
        FileMistake: it is not YAML, has more than one document, a key twice, a key that is not plain text, an anchor,
            an alias or a tag other than the plain ones, or is nested more than 40 deep.
    """
    try:
        _refuse_anchors(text, file)
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = error.problem or error.context or "this is not YAML"
        raise FileMistake(
            f"not readable as YAML: {said}", Origin(file=file, line=mark.line + 1 if mark else 1)
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise FileMistake(f"not readable as YAML: {error}", Origin(file=file, line=1)) from error
    reader = _Reader(file)
    value = None if node is None else reader.value(node, ())
    return Document(value, Places(file, reader.lines))


class _Loader(yaml.SafeLoader):
    """Resolves nothing by itself: `_plain` decides what a plain word is."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 -- PyYAML's own shape


def _refuse_anchors(text: str, file: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise FileMistake(
                "anchors (&) and aliases (*) are not read; write the value out", Origin(file=file, line=line)
            )
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise FileMistake(f"nested more than {_DEEPEST} deep", Origin(file=file, line=line))


class _Reader:
    """Turns nodes into plain values and notes the line of each path."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.lines: dict[YamlPath, int] = {}

    def value(self, node: yaml.Node, path: YamlPath) -> YamlValue:
        self.lines.setdefault(path, node.start_mark.line + 1)
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and kind == "str":
            return _plain(node.value) if node.style is None else str(node.value)
        raise FileMistake(f"the tag {node.tag} is not read; write a plain value", self._at(node))

    def _mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, YamlValue]:
        read: dict[str, YamlValue] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
                raise FileMistake("a key is plain text", self._at(key))
            name = str(key.value)
            if name in read:
                first = self.lines[(*path, name)]
                raise FileMistake(f"the key {name!r} is given twice; it stands on line {first} too", self._at(key))
            self.lines[(*path, name)] = key.start_mark.line + 1
            read[name] = self.value(item, (*path, name))
        return read

    def _at(self, node: yaml.Node) -> Origin:
        return Origin(file=self._file, line=node.start_mark.line + 1)


def _plain(text: str) -> str | int | Decimal | bool | None:
    if _BOOL.match(text):
        return text[0] in "tT"
    if _INT.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return Decimal(text)
    return None if _NULL.match(text) else text
