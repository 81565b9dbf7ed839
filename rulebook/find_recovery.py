"""Findings about what a failed run can undo: QG013, QG105 to QG110."""

from collections.abc import Iterator

from ..contract.tool import ToolContract
from .bindings import binding_problems, is_own_inverse, returns_to
from .effects import After, Never
from .finding import Finding
from .model import System
from .routed import routed
from .routes import Path, Router

__all__ = ["find_recovery"]


def find_recovery(system: System, router: Router) -> Iterator[Finding]:
    """Find writes whose undo is not said, not reachable, not bound, or may not come through."""
    for agent in system.entries:
        writes = _writes_of(system, router, agent)
        if system.atomic:
            yield from _irreversible_before_undone(router, agent, writes)
        yield from _nothing_said(router, agent, writes)
        yield from _rollback_can_stick(system, router, agent, writes)
    yield from _out_of_reach(system)
    yield from _undo_on_its_own(system)
    for tool in system.tools.values():
        yield from _bindings(system, tool)
        yield from _cycles(system, tool)


def _writes_of(system: System, router: Router, agent: str) -> list[ToolContract]:
    """The writes in reach of an agent, those with the shortest way to them first."""
    writes = [system.tools[name] for name in system.available(agent) if system.tools[name].writes]
    return sorted(writes, key=lambda tool: (len(router.orders.needs(tool.name)), tool.name))


def _irreversible_before_undone(router: Router, agent: str, writes: list[ToolContract]) -> Iterator[Finding]:
    for final in (tool for tool in writes if tool.irreversible):
        for undone in (tool for tool in writes if tool.undoable and tool.name != final.name):
            path = router.find(agent, final.name, undone.name, unconfirmed=final.name)
            if path is not None:
                yield routed(
                    router,
                    path,
                    code="QG013",
                    severity="error",
                    message=f"nothing can undo {final.name}, and it can run without a person having been warned before "
                    f"{undone.name}, which a failed run would undo",
                    fix=f"let a person confirm {final.name}, or let it come last: {undone.name} not_after {final.name}",
                    agent=agent,
                    tool=final.name,
                    origin=final.origin,
                )
                break


def _nothing_said(router: Router, agent: str, writes: list[ToolContract]) -> Iterator[Finding]:
    for silent in writes:
        if silent.undo is not None or silent.undo_none or silent.irreversible:
            continue
        path, other = _with_another(router, agent, silent, writes)
        if path is not None:
            yield routed(
                router,
                path,
                code="QG105",
                severity="error",
                message=f"a failed run cannot undo {silent.name}, and nothing says so; {other} is on its route"
                if other != silent.name
                else f"a failed run cannot undo {silent.name}, and nothing says so; it can run twice",
                fix=f"say undo: <tool>, undo: none or irreversible: true for {silent.name}",
                agent=agent,
                tool=silent.name,
                origin=silent.origin,
            )


def _with_another(
    router: Router, agent: str, write: ToolContract, writes: list[ToolContract]
) -> tuple[Path | None, str]:
    for other in sorted(writes, key=lambda tool: tool.name == write.name):
        for goals in ((write.name, other.name), (other.name, write.name)):
            path = router.find(agent, *goals)
            if path is not None:
                return path, other.name
    return None, ""


def _rollback_can_stick(system: System, router: Router, agent: str, writes: list[ToolContract]) -> Iterator[Finding]:
    undone = [tool for tool in writes if tool.undoable]
    for last in undone:
        undo_tool = system.tools.get(last.undo.tool) if last.undo else None
        doubtful = [tool.name for tool in (last, undo_tool) if tool is not None and not tool.retry_safe]
        if not doubtful:
            continue
        before: list[Path] = []
        for earlier in (tool for tool in undone if tool.name != last.name):
            path = router.find(agent, earlier.name, last.name)
            if path is not None:
                before.append(path)
            if len(before) == 2:
                names = " and ".join(path.goals[0].tool for path in before)
                verb = "is" if len(doubtful) == 1 else "are"
                yield routed(
                    router,
                    before[0],
                    code="QG109",
                    severity="warning",
                    message=f"{' and '.join(doubtful)} {verb} not retry-safe, so {last.name} or its undo can wait for "
                    f"a person while {names} still need undoing",
                    fix=f"let {' and '.join(doubtful)} honour the idempotency key and say retry_safe: true",
                    agent=agent,
                    tool=last.name,
                    origin=last.origin,
                )
                break


def _out_of_reach(system: System) -> Iterator[Finding]:
    for agent in system.agents:
        for tool in (system.tools[name] for name in agent.tools if name in system.tools):
            if tool.undo is not None and tool.undo.tool in system.tools and tool.undo.tool not in agent.tools:
                yield Finding(
                    code="QG106",
                    severity="error",
                    message=f"{agent.name} can call {tool.name} but not {tool.undo.tool}, which undoes it, "
                    f"so a run of {agent.name} cannot undo it",
                    fix=f"add {tool.undo.tool} to the tools of {agent.name}",
                    agent=agent.name,
                    tool=tool.name,
                    origin=agent.origin,
                    rules=(tool.origin,) if tool.origin.file else (),
                )


def _undo_on_its_own(system: System) -> Iterator[Finding]:
    undone_by: dict[str, list[str]] = {}
    for tool in system.tools.values():
        if tool.undo is not None and tool.undo.tool != tool.name:
            undone_by.setdefault(tool.undo.tool, []).append(tool.name)
    for agent in system.agents:
        for name in agent.tools:
            undo_tool = system.tools.get(name)
            if (
                undo_tool is None
                or not undo_tool.writes
                or name not in undone_by
                or _is_held(system, name, undone_by[name])
            ):
                continue
            writes = " or ".join(undone_by[name])
            yield Finding(
                code="QG110",
                severity="warning",
                message=f"{agent.name} can call {name} without {writes} before it",
                fix=f"add the rule {{action: {name}, after: {undone_by[name][0]}}}; a rollback is exempt from it",
                agent=agent.name,
                tool=name,
                origin=undo_tool.origin,
            )


def _is_held(system: System, undo_tool: str, writes: list[str]) -> bool:
    """Whether a rule keeps an undo from being called on its own."""
    for rule in system.rulebook.of(undo_tool):
        if rule.when is None and isinstance(rule, Never):
            return True
        if rule.when is None and isinstance(rule, After) and set(rule.tools) & set(writes):
            return True
    return False


def _bindings(system: System, tool: ToolContract) -> Iterator[Finding]:
    undo_tool = system.tools.get(tool.undo.tool) if tool.undo else None
    if undo_tool is None or tool.undo is None:
        return
    problems = binding_problems(tool, undo_tool)
    if problems:
        said = "; ".join(f"{problem.parameter} <- {problem.source}: {problem.why}" for problem in problems)
        names = ", ".join(dict.fromkeys(problem.parameter for problem in problems))
        yield Finding(
            code="QG107",
            severity="error",
            message=f"the undo of {tool.name} by {undo_tool.name} is not well bound: {said}",
            fix=f"bind {names} in undo: {{tool: {undo_tool.name}, arguments: {{...}}}} of {tool.name}",
            tool=tool.name,
            origin=tool.origin,
        )


def _cycles(system: System, tool: ToolContract) -> Iterator[Finding]:
    if tool.undo is None:
        return
    if tool.undo.tool == tool.name:
        if not is_own_inverse(tool):
            yield Finding(
                code="QG108",
                severity="error",
                message=f"{tool.name} undoes itself, and its bindings do not bring back what was before",
                fix=f"swap two arguments of {tool.name}, or take the former value from $result",
                tool=tool.name,
                origin=tool.origin,
            )
        return
    at = returns_to(tool, system.tools)
    if at is not None:
        yield Finding(
            code="QG108",
            severity="error",
            message=f"the undos of {tool.name} return to {at}: nothing says which of them is the write",
            fix="take the undo from the tool that only undoes, or say undo: none for it",
            tool=tool.name,
            origin=tool.origin,
        )
