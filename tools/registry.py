"""The registry: every tool an agent file offers, with what the file says over what the code says (SPEC 1.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
    return {name: _with_bound_undo(tool, tools) for name, tool in tools.items()}


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
