"""`Agent`: the same as `AsyncAgent`, for programs that are not async (SPEC 12.1)."""

import asyncio
import concurrent.futures
import concurrent.futures.thread
import os
import threading
import time
import weakref
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import JsonValue

from ..contract.question import AnswerWord
from ..contract.reading import Language
from ..contract.reply import Reply
from ..contract.run import RunView
from ..contract.session import SessionView
from ..contract.unwind import UnwindReport
from ..tools.loader import LoadedAgent
from ..tools.preview import Preview
from .agent import AsyncAgent
from .audit import SessionRecord
from .operators import Operators
from .place import Place
from .runs import RunSummary
from .stopping import BY, PATIENCE, Stopped
from .unwinding import PATIENCE as UNDO_PATIENCE

__all__ = ["Agent"]

_T = TypeVar("_T")

SETTLE = 0.5
"""Seconds the interpreter waits after a worker of its own has stopped. Temporal's runtime has threads that Python does
not know of; an interpreter that exits while they still run may crash after all work was done."""


class Agent:
    """One agent, as a host program uses it. Every method blocks, and does what `AsyncAgent`'s of that name does.

    It may be used from several threads. Its work is done in a thread of its own, which ends with `close`, with the
    ``with`` block, or with the program.
    """

    def __init__(self, agent: AsyncAgent) -> None:
        self._agent = agent
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="amends-agent", daemon=True)
        self._thread.start()
        self._closed = False
        self._pid = os.getpid()
        self._calls: set[concurrent.futures.Future[Any]] = set()
        _at_exit(self)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        agent: str | None = None,
        context: Mapping[str, object] | None = None,
        state: str | Path | None = None,
        task_queue: str | None = None,
        worker: bool | None = None,
    ) -> Self:
        """Load an agent file; see `AsyncAgent.from_file`."""
        loaded = AsyncAgent.from_file(
            path, agent=agent, context=context, state=state, task_queue=task_queue, worker=worker
        )
        return cls(loaded)

    def __enter__(self) -> Self:
        self._wait(self._agent.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the worker and leave the embedded server, if this agent started them. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        for call in tuple(self._calls):
            call.cancel()
        try:
            asyncio.run_coroutine_threadsafe(self._agent.close(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def name(self) -> str:
        """The agent's name in its file."""
        return self._agent.name

    @property
    def loaded(self) -> LoadedAgent:
        """The agent as it was loaded; see `AsyncAgent.loaded`."""
        return self._agent.loaded

    @property
    def operators(self) -> Operators:
        """The operator tokens; see `AsyncAgent.operators`."""
        return self._agent.operators

    def place(self) -> Place:
        """Return the Temporal client and the queue in use; see `AsyncAgent.place`."""
        return self._wait(self._agent.place())

    def plan(self, turn: str, *, language: Language | None = None) -> Preview:
        """Return how a turn would be read, checked, asked and undone; see `AsyncAgent.plan`."""
        return self._agent.plan(turn, language=language)

    def chat(
        self,
        turn: str,
        *,
        user: str,
        language: Language | None = None,
        key: str | None = None,
        queue: bool = False,
    ) -> Reply:
        """Give a turn to the user's session; see `AsyncAgent.chat`."""
        return self._wait(self._agent.chat(turn, user=user, language=language, key=key, queue=queue))

    def confirm(
        self,
        user: str,
        answer: AnswerWord,
        *,
        run: str | None = None,
        question: str | None = None,
        digest: str = "",
        by: str | None = None,
        note: str = "",
    ) -> Reply:
        """Answer the user's open confirmation; see `AsyncAgent.confirm`."""
        return self._wait(
            self._agent.confirm(user, answer, run=run, question=question, digest=digest, by=by, note=note)
        )

    def answer(
        self,
        user: str,
        answer: AnswerWord,
        *,
        run: str | None = None,
        question: str | None = None,
        digest: str = "",
        by: str | None = None,
        note: str = "",
        result: Mapping[str, object] | None = None,
    ) -> Reply:
        """Answer any open question of the user's run; see `AsyncAgent.answer`."""
        return self._wait(
            self._agent.answer(user, answer, run=run, question=question, digest=digest, by=by, note=note, result=result)
        )

    def stop(self, run: str, *, by: str = BY, reason: str = "", patience: float = PATIENCE) -> Stopped:
        """Stop a run now; see `AsyncAgent.stop`."""
        return self._wait(self._agent.stop(run, by=by, reason=reason, patience=patience))

    def stop_session(self, user: str, *, by: str = BY, reason: str = "", patience: float = PATIENCE) -> Stopped:
        """Stop a user's session; see `AsyncAgent.stop_session`."""
        return self._wait(self._agent.stop_session(user, by=by, reason=reason, patience=patience))

    def stop_all(
        self, *, everything: bool = False, by: str = BY, reason: str = "", patience: float = PATIENCE
    ) -> Stopped:
        """Stop every run and session of this agent, or of all; see `AsyncAgent.stop_all`."""
        return self._wait(self._agent.stop_all(everything=everything, by=by, reason=reason, patience=patience))

    def unwinds(self, *, open_only: bool = True) -> list[RunSummary]:
        """List the unwinds of runs that were over; see `AsyncAgent.unwinds`."""
        return self._wait(self._agent.unwinds(open_only=open_only))

    def fork(self, run: str, at_step: int, *, key: str | None = None, queue: bool = False) -> Reply:
        """Go on from a run that is over as a new run; see `AsyncAgent.fork`."""
        return self._wait(self._agent.fork(run, at_step, key=key, queue=queue))

    def undo(
        self,
        run: str,
        *,
        dry_run: bool = False,
        reason: str = "",
        token: str | None = None,
        by: str = "",
        steps: Sequence[int] = (),
        continue_past_uncertain: bool = False,
        digest: str = "",
        patience: float = UNDO_PATIENCE,
    ) -> UnwindReport:
        """Undo a run from outside, open or over, or plan to; see `AsyncAgent.undo`."""
        return self._wait(
            self._agent.undo(
                run,
                dry_run=dry_run,
                reason=reason,
                token=token,
                by=by,
                steps=steps,
                continue_past_uncertain=continue_past_uncertain,
                digest=digest,
                patience=patience,
            )
        )

    def session(self, user: str) -> SessionView:
        """Return the user's session; see `AsyncAgent.session`."""
        return self._wait(self._agent.session(user))

    def record(self, user: str) -> SessionRecord:
        """Return the record of the user's session; see `AsyncAgent.record`."""
        return self._wait(self._agent.record(user))

    def rewind(self, user: str) -> None:
        """Make sure that the user's failed runs have left the memory; see `AsyncAgent.rewind`."""
        self._wait(self._agent.rewind(user))

    def run(self, run: str) -> RunView:
        """Return what a run shows; see `AsyncAgent.run`."""
        return self._wait(self._agent.run(run))

    def result(self, run: str, position: int) -> JsonValue:
        """Return the whole result of a step; see `AsyncAgent.result`."""
        return self._wait(self._agent.result(run, position))

    def attend(self, run: str) -> Reply:
        """Wait until a run needs a person or is over; see `AsyncAgent.attend`."""
        return self._wait(self._agent.attend(run))

    def runs(self, *, user: str | None = None, state: str | None = None, limit: int = 50) -> list[RunSummary]:
        """List this agent's runs, latest first; see `AsyncAgent.runs`."""
        return self._wait(self._agent.runs(user=user, state=state, limit=limit))

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        if self._closed:
            work.close()
            raise RuntimeError("this agent is closed; make another with Agent.from_file")
        if self._pid != os.getpid():
            work.close()
            raise RuntimeError(
                "this agent was made before a fork, and its thread stayed behind; make one in each process"
            )
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._calls.add(future)
        future.add_done_callback(self._calls.discard)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise RuntimeError("this agent was closed while it waited; the run, if there is one, goes on") from None
        except BaseException:
            # Ctrl-C in the waiting thread: stop waiting there too. The run itself goes on.
            future.cancel()
            raise


def _at_exit(agent: Agent) -> None:
    """Close ``agent`` when the program ends, if nobody did.

    The standard ``atexit`` comes too late: by then Python has shut its thread pools, without which a worker can neither
    finish nor stop. Hooks of ``threading`` run before that, the latest first.
    """
    kept = weakref.ref(agent)

    def close() -> None:
        agent = kept()
        if agent is not None and not agent.closed:
            agent.close()
            time.sleep(SETTLE)

    threading._register_atexit(close)  # type: ignore[attr-defined]  # noqa: SLF001
