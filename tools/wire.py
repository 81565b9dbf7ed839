"""Values as they travel: plain JSON without a single binary float (SPEC 5.1, 13.1).

Two writers of one form. `wire_argument` is exact: what it cannot write is refused, since an argument is what a person
approves. `wire_result` is total: it never raises, whatever a tool returned, because by then the effect has happened
and a result that cannot be written must not look like a call that failed.
"""

import base64
import dataclasses
import operator
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from decimal import Decimal
from enum import Enum
from numbers import Integral
from typing import Final

from pydantic import BaseModel, JsonValue
from pydantic_core import to_jsonable_python

from ..contract.canonical import canonical_json, decimal_text

__all__ = ["is_money", "number_text", "wire_argument", "wire_result"]

_MONEY_NAMES: Final = frozenset({"amount", "price", "total", "value", "fee", "cost"})
_MOST_DIGITS: Final = 1000
"""Beyond it, a number written out is only a way to fill memory."""
_DEEPEST: Final = 60
_MOST_VALUES: Final = 500_000
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def is_money(name: str) -> bool:
    """Whether a number of this name is money: its last word is amount, price, total, value, fee or cost."""
    return name.lower().rsplit("_", 1)[-1] in _MONEY_NAMES


def number_text(number: Decimal, *, money: bool) -> str:
    """Write a number exactly, without exponent: money with at least two decimals, others without trailing zeros.

    Raises:
        ValueError: it is not finite, or has more than 1000 digits.
    """
    if number.is_finite() and number and abs(number.adjusted()) + len(number.as_tuple().digits) > _MOST_DIGITS:
        raise ValueError(f"a number has at most {_MOST_DIGITS} digits")
    text = decimal_text(number)
    if not money:
        return text
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}"


def wire_argument(value: object, *, money: bool = False) -> JsonValue:
    """Return the one form an argument travels in.

    Numbers that are not integers become exact text, money with at least two decimals; dates and times ISO 8601; text
    Unicode NFC; an enum its value; a set a list in canonical order; bytes base64. Inside an object, money is told by
    the name of its field.

    Raises:
        TypeError: the value has a type that cannot travel.
        ValueError: a number is not finite or too long, a text is not Unicode, or an object names a field twice.
    """
    match value:
        case None | bool():
            return value
        case Enum():
            return wire_argument(value.value, money=money)
        case str():
            return _exact_text(value)
        case int():
            number_text(Decimal(int(value)), money=False)
            return int(value)
        case Decimal():
            return number_text(value, money=money)
        case float():
            return number_text(Decimal(float.__repr__(value)), money=money)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case Set():
            return sorted((wire_argument(item, money=money) for item in value), key=canonical_json)
    if (fields := _fields(value)) is not None:
        return _exact_object(fields)
    if isinstance(value, Sequence):
        return [wire_argument(item, money=money) for item in value]
    return _exact_text(_text_of(value))


def wire_result(value: object) -> JsonValue:
    """Return the form in which a result is recorded. It never raises.

    Decimals, and floats by their shortest spelling, become text; an object (mapping, pydantic model, dataclass) keeps
    its field names; a tuple, named or not, is a list; sets are put in order; bytes become base64. Anything else becomes
    its ``repr`` without memory addresses. Nesting beyond 60 levels and values beyond the 500,000th are left out, and
    say so.
    """
    return _ResultWriter().write(value, ())


class _ResultWriter:
    """Writes one result. Every step that runs code of the value's own class is guarded."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def write(self, value: object, inside: tuple[int, ...]) -> JsonValue:
        self._left -= 1
        if id(value) in inside:
            return "<itself>"
        if len(inside) > _DEEPEST or self._left < 0:
            return "<left out>"
        try:
            return self._write(value, (*inside, id(value)))
        except Exception:  # noqa: BLE001 -- total by contract: the effect has happened
            return _last_resort(value)

    def _write(self, value: object, inside: tuple[int, ...]) -> JsonValue:
        match value:
            case None | bool():
                return value
            case Enum():
                return self.write(value.value, inside)
            case str():
                return _any_text(str.__str__(value))
            case Integral():
                number = operator.index(value)
                return number if number.bit_length() <= _MOST_DIGITS else hex(number)
            case Decimal():
                short = value.is_finite() and abs(value.adjusted()) <= _MOST_DIGITS
                return format(value, "f") if short else str(value)
            case float():
                return _float_text(value)
            case bytes() | bytearray() | memoryview():
                return base64.b64encode(value).decode()
            case Set():
                return sorted((self.write(item, inside) for item in value), key=canonical_json)
        if (fields := _fields(value)) is not None:
            return self._object(fields, inside)
        if isinstance(value, Sequence):
            return [self.write(item, inside) for item in value]
        return _any_text(_text_of(value))

    def _object(self, fields: Mapping[object, object], inside: tuple[int, ...]) -> JsonValue:
        written: dict[str, JsonValue] = {}
        for key, item in fields.items():
            named = self.write(key, inside)
            name = named if isinstance(named, str) else canonical_json(named)
            written[name if name not in written else _last_resort(key)] = self.write(item, inside)
        return written


def _fields(value: object) -> Mapping[object, object] | None:
    """Return the fields of an object, by their names in Python, or None when it has none."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, BaseModel):
        return {name: item for name, item in value.model_dump(mode="python", by_alias=False).items()}  # noqa: C416 -- typed
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _exact_object(fields: Mapping[object, object]) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {}
    for key, item in fields.items():
        name = _exact_text(key) if isinstance(key, str) else _exact_text(_text_of(key))
        if name in written:
            raise ValueError(f"it names {name!r} twice")
        written[name] = wire_argument(item, money=is_money(name))
    return written


def _text_of(value: object) -> str:
    """Write a date, a UUID and the like as text.

    Raises:
        TypeError: it has no form of its own in JSON.
    """
    if isinstance(value, Iterator):
        raise TypeError("an iterator cannot travel as JSON: reading it would use it up")
    try:
        plain = to_jsonable_python(value)
    except Exception as error:
        raise TypeError(f"{type(value).__name__} cannot travel as JSON") from error
    return plain if isinstance(plain, str) else canonical_json(plain)


def _exact_text(text: str) -> str:
    text.encode()
    return unicodedata.normalize("NFC", text)


def _any_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _float_text(value: float) -> str:
    spelled = float.__repr__(value)
    return decimal_text(Decimal(spelled)) if spelled.lstrip("-")[0].isdigit() else spelled


def _last_resort(value: object) -> str:
    try:
        return _any_text(_ADDRESS.sub("", repr(value)))
    except Exception:  # noqa: BLE001 -- a repr is a user's code too
        return f"<{type(value).__name__}>"
