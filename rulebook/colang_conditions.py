"""The condition of an ``if`` in a flow: a condition on arguments and facts, or alone an order or a cap."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import NamedTuple, TypeAlias

from lark import Token, Tree

from ..contract.mistakes import FileMistake, nearest
from ..contract.tool import Origin, ToolContract
from .colang_grammar import Node, line_of
from .comparisons import Comparison, NotExact, comparison, parameter_of, worth
from .conditions import AllOf, AnyOf, Condition, FactHolds, FlagIs, Not

__all__ = ["CallsReach", "Flow", "HasNotRun", "HasRun", "Meaning", "TotalPasses", "read_condition"]

_RESERVED = ("$ran", "$calls", "$total")
_OPERATORS: Mapping[str, Comparison] = {
    ">": "over",
    "<": "under",
    ">=": "at_least",
    "<=": "at_most",
    "==": "is",
    "!=": "is_not",
}
_ALONE = "an order or a cap stands alone in its if; write a second if for the rest"


class HasRun(NamedTuple):
    """``$ran.<tool>``: the tool was sent before."""

    tool: str


class HasNotRun(NamedTuple):
    """``not $ran.<tool>``: the tool has not run before."""

    tool: str


class CallsReach(NamedTuple):
    """``$calls.<tool> >= n``: that many calls of the flow's tool were made before."""

    calls: int


class TotalPasses(NamedTuple):
    """``$total.<tool>.<argument> + <argument> > n``: this call would bring the total over the limit."""

    argument: str
    limit: Decimal


Meaning: TypeAlias = Condition | HasRun | HasNotRun | CallsReach | TotalPasses


class Flow(NamedTuple):
    """What the conditions of a flow may name."""

    file: str
    line: int
    tool: ToolContract
    tools: Mapping[str, ToolContract]
    facts: Collection[str] | None
    call: str | None
    """The name after ``as`` in a flow of Colang 2.x; None in one of 1.0, or without it."""
    is_old: bool

    def mistake(self, node: Node, message: str, near: tuple[str, ...] = ()) -> FileMistake:
        """A mistake at a node of this flow."""
        return FileMistake(message, Origin(file=self.file, line=line_of(node, self.line)), near)


def read_condition(node: Node, flow: Flow) -> Meaning:
    """Return what the condition of an ``if`` means.

    Raises:
        FileMistake: it names something unknown, or has no exact meaning.
    """
    match node.data:
        case "any_of":
            return AnyOf(parts=tuple(_plain(child, flow) for child in _nodes(node)))
        case "all_of":
            return AllOf(parts=tuple(_plain(child, flow) for child in _nodes(node)))
        case "denied":
            return _denied(_nodes(node)[0], flow)
        case "compared":
            return _compared(node, flow)
        case "in_" | "not_in":
            return _looked_up(node, flow)
        case "path":
            return _alone(node, flow)
        case _:
            raise flow.mistake(node, "this alone is neither true nor false")


def _plain(node: Node, flow: Flow) -> Condition:
    meaning = read_condition(node, flow)
    if isinstance(meaning, HasRun | HasNotRun | CallsReach | TotalPasses):
        raise flow.mistake(node, _ALONE)
    return meaning


def _denied(inner: Node, flow: Flow) -> Meaning:
    meaning = read_condition(inner, flow)
    if isinstance(meaning, HasRun):
        return HasNotRun(meaning.tool)
    if isinstance(meaning, HasNotRun | CallsReach | TotalPasses):
        raise flow.mistake(inner, "an order is denied once, as in `not $ran.<tool>`, and a cap not at all")
    return Not(part=meaning)


class _Name(NamedTuple):
    """What a path names: ``ran``, ``calls`` and ``total`` are the reserved ones."""

    kind: str
    name: str


def _alone(node: Node, flow: Flow) -> Meaning:
    named = _named(node, flow)
    match named.kind:
        case "fact":
            return FactHolds(fact=named.name)
        case "ran":
            return HasRun(named.name)
        case "argument" if worth(parameter_of(flow.tool, named.name)) == "flag":
            return FlagIs(argument=named.name, value=True)
        case "argument":
            raise flow.mistake(node, f"{named.name} alone is neither true nor false; compare it with a value")
        case _:
            raise flow.mistake(node, f"${named.kind} is a number; compare it")


def _compared(node: Node, flow: Flow) -> Meaning:
    left, operator, right = node.children
    assert isinstance(left, Tree)
    assert isinstance(right, Tree)
    if right.data not in ("number", "string", "yes", "no"):
        raise flow.mistake(node, "a comparison has the name on the left and a number, text or True/False on the right")
    value = _literal(right)
    if left.data == "added":
        return _total(left, str(operator), value, flow)
    if left.data != "path":
        raise flow.mistake(node, "a comparison has the name on the left")
    named = _named(left, flow)
    match named.kind:
        case "argument":
            return _compare(node, flow, named.name, _OPERATORS[str(operator)], value)
        case "calls":
            return _calls(node, str(operator), value, flow)
        case "fact":
            raise flow.mistake(node, f"{named.name} is a fact, which holds or not; write it alone, or with not")
        case "ran":
            raise flow.mistake(node, f"$ran.{named.name} is true or false; write it alone, or with not")
        case _:
            raise flow.mistake(node, "a total is capped as $total.<tool>.<argument> + <argument> > <limit>")


def _compare(node: Node, flow: Flow, name: str, operator: Comparison, value: object) -> Condition:
    try:
        return comparison(name, operator, value, [flow.tool])
    except NotExact as error:
        raise flow.mistake(node, error.message, error.near) from None


def _calls(node: Node, operator: str, value: object, flow: Flow) -> CallsReach:
    whole = isinstance(value, Decimal) and value == value.to_integral_value() and value >= 0
    if operator not in (">=", ">") or not whole:
        raise flow.mistake(node, f"a cap on calls is written $calls.{flow.tool.name} >= <whole number>")
    assert isinstance(value, Decimal)
    return CallsReach(int(value) + (operator == ">"))


def _total(left: Node, operator: str, value: object, flow: Flow) -> TotalPasses:
    names = [_named(child, flow) if child.data == "path" else None for child in _nodes(left)]
    totals = [named for named in names if named is not None and named.kind == "total"]
    form = f"the one sum is $total.{flow.tool.name}.<argument> + <the same argument> > <limit>"
    if len(names) != 2 or len(totals) != 1 or operator != ">" or not isinstance(value, Decimal) or value < 0:
        raise flow.mistake(left, form)
    argument = totals[0].name
    if _Name("argument", argument) not in names:
        raise flow.mistake(left, form)
    if worth(parameter_of(flow.tool, argument)) != "number":
        raise flow.mistake(left, f"{argument} of {flow.tool.name} is not a number, and cannot be added up")
    return TotalPasses(argument, value)


def _looked_up(node: Node, flow: Flow) -> Condition:
    left, values = node.children[0], node.children[-1]
    assert isinstance(left, Tree)
    assert isinstance(values, Tree)
    named = _named(left, flow) if left.data == "path" else None
    if named is None or named.kind != "argument":
        raise flow.mistake(node, "only an argument is looked up in a list")
    said = [_literal(child) for child in _nodes(values)]
    return _compare(node, flow, named.name, "in" if node.data == "in_" else "not_in", said)


def _named(node: Node, flow: Flow) -> _Name:
    first, *rest = [str(child) for child in node.children]
    if first in _RESERVED:
        return _reserved(node, first, rest, flow)
    if flow.call is not None and first == flow.call:
        if len(rest) != 1:
            raise flow.mistake(node, f"an argument of the call is written {first}.<argument>")
        return _argument(node, rest[0], flow)
    if rest:
        call = f"; the call's own arguments are {flow.call}.<argument>" if flow.call else ""
        raise flow.mistake(node, f"{'.'.join([first, *rest])} names nothing here{call}")
    return _plain_name(node, first.removeprefix("$"), flow)


def _plain_name(node: Node, name: str, flow: Flow) -> _Name:
    is_argument = any(parameter.name == name for parameter in flow.tool.parameters)
    is_fact = flow.facts is not None and name in flow.facts
    if is_argument and is_fact:
        raise flow.mistake(node, f"{name} is both an argument of {flow.tool.name} and a fact; rename the fact")
    if is_argument and not flow.is_old:
        way = f"write {flow.call}.{name}" if flow.call else f"name the call with `as $call` and write $call.{name}"
        raise flow.mistake(node, f"{name} is an argument; in Colang 2.x {way}")
    if is_argument:
        return _Name("argument", name)
    if is_fact or flow.facts is None:
        return _Name("fact", name)
    known = [*(parameter.name for parameter in flow.tool.parameters), *flow.facts]
    raise flow.mistake(
        node, f"{name} is no argument of {flow.tool.name} and not in the facts list", nearest(name, known)
    )


def _reserved(node: Node, first: str, rest: list[str], flow: Flow) -> _Name:
    match first, rest:
        case "$ran", [tool]:
            if tool not in flow.tools:
                raise flow.mistake(node, f"there is no tool {tool}", nearest(tool, flow.tools))
            return _Name("ran", tool)
        case "$ran", _:
            raise flow.mistake(node, "whether a tool ran is written $ran.<tool>")
        case "$calls", [flow.tool.name]:
            return _Name("calls", flow.tool.name)
        case "$total", [flow.tool.name, argument]:
            return _Name("total", _argument(node, argument, flow).name)
        case _:
            form = "$calls.<tool>" if first == "$calls" else "$total.<tool>.<argument>"
            raise flow.mistake(node, f"a cap counts the flow's own tool: {form.replace('<tool>', flow.tool.name)}")


def _argument(node: Node, name: str, flow: Flow) -> _Name:
    try:
        return _Name("argument", parameter_of(flow.tool, name).name)
    except NotExact as error:
        raise flow.mistake(node, error.message, error.near) from None


def _literal(node: Node) -> Decimal | str | bool:
    match node.data:
        case "number":
            return Decimal(str(node.children[0]))
        case "string":
            return str(node.children[0]).strip('"')
        case _:
            return node.data == "yes"


def _nodes(node: Node) -> list[Node]:
    return [child for child in node.children if not isinstance(child, Token)]
