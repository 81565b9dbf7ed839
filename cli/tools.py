"""``amends tools``: an agent's tools: what each does, and what undoes it."""

from pathlib import Path

import click

from ..contract.tool import ToolContract
from ..tools.loader import load_agent
from .exits import Exit
from .options import agent_options, as_json_option
from .terminal import columns, document, say

__all__ = ["command"]


@click.command()
@click.option("--writes", is_flag=True, help="Only tools that write.")
@click.option("--gaps", is_flag=True, help="Only writes of which nothing is said about undoing.")
@agent_options
@as_json_option
def command(*, writes: bool, gaps: bool, file: Path, name: str | None, as_json: bool) -> Exit:
    """List an agent's tools. No server is needed."""
    found = [
        tool
        for tool in load_agent(file, agent=name).contracts.values()
        if (tool.writes or not (writes or gaps)) and (not gaps or _recovery(tool) == "nothing is said")
    ]
    if as_json:
        document("amends.tools/1", {"tools": [tool.model_dump(mode="json", exclude={"origin"}) for tool in found]})
        return Exit.DONE
    rows = [(tool.name, "writes" if tool.writes else "reads", _recovery(tool), _tries(tool)) for tool in found]
    for line in columns([("TOOL", "DOES", "UNDONE BY", "SENT TWICE"), *rows]):
        say(line)
    return Exit.DONE


def _recovery(tool: ToolContract) -> str:
    if not tool.writes:
        return "-"
    if tool.irreversible:
        return "nothing: irreversible"
    if tool.undo is not None:
        said = ", ".join(f"{name} = {source}" for name, source in (tool.undo.arguments or {}).items())
        return f"{tool.undo.tool}({said})"
    return "nothing, on purpose" if tool.undo_none else "nothing is said"


def _tries(tool: ToolContract) -> str:
    if not tool.writes:
        return "harmless"
    return "takes effect once" if tool.retry_safe else "never, a person is asked"
