"""The finitely many ways a call's arguments can matter to its rules.

Rules compare arguments with fixed values only. So the numbers fall into the bounds and the stretches between them, the
texts into the ones a rule names and any other, and one value of each kind stands for all. With the arguments chosen,
what the rules demand of a call is a demand on facts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import islice, pairwise, product
from typing import NamedTuple

from pydantic import JsonValue

from ..contract.canonical import decimal_text
from ..contract.tool import Parameter, ToolContract
from .comparisons import worth
from .conditions import AllOf, AnyOf, Condition, FactHolds, FlagIs, Not, NumberIs, TextIs, test_of

__all__ = ["Demand", "Option", "arguments_in", "options_of", "plain_value", "reduced", "values_for"]

_MOST_OPTIONS = 4_096
_NO_FACTS: Mapping[str, object] = {}

Demand = Condition | bool
"""What must hold: a condition, or a plain True or False."""


class Option(NamedTuple):
    """One choice of the arguments that matter, and what it leaves to demand of the facts."""

    arguments: Mapping[str, JsonValue]
    demands: tuple[Condition, ...]


def options_of(tool: ToolContract, demands: Sequence[Demand]) -> list[Option]:
    """Return the choices of arguments that can meet the demands, those with the same rest once.

    More than 4,096 combinations are not gone through: then one option without demands stands for what is not known, so
    that a route is never missed.
    """
    if any(demand is False for demand in demands):
        return []
    conditions = [demand for demand in demands if not isinstance(demand, bool)]
    names = arguments_in(conditions)
    choices = [values_for(tool, name, conditions) for name in names]
    combinations = list(islice(product(*choices), _MOST_OPTIONS + 1))
    if len(combinations) > _MOST_OPTIONS:
        return [Option({}, ())]
    found: dict[tuple[str, ...], Option] = {}
    for values in combinations:
        arguments = dict(zip(names, values, strict=True))
        rest = [reduced(condition, arguments) for condition in conditions]
        if False not in rest:
            left = tuple(one for one in rest if not isinstance(one, bool))
            found.setdefault(tuple(repr(one) for one in left), Option(arguments, left))
    return list(found.values())


def reduced(condition: Condition, arguments: Mapping[str, JsonValue]) -> Demand:
    """Return what a condition still says once the arguments are chosen: True, False, or a condition on facts."""
    match condition:
        case FactHolds():
            return condition
        case Not(part=part):
            inner = reduced(part, arguments)
            return (not inner) if isinstance(inner, bool) else Not(part=inner)
        case AllOf(parts=parts):
            return _joined([reduced(part, arguments) for part in parts], decided_by=False)
        case AnyOf(parts=parts):
            return _joined([reduced(part, arguments) for part in parts], decided_by=True)
        case _:
            return test_of(condition)(arguments, _NO_FACTS) is True


def _joined(parts: list[Demand], *, decided_by: bool) -> Demand:
    if any(part is decided_by for part in parts):
        return decided_by
    left = tuple(part for part in parts if not isinstance(part, bool))
    if not left:
        return not decided_by
    if len(left) == 1:
        return left[0]
    return AnyOf(parts=left) if decided_by else AllOf(parts=left)


def _leaves(conditions: Iterable[Condition]) -> Iterator[NumberIs | TextIs | FlagIs | FactHolds]:
    for condition in conditions:
        match condition:
            case AllOf(parts=parts) | AnyOf(parts=parts):
                yield from _leaves(parts)
            case Not(part=part):
                yield from _leaves([part])
            case _:
                yield condition


def arguments_in(conditions: Iterable[Condition]) -> list[str]:
    """Return the arguments that conditions compare, by alphabet."""
    return sorted({leaf.argument for leaf in _leaves(conditions) if not isinstance(leaf, FactHolds)})


def values_for(tool: ToolContract, name: str, conditions: Sequence[Condition]) -> list[JsonValue]:
    """Return one value for each way an argument can compare with what the conditions name; ordinary ones first."""
    parameter = next((p for p in tool.parameters if p.name == name), Parameter(name=name))
    leaves = [leaf for leaf in _leaves(conditions) if not isinstance(leaf, FactHolds) and leaf.argument == name]
    numbers = {bound for leaf in leaves if isinstance(leaf, NumberIs) for bound in leaf.values}
    if numbers:
        return _numbers(parameter, sorted(numbers))
    if any(isinstance(leaf, FlagIs) for leaf in leaves):
        return [False, True]
    named = list(dict.fromkeys(text for leaf in leaves if isinstance(leaf, TextIs) for text in leaf.values))
    if parameter.values:
        rest = [value for value in parameter.values if value not in named]
        return [*rest[:1], *(text for text in named if text in parameter.values)]
    other = "1"
    while other in named:
        other += "1"
    return [other, *named]


def _numbers(parameter: Parameter, bounds: list[Decimal]) -> list[JsonValue]:
    """One number for each bound and each stretch between bounds; for an int, where there is a whole one."""
    is_whole = parameter.kind == "int" or parameter.base == "integer"
    found = {Decimal(1), *bounds, bounds[0] - 1, bounds[-1] + 1, bounds[0] / 2}
    found.update((one + other) / 2 for one, other in pairwise(bounds))
    if is_whole:
        # The least whole number over a bound and the greatest under it: every stretch that has one has one of these.
        floors = {bound.to_integral_value(ROUND_FLOOR) for bound in bounds}
        found = {Decimal(1), *floors, *(floor + 1 for floor in floors), *(floor - 1 for floor in floors)}
    by_stretch: dict[tuple[int, bool], Decimal] = {}
    for number in sorted(found, key=_ordinary):
        by_stretch.setdefault((sum(bound < number for bound in bounds), number in bounds), number)
    return [int(number) if is_whole else decimal_text(number) for number in by_stretch.values()]


def _ordinary(number: Decimal) -> tuple[bool, Decimal]:
    return number <= 0, abs(number)


def plain_value(parameter: Parameter) -> JsonValue:
    """Return an ordinary value for an argument that no rule looks at."""
    value: JsonValue
    match worth(parameter.model_copy(update={"many": False})):
        case "number":
            value = 1 if parameter.kind == "int" or parameter.base == "integer" else "1"
        case "flag":
            value = False
        case "text":
            by_kind = {"date": "2026-01-01", "email": "someone@example.com"}
            value = parameter.values[0] if parameter.values else by_kind.get(parameter.kind or "", "1")
        case None:
            value = {} if parameter.base == "object" else [] if parameter.base == "array" else "1"
    return [value] if parameter.many else value
