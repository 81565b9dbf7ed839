"""``amends runs``: runs, latest first."""

from datetime import datetime
from pathlib import Path
from typing import get_args

import click

from ..client.blocking import Agent
from ..client.runs import RunSummary
from ..contract.run import RunState
from .exits import Exit
from .options import agent_options, as_json_option, state_option
from .terminal import columns, document, note, say

__all__ = ["command"]


@click.command()
@agent_options
@state_option
@click.option("--user", help="Only the runs of this user.")
@click.option("--state", "run_state", type=click.Choice(get_args(RunState)), help="Only runs in this state.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many at most.")
@click.option("--unwinds", is_flag=True, help="Open unwinds of runs that were over, instead: what is stuck, and where.")
@as_json_option
def command(
    *,
    file: Path,
    name: str | None,
    state: Path | None,
    user: str | None,
    run_state: str | None,
    limit: int,
    unwinds: bool,
    as_json: bool,
) -> Exit:
    """List the runs of an agent, latest first. A run that has only just changed may show its state a moment later."""
    with Agent.from_file(file, agent=name, state=state, worker=False) as desk:
        try:
            found = desk.runs(user=user, state=run_state, limit=limit) if not unwinds else desk.unwinds()
        except ValueError as error:
            raise click.UsageError(str(error)) from None
    if unwinds:
        theirs = [each for each in found if user in (None, each.user) and run_state in (None, each.state)]
        found = theirs[:limit]
    if as_json:
        document("amends.runs/1", {"runs": [summary.model_dump(mode="json") for summary in found]})
    elif found:
        for line in columns([("RUN", "USER", "STATE", "STARTED", "ENDED"), *map(_row, found)]):
            say(line)
    else:
        note("No such run.")
    return Exit.DONE


def _row(summary: RunSummary) -> tuple[str, str, str, str, str]:
    ended = _time(summary.ended_at) if summary.ended_at else "-"
    return summary.run, summary.user or "-", summary.state or "-", _time(summary.started_at), ended


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}Z"
