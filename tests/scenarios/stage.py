"""What the scenarios stand on: the desk's agent, and waiting for something to be so."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from amends.contract.run import RunView
from amends.contract.session import SessionView
from amends.rulebook.effects import Rule
from amends.rulebook.rules import Rulebook
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk
from amends.testing.plain import compile_plain_selector
from amends.tools.loader import load_agent
from temporalio.client import WorkflowHandle

AGENT_FILE = Path(__file__).parent / "desk" / "agent.yaml"

ORDER = "charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411); provision_account(order_id=4411)"
"""The failed order: two writes that can be undone, and a third that the tests let fail."""


def make_bench(*rules: Rule, **changes: Any) -> ToolBench:
    """Return a bench of the desk's agent, with rules, or with other fields of `LoadedAgent` changed."""
    agent = load_agent(AGENT_FILE, compile_selector=compile_plain_selector)
    return ToolBench(dataclasses.replace(agent, rulebook=Rulebook(rules=rules), **changes))


def run_of(desk: Desk, run: str) -> WorkflowHandle[Any, Any]:
    """Return the workflow of a run, to do to it what anybody with the Temporal command line may do."""
    home: Any = desk._home
    handle: WorkflowHandle[Any, Any] = home._given.client.get_workflow_handle(run)
    return handle


async def eventually(holds: Callable[[], Awaitable[object] | object], seconds: float = 30) -> None:
    """Wait until something is so. A test that sleeps instead is slow on a fast machine and fails on a slow one."""
    async with asyncio.timeout(seconds):
        while True:
            answer = holds()
            if await answer if isinstance(answer, Awaitable) else answer:
                return
            await asyncio.sleep(0.01)


async def view_when(desk: Desk, run: str, holds: Callable[[RunView], object], seconds: float = 30) -> RunView:
    """Wait until what a run shows is so, and return it."""
    view = await desk.run(run)

    async def so() -> bool:
        nonlocal view
        view = await desk.run(run)
        return bool(holds(view))

    await eventually(so, seconds)
    return view


async def settled(desk: Desk, user: str | None = None) -> SessionView:
    """Return the session once it knows of the end of its last run, which a client may know a moment earlier."""
    view = await desk.session(user or desk.user)

    async def no_run_is_open() -> bool:
        nonlocal view
        view = await desk.session(user or desk.user)
        return not view.open_run

    await eventually(no_run_is_open)
    return view
