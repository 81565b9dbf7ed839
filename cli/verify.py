"""``amends verify``: routes on which a run could not be undone, found before anything runs (SPEC 10.2)."""

import json
from pathlib import Path

import click

from .. import __version__
from ..rulebook.report import report_json, report_sarif, report_text
from ..rulebook.verify import verify
from ..tools.loader import load_file
from ..tools.verifiable import verifiable
from .exits import Exit
from .options import agent_file_argument, as_json_option, context_option
from .terminal import document, say

__all__ = ["command"]


@click.command()
@agent_file_argument
@context_option
@click.option("--sarif", is_flag=True, help="Print SARIF 2.1.0, for code hosts.")
@as_json_option
def command(*, file: Path, context: dict[str, object], sarif: bool, as_json: bool) -> Exit:
    """Look for routes of AGENT_FILE's agents that cannot be undone, and for rules that do not do what they say.

    Exits with 0 where it passes, 1 where it fails, 2 where the file cannot be read. With --context, facts that are not
    given are taken as facts nobody gives.
    """
    if sarif and as_json:
        raise click.UsageError("--sarif and --json are two documents; choose one")
    facts = [name for name, value in context.items() if value is True]
    verdict = verify(verifiable(load_file(file), host_facts=facts if context else None))
    if as_json:
        document("amends.verify/1", json.loads(report_json(verdict)))
    elif sarif:
        say(report_sarif(verdict, version=__version__))
    else:
        say(report_text(verdict))
    return Exit(verdict.exit_code)
