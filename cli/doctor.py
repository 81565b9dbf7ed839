"""``amends doctor``: whether everything an agent needs is there: its file, the server, a worker, tokens (SPEC 12.2)."""

import asyncio
import platform
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import click
from temporalio.api.workflowservice.v1 import GetSystemInfoRequest

from .. import __version__
from ..client.connect import Connection, ConnectionSettings, connect
from ..client.home import Home
from ..client.operators import Operators, operators_path
from ..client.patience import served
from ..contract.errors import AmendsError, Unreachable
from ..contract.mistakes import FileMistakes
from ..contract.names import SEARCH_ATTRIBUTES
from ..rulebook.lints import lint
from ..rulebook.rules import SEMANTICS
from ..tools.loader import LoadedAgent, LoadedFile, load_file
from ..tools.verifiable import verifiable
from .exits import Exit
from .options import agent_options, as_json_option, state_option
from .terminal import document, say

__all__ = ["command"]

SOON = timedelta(days=7)
"""A token that ends sooner than that is worth a word."""


@dataclass(frozen=True)
class _Check:
    """One thing that was looked at. ``exit`` is what its failure comes to."""

    status: Literal["ok", "warn", "FAIL"]
    said: str
    hint: str = ""
    exit: Exit = Exit.UNREACHABLE


@click.command()
@agent_options
@state_option
@as_json_option
def command(*, file: Path, name: str | None, state: Path | None, as_json: bool) -> Exit:
    """Look whether all is there to run an agent, and say what is missing and the way out. Nothing is changed.

    Exits with 0 if nothing failed, 2 if a file is wrong, 11 if the server or a worker does not answer. An embedded
    server that does not run is started for it, and ended.
    """
    settings = ConnectionSettings(state=state, beside=file.resolve().parent)
    checks = asyncio.run(_all(file, name, settings))
    if as_json:
        said = [{"status": each.status.lower(), "said": each.said, "hint": each.hint} for each in checks]
        document("amends.doctor/1", {"checks": said})
    else:
        for each in checks:
            say(f"{each.status:<4}  {each.said}" + (f"\n      {each.hint}" if each.hint else ""))
    return next((each.exit for each in checks if each.status == "FAIL"), Exit.DONE)


async def _all(file: Path, name: str | None, settings: ConnectionSettings) -> list[_Check]:
    versions = f"amends {__version__}, check semantics {SEMANTICS}, temporalio {version('temporalio')}"
    checks = [_Check("ok", f"{versions}, Python {platform.python_version()}")]
    agents: list[LoadedAgent] = []
    try:
        loaded = load_file(file)
        names = [loaded.named(name)] if name else list(loaded.written.agents)
        agents = [loaded.agent(each) for each in names]
        checks += _of_file(file, loaded, agents)
    except AmendsError as error:
        checks.append(_Check("FAIL", str(error), exit=Exit.USAGE))
    try:
        connection = await connect(settings)
    except Unreachable as error:
        checks.append(_Check("FAIL", error.message, error.hint))
    else:
        async with connection:
            checks += [each async for each in _of_server(connection, agents)]
    return [*checks, *_of_tokens(operators_path(settings))]


def _of_file(file: Path, loaded: LoadedFile, agents: list[LoadedAgent]) -> Iterator[_Check]:
    tools = len({tool for agent in agents for tool in agent.contracts})
    yield _Check("ok", f"{file}: {', '.join(agent.name for agent in agents)}; {tools} tools")
    system = verifiable(loaded)
    if notes := lint(system.agents, system.tools, rulebook=system.rulebook):
        yield _Check("warn", f"{len(notes)} things to say of its writes", "amends lint")


async def _of_server(connection: Connection, agents: list[LoadedAgent]) -> AsyncIterator[_Check]:
    client = connection.client
    info = await client.workflow_service.get_system_info(GetSystemInfoRequest())
    where = "embedded" if connection.embedded else client.service_client.config.target_host
    yield _Check("ok", f"Temporal {info.server_version} ({where}), namespace {client.namespace}")
    if connection.search_attributes:
        yield _Check("ok", f"search attributes {', '.join(SEARCH_ATTRIBUTES)}")
    else:
        hint = "docs/production.md says how to register them."
        yield _Check("warn", "search attributes are missing: runs cannot be listed by state or user", hint)
    for agent in agents:
        place = await Home.on(agent, connection).open()
        if await served(place):
            yield _Check("ok", f"{place.task_queue}: a worker polls")
        elif connection.embedded:
            yield _Check("ok", f"{place.task_queue}: no worker polls; chat, confirm and answer run one themselves")
        else:
            yield _Check(
                "FAIL", f"{place.task_queue}: no worker polls; its runs wait", "Start one with `amends worker`."
            )


def _of_tokens(path: Path) -> Iterator[_Check]:
    if not path.exists():
        yield _Check(
            "warn", "no operator token exists: nobody can undo a run from outside", "amends operator create NAME"
        )
        return
    try:
        now = datetime.now(UTC)
        states = [(each, each.state(now)) for each in Operators(path)]
    except FileMistakes as error:
        yield _Check("FAIL", str(error), exit=Exit.USAGE)
        return
    valid = [each for each, state in states if state == "valid"]
    ending = [each.name for each in valid if each.expires_at - now < SOON]
    if not valid:
        yield _Check("warn", "no operator token is valid any more", "amends operator create NAME")
    elif ending:
        yield _Check("warn", f"operator tokens that end within a week: {', '.join(ending)}")
    else:
        yield _Check("ok", f"{len(valid)} operator {'token' if len(valid) == 1 else 'tokens'}")
