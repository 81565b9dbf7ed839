"""The session: one person's thread with one agent, over many runs (SPEC 7).

It is an entity: it lives as long as it is not terminated, takes turns one at a time, starts a run for each and keeps
what became of it. It is also the ledger: there is no second database. Runs are its children, and are left alone
whatever becomes of the session: cancelling or terminating it never cuts a run off in the middle of a rollback.

The main coroutine only waits: for a run to end, or for the moment to continue as new. Everything else happens in the
update handlers, one after another under a lock. It continues as new only while no run is open and no handler is busy,
because the end of a child is told to the execution that started it, and to no later one.
"""

import asyncio
from typing import Any, Literal

from temporalio import workflow
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError, ChildWorkflowError, FailureError
from temporalio.workflow import ChildWorkflowCancellationType, ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from ..contract.names import (
        AGENT_ATTRIBUTE,
        LANGUAGE_UPDATE,
        RUN_WORKFLOW,
        SESSION_WORKFLOW,
        STATE_ATTRIBUTE,
        SUBMIT_UPDATE,
        USER_ATTRIBUTE,
        VIEW_QUERY,
        run_id,
    )
    from ..contract.reading import Language
    from ..contract.record import CallEvent
    from ..contract.run import RunInput, RunView
    from ..contract.session import (
        LONGEST_TURN,
        Message,
        Plan,
        RecordLine,
        SessionState,
        SessionView,
        Submitted,
        Turn,
    )
    from ..contract.wording import words
    from ..rulebook.record import Record, RecordState
    from ..rulebook.rules import Rulebook
    from .cancellation import Cancellation
    from .folding import fold_anew
    from .progress import call_events
    from .reading import read_turn

__all__ = ["SessionWorkflow"]

REQUESTS_KEPT = 200
"""How many requests are remembered, so that one sent twice is answered alike."""
SUMMARY_LENGTH = 200
LONGEST_QUEUE = 6
"""Turns that may wait for an open run. Temporal takes ten requests at a time; with more, nobody gets in."""


@workflow.defn(name=SESSION_WORKFLOW)
class SessionWorkflow:
    """One person's thread with one agent (SPEC 7.1)."""

    @workflow.init
    def __init__(self, state: SessionState) -> None:
        self._state = state
        self._record: Record | None = None
        self._cancellation = Cancellation()
        self._turn = asyncio.Lock()
        self._open: Plan | None = None
        self._open_turn: Turn | None = None
        self._open_run = ""
        self._queued = 0
        self._child: workflow.ChildWorkflowHandle[Any, Any] | None = None

    @workflow.run
    async def run(self, _: SessionState) -> None:
        """Serve turns until it is time to continue as new."""
        self._show()
        while True:
            await self._cancellation.wait_through(lambda: self._child is not None or self._may_continue_as_new())
            if self._child is not None:
                await self._see_to_the_end(self._child)
            elif self._may_continue_as_new():
                workflow.continue_as_new(self._state)

    def _may_continue_as_new(self) -> bool:
        return (
            not self._open_run and workflow.all_handlers_finished() and workflow.info().is_continue_as_new_suggested()
        )

    # Turns

    @workflow.update(name=SUBMIT_UPDATE, description="A turn. Answered with the run it started, or why there is none.")
    async def submit(self, turn: Turn) -> Submitted:
        """Read a turn and start its run; or say why not (SPEC 7.3)."""
        if turn.settled and turn.settled == self._open_run:
            await workflow.wait_condition(lambda: turn.settled != self._open_run)
        while True:
            async with self._turn:
                if turn.request_id and (known := self._state.requests.get(turn.request_id)):
                    return known
                if not self._open_run:
                    submitted = await self._begin(turn)
                    self._remember_request(turn, submitted)
                    return submitted
                if not turn.queue or self._queued >= LONGEST_QUEUE:
                    return Submitted(status="busy", run=self._open_run)
            # Waiting outside the lock: whoever does not queue is told at once. Another queued turn may be faster.
            self._queued += 1
            try:
                await workflow.wait_condition(lambda: not self._open_run)
            finally:
                self._queued -= 1

    @submit.validator
    def _turn_is_sound(self, turn: Turn) -> None:
        if len(turn.text) > LONGEST_TURN:
            message = f"the turn has {len(turn.text)} characters; {LONGEST_TURN} is the most a turn may have"
            raise ApplicationError(message, type="turn_too_long", non_retryable=True)

    async def _begin(self, turn: Turn) -> Submitted:
        asked = self._state.lacking
        plan = await read_turn(self._state.agent, turn.text, turn.language or self._state.language, asked)
        if plan.lacking != asked:
            self._state = self._state.model_copy(update={"lacking": plan.lacking})
        if plan.said:
            # A value that was asked for is kept with the turn that it completes.
            turn = turn.model_copy(update={"text": plan.said})
        if plan.unread is not None:
            self._keep(
                RecordLine(run="", turn=turn.text, state="refused", at=workflow.now(), text=plan.text),
                *self._messages(turn.text, plan.text, ""),
            )
            status: Literal["unread", "lacking"] = "lacking" if plan.lacking else "unread"
            return Submitted(status=status, text=plan.text, unread=plan.unread, language=plan.language)
        self._record = await self._record_as(plan)
        run = run_id(self._state.session, self._state.next_run)
        self._open, self._open_turn, self._open_run = plan, turn, run
        given = self._run_input(turn, plan)
        # Numbers are used up before anything is started: a run that cannot be started never lends its own to another.
        self._state = self._state.model_copy(
            update={"next_run": self._state.next_run + 1, "next_step": self._state.next_step + len(plan.calls)}
        )
        try:
            self._child = await self._start(run, given, turn)
        except FailureError as error:
            self._open, self._open_turn, self._open_run = None, None, ""
            raise ApplicationError(f"the run {run} could not be started: {error}", type="run_not_started") from error
        self._show()
        return Submitted(status="started", run=run, asks=plan.asks, language=plan.language)

    async def _start(self, run: str, given: RunInput, turn: Turn) -> "workflow.ChildWorkflowHandle[Any, Any]":
        return await workflow.start_child_workflow(
            RUN_WORKFLOW,
            given,
            id=run,
            result_type=RunView,
            parent_close_policy=ParentClosePolicy.ABANDON,
            cancellation_type=ChildWorkflowCancellationType.ABANDON,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            search_attributes=self._attributes() if turn.attributes else None,
            static_summary=f"{', '.join(call.tool for call in given.calls)} · {given.user}"[:SUMMARY_LENGTH],
            static_details=turn.text,
        )

    def _run_input(self, turn: Turn, plan: Plan) -> RunInput:
        return RunInput(
            session=self._state.session,
            number=self._state.next_run,
            agent=self._state.agent,
            user=self._state.user,
            turn=turn.text,
            language=plan.language,
            calls=plan.calls,
            first_step=self._state.next_step,
            tools=plan.tools,
            rulebook=plan.rulebook,
            record=self._state.tally,
            facts=turn.facts,
            atomic=plan.atomic,
            attributes=turn.attributes,
        )

    def _attributes(self) -> TypedSearchAttributes:
        values = {STATE_ATTRIBUTE: "running", AGENT_ATTRIBUTE: self._state.agent, USER_ATTRIBUTE: self._state.user}
        return TypedSearchAttributes(
            [SearchAttributePair(SearchAttributeKey.for_keyword(name), value) for name, value in values.items()]
        )

    # The end of a run

    async def _see_to_the_end(self, child: "workflow.ChildWorkflowHandle[Any, Any]") -> None:
        try:
            view: RunView = await self._cancellation.outlast(child)
        except ChildWorkflowError:
            self._close_unfinished()
        else:
            self._close(view)
        self._child, self._open, self._open_turn, self._open_run = None, None, None, ""
        self._show()

    def _close(self, view: RunView) -> None:
        record = self._record or Record(None)
        for step in view.steps:
            for event in call_events(step, view.run):
                record.note(event)
        self._state = self._state.model_copy(update={"tally": record.state().model_dump(mode="json")})
        line = RecordLine(
            run=view.run, turn=view.turn, state=view.state, at=workflow.now(), text=view.text, steps=len(view.steps)
        )
        # The run's own messages never enter the memory: what a model reads next is the person's turn and one reply.
        self._keep(line, *self._messages(view.turn, view.text, view.run))

    def _close_unfinished(self) -> None:
        """Note a run that was terminated, or failed by a fault of the engine: it has not undone what it did."""
        text = words(self._open.language if self._open else "en").ended_outside()
        turn = self._open_turn.text if self._open_turn else ""
        self._note_unfinished()
        line = RecordLine(run=self._open_run, turn=turn, state="left", at=workflow.now(), text=text)
        self._keep(line, *self._messages(turn, text, self._open_run))

    def _note_unfinished(self) -> None:
        """Count each call of such a run as one whose outcome nobody knows: caps and orders take the strict side."""
        calls = self._open.calls if self._open else ()
        record = self._record or Record(None)
        for number, call in enumerate(calls, self._state.next_step - len(calls)):
            record.note(
                CallEvent(
                    step=number,
                    run=self._open_run,
                    day=workflow.now().date().isoformat(),
                    tool=call.tool,
                    arguments=call.arguments,
                    outcome="unknown",
                )
            )
        self._state = self._state.model_copy(update={"tally": record.state().model_dump(mode="json")})

    # What is kept

    def _messages(self, turn: str, reply: str, run: str) -> tuple[Message, Message]:
        return Message(role="user", text=turn, run=run), Message(role="assistant", text=reply, run=run)

    def _keep(self, line: RecordLine, *messages: Message) -> None:
        self._state = self._state.model_copy(
            update={"record": (*self._state.record, line), "memory": (*self._state.memory, *messages)}
        )

    def _remember_request(self, turn: Turn, submitted: Submitted) -> None:
        if turn.request_id:
            kept = [*self._state.requests.items(), (turn.request_id, submitted)][-REQUESTS_KEPT:]
            self._state = self._state.model_copy(update={"requests": dict(kept)})

    async def _record_as(self, plan: Plan) -> Record:
        """Return the record so far, for what the plan's rulebook asks; folded anew where that is a new question."""
        rulebook = Rulebook.model_validate(plan.rulebook)
        known = RecordState.model_validate(self._state.tally) if self._state.tally else None
        record = Record(known, rulebook=rulebook)
        if not record.lacks:
            return record
        folded = await fold_anew([line.run for line in self._state.record if line.run], plan.rulebook)
        if folded is None:
            return record
        self._state = self._state.model_copy(update={"tally": folded})
        return Record(RecordState.model_validate(folded), rulebook=rulebook)

    @workflow.update(name=LANGUAGE_UPDATE, description="The language turns are read in when a request names none.")
    def set_language(self, language: Language | None) -> Language | None:
        """Set the session's language; None goes back to the agent's (SPEC 2.2)."""
        self._state = self._state.model_copy(update={"language": language})
        return language

    @workflow.query(name=VIEW_QUERY, description="The session: its open run and its past ones.")
    def view(self) -> SessionView:
        """Return what the session shows now."""
        return SessionView(
            session=self._state.session,
            agent=self._state.agent,
            user=self._state.user,
            language=self._state.language,
            open_run=self._open_run,
            runs=self._state.record,
            memory=self._state.memory,
        )

    def _show(self) -> None:
        now = f"Open: `{self._open_run}`" if self._open_run else "No run is open."
        workflow.set_current_details(
            f"{self._state.user} with {self._state.agent}. {now} {len(self._state.record)} past."
        )
