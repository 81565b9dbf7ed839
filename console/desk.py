"""What the API and the pages do with an agent: turns, answers, stops, the inbox (SPEC 12.3).

Nothing is kept here: a server that is started anew, or another beside it, does the same. An answer is a signal, so it
is durable before any worker has seen it.
"""

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio.client import WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.service import RPCError, RPCStatusCode

from ..client.agent import AsyncAgent
from ..client.asking import ask
from ..client.conflicts import question_expired
from ..client.following import Follower
from ..client.open_runs import AGAIN
from ..client.patience import while_served
from ..contract.errors import Conflict, NotAllowed, NotFound, Unreachable
from ..contract.names import (
    ANSWER_SIGNAL,
    LANGUAGE_UPDATE,
    SESSION_WORKFLOW,
    STOP_SIGNAL,
    VIEW_QUERY,
    owner_of_run,
    session_workflow_id,
)
from ..contract.proof import signed
from ..contract.question import Answer, Answered, Question
from ..contract.reading import Language
from ..contract.run import RunView
from ..contract.session import SessionState, SessionView
from .limits import Named, key_reused
from .people import Person

__all__ = ["NOTED", "Desk", "Inbox", "Open"]

NOTED = ("done by hand", "abandon")
"""Answers that say what somebody did, or must do: they need a remark."""
MOST_OPEN = 200
AT_ONCE = 20
LOOK = 5.0
"""Seconds a run has to say what it asks. One that nobody serves must not keep the others from being seen."""
_ASKS = ("waiting", "stuck")


@dataclass(frozen=True)
class Open:
    """An open question, and whose run asks it."""

    user: str
    question: Question


@dataclass(frozen=True)
class Inbox:
    """The open questions, oldest first. ``silent`` are runs that wait and could not be asked: no worker answers."""

    items: list[Open]
    silent: list[str]


class Desk:
    """One agent, for whoever is signed in.

    Args:
        agent: the agent.
        key: what answers are signed with, for runs that demand it (SPEC 13.2).
    """

    def __init__(self, agent: AsyncAgent, key: Ed25519PrivateKey | None = None) -> None:
        self.agent = agent
        self._key = key

    async def run(self, person: Person, run: str) -> RunView:
        """Return a run that the person may see, or the unwind of one.

        Raises:
            NotFound: ``no_such_run``: there is none, or it is not theirs to see.
        """
        missing = NotFound("no_such_run", "There is no such run.")
        if not run.removeprefix("unwind:").startswith(f"run:{self.agent.name}:"):
            raise missing
        try:
            view = await self.agent.run(run)
        except NotFound:
            raise missing from None
        if not person.sees(view.user):
            raise missing
        return view

    async def look(self, run: str) -> RunView:
        """Return what a run shows that is open, or was a moment ago, by asking it and nobody else.

        Raises:
            NotFound: ``no_such_run``.
        """
        place = await self.agent.place()
        handle = place.client.get_workflow_handle(run)
        try:
            view: RunView = await while_served(ask(handle, VIEW_QUERY, result_type=RunView), place)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise NotFound("no_such_run", "There is no such run.", run_id=run) from error
        return view

    async def session(self, person: Person, user: str) -> SessionView | None:
        """Return a thread that the person may see; None where it has not begun.

        Raises:
            NotFound: ``no_such_session``: it is not theirs to see.
        """
        if not person.sees(user):
            raise NotFound("no_such_session", "There is no such thread.")
        with suppress(NotFound):
            return await self.agent.session(user)
        return None

    async def answer(
        self,
        person: Person,
        run: str,
        question: str,
        answer: str,
        *,
        digest: str,
        name: Named,
        note: str = "",
        result: dict[str, object] | None = None,
    ) -> RunView:
        """Answer one question, as it was shown, in the person's own name. ``name`` names the request.

        Raises:
            Conflict: ``question_closed``, with who was faster; ``question_expired``; ``digest_mismatch``;
                ``already_ended``.
            NotFound: there is no such run or question.
            NotAllowed: ``not_your_question``.
            ProblemError: 422 ``idempotency_key_reused``: the request of this name gave another answer.
            ValueError: the answer is not one that is offered, or lacks its remark.
        """
        view = await self.run(person, run)
        asked = next((each for each in view.asked if each.id == question), None)
        if asked is None:
            raise NotFound("no_such_question", f"The run asks no question {question}.", run_id=run)
        if not person.answers(view.user, asked.kind):
            raise NotAllowed("not_your_question", "Somebody else must answer this question.", run_id=run)
        if _of(view, name) is not None:  # the same request again, or the same key with another body
            return _told(view, name, question)
        found = next((each for each in view.waiting if each.id == question), None)
        if found is None:
            raise _closed(view, question)
        if answer not in found.answers:
            raise ValueError(f"{answer!r} is no answer to it; the answers are {', '.join(found.answers)}")
        if digest != found.digest:
            said = "The question is not the one that was shown."
            raise Conflict("digest_mismatch", said, "Look at it again.", run_id=run, question_id=question)
        if answer in NOTED and not note.strip():
            raise ValueError(f"{answer!r} needs a remark: what was done, or must be")
        sent = Answer(
            question_id=question,
            answer=answer,
            by=person.name,
            note=note,
            answer_id=name.whole,
            digest=digest,
            result=dict(result) if result else None,
        )
        if self._key is not None:
            sent = signed(sent, run, self._key)
        place = await self.agent.place()
        try:
            await place.client.get_workflow_handle(run).signal(ANSWER_SIGNAL, sent)
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            ended = await self.agent.run(run)
            if any(each.accepted and each.question_id == question for each in ended.answers):
                raise _closed(ended, question) from error
            raise Conflict("already_ended", "The run is over.", AGAIN, run_id=run) from error
        # A query sees every signal that came before it.
        return _told(await self.look(run), name, question)

    async def settled(self, run: str, seconds: float) -> RunView:
        """Wait until a run needs a person or is over, for so long at most; return what it shows then."""
        place = await self.agent.place()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                view = await while_served(Follower(place.client, run).until_attention(), place)
                if view.over:
                    return view
        return await self.look(run)

    async def stop(self, person: Person, run: str, note: str) -> RunView:
        """Stop a run: nothing more is sent, and what it did is undone (SPEC 8.4).

        Raises:
            Conflict: ``already_ended``.
            NotAllowed: it is not theirs to stop.
        """
        view = await self.run(person, run)
        if not person.stops(view.user):
            raise NotAllowed("not_your_question", "Somebody else must stop this run.", run_id=run)
        place = await self.agent.place()
        try:
            await place.client.get_workflow_handle(run).signal(STOP_SIGNAL, {"by": person.name, "reason": note})
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise Conflict("already_ended", "The run is over.", run_id=run) from error
        return await self.agent.run(run)

    async def inbox(self, person: Person) -> Inbox:
        """Return every open question the person may see, oldest first, and the runs that could not be asked."""
        place = await self.agent.place()
        runs: set[str] = set()
        if place.attributes:
            for state in _ASKS:
                runs.update(each.run for each in await self.agent.runs(state=state, limit=MOST_OPEN))
        else:
            runs.update(each.run for each in await self.agent.runs(limit=MOST_OPEN) if each.ended_at is None)
        runs.update(each.run for each in await self.agent.unwinds())
        room = asyncio.Semaphore(AT_ONCE)

        silent: list[str] = []

        async def look(run: str) -> list[Open]:
            async with room:
                try:
                    async with asyncio.timeout(LOOK):
                        view = await self.run(person, run)
                except NotFound:
                    return []
                except (RPCError, TimeoutError, Unreachable):
                    owner = owner_of_run(run.removeprefix("unwind:"))
                    if owner is not None and person.sees(owner[1]):
                        silent.append(run)
                    return []
                return [Open(view.user, question) for question in view.waiting]

        found = [each for several in await asyncio.gather(*map(look, runs)) for each in several]
        return Inbox(sorted(found, key=lambda each: each.question.asked_at), sorted(silent))

    async def set_language(self, person: Person, user: str, language: Language | None) -> None:
        """Set what the turns of a thread are read in, from the next on (SPEC 2.2).

        Raises:
            NotAllowed: it is not their thread.
        """
        if not (person.speaks_for(user) or "admin" in person.roles):
            raise NotAllowed("not_your_question", "This is somebody else's thread.")
        place = await self.agent.place()
        start: WithStartWorkflowOperation[object, object] = WithStartWorkflowOperation(
            SESSION_WORKFLOW,
            SessionState(agent=self.agent.name, user=user, epoch=secrets.token_hex(3)),
            id=session_workflow_id(self.agent.name, user),
            task_queue=place.task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            static_summary=f"{user} with {self.agent.name}",
        )
        await while_served(
            place.client.execute_update_with_start_workflow(
                LANGUAGE_UPDATE, language, start_workflow_operation=start, result_type=str
            ),
            place,
        )


def _of(view: RunView, name: Named) -> Answered | None:
    found = next((each for each in view.answers if each.answer_id.partition(".")[0] == name.id), None)
    if found is not None and found.answer_id != name.whole:
        raise key_reused()
    return found


def _told(view: RunView, name: Named, question: str) -> RunView:
    """Return the view if the answer of that name was taken, or raise what became of it."""
    mine = _of(view, name)
    if mine is None or mine.accepted:
        return view
    if mine.reason == "digest_mismatch":
        raise Conflict("digest_mismatch", "The question changed.", "Look at it again.", run_id=view.run)
    if mine.reason == "unproven":
        said = "This run takes only answers that are signed by another console than this one."
        raise Conflict("unproven_answer", said, run_id=view.run, question_id=question)
    raise _closed(view, question)


def _closed(view: RunView, question: str) -> Conflict:
    winner = next((each for each in view.answers if each.accepted and each.question_id == question), None)
    asked = next((each for each in view.asked if each.id == question), None)
    if winner is None and asked is not None and asked.expired(datetime.now(UTC)):
        return question_expired(asked, view)
    if winner is None:
        said = "The question is closed."
    else:
        said = f"{winner.by} answered {winner.answer} at {winner.at:%H:%M} UTC; that answer stands."
    return Conflict("question_closed", said, run_id=view.run, question_id=question)
