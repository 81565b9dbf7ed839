"""Findings about calls that nobody is asked about, and who can come to make them: QG101, QG111, QG112."""

from collections.abc import Iterator

from .effects import Requires
from .finding import Finding
from .model import System
from .routed import routed
from .routes import Router

__all__ = ["find_exposure"]


def find_exposure(system: System, router: Router) -> Iterator[Finding]:
    """Find unconfirmed writes, hand-offs that raise privilege, and ways from outside text to an outlet."""
    for agent in system.entries:
        if not system.rulebook.confirm_writes:
            yield from _without_a_person(system, router, agent)
        yield from _outside_to_outlet(system, router, agent)
    for name in system.by_name:
        yield from _raised_privilege(system, name)


def _without_a_person(system: System, router: Router, agent: str) -> Iterator[Finding]:
    for name in sorted(system.available(agent)):
        path = router.find(agent, name, unconfirmed=name) if system.tools[name].writes else None
        if path is not None:
            yield routed(
                router,
                path,
                code="QG101",
                severity="error",
                message=f"{name} can run without a person being asked, because writes are not confirmed by default",
                fix=f"drop confirm_writes: false; if {name} needs no person, state requires_confirmation: false for it",
                agent=agent,
                tool=name,
                origin=system.tools[name].origin,
            )


def _outside_to_outlet(system: System, router: Router, agent: str) -> Iterator[Finding]:
    available = [system.tools[name] for name in sorted(system.available(agent))]
    readers = [tool for tool in available if tool.reads_outside]
    for outlet in (tool for tool in available if tool.sends_out or tool.writes):
        for reader in (tool for tool in readers if tool.name != outlet.name):
            path = router.find(agent, reader.name, outlet.name, unconfirmed=outlet.name)
            if path is not None:
                does = "sends out" if outlet.sends_out else "writes"
                yield routed(
                    router,
                    path,
                    code="QG112",
                    severity="error",
                    message=f"what outsiders wrote, read by {reader.name}, can reach {outlet.name}, which {does}, "
                    "without a person being asked",
                    fix=f"add the rule {{action: {outlet.name}, not_after: {reader.name}}}, or let a person confirm it",
                    agent=agent,
                    tool=outlet.name,
                    origin=outlet.origin,
                )
                break


def _raised_privilege(system: System, agent: str) -> Iterator[Finding]:
    here = system.by_name[agent]
    seen: set[str] = set(here.tools)
    for other in (system.by_name[name] for name in system.reach(agent)):
        if other.privilege <= here.privilege:
            continue
        for name in other.tools:
            tool = system.tools.get(name)
            if name in seen or tool is None or not (tool.writes or tool.sends_out):
                continue
            seen.add(name)
            if any(isinstance(rule, Requires) and rule.when is None for rule in system.rulebook.of(name)):
                continue
            yield Finding(
                code="QG111",
                severity="warning",
                message=f"{agent} (privilege {here.privilege}) can hand over to {other.name} "
                f"(privilege {other.privilege}), which can call {name}, and no rule requires a fact for it",
                fix=f"add the rule {{action: {name}, requires: <a fact the host gives>}}",
                agent=agent,
                tool=name,
                origin=here.origin,
                rules=(other.origin,) if other.origin.file else (),
            )
