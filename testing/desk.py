"""A desk: a server, a worker and an agent for the length of a test."""

import tempfile
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio.client import Client
from temporalio.worker import Worker

from ..client.agent import AsyncAgent
from ..client.home import Home
from ..client.operators import Operators
from ..client.place import Place
from ..contract.question import AnswerWord
from ..contract.reading import Language
from ..contract.reply import Reply
from ..contract.unwind import UnwindReport
from ..tools.loader import LoadedAgent
from ..worker.serving import make_worker

__all__ = ["Desk", "open_desk"]


class Desk(AsyncAgent):
    """An agent whose questions a test can answer in one line.

    Attributes:
        user: who says the turns of `order` where none is named. Sessions are found by agent and user, so a desk has a
            person of its own, and no other test's session is met on the same server.
    """

    def __init__(self, home: Home, *, facts: Mapping[str, object] | None = None, user: str) -> None:
        super().__init__(home, facts=facts)
        self.user = user
        self._token = ""

    async def unwind(
        self,
        run: str,
        *,
        reason: str = "a test wants it",
        by: str = "",
        steps: Sequence[int] = (),
        continue_past_uncertain: bool = False,
        patience: float = 30,
    ) -> UnwindReport:
        """Undo a run as an operator whose token is good for it; see `AsyncAgent.undo`."""
        return await self.undo(
            run,
            reason=reason,
            token=self.token,
            by=by,
            steps=steps,
            continue_past_uncertain=continue_past_uncertain,
            patience=patience,
        )

    @property
    def token(self) -> str:
        """An operator token of this desk that allows to undo."""
        if not self._token:
            self._token = self.operators.create("on-call", ("undo",), timedelta(hours=1))
        return self._token

    async def order(
        self,
        turn: str,
        *answers: AnswerWord,
        user: str | None = None,
        by: str | None = None,
        language: Language | None = None,
    ) -> Reply:
        """Give a turn and answer its questions in order; the last answer goes on for all that follow.

        With no answers, everything that can be approved is approved.

        Raises:
            AssertionError: a question is open that the next answer does not fit.
        """
        whose = user or self.user
        reply = await self.chat(turn, user=whose, language=language)
        given = list(answers) or ["approve"]
        while reply.waiting:
            word = given.pop(0) if len(given) > 1 else given[0]
            if word not in reply.waiting[0].answers:
                raise AssertionError(f"{word!r} does not answer {reply.waiting[0].text!r}")
            reply = await self.answer(whose, word, by=by)
        return reply


class _Fixed(Home):
    """A home whose server belongs to somebody else."""

    def __init__(self, agent: LoadedAgent, place: Place, folder: Path) -> None:
        self.agent = agent
        self._given = place
        self._folder = folder
        self._ended = deque()

    @property
    def operators(self) -> Operators:
        return Operators(self._folder / "operators.json")

    async def open(self) -> Place:
        return self._given

    async def close(self) -> None:
        return


@asynccontextmanager
async def open_desk(
    client: Client,
    agent: LoadedAgent,
    *,
    task_queue: str,
    user: str | None = None,
    attributes: bool = True,
    workers: Sequence[Worker] | None = None,
) -> AsyncIterator[Desk]:
    """Serve ``agent`` on a queue of the given server while the block lasts.

    Args:
        client: a client with pydantic's data converter.
        agent: the agent, perhaps that of a `ToolBench`.
        task_queue: a queue of its own, so that no other test's worker takes its tasks.
        user: who says the turns of `Desk.order`; by default somebody new.
        attributes: whether the server knows our search attributes.
        workers: the workers to run; by default one made for the agent.
    """
    async with AsyncExitStack() as stack:
        for worker in workers if workers is not None else [make_worker(client, [agent], task_queue=task_queue)]:
            await stack.enter_async_context(worker)
        address = client.service_client.config.target_host
        place = Place(client=client, address=address, task_queue=task_queue, attributes=attributes)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amends-desk-")))
        yield Desk(_Fixed(agent, place, folder), facts=agent.facts, user=user or f"u-{uuid4().hex[:8]}")
