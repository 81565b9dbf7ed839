"""A comparison of one argument, made exact against the tool's own parameter. The sheet and Colang both end here."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, TypeAlias

from ..contract.mistakes import nearest
from ..contract.tool import Parameter, ToolContract
from .amounts import exact_number
from .conditions import Condition, FlagIs, NumberIs, TextIs

__all__ = ["COMPARISONS", "Comparison", "NotExact", "Said", "Worth", "comparison", "parameter_of", "worth"]

Comparison = Literal["over", "under", "at_least", "at_most", "is", "is_not", "in", "not_in"]
COMPARISONS: tuple[Comparison, ...] = ("over", "under", "at_least", "at_most", "is_not", "is", "not_in", "in")

Worth = Literal["number", "text", "flag"]
"""What an argument can be compared as."""

Said: TypeAlias = object
"""A value as it stands in a file: text, int, Decimal, bool, or a list of those; anything else is refused."""


class NotExact(Exception):  # noqa: N818 - it names the condition
    """Something in a rule file that has no exact meaning: what is wrong, and the nearest known words.

    Readers turn it into a `FileMistake` with the place they know.
    """

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.near = near


def parameter_of(tool: ToolContract, name: str) -> Parameter:
    """Return a parameter of a tool.

    Raises:
        NotExact: the tool has none of this name.
    """
    for parameter in tool.parameters:
        if parameter.name == name:
            return parameter
    raise NotExact(f"{tool.name} has no argument {name}", nearest(name, [p.name for p in tool.parameters]))


def worth(parameter: Parameter) -> Worth | None:
    """Return what a parameter can be compared as; None for lists and objects, which have no one value."""
    if parameter.many:
        return None
    match parameter.kind:
        case "money" | "decimal" | "int":
            return "number"
        case "bool":
            return "flag"
        case "id" | "date" | "email" | "text" | "enum":
            return "text"
        case None:
            by_base: dict[str, Worth] = {
                "integer": "number", "number": "number", "boolean": "flag", "string": "text",
            }  # fmt: skip
            return by_base.get(parameter.base)


def comparison(name: str, op: Comparison, said: Said, tools: Sequence[ToolContract]) -> Condition:
    """Make the condition ``<name> <op> <said>`` for an argument that each of these tools has.

    Raises:
        NotExact: a tool lacks the argument, it cannot be compared so, or the value is not of its kind.
    """
    parameters = [parameter_of(tool, name) for tool in tools]
    kinds = {worth(parameter) for parameter in parameters}
    if len(kinds) > 1:
        raise NotExact(f"{name} is not of the same kind in {', '.join(tool.name for tool in tools)}; write a rule each")
    kind = kinds.pop() if kinds else None
    if kind is None:
        raise NotExact(f"{name} is a list or an object, and has no one value to compare")
    if op in ("in", "not_in") and not (isinstance(said, list | tuple) and said):
        raise NotExact(f"{name} is looked up in a list of values, such as [A, B]")
    if kind == "number":
        return _number(name, op, said)
    if op in ("over", "under", "at_least", "at_most"):
        raise NotExact(f"{name} is not a number, so nothing is {op.replace('_', ' ')} it")
    return _flag(name, op, said) if kind == "flag" else _text(name, op, said, parameters)


def _number(name: str, op: Comparison, said: Said) -> NumberIs:
    numbers: list[Decimal] = []
    for value in said if isinstance(said, list | tuple) else [said]:
        number = None if isinstance(value, str) else exact_number(value)
        if number is None:
            raise NotExact(f"{name} is compared with a number, not with {_shown(value)}")
        numbers.append(number)
    match op:
        case "is" | "is_not":
            if isinstance(said, list | tuple):
                raise NotExact(f"{name} is compared with one number; for several write {name}_in")
            return NumberIs(argument=name, op="in" if op == "is" else "not_in", values=tuple(numbers))
        case "in" | "not_in":
            return NumberIs(argument=name, op=op, values=tuple(numbers))
        case _:
            if isinstance(said, list | tuple):
                raise NotExact(f"{name} is compared with one number, not with a list")
            return NumberIs(argument=name, op=op, values=tuple(numbers))


def _flag(name: str, op: Comparison, said: Said) -> FlagIs:
    if op in ("in", "not_in") or not isinstance(said, bool):
        raise NotExact(f"{name} is true or false, and is compared with one of them")
    return FlagIs(argument=name, value=said if op == "is" else not said)


def _text(name: str, op: Comparison, said: Said, parameters: Sequence[Parameter]) -> TextIs:
    texts: list[str] = []
    if op in ("is", "is_not") and isinstance(said, list | tuple):
        raise NotExact(f"{name} is compared with one text; for several write {name}_in")
    for value in said if isinstance(said, list | tuple) else [said]:
        if not isinstance(value, str):
            raise NotExact(f"{name} is compared with text, not with {_shown(value)}; put it in quotes")
        for parameter in parameters:
            if parameter.values and value not in parameter.values:
                raise NotExact(
                    f"{name} is never {value!r}; it is one of {', '.join(parameter.values)}",
                    nearest(value, parameter.values),
                )
        texts.append(value)
    return TextIs(argument=name, op="in" if op in ("is", "in") else "not_in", values=tuple(texts))


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list | tuple) else f"{value!s}"
