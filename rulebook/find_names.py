"""Findings about names nobody declared, and tools that no turn can say: QG113, QG115."""

from collections.abc import Collection, Iterator

from ..contract.mistakes import nearest
from ..contract.tool import Origin
from .conditions import AllOf, AnyOf, Condition, FactHolds, Not
from .effects import ANY_TOOL, After, AtMost, ConfirmAfter, NotAfter, Requires, Rule
from .finding import Finding
from .model import System
from .options import arguments_in

__all__ = ["find_names"]


def find_names(system: System) -> Iterator[Finding]:
    """Find unknown tools, agents, arguments and facts, and what the selector could not tell apart."""
    yield from _unknown_in_agents(system)
    for tool in system.tools.values():
        if tool.undo is not None and tool.undo.tool not in system.tools:
            what = f"{tool.name} is undone by {tool.undo.tool}, and there is no such tool"
            yield _unknown(what, tool.undo.tool, system.tools, tool.origin, tool=tool.name)
    for rule in system.rulebook.rules:
        yield from _unknown_in_rule(system, rule)
    for collision in system.collisions:
        if collision.problem == "ambiguous":
            message = (
                f"a turn that says {collision.tool} also says {', '.join(collision.others)} ({collision.language})"
            )
            fix = f"give {collision.tool} a verb or an object of its own in the vocabulary"
        else:
            message = f"no turn can say {collision.tool} ({collision.language}): {collision.detail}"
            fix = f"give words for {collision.tool} in the vocabulary"
        yield Finding(
            code="QG115",
            severity="warning",
            message=message,
            fix=fix,
            tool=collision.tool,
            origin=system.tools[collision.tool].origin if collision.tool in system.tools else Origin(),
        )


def _unknown_in_agents(system: System) -> Iterator[Finding]:
    for agent in system.agents:
        for name in agent.tools:
            if name not in system.tools:
                what = f"{agent.name} lists the tool {name}, and there is no such tool"
                yield _unknown(what, name, system.tools, agent.origin, agent=agent.name, tool=name)
        for name in agent.hands_off_to:
            if name not in system.by_name:
                what = f"{agent.name} hands over to {name}, and there is no such agent"
                yield _unknown(what, name, system.by_name, agent.origin, agent=agent.name)


def _unknown_in_rule(system: System, rule: Rule) -> Iterator[Finding]:
    ordered = rule.tools if isinstance(rule, After | NotAfter | ConfirmAfter) else ()
    for name in (*rule.actions, *ordered):
        if name != ANY_TOOL and name not in system.tools:
            yield _unknown(
                f"the rule {rule.id} names {name}, and there is no such tool", name, system.tools, rule.origin
            )
    compared = arguments_in([rule.when]) if rule.when is not None else []
    if isinstance(rule, AtMost) and rule.total is not None:
        compared.append(rule.total)
    same = list(rule.same) if isinstance(rule, After) else []
    for action in rule.actions:
        tool = system.tools.get(action)
        known = [parameter.name for parameter in tool.parameters] if tool else []
        for name in (*compared, *same) if tool else ():
            if name not in known:
                what = f"the rule {rule.id} names the argument {name}, which {action} does not have"
                yield _unknown(what, name, known, rule.origin, tool=action)
    facts = [*_facts_in(rule.when), *(rule.facts if isinstance(rule, Requires) else ())]
    for fact in dict.fromkeys(facts):
        if system.rulebook.facts is not None and fact not in system.rulebook.facts:
            what = f"the rule {rule.id} names the fact {fact}, which the facts list lacks"
            yield _unknown(what, fact, system.rulebook.facts, rule.origin)
        elif system.host_facts is not None and fact not in system.host_facts:
            what = f"the rule {rule.id} names the fact {fact}, which nobody gives"
            yield _unknown(what, fact, system.host_facts, rule.origin)


def _facts_in(condition: Condition | None) -> Iterator[str]:
    match condition:
        case FactHolds(fact=fact):
            yield fact
        case Not(part=part):
            yield from _facts_in(part)
        case AllOf(parts=parts) | AnyOf(parts=parts):
            for part in parts:
                yield from _facts_in(part)
        case _:
            return


def _unknown(
    what: str, name: str, known: Collection[str], origin: Origin, *, agent: str = "", tool: str = ""
) -> Finding:
    near = nearest(name, known)
    return Finding(
        code="QG113",
        severity="error",
        message=what,
        fix=f"write {' or '.join(near)}, or declare {name}" if near else f"declare {name}, or take it out",
        agent=agent,
        tool=tool,
        origin=origin,
    )
