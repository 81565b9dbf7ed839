"""What pydantic found wrong in a file a person wrote, said by file and line with the nearest known word."""

import types
import typing
from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel, ValidationError

from .mistakes import FileMistake, nearest
from .yaml12 import Places, YamlPath

__all__ = ["stated_mistakes"]


def stated_mistakes(error: ValidationError, model: type[BaseModel], places: Places) -> Iterator[FileMistake]:
    """Yield one mistake for each error of a ``Stated`` model read from a document.

    Args:
        error: what ``model.model_validate`` raised.
        model: the model of the whole document.
        places: where the document's keys and values stand.
    """
    for one in error.errors(include_url=False):
        path: YamlPath = tuple(one["loc"])
        name = ".".join(str(step) for step in path) or "the file"
        if one["type"] == "extra_forbidden":
            known = sorted(_keys(model, path[:-1]))
            choose = f"; known here: {', '.join(known)}" if known else ""
            yield FileMistake(f"unknown key {name!r}{choose}", places.of(path), nearest(str(path[-1]), known))
        elif one["type"] == "missing":
            yield FileMistake(f"{name!r} is missing", places.of(path))
        else:
            yield FileMistake(f"{name}: {_plain(one['msg'])}, not {_short(one['input'])}", places.of(path))


def _keys(model: type[BaseModel], path: YamlPath) -> set[str]:
    """Return the keys that may stand at a path."""
    here: set[object] = {model}
    for step in path:
        here = {inner for kind in here for inner in _step(kind, step)}
    return {name for kind in here if _is_model(kind) for name in _fields(kind)}


def _fields(kind: object) -> Iterable[str]:
    assert isinstance(kind, type)
    assert issubclass(kind, BaseModel)
    return (field.alias or name for name, field in kind.model_fields.items())


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _step(kind: object, step: str | int) -> Iterator[object]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            if step in (name, field.alias):
                yield from _alternatives(field.annotation)
        return
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(inner) == 2:
        yield from _alternatives(inner[1])
    elif isinstance(step, int) and inner:
        yield from _alternatives(inner[0])


def _alternatives(annotation: object) -> Iterator[object]:
    """Yield a type, or the members of a union, without their metadata."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        yield from _alternatives(inner[0])
    elif origin is typing.Union or origin is types.UnionType:
        for one in inner:
            yield from _alternatives(one)
    else:
        yield annotation


def _plain(message: str) -> str:
    return message[:1].lower() + message[1:]


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
