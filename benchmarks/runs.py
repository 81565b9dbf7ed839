"""Runs of amends beside bare Temporal workflows, turn and turn about, on one server and in one process.

Four subjects do the same five activities:

* ``bare``: a plain workflow, started and awaited;
* ``run``: a run of amends, started with the input its session would give it;
* ``turn``: a whole turn through `AsyncAgent.chat`: session, reading, run, session's record;

each once without questions and once with one before each call, where the bare workflow waits for a signal. The bare
client follows the history as ours does, to know when the workflow waits, and sends its signal then.
"""

import asyncio
import dataclasses
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from uuid import uuid4

from amends.client.following import Follower
from amends.contract.names import ANSWER_SIGNAL, RUN_WORKFLOW, run_id
from amends.contract.question import Answer
from amends.contract.run import PlannedCall, RunInput, RunView
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tools.loader import LoadedAgent
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner

from .bare import CALLS, PAYLOAD, BareCalls, BareConfirmed, bare_call

Subject = Callable[[], Awaitable[str]]


@dataclasses.dataclass
class Measured:
    """The times of one subject at one concurrency, in seconds, and the events of one of its runs."""

    name: str
    times: list[float] = dataclasses.field(default_factory=list)
    wall: float = 0.0
    events: int = 0

    def quantile(self, part: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def per_second(self) -> float:
        return len(self.times) / self.wall


class Field:
    """The server's client, the workers, and the subjects."""

    def __init__(self, client: Client, desk: Desk, agent: LoadedAgent, queue: str) -> None:
        self._client = client
        self._desk = desk
        self._agent = agent
        self._queue = queue
        self._numbers = itertools.count(1)
        self._idle_users: list[str] = []

    async def bare(self) -> str:
        name = f"bare-{uuid4().hex}"
        handle = await self._client.start_workflow(BareCalls.run, id=name, task_queue=f"{self._queue}-bare")
        await handle.result()
        return name

    async def bare_confirmed(self) -> str:
        name = f"bare-{uuid4().hex}"
        handle = await self._client.start_workflow(BareConfirmed.run, id=name, task_queue=f"{self._queue}-bare")
        follower = Idle(self._client, name)
        for _ in range(CALLS):
            await follower.until_idle()
            await handle.signal(BareConfirmed.answer, {"question_id": "q1", "answer": "approve", "by": "ana"})
        await handle.result()
        return name

    async def run(self) -> str:
        name = await self._start("bench_read")
        view = await Follower(self._client, name).until_attention(asks=False)
        assert view.state == "done", view
        return name

    async def run_confirmed(self) -> str:
        name = await self._start("bench_write")
        follower = Follower(self._client, name)
        view = await follower.until_attention()
        while view.waiting:
            answer = Answer(question_id=view.waiting[0].id, answer="approve", by="ana")
            await follower.handle.signal(ANSWER_SIGNAL, answer)
            view = await follower.until_attention(asks=view.has_more)
        assert view.state == "done", view
        return name

    async def turn(self) -> str:
        return await self._ordered("bench_read")

    async def turn_confirmed(self) -> str:
        return await self._ordered("bench_write")

    async def _ordered(self, tool: str) -> str:
        """Have a turn done for a user whose session is idle, which it is after the first turn of each."""
        user = self._idle_users.pop() if self._idle_users else f"u-{next(self._numbers)}"
        reply = await self._desk.order(self._said(tool), user=user)
        assert reply.state == "done", reply
        self._idle_users.append(user)
        return reply.run

    def _said(self, tool: str) -> str:
        return ";".join(f"{tool}(order_id=44{position}, amount=40.00)" for position in range(CALLS))

    async def _start(self, tool: str) -> str:
        session = f"{self._agent.name}:bench:{uuid4().hex[:8]}"
        given = RunInput(
            session=session,
            number=1,
            agent=self._agent.name,
            user="bench",
            turn=self._said(tool),
            calls=tuple(PlannedCall(tool=tool, arguments=PAYLOAD) for _ in range(CALLS)),
            tools={tool: self._agent.tools[tool].contract},
            rulebook=self._agent.rulebook.model_dump(mode="json"),
            attributes=True,
        )
        name = run_id(session, 1)
        await self._client.start_workflow(RUN_WORKFLOW, given, id=name, task_queue=self._queue, result_type=RunView)
        return name


class Idle:
    """Follows a bare workflow, event by event, until it waits for its next signal."""

    def __init__(self, client: Client, name: str) -> None:
        handle = client.get_workflow_handle(name)
        self._events = handle.fetch_history_events(wait_new_event=True, skip_archival=True)
        self._calls = 0

    async def until_idle(self) -> None:
        """Read on until a workflow task is completed that scheduled nothing: the first, or the one after a call."""
        ended = EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
        wanted = self._calls
        seen = 0
        async for event in self._events:
            seen += event.event_type == ended
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED and seen == min(wanted, 1):
                self._calls = 1
                return


async def measure(subjects: dict[str, Subject], *, runs: int, at_a_time: int, rounds: int) -> list[Measured]:
    """Run each subject ``runs`` times in ``rounds`` rounds, one subject after another in each round."""
    measured = {name: Measured(name) for name in subjects}
    for _ in range(rounds):
        for name, subject in subjects.items():
            await _round(measured[name], subject, runs // rounds, at_a_time)
    return list(measured.values())


async def _round(measured: Measured, subject: Subject, runs: int, at_a_time: int) -> None:
    room = asyncio.Semaphore(at_a_time)

    async def one() -> None:
        async with room:
            begun = time.perf_counter()
            await subject()
            measured.times.append(time.perf_counter() - begun)

    begun = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(runs)))
    measured.wall += time.perf_counter() - begun


async def count_events(client: Client, subject: Subject) -> int:
    """Return how many history events one run of a subject has."""
    name = await subject()
    return len((await client.get_workflow_handle(name).fetch_history()).events)


async def open_field(client: Client, bench: ToolBench, stack: AsyncExitStack, queue: str) -> Field:
    """Start the workers of both sides."""
    desk = await stack.enter_async_context(open_desk(client, bench.agent, task_queue=queue))
    bare = Worker(
        client,
        task_queue=f"{queue}-bare",
        workflows=[BareCalls, BareConfirmed],
        activities=[bare_call],
        workflow_runner=SandboxedWorkflowRunner(),
    )
    await stack.enter_async_context(bare)
    return Field(client, desk, bench.agent, queue)
