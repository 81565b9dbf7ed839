"""What this process knows of open runs: how far each was followed, and the question that was shown last."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from temporalio.service import RPCError, RPCStatusCode

from ..contract.errors import Ambiguous, Conflict, NotFound
from ..contract.names import ANSWER_SIGNAL, VIEW_QUERY, session_workflow_id
from ..contract.question import ANSWERS, Answer, AnswerWord, Question, QuestionKind
from ..contract.reply import Reply
from ..contract.run import RunView
from ..contract.session import SessionView
from .asking import ask
from .conflicts import condemned, raise_if_not_taken
from .following import Follower
from .home import Home
from .patience import while_served
from .standing import standing_of

__all__ = ["AGAIN", "OpenRuns", "known_session"]

AGAIN = "Say the turn again to start another run."


class OpenRuns:
    """The open runs of one agent, as its client follows and answers them."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._followers: dict[str, Follower] = {}
        self._latest: dict[str, RunView] = {}

    def forget_all(self) -> None:
        """Forget everything; the connection is given up."""
        self._followers.clear()
        self._latest.clear()

    async def attend(self, user: str, run: str, *, asks: bool = True, since: int = 0) -> RunView:
        """Wait until a run needs a person or is over; see `following.Follower.until_attention`."""
        place = await self._home.open()
        follower = self._followers.setdefault(run, Follower(place.client, run))
        view = await while_served(follower.until_attention(asks=asks, since=since), place)
        if view.over:
            self._home.note_end(run)
            self._forget(user, run)
        else:
            self._latest[user] = view
        return view

    async def look(self, run: str) -> RunView:
        """Return what a run shows now, or showed at its end.

        Raises:
            NotFound: ``no_such_run``.
        """
        place = await self._home.open()
        try:
            return await while_served(Follower(place.client, run).look(), place)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                raise NotFound("no_such_run", f"There is no run {run}.", run_id=run) from error
            raise

    async def session(self, user: str) -> SessionView:
        """Return what a user's session shows.

        Raises:
            NotFound: ``no_such_session``.
        """
        place, agent = await self._home.open(), self._home.agent.name
        handle = place.client.get_workflow_handle(session_workflow_id(agent, user))
        with known_session(user, agent):
            return await while_served(ask(handle, VIEW_QUERY, result_type=SessionView), place)

    async def settle(
        self,
        user: str,
        kinds: tuple[QuestionKind, ...],
        word: AnswerWord,
        *,
        run: str | None,
        question: str | None,
        digest: str,
        by: str | None,
        note: str,
        result: Mapping[str, object] | None = None,
    ) -> Reply:
        """Answer the open question that is meant, and wait until the run needs a person again or is over.

        Raises:
            Conflict, Ambiguous, ValueError: as `agent.AsyncAgent.confirm`.
        """
        offered = [offer for kind in kinds for offer in ANSWERS[kind]]
        if word not in offered:
            raise ValueError(f"{word!r} is no answer; the answers are {', '.join(map(repr, offered))}")
        view, asked = await self._open_question(user, kinds, word, run, question)
        answer = Answer(
            question_id=asked.id,
            answer=word,
            by=by or user,
            note=note,
            answer_id=uuid4().hex,
            digest=digest,
            result=dict(result) if result is not None else None,
        )
        place = await self._home.open()
        follower = self._followers.setdefault(view.run, Follower(place.client, view.run))
        before = follower.read
        try:
            await follower.handle.signal(ANSWER_SIGNAL, answer)
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                self._forget(user, view.run)
                await self._raise_if_condemned(await self.look(view.run), kinds)
                raise Conflict("already_ended", f"The run {view.run} is over.", AGAIN, run_id=view.run) from error
            raise
        after = await self.attend(user, view.run, asks=view.has_more or asked.kind != "confirm", since=before)
        raise_if_not_taken(answer, asked, after)
        return Reply.of_run(after)

    async def _open_question(
        self, user: str, kinds: tuple[QuestionKind, ...], word: AnswerWord, run: str | None, name: str | None
    ) -> tuple[RunView, Question]:
        view = self._latest.get(user)
        # What is remembered may be of another run, or older than the question that is meant.
        if view and run and view.run != run:
            view = None
        if view and not any(word in q.answers and name in (None, q.id) for q in view.waiting):
            view = None
        if view is None:
            view = await self.look(run) if run else await self._open_run(user)
        await self._raise_if_condemned(view, kinds)
        if view.over:
            raise Conflict("already_ended", f"The run {view.run} is over.", AGAIN, run_id=view.run)
        fitting = [q for q in view.waiting if q.kind in kinds and (name is None or q.id == name)]
        if len(fitting) > 1:
            names = ", ".join(q.id for q in fitting)
            raise Ambiguous("several_questions", f"Several questions of {user} are open: {names}.", "Name one.")
        if not fitting:
            kind = "confirmation" if kinds == ("confirm",) else "question"
            self._latest.pop(user, None)
            raise Conflict("no_open_question", f"No {kind} of {user} is open.", run_id=view.run)
        return view, fitting[0]

    async def _raise_if_condemned(self, view: RunView, kinds: tuple[QuestionKind, ...]) -> None:
        """Say of a run that an operator had undone that no answer sets it going again (SPEC 8.3).

        What its rollback asks is answered as ever.

        Raises:
            CondemnedRunError: it is condemned.
        """
        tombstone = view.condemned
        if tombstone is None and view.over:
            tombstone = (await standing_of(await self._home.open(), view.run)).tombstone
        if tombstone is not None and (view.over or not any(q.kind in kinds for q in view.waiting)):
            raise condemned(tombstone)

    async def _open_run(self, user: str) -> RunView:
        view = await self.session(user)
        if not view.open_run:
            raise Conflict("no_open_question", f"No run of {user} is open.")
        run = await self.look(view.open_run)
        if run.over and run.condemned is None:  # the session is just hearing of it
            raise Conflict("no_open_question", f"No run of {user} is open.")
        return run

    def _forget(self, user: str, run: str) -> None:
        self._followers.pop(run, None)
        self._latest.pop(user, None)


@contextmanager
def known_session(user: str, agent: str) -> Iterator[None]:
    """Say in words, inside the block, that there is no such session.

    Raises:
        NotFound: ``no_such_session``.
    """
    try:
        yield
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise NotFound("no_such_session", f"{user} has no session with {agent}.") from error
        raise
