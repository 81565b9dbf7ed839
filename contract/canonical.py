"""Canonical JSON: one spelling for one meaning, so that digests and idempotency keys agree everywhere (SPEC 5.1).

* Objects have their keys sorted; there is no white space.
* Text, keys included, is in Unicode NFC.
* A ``Decimal`` is written as an exact number without exponent and without trailing zeros: ``40``, ``40.0`` and
  ``40.00`` are one amount. Negative zero is zero.
* A ``float`` is refused: it has lost the digits a person approved. NaN and infinity are refused in every form.
* Dates and times are ISO 8601; times must carry a zone and are written in UTC.
"""

import datetime as dt
import hashlib
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring

__all__ = ["canonical_json", "decimal_text", "sha256"]

# What `json.dumps(text, ensure_ascii=False)` calls in the end; a key is made for every call, so it counts.
_quoted = encode_basestring
_WORDS = {None: "null", True: "true", False: "false"}


def decimal_text(value: Decimal) -> str:
    """Write a decimal exactly, without exponent and trailing zeros.

    Raises:
        ValueError: the value is NaN or infinite.
    """
    if not value.is_finite():
        raise ValueError(f"{value} is not an amount: only finite numbers have a canonical form")
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of ``value``.

    Takes None, bool, int, str, ``Decimal``, dates, times, enums, mappings with text keys, lists and tuples.

    Raises:
        TypeError: the value holds a float, or a type that has no canonical form; the message names the place.
        ValueError: a number is not finite, a time has no zone, or two keys of one object are the same in NFC.
    """
    return _write(value, "$")


def sha256(value: object) -> str:
    """Return the SHA-256 (64 hexadecimal digits) of the canonical JSON of ``value``.

    Raises:
        TypeError, ValueError: as `canonical_json`.
    """
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _write(value: object, place: str) -> str:
    match value:
        case str():
            return _text(value)
        case None | True | False:
            return _WORDS[value]
        case Enum():
            return _write(value.value, place)
        case int():
            return str(value)
        case Decimal():
            return decimal_text(value)
        case dict() | Mapping():
            return _write_object(value, place)
        case list() | tuple():
            return "[" + ",".join([_write(item, f"{place}[{i}]") for i, item in enumerate(value)]) + "]"
        case dt.date():
            return _write_date(value, place)
        case float():
            raise TypeError(f"{place}: {value!r} is a float, which is not exact; use Decimal or text")
        case _:
            raise TypeError(f"{place}: {type(value).__name__} has no canonical JSON form")


def _write_date(value: dt.date, place: str) -> str:
    if not isinstance(value, dt.datetime):
        return _text(value.isoformat())
    if value.tzinfo is None:
        raise ValueError(f"{place}: a time without a zone is ambiguous; give it one")
    return _text(value.astimezone(dt.UTC).isoformat())


def _write_object(value: Mapping[object, object], place: str) -> str:
    written: dict[str, str] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{place}: the key {key!r} is not text")
        name = key if key.isascii() else unicodedata.normalize("NFC", key)
        if name in written:
            raise ValueError(f"{place}: two keys are the same text once normalized: {name!r}")
        written[name] = _write(item, f"{place}.{name}")
    return "{" + ",".join([f"{_quoted(name)}:{written[name]}" for name in sorted(written)]) + "}"


def _text(value: str) -> str:
    return _quoted(value if value.isascii() else unicodedata.normalize("NFC", value))
