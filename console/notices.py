"""Watching runs for what needs somebody, and having webhooks told of each once (SPEC 12.3).

Nothing of a run knows of this: a watch follows the histories of open runs, as a page does, and lists those that left
something behind. What it finds becomes a workflow whose id names endpoint, run and question. So a notice is as durable
as a run, is sent again until it is taken, and is the same one for a server that was started anew, or for another beside
it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import quote

from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from ..client.runs import list_runs
from ..contract.errors import NotFound, Unreachable
from ..contract.names import NOTICE_WORKFLOW, notice_id
from ..contract.notice import Notice, NoticeKind
from ..contract.question import Question
from ..workflows.notice import NoticeWorkflow
from .desk import Desk
from .events import follow
from .webhooks import Webhooks

__all__ = ["watching"]

EVERY = 2.0
"""Seconds between two looks at which runs wait."""
LATELY = timedelta(days=1)
"""What ended longer ago was told of, or is no news: a console that is started anew looks back so far."""
MOST = 1000
KEPT_AT_MOST = 50_000
_log = logging.getLogger("amends.console.notices")


@asynccontextmanager
async def watching(desk: Desk, webhooks: Webhooks, address: str) -> AsyncIterator[None]:
    """Watch while the block lasts.

    Args:
        desk: whose runs.
        webhooks: who is told.
        address: where people reach the console.
    """
    place = await desk.agent.place()
    queue = f"amends-notices-{desk.agent.name}"
    worker = Worker(
        place.client,
        task_queue=queue,
        workflows=[NoticeWorkflow],
        activities=[webhooks.notify],
        workflow_runner=SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules("amends.contract", "amends.workflows")
        ),
        graceful_shutdown_timeout=timedelta(seconds=1),
    )
    watch = _Watch(desk, webhooks, address.rstrip("/"), queue)
    async with worker:
        looking = asyncio.ensure_future(watch.run())
        try:
            yield
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)


class _Watch:
    def __init__(self, desk: Desk, webhooks: Webhooks, address: str, queue: str) -> None:
        self._desk, self._webhooks, self._address, self._queue = desk, webhooks, address, queue
        self._following: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()

    async def run(self) -> None:
        try:
            while True:
                # What cannot be asked now is asked again; a notice that is late is better than a watch that has ended.
                with suppress(RPCError, Unreachable):
                    for run in await self._open_runs():
                        if run not in self._following:
                            task = self._following[run] = asyncio.ensure_future(self._follow(run))
                            task.add_done_callback(partial(self._forget, run))
                    await self._tell_of_left()
                await asyncio.sleep(EVERY)
        finally:
            tasks = list(self._following.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, run: str, _: "asyncio.Task[None]") -> None:
        self._following.pop(run, None)

    async def _open_runs(self) -> set[str]:
        agent = self._desk.agent
        found = {each.run for each in await agent.unwinds()}
        if (await agent.place()).attributes:
            for state in ("waiting", "stuck"):
                found.update(each.run for each in await agent.runs(state=state, limit=MOST) if each.ended_at is None)
        else:
            found.update(each.run for each in await agent.runs(limit=MOST) if each.ended_at is None)
        return found

    async def _follow(self, run: str) -> None:
        desk = self._desk
        client = (await desk.agent.place()).client
        with suppress(RPCError, Unreachable, NotFound):
            async for each in follow(client, run, lambda over: desk.agent.run(run) if over else desk.look(run)):
                if each is not None and each.type == "question.opened":
                    view = await desk.look(run)
                    for question in view.waiting:
                        kind: NoticeKind = "run.stuck" if question.kind == "undo" else "question.opened"
                        await self._tell(kind, question.run, view.user, question.asked_at, question)

    async def _tell_of_left(self) -> None:
        agent = self._desk.agent
        place = await agent.place()
        if not place.attributes:
            return
        since = datetime.now(UTC) - LATELY
        for state in ("left", "abandoned"):
            for each in await list_runs(place, agent.name, state=state, ended_since=since, limit=MOST):
                if each.ended_at is not None:
                    await self._tell("run.left", each.run, each.user, each.ended_at)

    async def _tell(
        self, kind: NoticeKind, run: str, user: str, at: datetime, question: Question | None = None
    ) -> None:
        for name, endpoint in self._webhooks.endpoints.items():
            one = notice_id(name, run, question.id if question else "left")
            if one in self._told or kind not in endpoint.events or name in self._webhooks.gone:
                continue
            notice = Notice(
                id=one,
                endpoint=name,
                type=kind,
                run=run,
                question_id=question.id if question else None,
                kind=question.kind if question else None,
                tool=question.tool if question else None,
                user=user,
                url=f"{self._address}/runs/{quote(run, safe='')}",
                at=at,
            )
            with suppress(WorkflowAlreadyStartedError):
                await (await self._desk.agent.place()).client.start_workflow(
                    NOTICE_WORKFLOW,
                    notice,
                    id=one,
                    task_queue=self._queue,
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    static_summary=f"{kind} to {name}",
                )
                _log.info("notice %s to %s", kind, name)
            if len(self._told) > KEPT_AT_MOST:
                self._told.clear()
            self._told.add(one)
