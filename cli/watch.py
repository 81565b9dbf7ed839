"""``amends watch``: what happens in a run, as it happens (SPEC 12.2)."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Literal

import click

from ..client.agent import AsyncAgent
from ..console.desk import Desk
from ..console.events import Happened, follow
from ..contract.errors import NotFound
from ..contract.run import RunView
from .exits import Exit, exit_of_run
from .options import agent_options, state_option
from .targets import is_run
from .terminal import say, visible

__all__ = ["command"]

_SAID = ("question", "step", "tool", "answer", "by", "reason", "attempt", "state", "text")
"""What a line shows of an event, in this order."""


@click.command()
@click.argument("target", metavar="RUN|USER")
@click.option(
    "--until",
    type=click.Choice(["waiting", "end"]),
    default="end",
    show_default=True,
    help="Stop there: when a person is asked, or when the run is over.",
)
@click.option("--jsonl", "as_lines", is_flag=True, help="Print one event of JSON a line.")
@agent_options
@state_option
def command(
    *, target: str, until: Literal["waiting", "end"], as_lines: bool, file: Path, name: str | None, state: Path | None
) -> Exit:
    """Follow a run, from its beginning: questions, answers, calls, undos, its end. Of a USER, the open or latest run.

    Exits with the run's code. Ctrl-C leaves it as it is.
    """
    view = asyncio.run(_watched(AsyncAgent.from_file(file, agent=name, state=state), target, until, as_lines=as_lines))
    return exit_of_run(view.state, view.waiting)


async def _watched(agent: AsyncAgent, target: str, until: Literal["waiting", "end"], *, as_lines: bool) -> RunView:
    async with agent:
        run = await _run_meant(agent, target)
        desk = Desk(agent)
        client = (await agent.place()).client
        view = await agent.run(run)
        async for each in follow(client, run, lambda over: agent.run(run) if over else desk.look(run)):
            if each is None:
                continue
            if as_lines:
                sys.stdout.write(f"{each.model_dump_json()}\n")
                sys.stdout.flush()
            else:
                say(_line(each))
            if until == "waiting" and each.type == "question.opened":
                view = await desk.look(run)
                if view.waiting:
                    return view
        return await agent.run(run)


async def _run_meant(agent: AsyncAgent, target: str) -> str:
    if is_run(target):
        return target
    session = await agent.session(target)
    latest = session.open_run or next((past.run for past in reversed(session.runs) if past.run), "")
    if not latest:
        raise NotFound("no_such_run", f"{target} has no run.")
    return latest


def _line(event: Happened) -> str:
    said = [f"{name} {_word(event.data[name])}" for name in _SAID if event.data.get(name) not in (None, "", 1)]
    return f"{event.at:%H:%M:%S}  {event.type.ljust(18)}  {visible('  '.join(said))}".rstrip()


def _word(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
