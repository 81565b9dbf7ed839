"""`AsyncAgent`: turns, answers and what became of them, for one agent of an agent file (SPEC 12.1).

The agent speaks to Temporal and to nothing else. A turn goes to the person's session as an update that starts the
session where there is none; an answer goes to the run as a signal, which is durable once it is sent, whether a worker
is up or not. Both then wait for the run to need a person or to be over.
"""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from pydantic import JsonValue

from ..contract.errors import NotFound
from ..contract.names import REWIND_UPDATE, owner_of_run, session_workflow_id
from ..contract.question import AnswerWord, QuestionKind
from ..contract.reading import Language
from ..contract.reply import Reply
from ..contract.run import RunView
from ..contract.session import LONGEST_TURN, Rewound, SessionView, Turn
from ..tools.loader import LoadedAgent
from ..tools.preview import Preview, preview
from .audit import SessionRecord, read_record
from .conflicts import pending_compensation
from .home import Home
from .open_runs import OpenRuns, known_session
from .operator_acts import OperatorActs
from .operators import Operators
from .patience import while_served
from .place import Place
from .results import read_result
from .runs import RunSummary, list_runs
from .submitting import submit

__all__ = ["AsyncAgent"]

LONGEST_USER = 100
LONGEST_KEY = 200


class AsyncAgent(OperatorActs):
    """One agent, as a host program uses it.

    Make it with `from_file`. Nothing is started or connected before the first call; `close` (or leaving an ``async
    with``) ends what was started. With no Temporal address configured, a server is embedded and a worker runs in this
    process; runs that are open then wait for the next process.
    """

    def __init__(self, home: Home, *, facts: Mapping[str, object] | None = None) -> None:
        self._home = home
        self._facts = dict(facts or {})
        self._open_runs = OpenRuns(home)

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
        """Load an agent file.

        Args:
            path: the agent file, ``agent.yaml``.
            agent: which of its agents; may be left out where there is one.
            context: facts the rulebook may ask for, such as ``{"card_on_file": True}``. They come from the host, never
                from a turn or a model.
            state: the folder of the embedded server's state; by default ``.amends`` beside the agent file.
            task_queue: the queue of the agent's workers; by default named after the agent.
            worker: whether to run a worker in this process; by default only with the embedded server.

        Raises:
            FileMistakes: the file, or one it names, has mistakes; each with file, line and the nearest known word.
        """
        home = Home.of_file(path, agent=agent, context=context, state=state, task_queue=task_queue, worker=worker)
        return cls(home, facts=context)

    @property
    def loaded(self) -> LoadedAgent:
        """The agent as it was loaded: its tools with their contracts, its rules, its words."""
        return self._home.agent

    @property
    def operators(self) -> Operators:
        """The operator tokens: who may undo any run, and until when. They are in a file; no server is needed."""
        return self._home.operators

    async def place(self) -> Place:
        """Return the Temporal client and the queue in use; connect first where nothing was connected yet.

        Raises:
            Unreachable: the server does not answer, or the embedded one cannot start.
        """
        return await self._home.open()

    def plan(self, turn: str, *, language: Language | None = None) -> Preview:
        """Return how a turn would be read, checked, asked and undone. Nothing runs, and no server is needed.

        Args:
            turn: what a person would say.
            language: the language to read it in; by default the agent's.
        """
        return preview(self._home.agent, turn, language)

    async def __aenter__(self) -> Self:
        await self._home.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the worker and leave the embedded server, if this agent started them. Open runs are kept."""
        self._open_runs.forget_all()
        await self._home.close()

    # Turns

    async def chat(
        self,
        turn: str,
        *,
        user: str,
        language: Language | None = None,
        key: str | None = None,
        queue: bool = False,
    ) -> Reply:
        """Give a turn to the user's session; return once a question is open or the run is over.

        Args:
            turn: what the person said, 2,000 characters at most.
            user: who said it; the session is theirs.
            language: the language to read it in; by default the session's, then the agent's, then English.
            key: names this request: the same key again does not start a second run.
            queue: wait for a run that is open, in line with others that wait, instead of raising. A turn that waits is
                kept by the session: it begins when its time comes, whether or not anybody waits for it here.

        Raises:
            Conflict: ``thread_is_waiting``: a run of this user is still open, and needs an answer first;
                ``queue_full``: too many turns wait; ``run_not_started``: Temporal did not take the run.
            Unreachable: Temporal does not answer, or no worker serves the agent. A turn that was not accepted is lost.
            ValueError: the user's name or the turn cannot be used.
        """
        _check_user(user)
        if key is not None and not 0 < len(key) <= LONGEST_KEY:
            raise ValueError(f"key is {key!r}; it must be 1 to {LONGEST_KEY} characters")
        if len(turn) > LONGEST_TURN:
            raise ValueError(f"the turn has {len(turn)} characters; {LONGEST_TURN} is the most a turn may have")
        place = await self._home.open()
        request = Turn(
            text=turn,
            language=language,
            request_id=key or uuid4().hex,
            facts=self._facts,
            queue=queue,
            attributes=place.attributes,
        )
        return await self._begun(place, user, request)

    async def fork(self, run: str, at_step: int, *, key: str | None = None, queue: bool = False) -> Reply:
        """Go on from a run that is over as a new run: keep its first steps, and run the calls after them anew.

        The steps that are kept stay those of the run that took them. Neither a rollback nor an unwind of the fork
        undoes them; an unwind of that run undoes the fork first.

        Args:
            run: the run's id.
            at_step: how many of its steps are kept; each is done, or was skipped.
            key: names this request, as in `chat`.
            queue: wait in line for a run that is open, as in `chat`.

        Raises:
            NotFound: ``no_such_run``: it is no run of this agent.
            CondemnedRunError: the run, or one that it goes on from, is condemned.
            Conflict: ``thread_is_waiting``, ``queue_full`` as in `chat`; ``run_not_started``: it cannot be forked
                there.
        """
        owner = owner_of_run(run)
        if owner is None or owner[0] != self.name:
            raise NotFound("no_such_run", f"{self.name} has no run {run}.", "`amends runs` lists them.", run_id=run)
        place = await self._home.open()
        request = Turn(
            text="",
            request_id=key or uuid4().hex,
            facts=self._facts,
            queue=queue,
            attributes=place.attributes,
            fork_of=run,
            at_step=at_step,
        )
        return await self._begun(place, owner[1], request)

    async def _begun(self, place: Place, user: str, request: Turn) -> Reply:
        submitted = await submit(place, self.name, user, request)
        if submitted.status == "lacking":
            return Reply(text=submitted.text, state="reading", unread=submitted.unread)
        if submitted.status in ("unread", "stopped"):
            return Reply(text=submitted.text, state="refused", unread=submitted.unread)
        return Reply.of_run(await self._open_runs.attend(user, submitted.run, asks=submitted.asks))

    # Answers

    async def confirm(
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
        """Answer the user's open confirmation with ``approve``, ``skip`` or ``cancel all``; wait as `chat` does.

        Args:
            user: whose session it is.
            answer: exactly one of the three.
            run: the run that is meant; by default the user's open one.
            question: the question's id; needed only where more than one is open.
            digest: the digest of the question as it was shown; the answer is refused if it has changed since.
            by: who answers; by default the user.
            note: a remark for the record, 500 characters at most.

        Raises:
            Conflict: ``no_open_question``, ``question_closed`` (somebody was faster), ``question_expired``
                (it is asked anew), ``digest_mismatch``.
            Ambiguous: more than one confirmation is open.
            ValueError: the answer is none of the three.
        """
        return await self._open_runs.settle(
            user, ("confirm",), answer, run=run, question=question, digest=digest, by=by, note=note
        )

    async def answer(
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
        """Answer any open question of the user's run: ``happened``, ``retry`` and so on; wait as `chat` does.

        ``result`` goes with ``happened``: the fields of the call's result that an undo or a later step needs.

        Raises:
            Conflict, Ambiguous, ValueError: as `confirm`.
        """
        kinds: tuple[QuestionKind, ...] = ("confirm", "outcome", "undo")
        return await self._open_runs.settle(
            user, kinds, answer, run=run, question=question, digest=digest, by=by, note=note, result=result
        )

    # Looking

    async def session(self, user: str) -> SessionView:
        """Return the user's session: its open run and its past ones.

        Raises:
            NotFound: ``no_such_session``.
        """
        return await self._open_runs.session(user)

    async def record(self, user: str) -> SessionRecord:
        """Return the whole record of the user's session: every turn, call, undo, question and answer (SPEC 7.4).

        The lines of a run are written when it is over.

        Raises:
            NotFound: ``no_such_session``.
        """
        place = await self._home.open()
        with known_session(user, self.name):
            return await read_record(place, self.name, user)

    async def rewind(self, user: str) -> None:
        """Make sure that nothing of the user's failed runs is left in what a model reads next (SPEC 7.2).

        A run is rewound by itself as soon as nothing of it remains to be undone, so there is nothing more to do.

        Raises:
            Conflict: ``rewind_with_pending_compensation``: a run is open, or something still needs undoing.
            NotFound: ``no_such_session``.
        """
        place = await self._home.open()
        handle = place.client.get_workflow_handle(session_workflow_id(self.name, user))
        with known_session(user, self.name):
            rewound = await while_served(handle.execute_update(REWIND_UPDATE, result_type=Rewound), place)
        if rewound.refused:
            raise pending_compensation(user, rewound)

    async def run(self, run: str) -> RunView:
        """Return what a run shows now, or showed at its end.

        Raises:
            NotFound: ``no_such_run``.
        """
        return await self._open_runs.look(run)

    async def result(self, run: str, position: int) -> JsonValue:
        """Return the whole result of a run's step, also where it was too large for the run to keep (SPEC 13.3).

        Args:
            run: the run's id.
            position: the step's place in the run, from 1.

        Raises:
            NotFound: ``no_such_run``; ``no_such_step``; ``no_such_result``: the rest of it was not kept, or is kept in
                a folder that this process does not have.
        """
        return read_result(await self._open_runs.look(run), position, await self._home.open())

    async def attend(self, run: str) -> Reply:
        """Wait until a run needs a person or is over, whoever started it.

        Raises:
            NotFound: ``no_such_run``.
        """
        view = await self.run(run)
        return Reply.of_run(view if view.waiting or view.over else await self._open_runs.attend(view.user, run))

    async def runs(self, *, user: str | None = None, state: str | None = None, limit: int = 50) -> list[RunSummary]:
        """List this agent's runs, latest first."""
        place = await self._home.open()
        return await list_runs(place, self.name, user=user, state=state, limit=limit)


def _check_user(user: str) -> None:
    if not user or len(user) > LONGEST_USER or not user.isprintable():
        raise ValueError(f"user is {user!r}; it must be 1 to {LONGEST_USER} printable characters")
