"""The registration lints: what recovery needs of each write, and what is missing. None of them fails anything.

The messages of the first eight are printed to the letter (SPEC 10.1). Nothing is asked that only somebody else could
change: a tool that an MCP server serves gets neither `write_not_retry_safe` nor `write_without_result_schema`. Nor is
an irreversible write asked to be retry-safe: it is confirmed, and never sent again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..contract.tool import ToolContract
from .bindings import binding_problems, is_own_inverse, returns_to
from .effects import Confirm, Unconfirmed
from .finding import Finding
from .model import AgentModel
from .rules import Rulebook

__all__ = ["LINTS", "lint", "not_said_by"]

LINTS = (
    "write_without_compensation",
    "write_not_retry_safe",
    "irreversible_without_confirmation",
    "compensation_unknown_tool",
    "compensation_not_retry_safe",
    "compensation_unbound",
    "compensation_cycle",
    "compensation_out_of_reach",
    "write_without_result_schema",
)

_SUPPRESSED_BY = {
    "write_without_compensation": ("QG105",),
    "irreversible_without_confirmation": ("QG013", "QG101"),
    "compensation_unknown_tool": ("QG113",),
    "compensation_unbound": ("QG107",),
    "compensation_cycle": ("QG108",),
    "compensation_out_of_reach": ("QG106",),
    "write_not_retry_safe": ("QG109",),
    "compensation_not_retry_safe": ("QG109",),
}


def lint(
    agents: Sequence[AgentModel], tools: Mapping[str, ToolContract], *, rulebook: Rulebook | None = None
) -> tuple[Finding, ...]:
    """Return what registration says of these tools, tool by tool, then agent by agent.

    Args:
        agents: who may call what; for `compensation_out_of_reach`.
        tools: the catalogue.
        rulebook: who is asked before a write; by default a person is asked before every one.
    """
    rules = rulebook or Rulebook()
    found = [finding for tool in tools.values() if tool.writes for finding in _of_write(tool, tools, rules)]
    found.extend(finding for agent in agents for finding in _of_agent(agent, tools))
    return tuple(found)


def not_said_by(lints: Iterable[Finding], findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the lints that no finding says already of the same tool (and agent, where a lint has one)."""
    said = {(finding.code, finding.tool, agent) for finding in findings for agent in (finding.agent, "")}
    return tuple(
        each
        for each in lints
        if not any((code, each.tool, each.agent) in said for code in _SUPPRESSED_BY.get(each.code, ()))
    )


def _of_write(tool: ToolContract, tools: Mapping[str, ToolContract], rulebook: Rulebook) -> Iterator[Finding]:
    is_ours = tool.source != "mcp"
    if tool.undo is None and not tool.undo_none and not tool.irreversible:
        yield _lint(tool, "write_without_compensation", "a write neither compensated nor marked irreversible")
    if is_ours and not tool.retry_safe and not tool.irreversible:
        message = "a write with no idempotency, so an ambiguous failure goes to a person"
        yield _lint(tool, "write_not_retry_safe", message)
    if tool.irreversible and not _is_confirmed(tool, rulebook):
        message = "an irreversible operation that asks for no confirmation"
        yield _lint(tool, "irreversible_without_confirmation", message)
    if tool.undo is not None:
        yield from _of_undo(tool, tool.undo.tool, tools)
    if is_ours and tool.result_schema is None:
        yield _lint(tool, "write_without_result_schema", "a write that does not say what it returns")


def _of_undo(tool: ToolContract, undo: str, tools: Mapping[str, ToolContract]) -> Iterator[Finding]:
    if undo not in tools:
        message = f"the compensation names '{undo}', which the catalogue lacks"
        yield _lint(tool, "compensation_unknown_tool", message)
        return
    undo_tool = tools[undo]
    if not undo_tool.retry_safe:
        yield _lint(tool, "compensation_not_retry_safe", f"'{undo}' undoes it and is not retry-safe")
    for problem in binding_problems(tool, undo_tool):
        if problem.kind in ("unbound", "unknown"):
            yield _lint(tool, "compensation_unbound", f"{problem.parameter} <- {problem.source}")
    at = tool.name if undo == tool.name and not is_own_inverse(tool) else returns_to(tool, tools)
    if at is not None:
        yield _lint(tool, "compensation_cycle", f"its compensations return to '{at}'")


def _of_agent(agent: AgentModel, tools: Mapping[str, ToolContract]) -> Iterator[Finding]:
    for tool in (tools[name] for name in agent.tools if name in tools):
        if tool.undo is not None and tool.undo.tool in tools and tool.undo.tool not in agent.tools:
            message = (
                f"agent '{agent.name}' can call it but not '{tool.undo.tool}', which undoes it, "
                "so a run of that agent cannot undo it"
            )
            yield _lint(tool, "compensation_out_of_reach", message, agent=agent.name)


def _is_confirmed(tool: ToolContract, rulebook: Rulebook) -> bool:
    """Whether a person is asked before every call of a tool."""
    rules = rulebook.of(tool.name)
    if any(isinstance(rule, Confirm) and rule.when is None for rule in rules):
        return True
    return rulebook.confirm_writes and not any(isinstance(rule, Unconfirmed) for rule in rules)


def _lint(tool: ToolContract, code: str, message: str, *, agent: str = "") -> Finding:
    return Finding(code=code, severity="note", message=message, agent=agent, tool=tool.name, origin=tool.origin)
