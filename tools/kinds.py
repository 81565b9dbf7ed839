"""From an annotation to what a turn can say for it: the kind, the JSON type, one value or many (SPEC 1.1).

In this order: a `Kind` marker in ``Annotated`` wins; ``Literal`` and ``Enum`` of texts are an enum; bool and date are
themselves; text or an integer whose name ends in id, number, code, ref or no is an id; int is int; ``Decimal`` and
float are money when the name ends in amount, price, total, value, fee or cost, and a decimal otherwise; text whose name
ends in email or mail is an e-mail address, and other text is text. Anything else has no kind: no turn can say it.
"""

import datetime as dt
import re
import types
import uuid
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Final, Literal, NewType, TypeAlias, Union, get_args, get_origin, is_typeddict

from pydantic import BaseModel, EmailStr

from ..contract.tool import Kind, KindName, Parameter
from .wire import is_money

__all__ = ["exact", "parameter_of"]

Base: TypeAlias = Literal["string", "integer", "number", "boolean", "object", "array", "any"]

_ID_NAMES: Final = frozenset({"id", "number", "code", "ref", "no"})
_EMAIL_NAMES: Final = frozenset({"email", "mail"})
_MANY: Final = (list, tuple, set, frozenset, Sequence, Set)
_BASES_OF_KIND: Final[Mapping[KindName, tuple[Base, ...]]] = {
    "id": ("string", "integer"),
    "money": ("number", "string"),
    "decimal": ("number", "string"),
    "int": ("integer",),
    "date": ("string",),
    "email": ("string",),
    "text": ("string",),
    "enum": ("string",),
    "bool": ("boolean",),
}


@dataclass(frozen=True)
class _Bare:
    """An annotation without its wrappers: what one value is, whether there are many, and the marker it carried."""

    type: object
    many: bool
    marker: Kind | None


def parameter_of(name: str, annotation: object, *, required: bool) -> Parameter:
    """Read one parameter from its name and its annotation.

    Raises:
        ValueError: a `Kind` marker does not go with the type, or its pattern is no regular expression; the message
            says what to write.
    """
    bare = _unwrap(annotation)
    values = _texts_of(bare.type)
    base = _base(bare.type)
    kind = bare.marker.name if bare.marker else _kind(name.lower(), bare, values)
    pattern = bare.marker.pattern if bare.marker else None
    if kind is not None and base not in _BASES_OF_KIND[kind]:
        raise ValueError(f'{name}: Kind("{kind}") does not go with {_name_of(bare.type)}; annotate {_FITTING[kind]}')
    if kind == "enum" and not values:
        raise ValueError(f'{name}: Kind("enum") needs its words; annotate Literal["one", "other"] instead')
    if pattern is not None:
        _refuse_bad_pattern(name, kind, pattern)
    return Parameter(name=name, kind=kind, base=base, required=required, many=bare.many, pattern=pattern, values=values)


def exact(annotation: object) -> object:
    """Return the annotation with every float read as ``Decimal``, which keeps the digits a person approved."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is float:
        return Decimal
    if isinstance(annotation, NewType):
        return exact(annotation.__supertype__)
    if type(annotation).__name__ == "TypeAliasType":
        return exact(getattr(annotation, "__value__", Any))
    if origin is Annotated:
        return Annotated[(exact(inner[0]), *inner[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(exact(item) for item in inner)]  # noqa: UP007 -- made at run time
    if isinstance(origin, type) and issubclass(origin, (*_MANY, Mapping)):
        return types.GenericAlias(origin, tuple(item if item is ... else exact(item) for item in inner))
    return annotation


def _unwrap(annotation: object) -> _Bare:
    marker: Kind | None = None
    many = False
    while True:
        origin, inner = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            marker = next((item for item in inner[1:] if isinstance(item, Kind)), None) or marker
            annotation = inner[0]
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = getattr(annotation, "__value__", Any)
        elif (
            origin in (Union, types.UnionType) and len(given := [item for item in inner if item is not type(None)]) == 1
        ):
            annotation = given[0]
        elif not many and _is_many(origin, inner):
            many, annotation = True, inner[0]
        else:
            return _Bare(annotation, many, marker)


def _is_many(origin: object, inner: tuple[object, ...]) -> bool:
    if not isinstance(origin, type) or not issubclass(origin, _MANY):
        return False
    return len(inner) == (2 if origin is tuple else 1) and (origin is not tuple or inner[1] is ...)


def _kind(name: str, bare: _Bare, values: tuple[str, ...]) -> KindName | None:
    word = name.rsplit("_", 1)[-1]
    ends = {word, word.removesuffix("s")} if bare.many else {word}
    if values:
        return "enum"
    if bare.type is EmailStr:
        return "email"
    if not isinstance(bare.type, type):
        return None
    if issubclass(bare.type, bool):
        return "bool"
    if issubclass(bare.type, dt.date) and not issubclass(bare.type, dt.datetime):
        return "date"
    if ends & _ID_NAMES and issubclass(bare.type, str | int | uuid.UUID) and not issubclass(bare.type, Enum):
        return "id"
    if issubclass(bare.type, int) and not issubclass(bare.type, Enum):
        return "int"
    if issubclass(bare.type, Decimal | float):
        return "money" if any(is_money(end) for end in ends) else "decimal"
    if issubclass(bare.type, str) and not issubclass(bare.type, Enum):
        return "email" if ends & _EMAIL_NAMES else "text"
    return None


def _texts_of(annotation: object) -> tuple[str, ...]:
    """Return the words of a ``Literal`` or ``Enum`` of texts; nothing for any other type."""
    values: list[object] = []
    if get_origin(annotation) is Literal:
        values = [value for value in get_args(annotation) if value is not None]
    elif isinstance(annotation, type) and issubclass(annotation, Enum):
        values = [member.value for member in annotation]
    texts = tuple(value for value in values if isinstance(value, str))
    return texts if len(texts) == len(values) else ()


def _base(annotation: object) -> Base:
    if get_origin(annotation) is Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return "string" if _texts_of(annotation) else "any"
    kind = get_origin(annotation) or annotation
    if kind is EmailStr:
        return "string"
    if not isinstance(kind, type) or kind is object:
        return "any"
    known: tuple[tuple[Base, bool], ...] = (
        ("boolean", issubclass(kind, bool)),
        ("integer", issubclass(kind, int)),
        ("number", issubclass(kind, Decimal | float)),
        ("string", issubclass(kind, str | bytes | dt.date | dt.time | dt.timedelta | uuid.UUID)),
        ("object", issubclass(kind, Mapping | BaseModel) or is_dataclass(kind) or is_typeddict(kind)),
        ("array", issubclass(kind, _MANY)),
    )
    return next((base for base, is_it in known if is_it), "any")


_FITTING: Final[Mapping[KindName, str]] = {
    "id": "str or int",
    "money": "Decimal",
    "decimal": "Decimal",
    "int": "int",
    "date": "datetime.date",
    "email": "str",
    "text": "str",
    "enum": "Literal[...]",
    "bool": "bool",
}


def _refuse_bad_pattern(name: str, kind: KindName | None, pattern: str) -> None:
    if kind != "id":
        raise ValueError(f"{name}: only an id has a pattern, and this is Kind({kind!r})")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name}: the pattern {pattern!r} is no regular expression: {error}") from None


def _name_of(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
