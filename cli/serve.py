"""``amends serve``: the HTTP API and the web console of an agent (SPEC 12.3)."""

import asyncio
import logging
import os
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import click

from ..client.agent import AsyncAgent
from ..console.notices import watching
from ..console.people import People
from ..console.serving import answer_key, check_address, listening, open_console
from ..console.webhooks import Webhooks
from ..contract.proof import public_key
from .console_options import console_options, people_of
from .exits import Exit
from .options import agent_options, context_option, state_option
from .terminal import note, say

__all__ = ["command"]


@click.command()
@agent_options
@context_option
@state_option
@console_options
@click.option("--public-url", metavar="URL", help="Where people reach it, for links.  [default: where it listens]")
@click.option(
    "--webhooks",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="AMENDS_WEBHOOKS",
    metavar="FILE",
    help="Who is told of questions.  [default: nobody]",
)
def command(
    *,
    file: Path,
    name: str | None,
    context: dict[str, object],
    state: Path | None,
    host: str,
    port: int,
    root_path: str,
    people_file: Path | None,
    who: str | None,
    webhooks: Path | None,
    public_url: str | None,
) -> Exit:
    """Serve an agent's HTTP API and its web console until Ctrl-C; workers run elsewhere.

    Without --people nobody signs in, and only this machine can reach it.
    """
    people = people_of(people_file, who)
    check_address(host, people)
    told = Webhooks.of_file(webhooks, os.environ) if webhooks else None
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    agent = AsyncAgent.from_file(file, agent=name, context=context, state=state, worker=False)
    folder = state or file.resolve().parent / ".amends"
    return asyncio.run(
        _serve(agent, people, folder, told, host=host, port=port, root_path=root_path, public_url=public_url)
    )


async def _serve(
    agent: AsyncAgent,
    people: People,
    folder: Path,
    webhooks: Webhooks | None,
    *,
    host: str,
    port: int,
    root_path: str,
    public_url: str | None,
) -> Exit:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    async with agent:
        console = await open_console(agent, people, folder)
        async with AsyncExitStack() as stack:
            listens = listening(console, host=host, port=port, root_path=root_path)
            address = await stack.enter_async_context(listens)
            if webhooks is not None:
                await stack.enter_async_context(watching(console.desk, webhooks, public_url or address))
            say(f"Console      {address}/")
            note(f"Answers are signed by {public_key(answer_key(agent.loaded.proof, folder))}")
            note("Stop with Ctrl-C.")
            await told.wait()
    return Exit.DONE
