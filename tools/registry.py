"""The registry: every tool an agent file offers, with what the file says over what the code says (SPEC 1.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue

from ..contract.mistakes import FileMistake, FileMistakes, nearest
from ..rulebook.undo import resolve_undo
from .agent_file import Entry, Source
from .declaration import Declaration
from .decorator import origin_of
from .sources import declared_functions, import_source
from .tool import Tool, make_tool, tool_name

__all__ = ["collect_tools"]


def collect_tools(sources: Sequence[Source], entries: Mapping[str, Entry], *, folder: Path) -> dict[str, Tool]:
    """Load every tool the sources offer.

    Args:
        sources: the modules to load.
        entries: what the agent file says of single tools.
        folder: the folder of the agent file.

    Raises:
        FileMistakes: modules that cannot be imported, functions that cannot be tools, entries for tools there are not.
    """
    mistakes: list[FileMistake] = []
    found = _declared(sources, folder, mistakes)
    all_loaded = not mistakes
    tools: dict[str, Tool] = {}
    for name, (function, declared) in found.items():
        entry = entries.get(name)
        try:
            tools[name] = make_tool(function, _together(name, declared, entry))
        except FileMistake as mistake:
            mistakes.append(mistake)
        except FileMistakes as several:
            mistakes += several.mistakes
    for name, entry in entries.items():
        if name not in found and all_loaded:
            offered = ", ".join(source.target for source in sources) or "none"
            said = f"no source offers a tool named {name!r}; the sources are {offered}"
            mistakes.append(FileMistake(said, entry.origin, nearest(name, found)))
    if mistakes:
        raise FileMistakes(mistakes)
    for tool in tools.values():
        mistakes += _unfit_query(tool, tools)
    if mistakes:
        raise FileMistakes(mistakes)
    return {name: _with_bound_query(_with_bound_undo(tool, tools), tools) for name, tool in tools.items()}


def _declared(
    sources: Sequence[Source], folder: Path, mistakes: list[FileMistake]
) -> dict[str, tuple[Callable[..., object], Declaration]]:
    found: dict[str, tuple[Callable[..., object], Declaration]] = {}
    for source in sources:
        try:
            module = import_source(source.target, folder=folder, origin=source.origin)
        except FileMistake as mistake:
            mistakes.append(mistake)
            continue
        declared = list(declared_functions(module))
        if not declared:
            mistakes.append(FileMistake(f"python: {source.target} has no function marked @tool", source.origin))
        for function, declaration in declared:
            name = tool_name(function, declaration)
            known = found.setdefault(name, (function, declaration))[0]
            if known is not function:
                said = f"two functions are named {name}; the other is at {origin_of(known)}. Give one another name"
                mistakes.append(FileMistake(said, origin_of(function)))
    return found


def _together(name: str, declared: Declaration, entry: Entry | None) -> Declaration:
    if entry is None:
        return declared
    together = declared.overridden_by(entry.declaration)
    wrong = together.contradiction()
    if wrong is not None:
        raise FileMistake(f"{name}: {wrong}", entry.origin)
    return together


def _with_bound_undo(tool: Tool, tools: Mapping[str, Tool]) -> Tool:
    """Bind the short form of an undo by name (SPEC 1.3).

    An undo that no source offers, and an argument nothing binds, stay as they are: a lint says so, nothing fails.
    """
    undo = tool.contract.undo
    if undo is None or undo.tool not in tools:
        return tool
    bound = resolve_undo(tool.contract, tools[undo.tool].contract)
    return replace(tool, contract=tool.contract.model_copy(update={"undo": bound}))


_KEY_NAMES = ("key", "idempotency_key")


def _unfit_query(tool: Tool, tools: Mapping[str, Tool]) -> list[FileMistake]:
    """Return what is wrong with the outcome query a write names (SPEC 5.5): a doubt is a bad time to find out."""
    query, name, origin = tool.contract.outcome_query, tool.name, tool.contract.origin
    if query is None:
        return []
    if query.tool not in tools:
        said = f"{name}: there is no tool {query.tool!r} to ask whether it took effect"
        return [FileMistake(said, origin, nearest(query.tool, tools))]
    asked = tools[query.tool].contract
    if asked.writes:
        return [FileMistake(f"{name}: {asked.name} writes; an outcome query must be a read", origin)]
    bound = _query_arguments(tool, tools[query.tool])
    unbound = [each.name for each in asked.parameters if each.required and each.name not in bound]
    if unbound:
        said = f"{name}: {asked.name} needs {', '.join(unbound)}, which {name} does not have; bind it under arguments"
        return [FileMistake(said, origin)]
    return []


def _with_bound_query(tool: Tool, tools: Mapping[str, Tool]) -> Tool:
    """Bind the short form of an outcome query by name: the write's arguments, and its key."""
    query = tool.contract.outcome_query
    if query is None:
        return tool
    bound = query.model_copy(update={"arguments": _query_arguments(tool, tools[query.tool])})
    return replace(tool, contract=tool.contract.model_copy(update={"outcome_query": bound}))


def _query_arguments(write: Tool, asked: Tool) -> dict[str, JsonValue]:
    query = write.contract.outcome_query
    if query is not None and query.arguments is not None:
        return dict(query.arguments)
    own = {parameter.name for parameter in write.contract.parameters}
    bound: dict[str, JsonValue] = {}
    for parameter in asked.contract.parameters:
        if parameter.name in own:
            bound[parameter.name] = f"$args.{parameter.name}"
        elif parameter.name in _KEY_NAMES:
            bound[parameter.name] = "$key"
    return bound
