"""Whether a condition holds for a call: yes, no, or unknown, and unknown is for the caller to take strictly.

A missing argument, and one that is not of the kind the condition compares, is unknown: ``NaN``, ``null`` and ``"abc"``
cannot slip under ``amount_over: 200`` (SPEC 3.3).
"""

import unicodedata
from collections.abc import Mapping

from .amounts import exact_number
from .rules import AllOf, AnyOf, Condition, FactHolds, FlagIs, Not, NumberIs, TextIs

__all__ = ["holds"]


def holds(condition: Condition, arguments: Mapping[str, object], facts: Mapping[str, object]) -> bool | None:
    """Return True, False, or None for unknown (three-valued logic)."""
    match condition:
        case NumberIs():
            return _number_holds(condition, arguments.get(condition.argument))
        case FactHolds():
            return facts.get(condition.fact) is True
        case TextIs():
            return _text_holds(condition, arguments.get(condition.argument))
        case FlagIs():
            given = arguments.get(condition.argument)
            return given is condition.value if isinstance(given, bool) else None
        case AllOf():
            parts = [holds(part, arguments, facts) for part in condition.parts]
            return False if False in parts else None if None in parts else True
        case AnyOf():
            parts = [holds(part, arguments, facts) for part in condition.parts]
            return True if True in parts else None if None in parts else False
        case Not():
            inner = holds(condition.part, arguments, facts)
            return None if inner is None else not inner


def _number_holds(condition: NumberIs, given: object) -> bool | None:
    number = exact_number(given)
    if number is None:
        return None
    bound = condition.values[0]
    match condition.op:
        case "over":
            return number > bound
        case "under":
            return number < bound
        case "at_least":
            return number >= bound
        case "at_most":
            return number <= bound
        case "in":
            return number in condition.values
        case "not_in":
            return number not in condition.values


def _text_holds(condition: TextIs, given: object) -> bool | None:
    if not isinstance(given, str):
        return None
    text = given if given.isascii() else unicodedata.normalize("NFC", given)
    return (text in condition.values) is (condition.op == "in")
