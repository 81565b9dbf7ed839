"""A run that fails at its third call, on a side store, with workers that a test can take away one kind at a time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from amends.contract.names import STOP_SIGNAL
from amends.contract.question import AnswerWord
from amends.contract.reply import Reply
from amends.contract.run import RunView
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.testing.witness import Witness
from amends.tests.edge_cases.side_store import Happens, on_the_side_store
from amends.tests.scenarios.stage import eventually, run_of, settled, view_when
from amends.worker.plugin import AmendsPlugin
from temporalio.client import Client
from temporalio.worker import Worker

__all__ = ["HOWS", "Scene", "open_scene"]

TURN = "update_crm(order_id=4411); charge_card(order_id=4411, amount=40.00); provision_account(order_id=4411)"
HOWS = ("cancelled", "stopped", "client gone", "all at once")
"""The ways to interrupt: Temporal's cancel, a stop, a client that goes away, and all of them together."""


class Scene:
    """One run from its turn to its end, interrupted once.

    Attributes:
        how: one of `HOWS`.
        desk: the agent.
        run: the run's id, once it was begun.
    """

    def __init__(self, how: str, desk: Desk, bench: ToolBench, witness: Witness, *, client: Client, queue: str) -> None:
        self.how, self.desk, self.run = how, desk, ""
        self.interrupted = False
        self._bench, self._witness, self._client, self._queue = bench, witness, client, queue
        self._said: set[str] = set()
        self._clients: list[asyncio.Task[Reply]] = []
        self._deciding: Worker | None = None
        self._acting: Worker | None = None

    # What happens

    def in_call(self, tool: str, *calls: Happens) -> None:
        """Say what happens in the calls of a tool."""
        on_the_side_store(self._bench, self._witness, tool, *calls)
        self._said.add(tool)

    async def begin_two(self) -> None:
        """Give the turn and approve two of its calls, which take effect."""
        for tool in {"update_crm", "charge_card", "refund_card", "restore_crm"} - self._said:
            self.in_call(tool)
        self.run = (await self.desk.chat(TURN, user=self.desk.user)).run
        for _ in range(2):
            await self.desk.confirm(self.desk.user, "approve")

    async def begin(self) -> None:
        """Give the turn and approve its three calls; the third one is going to fail."""
        await self.begin_two()
        self.say("approve")

    def say(self, answer: AnswerWord, *, by: str | None = None) -> None:
        """Answer the open question, and wait for what comes of it elsewhere."""
        self._clients.append(asyncio.create_task(self.desk.answer(self.desk.user, answer, by=by)))

    async def asked(self, tool: str, kind: str) -> None:
        """Wait until a question of that kind is open, about ``tool``."""
        view = await self.when(lambda view: view.waiting)
        await asyncio.gather(*self._clients)
        assert [(each.tool, each.kind) for each in view.waiting] == [(tool, kind)]

    async def when(self, holds: Callable[[RunView], object]) -> RunView:
        """Wait until what the run shows is so."""
        return await view_when(self.desk, self.run, holds, seconds=30)

    async def interrupt(self, *, heard: bool = True) -> None:
        """Interrupt the run, and wait until its workflow has heard of it."""
        self.interrupted = True
        handle = run_of(self.desk, self.run)
        before = (await handle.describe()).history_length
        if self.how in ("client gone", "all at once"):
            for client in self._clients:
                client.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)
        if self.how in ("cancelled", "all at once"):
            await handle.cancel()
        if self.how in ("stopped", "all at once"):
            await handle.signal(STOP_SIGNAL, {"by": "ops"})
        if heard and self.how != "client gone":
            await eventually(lambda: self._heard(before), seconds=30)

    async def _heard(self, before: int) -> bool:
        description = await run_of(self.desk, self.run).describe()
        pending = description.raw_description.HasField("pending_workflow_task")
        return description.history_length > before and not pending

    async def end(self, *answers: AnswerWord) -> Reply:
        """Answer what is still asked, and return the run's reply once its session knows of it too."""
        reply = await self.desk.attend(self.run)
        for answer in answers:
            reply = await self.desk.answer(self.desk.user, answer)
        for client in self._clients:
            with contextlib.suppress(asyncio.CancelledError):
                assert (await client).run == self.run
        assert [(line.state, line.text) for line in (await settled(self.desk)).runs] == [(reply.state, reply.text)]
        return reply

    # Who works

    async def decide(self) -> None:
        """Let a worker take the workflow tasks."""
        plugins = [AmendsPlugin(self._bench.agent)]
        self._deciding = Worker(self._client, task_queue=self._queue, plugins=plugins, no_remote_activities=True)
        await self._deciding.__aenter__()

    async def stop_deciding(self) -> None:
        """Let nobody take the workflow tasks."""
        if self._deciding is not None:
            await self._deciding.__aexit__(None, None, None)
        self._deciding = None

    async def act(self) -> None:
        """Let a worker take the activities, and nothing else."""
        plugin = AmendsPlugin(self._bench.agent)
        assert isinstance(plugin.activities, list)
        self._acting = Worker(self._client, task_queue=self._queue, activities=plugin.activities)
        await self._acting.__aenter__()

    async def stop_acting(self) -> None:
        """Let nobody take the activities."""
        if self._acting is not None:
            await self._acting.__aexit__(None, None, None)
        self._acting = None


@asynccontextmanager
async def open_scene(
    how: str, client: Client, bench: ToolBench, witness_file: Path, queue: str
) -> AsyncIterator[Scene]:
    """Set the scene: two writes that take effect on the side store, a third call that fails, and workers."""
    async with AsyncExitStack() as stack:
        desk = await stack.enter_async_context(open_desk(client, bench.agent, task_queue=queue, workers=[]))
        scene = Scene(how, desk, bench, Witness(witness_file), client=client, queue=queue)
        await scene.decide()
        stack.push_async_callback(scene.stop_deciding)
        await scene.act()
        stack.push_async_callback(scene.stop_acting)
        yield scene
