"""Findings about rules that keep a tool from ever running, or that say nothing: QG102, QG103, QG104, QG114."""

from collections.abc import Iterator, Sequence

from ..contract.canonical import decimal_text
from ..contract.tool import Origin, ToolContract
from .comparisons import worth
from .conditions import Not
from .demands import amount_outside, demands_of
from .effects import (
    ANY_TOOL,
    After,
    AtMost,
    Confirm,
    ConfirmAfter,
    Never,
    NotAfter,
    Period,
    Requires,
    Rule,
    Unconfirmed,
)
from .facts import find_facts
from .finding import Finding, Severity
from .implication import can_hold, implies
from .model import System
from .options import options_of
from .ordering import Cycle
from .routes import Router

__all__ = ["find_order"]

_WIDER: dict[Period, frozenset[Period]] = {
    "run": frozenset({"run", "session"}),
    "session": frozenset({"session"}),
    "day": frozenset({"day", "session", "user_day", "all_day"}),
    "user_day": frozenset({"user_day", "all_day"}),
    "all_day": frozenset({"all_day"}),
}
"""The periods in which at least the calls of this one count."""


def find_order(system: System, router: Router) -> Iterator[Finding]:
    """Find tools that can never run, and rules that contradict others or add nothing to them."""
    for agent in system.entries:
        for name in sorted(system.available(agent)):
            yield from _never_runs(system, router, agent, name)
    for tool in system.tools.values():
        rules = system.rulebook.of(tool.name)
        yield from _caps(tool, rules)
        yield from _without_effect(tool, rules)


def _never_runs(system: System, router: Router, agent: str, name: str) -> Iterator[Finding]:
    tool = system.tools[name]
    needed = router.orders.needs(name)
    missing = sorted(needed - system.available(agent))
    if missing:
        rules = [rule for rule in system.rulebook.of(name) if isinstance(rule, After)]
        yield Finding(
            code="QG103",
            severity="error",
            message=f"{name} comes after {_list(missing)}, which no agent can call in a run that enters at {agent}",
            fix=f"give {_list(missing)} to {agent} or to an agent it hands over to, or drop the order rule",
            agent=agent,
            tool=name,
            origin=_first_origin(rules, tool.origin),
            rules=_origins(rules),
        )
        return
    if _is_barred(system.rulebook.of(name)):
        return
    order = router.orders.arrange(needed)
    if isinstance(order, Cycle):
        around = " before ".join(str(slot) for slot in (*order.slots, order.slots[0]))
        yield _can_never_run(agent, tool, f"its order rules go round: {around}", _order_rules(system, order))
        return
    calls = [router.options(agent, slot.tool) for slot in order]
    if find_facts(calls) is None:
        core = _core(system, router, agent, sorted(needed))
        said = _list([f"{rule.id} of {'/'.join(rule.actions)}" for rule in core])
        yield _can_never_run(agent, tool, f"no facts and arguments get past {said}", core)


def _can_never_run(agent: str, tool: ToolContract, why: str, rules: Sequence[Rule]) -> Finding:
    return Finding(
        code="QG102",
        severity="error",
        message=f"{tool.name} can never run: {why}",
        fix=f"drop or change one of these rules, or say never for {tool.name}",
        agent=agent,
        tool=tool.name,
        origin=_first_origin(rules, tool.origin),
        rules=_origins(rules),
    )


def _is_barred(rules: Sequence[Rule]) -> bool:
    """Whether a tool is kept from running on purpose."""
    plain = [rule for rule in rules if rule.when is None]
    return any(isinstance(rule, Never) or (isinstance(rule, AtMost) and rule.calls == 0) for rule in plain)


def _order_rules(system: System, cycle: Cycle) -> list[Rule]:
    tools = {slot.tool for slot in cycle.slots}
    return [
        rule
        for tool in sorted(tools)
        for rule in system.rulebook.of(tool)
        if isinstance(rule, After | NotAfter) and rule.when is None and tools & set(rule.tools)
    ]


def _core(system: System, router: Router, agent: str, needed: Sequence[str]) -> list[Rule]:
    """Leave out rule after rule as long as the rest still contradicts itself."""
    available = system.available(agent)
    core = [(tool, rule) for tool in needed for rule in system.rulebook.of(tool) if not isinstance(rule, Unconfirmed)]

    def contradicts(kept: Sequence[tuple[str, Rule]]) -> bool:
        calls = []
        for tool in needed:
            demands = demands_of(
                [rule for on, rule in kept if on == tool], can_run=lambda other: router.orders.needs(other) <= available
            )
            calls.append(options_of(system.tools[tool], demands))
        return find_facts(calls) is None

    for pair in list(core):
        rest = [other for other in core if other is not pair]
        if contradicts(rest):
            core = rest
    return [rule for _, rule in core]


def _caps(tool: ToolContract, rules: Sequence[Rule]) -> Iterator[Finding]:
    caps = [rule for rule in rules if isinstance(rule, AtMost)]
    for cap in caps:
        if cap.calls == 0 and cap.when is None:
            yield _cap(
                tool, cap, "warning", f"a cap of 0 calls never lets {tool.name} run", "write never: true instead"
            )
        if cap.total is not None and cap.limit is not None:
            parameter = next((p for p in tool.parameters if p.name == cap.total), None)
            if parameter is not None and worth(parameter) != "number":
                why = f"{cap.total} of {tool.name} is not a number, so the cap refuses every call"
                yield _cap(tool, cap, "error", why, "add up an argument that is an amount or a whole number")
                continue
            others = demands_of([rule for rule in rules if rule is not cap], can_run=lambda _: True)
            within = Not(part=amount_outside(cap.total, cap.limit))
            if cap.when is None and can_hold(tool, others) and not can_hold(tool, [*others, within]):
                limit = decimal_text(cap.limit)
                why = f"the other rules let no {cap.total} of {tool.name} through that fits under the limit of {limit}"
                yield _cap(tool, cap, "error", why, "raise the limit, or change the other rule")
        for other in caps:
            if other is not cap and _is_stricter(tool, other, cap, caps):
                why = f"the cap {cap.id} of {tool.name} says nothing beside {other.id}, which is at least as strict"
                yield _cap(tool, cap, "warning", why, f"drop {cap.id}")
                break


def _is_stricter(tool: ToolContract, other: AtMost, cap: AtMost, caps: Sequence[AtMost]) -> bool:
    """Whether ``other`` refuses whatever ``cap`` refuses; of two that are equal, the earlier one does."""
    calls = cap.calls is None or (other.calls is not None and other.calls <= cap.calls)
    total = cap.limit is None or (other.limit is not None and other.total == cap.total and other.limit <= cap.limit)
    if not (calls and total and other.per in _WIDER[cap.per] and implies(tool, cap.when, other.when)):
        return False
    same = (other.calls, other.total, other.limit, other.per, other.when)
    return same != (cap.calls, cap.total, cap.limit, cap.per, cap.when) or caps.index(other) < caps.index(cap)


def _cap(tool: ToolContract, cap: AtMost, severity: Severity, why: str, fix: str) -> Finding:
    return Finding(code="QG104", severity=severity, message=why, fix=fix, tool=tool.name, origin=cap.origin)


def _without_effect(tool: ToolContract, rules: Sequence[Rule]) -> Iterator[Finding]:
    for index, rule in enumerate(rules):
        if isinstance(rule, AtMost | Unconfirmed) or ANY_TOOL in rule.actions:
            continue
        for at, other in enumerate(rules):
            if at == index or not _covers(tool, other, rule) or (at > index and _covers(tool, rule, other)):
                continue
            yield Finding(
                code="QG114",
                severity="warning",
                message=f"the rule {rule.id} of {tool.name} has no effect: {other.id} covers every call it is about",
                fix=f"drop {rule.id}, or narrow {other.id} with when",
                tool=tool.name,
                origin=rule.origin,
                rules=_origins([other]),
            )
            break


def _covers(tool: ToolContract, other: Rule, rule: Rule) -> bool:
    """Whether ``other`` refuses, or asks, wherever ``rule`` does."""
    if not implies(tool, rule.when, other.when):
        return False
    match other, rule:
        case Never(), _:
            return True
        case Requires(), Requires():
            return set(rule.facts) <= set(other.facts)
        case Confirm(), Confirm() | ConfirmAfter():
            return True
        case After(), After():
            return set(rule.tools) <= set(other.tools) and set(rule.same) <= set(other.same)
        case NotAfter(), NotAfter():
            return set(rule.tools) <= set(other.tools)
        case ConfirmAfter(), ConfirmAfter():
            return set(rule.tools) <= set(other.tools)
        case _:
            return False


def _first_origin(rules: Sequence[Rule], otherwise: Origin) -> Origin:
    return next((rule.origin for rule in rules if rule.origin.file), otherwise)


def _origins(rules: Sequence[Rule]) -> tuple[Origin, ...]:
    return tuple(dict.fromkeys(rule.origin for rule in rules if rule.origin.file))


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
