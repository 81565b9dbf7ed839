"""What the rules demand of one call, over its arguments and the facts, for a route that must get past them."""

from collections.abc import Callable, Iterable
from decimal import Decimal

from ..contract.tool import ToolContract
from .conditions import AllOf, AnyOf, Condition, FactHolds, Not, NumberIs
from .effects import After, AtMost, Confirm, Never, Requires, Rule, Unconfirmed
from .options import Demand

__all__ = ["amount_outside", "demands_of", "demands_unconfirmed"]


def demands_of(rules: Iterable[Rule], *, can_run: Callable[[str], bool]) -> list[Demand]:
    """Return what must hold for none of the rules to refuse a call, orders aside.

    Args:
        rules: those that concern the tool.
        can_run: whether a tool can have run before, as far as the agents can reach it.
    """
    demands: list[Demand] = []
    for rule in rules:
        match rule:
            case Never():
                demands.append(_unless(rule, met=False))
            case Requires(facts=facts):
                held = [FactHolds(fact=fact) for fact in facts]
                demands.append(_unless(rule, met=held[0] if len(held) == 1 else AllOf(parts=tuple(held))))
            case After(tools=tools) if rule.when is not None and not all(can_run(tool) for tool in tools):
                demands.append(_unless(rule, met=False))
            case AtMost(calls=0):
                demands.append(_unless(rule, met=False))
            case AtMost(total=str(total), limit=Decimal() as limit):
                demands.append(_unless(rule, met=Not(part=amount_outside(total, limit))))
            case _:
                pass
    return demands


def demands_unconfirmed(rules: Iterable[Rule], *, tool: ToolContract, confirm_writes: bool) -> list[Demand]:
    """Return what must hold for nobody to be asked about a call."""
    rules = tuple(rules)
    demands = [_unless(rule, met=False) for rule in rules if isinstance(rule, Confirm)]
    if tool.writes and confirm_writes:
        waivers = [rule.when for rule in rules if isinstance(rule, Unconfirmed)]
        if None not in waivers:
            conditions = tuple(condition for condition in waivers if condition is not None)
            demands.append(AnyOf(parts=conditions) if conditions else False)
    return demands


def amount_outside(argument: str, limit: Decimal) -> Condition:
    """The amounts that a cap refuses whatever came before: below zero, and over the limit by themselves."""
    return AnyOf(
        parts=(
            NumberIs(argument=argument, op="under", values=(Decimal(0),)),
            NumberIs(argument=argument, op="over", values=(limit,)),
        )
    )


def _unless(rule: Rule, *, met: Demand) -> Demand:
    """The rule's condition does not hold, or its demand is met."""
    if rule.when is None or met is True:
        return met
    denied = Not(part=rule.when)
    return denied if met is False else AnyOf(parts=(denied, met))
