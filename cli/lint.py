"""``amends lint``: what registration says of each write. None of it fails anything, unless asked to (SPEC 10.1)."""

from pathlib import Path

import click

from ..rulebook.lints import lint
from ..rulebook.report import finding_text
from ..tools.loader import load_file
from ..tools.verifiable import verifiable
from .exits import Exit
from .options import agent_file_argument, as_json_option
from .terminal import document, say

__all__ = ["command"]


@click.command()
@agent_file_argument
@click.option("--strict", is_flag=True, help="Exit with 10 if there is anything to say.")
@as_json_option
def command(*, file: Path, strict: bool, as_json: bool) -> Exit:
    """Say what recovery needs of each write of AGENT_FILE, and does not have."""
    system = verifiable(load_file(file))
    found = lint(system.agents, system.tools, rulebook=system.rulebook)
    if as_json:
        document("amends.lint/1", {"lints": [finding.model_dump(mode="json") for finding in found]})
    else:
        for finding in found:
            say(finding_text(finding))
        say(f"{len(found)} {'note' if len(found) == 1 else 'notes'}. None fails anything.")
    return Exit.FINDINGS if strict and found else Exit.DONE
