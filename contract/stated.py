"""From a document to a `Stated` model: every mistake in it at once, with its line and the nearest known word.

Values are taken as they are written: the text ``yes`` is no flag, and the text ``3`` no number.
"""

import json
import re
import types
import typing
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, TypeVar, Union

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .mistakes import FileMistake, FileMistakes, nearest
from .model import Stated
from .yaml12 import Places, YamlPath, YamlValue

__all__ = ["read_stated"]

_Read = TypeVar("_Read", bound=Stated)


def read_stated(model: type[_Read], value: YamlValue, places: Places, path: YamlPath = ()) -> _Read:
    """Read the part of a document at ``path`` into ``model``.

    Args:
        model: the model that says which keys there are and what they hold.
        value: what the document has at ``path``.
        places: where everything in the document stands.
        path: keys and list positions from the top of the document.

    Raises:
        FileMistakes: unknown keys, missing keys, wrong types, words outside a closed set.
    """
    try:
        return model.model_validate_json(json.dumps(value, default=_number), strict=True)
    except ValidationError as error:
        mistakes: dict[YamlPath, FileMistake] = {}
        for found in error.errors(include_url=False):
            at = (*path, *_written(value, found))
            mistakes.setdefault(at, _mistake(model, found, places, at))
        raise FileMistakes(_deepest(mistakes)) from None


def _written(value: YamlValue, found: ErrorDetails) -> Iterator[str | int]:
    """Keep of an error's location what the document has there: not the names of a union's alternatives."""
    here: object = value
    for part in found["loc"]:
        if isinstance(here, dict) and part in here:
            here = here[str(part)]
            yield part
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
            yield part
        elif found["type"] == "missing" and part == found["loc"][-1]:
            yield part


def _deepest(mistakes: Mapping[YamlPath, FileMistake]) -> Iterator[FileMistake]:
    """Leave out what a union's other alternative says of a whole, where one says what is wrong inside it."""
    for at, mistake in mistakes.items():
        if not any(other[: len(at)] == at and other != at for other in mistakes):
            yield mistake


def _number(value: object) -> str:
    assert isinstance(value, Decimal), f"{value!r} is no YAML value"
    return str(value)


def _mistake(model: type[Stated], found: ErrorDetails, places: Places, at: YamlPath) -> FileMistake:
    origin = places.of(at)
    name = str(at[-1]) if at else "the file"
    said = ".".join(str(part) for part in at) or "the file"
    match found["type"]:
        case "extra_forbidden":
            known = sorted(_keys_at(model, found["loc"][:-1]))
            near = nearest(name, known)
            way_out = "" if near else f"; known here are {', '.join(known)}"
            return FileMistake(f"unknown key {name!r}{way_out}", origin, near)
        case "missing":
            return FileMistake(f"{said} is missing", origin)
        case "literal_error" | "enum":
            words = re.findall(r"'([^']*)'", str(found.get("ctx", {}).get("expected", "")))
            given = str(found["input"])
            return FileMistake(f"{said} is {given!r}; it is one of {', '.join(words)}", origin, nearest(given, words))
        case "string_pattern_mismatch":
            shape = found.get("ctx", {}).get("pattern", "")
            return FileMistake(f"{said} is {found['input']!r}, which has not the shape {shape}", origin)
        case "value_error":
            return FileMistake(f"{said}: {found['msg'].removeprefix('Value error, ')}", origin)
        case "model_type":
            return FileMistake(f"{said} holds keys with values; {found['input']!r} has none", origin)
        case _:
            way_out = found["msg"].replace("Input should", "it should").replace("array", "list")
            return FileMistake(f"{said} is {found['input']!r}; {way_out}", origin)


def _keys_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> set[str]:
    """Return the keys that the model at ``loc`` knows."""
    kinds: list[object] = [model]
    for part in loc:
        kinds = [inner for kind in kinds for inner in _inside(kind, part)]
    return {key for kind in kinds if _is_model(kind) for key in typing.cast("type[BaseModel]", kind).model_fields}


def _inside(kind: object, part: int | str) -> Iterator[object]:
    if _is_model(kind):
        field = typing.cast("type[BaseModel]", kind).model_fields.get(str(part))
        yield from _parts(field.annotation) if field else ()
        return
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        yield from _parts(inner[1])
    elif origin in (tuple, list):
        yield from _parts(inner[0])


def _parts(annotation: object) -> Iterator[object]:
    """Take an annotation out of ``Annotated`` and unions."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        yield from _parts(inner[0])
    elif origin in (Union, types.UnionType):
        for item in inner:
            yield from _parts(item)
    else:
        yield annotation


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
