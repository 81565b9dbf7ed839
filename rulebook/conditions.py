"""Conditions of rules: typed, and made into tests of a call that answer yes, no, or unknown.

A missing argument, and one that is not of the kind the condition compares, is unknown, and unknown is for the caller to
take strictly: ``NaN``, ``null`` and ``"abc"`` cannot slip under ``amount_over: 200`` (SPEC 3.3).
"""

import operator
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from ..contract.model import Wire
from .amounts import exact_number

__all__ = ["AllOf", "AnyOf", "Condition", "FactHolds", "FlagIs", "Not", "NumberIs", "Test", "TextIs", "test_of"]

Test: TypeAlias = Callable[[Mapping[str, object], Mapping[str, object]], bool | None]
"""Takes the arguments and the facts; answers True, False, or None for unknown."""


class NumberIs(Wire):
    """A number compared exactly: ``over`` excludes the bound, ``at_least`` includes it; ``in`` takes several values."""

    kind: Literal["number"] = "number"
    argument: str
    op: Literal["over", "under", "at_least", "at_most", "in", "not_in"]
    values: tuple[Decimal, ...] = Field(min_length=1)


class TextIs(Wire):
    """A text argument that is, or is not, one of the given texts. Compared whole and case by case, in Unicode NFC."""

    kind: Literal["text"] = "text"
    argument: str
    op: Literal["in", "not_in"]
    values: tuple[str, ...] = Field(min_length=1)

    @field_validator("values")
    @classmethod
    def _one_spelling(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(unicodedata.normalize("NFC", value) for value in values)


class FlagIs(Wire):
    """A boolean argument that is true, or false."""

    kind: Literal["flag"] = "flag"
    argument: str
    value: bool


class FactHolds(Wire):
    """A fact the host gave as ``True``. Any other value, and no value, does not hold."""

    kind: Literal["fact"] = "fact"
    fact: str


class AllOf(Wire):
    """Every part holds."""

    kind: Literal["all"] = "all"
    parts: tuple["Condition", ...] = Field(min_length=1)


class AnyOf(Wire):
    """At least one part holds."""

    kind: Literal["any"] = "any"
    parts: tuple["Condition", ...] = Field(min_length=1)


class Not(Wire):
    """The part does not hold. The denial of what is unknown is unknown."""

    kind: Literal["not"] = "not"
    part: "Condition"


Condition = Annotated[
    NumberIs | TextIs | FlagIs | FactHolds | AllOf | AnyOf | Not,
    Field(discriminator="kind"),
]


def test_of(condition: Condition) -> Test:
    """Make the test of a condition once, so that a check does not take the condition apart for every call."""
    match condition:
        case NumberIs():
            return _number_test(condition)
        case TextIs():
            return _text_test(condition)
        case FlagIs(argument=argument, value=wanted):

            def flag(arguments: Mapping[str, object], _facts: Mapping[str, object]) -> bool | None:
                given = arguments.get(argument)
                return given is wanted if isinstance(given, bool) else None

            return flag
        case FactHolds(fact=fact):
            return lambda _arguments, facts: facts.get(fact) is True
        case AllOf(parts=parts):
            return _joined([test_of(part) for part in parts], decided_by=False)
        case AnyOf(parts=parts):
            return _joined([test_of(part) for part in parts], decided_by=True)
        case Not(part=part):
            inner = test_of(part)

            def denied(arguments: Mapping[str, object], facts: Mapping[str, object]) -> bool | None:
                holds = inner(arguments, facts)
                return None if holds is None else not holds

            return denied


_COMPARE: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "over": operator.gt,
    "under": operator.lt,
    "at_least": operator.ge,
    "at_most": operator.le,
}


def _number_test(condition: NumberIs) -> Test:
    argument, bounds, is_in = condition.argument, condition.values, condition.op == "in"
    compare, bound = _COMPARE.get(condition.op), bounds[0]

    def compared(arguments: Mapping[str, object], _facts: Mapping[str, object]) -> bool | None:
        number = exact_number(arguments.get(argument))
        if number is None:
            return None
        return compare(number, bound) if compare else (number in bounds) is is_in

    return compared


def _text_test(condition: TextIs) -> Test:
    argument, texts, is_in = condition.argument, frozenset(condition.values), condition.op == "in"

    def compared(arguments: Mapping[str, object], _facts: Mapping[str, object]) -> bool | None:
        given = arguments.get(argument)
        if not isinstance(given, str):
            return None
        return ((given if given.isascii() else unicodedata.normalize("NFC", given)) in texts) is is_in

    return compared


def _joined(tests: list[Test], *, decided_by: bool) -> Test:
    """Join tests by *and* (one False decides) or by *or* (one True decides); short of that, one unknown is enough."""

    def joined(arguments: Mapping[str, object], facts: Mapping[str, object]) -> bool | None:
        answer: bool | None = not decided_by
        for test in tests:
            holds = test(arguments, facts)
            if holds is decided_by:
                return decided_by
            if holds is None:
                answer = None
        return answer

    return joined
