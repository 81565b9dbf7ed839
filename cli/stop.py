"""``amends stop``: stop a run, a user's session, an agent, or everything (SPEC 8.4)."""

from collections.abc import Iterator
from pathlib import Path

import click

from ..client.blocking import Agent
from ..client.stopping import Stopped, StoppedRun
from .exits import Exit, exit_of_run
from .options import agent_options, as_json_option, by_option, state_option
from .replies import answer_hint
from .targets import is_run
from .terminal import document, note, say

__all__ = ["command"]

_FOUND = {
    "before dispatch": "{tool} was not sent",
    "aborted": "{tool} was aborted, without effect",
    "committed": "{tool} had taken effect",
    "unknown": "{tool} had been sent, and nobody knows whether it took effect",
    "": "no call was in flight",
}
_WORST = (Exit.STUCK, Exit.LEFT)


@click.command()
@click.argument("target", metavar="RUN|USER", required=False)
@click.option("--all", "whole_agent", is_flag=True, help="Every open run and session of the agent.")
@click.option("--everything", is_flag=True, help="Every open run and session of every agent on the server.")
@click.option("--reason", default="", help="Why; it stands in the reply and in the record.")
@by_option("Who stops.")
@click.option("--wait", type=click.FloatRange(0, 3600), default=30, show_default=True, metavar="SECONDS")
@agent_options
@state_option
@as_json_option
def command(
    *,
    target: str | None,
    whole_agent: bool,
    everything: bool,
    reason: str,
    by: str,
    wait: float,
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """Stop now: nothing more is sent, and what was done is undone. Of a USER, the session is stopped.

    It stops what is open; a turn that comes later is a new one. --wait says how long to wait for the undos.
    """
    if [bool(target), whole_agent, everything].count(True) != 1:
        raise click.UsageError("say what to stop: one RUN or USER, or --all, or --everything")
    with Agent.from_file(file, agent=name, state=state) as desk:
        if target is None:
            stopped = desk.stop_all(everything=everything, by=by, reason=reason, patience=wait)
        elif is_run(target):
            stopped = desk.stop(target, by=by, reason=reason, patience=wait)
        else:
            stopped = desk.stop_session(target, by=by, reason=reason, patience=wait)
        if as_json:
            document("amends.stopped/1", stopped.model_dump(mode="json"))
        else:
            _tell(stopped)
    found = {exit_of_run(run.state, run.waiting) for run in stopped.runs if run.state is not None}
    return next((code for code in _WORST if code in found), Exit.DONE)


def _tell(stopped: Stopped) -> None:
    if not stopped.runs:
        note("No run was open.")
    for run in stopped.runs:
        for line in _lines(run):
            say(line)


def _lines(run: StoppedRun) -> Iterator[str]:
    if run.state is None:
        yield f"{run.run}: the stop is recorded; no worker serves the run, and the next one that does sees it first."
        return
    yield f"{run.run} of {run.user}: {_FOUND[run.found].format(tool=run.tool)}. It is {run.state}."
    if run.text:
        yield f"  {run.text}"
    for question in run.waiting:
        yield f"  It asks: {question.text}"
        yield from (f"    {line}" for line in answer_hint(question))
