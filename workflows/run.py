"""The run: one turn's calls, each checked, confirmed, sent and settled; undone when it fails (SPEC 4).

The shape of one step::

    propose -> check -> (ask a person) -> check again -> send -> settle
                 |           |                             |
              refused     declined, cancel all        failed, in doubt

`_forward` walks the steps and returns why the run stopped, or None. Everything after that is the reverse loop of
`rollback`, which a cancel request cannot reach. What arrives from outside is only noted: see `attended`.
"""

from pydantic import JsonValue
from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from ..contract.decision import Call, Decision
    from ..contract.names import CONDEMN_SIGNAL, RUN_WORKFLOW, STOP_SIGNAL
    from ..contract.outcome import Outcome
    from ..contract.question import Answer, Question
    from ..contract.run import RunInput, RunView, Step
    from ..contract.tool import ToolContract
    from ..contract.wording import IRREVERSIBLE, confirm_text
    from ..rulebook.check import check
    from .attended import Attended
    from .cancellation import Cancellation
    from .doubt import settle_call
    from .progress import Progress
    from .rollback import roll_back
    from .room import Room
    from .sending import Sender
    from .stopping import Stop, order_of, reply_done, reply_stopped, stop_class, stop_words
    from .traces import leave_a_trace

__all__ = ["RunWorkflow"]


@workflow.defn(name=RUN_WORKFLOW)
class RunWorkflow(Attended):
    """One run: the steps of one turn, as one Temporal workflow (SPEC 4.1)."""

    @workflow.init
    def __init__(self, given: RunInput) -> None:
        self._given = given
        self._cancellation = Cancellation()
        self._progress = Progress(given)
        super().__init__(self._progress)
        self._sender = Sender(self._progress, self._cancellation)
        self._room = Room(self._progress, self._cancellation)

    @workflow.run
    async def run(self, given: RunInput) -> RunView:
        """Run the steps, or undo what was done; return the run as it ended, with its one reply."""
        progress = self._progress
        progress.enter("running")
        stop = await self._forward(given)
        if stop is None:
            return progress.end("done", reply_done(progress))
        if progress.barred:
            return progress.end("condemned", progress.words.barred())
        undone = progress.given.atomic or progress.condemned is not None
        rolled_back = undone and any(step.landed for step in progress.steps)
        if rolled_back:
            await roll_back(progress, self._sender, self._cancellation)
        state, text = reply_stopped(progress, stop, rolled_back=rolled_back)
        return progress.end("condemned" if progress.condemned or progress.barred else state, text)

    # Forward

    async def _forward(self, given: RunInput) -> Stop | None:
        for planned in given.calls:
            if self._cancellation.is_requested():
                return self._stopped_outside()
            step = self._progress.propose(planned.tool, planned.arguments)
            await self._room.take(step, self._call(step))
            stop = await self._step(step)
            await self._room.close(self._progress.step(step.position))
            if stop is not None:
                return stop
        return self._stopped_outside() if self._cancellation.is_requested() else None

    async def _step(self, step: Step) -> Stop | None:
        """Take one step forward. Return why the run must stop, or None to go on."""
        progress = self._progress
        decision = self._check(step)
        step = progress.change(step, decision=decision)
        contract = progress.contract(step.tool)
        if decision.verdict == "refuse" or contract is None:
            return self._refused(step, decision)
        if decision.verdict == "confirm":
            asked = await self._confirm(step, contract, decision)
            if not isinstance(asked, Step):
                return asked
            step = asked
            if step.state == "declined":
                return None
        return await self._send(step, contract)

    def _call(self, step: Step, approved: str | None = None) -> Call:
        return Call(
            agent=self._given.agent,
            tool=step.tool,
            arguments=step.arguments,
            run=self._progress.run,
            step=step.number,
            day=step.day,
            approved=approved,
        )

    def _check(self, step: Step, approved: str | None = None) -> Decision:
        return check(
            self._progress.rulebook,
            self._call(step, approved),
            tools=self._given.tools,
            facts=self._given.facts,
            record=self._progress.record,
            reserved=self._room.reserved(step),
        )

    def _refused(self, step: Step, decision: Decision) -> Stop:
        self._progress.change(step, state="refused", decision=decision)
        rule = next((hit for hit in decision.hits if hit.effect == "refuse"), None)
        named = ", ".join(filter(None, (rule.rule, rule.origin.place))) if rule else "no such tool"
        said = (named, rule.why if rule else "")
        return Stop(self._progress.words.refused(step.tool, *said), refused=True)

    async def _confirm(self, step: Step, contract: ToolContract, decision: Decision) -> Step | Stop:
        """Ask a person, and anew where an approval comes too late. Return the step, or why the run stops."""
        progress = self._progress
        while True:
            question = self._ask_to_confirm(step, contract, decision)
            answer = await self._answered(question)
            if answer is not None:
                return self._confirmed(step, decision, answer)
            if self._cancellation.is_requested():
                progress.change(step, state="declined")
                return self._stopped_outside()
            if question.on_expiry == "cancel all":
                progress.change(step, state="declined")
                return Stop(progress.words.not_confirmed(step.tool))
            decision = self._check(step)
            step = progress.change(step, decision=decision)
            if decision.verdict == "refuse":
                return self._refused(step, decision)

    def _ask_to_confirm(self, step: Step, contract: ToolContract, decision: Decision) -> Question:
        nothing_undoes = contract.irreversible and self._given.atomic and self._would_be_undone()
        return self._progress.questions.ask(
            "confirm",
            position=step.position,
            tool=step.tool,
            arguments=step.arguments,
            text=confirm_text(step.tool, nothing_undoes=nothing_undoes),
            warnings=(IRREVERSIBLE,) if contract.irreversible else (),
            at=workflow.now(),
            bound_to=decision.digest,
            undo=contract.undo.tool if contract.undo and contract.undoable else None,
            rules=tuple(hit for hit in decision.hits if hit.effect == "confirm"),
            expiry=self._given.expiry,
        )

    def _confirmed(self, step: Step, decision: Decision, answer: Answer) -> Step | Stop:
        progress = self._progress
        if answer.answer == "cancel all":
            progress.change(step, state="declined", confirmed_by=answer.by)
            return Stop(progress.words.cancelled(answer.by))
        if answer.answer == "skip":
            declined: dict[str, JsonValue] = {"declined": progress.words.declined()}
            return progress.change(step, state="declined", confirmed_by=answer.by, result=declined)
        # Facts and caps may have moved while the person was thinking.
        decision = self._check(step, approved=decision.digest)
        if decision.verdict != "allow":
            return self._refused(step, decision)
        return progress.change(step, state="approved", decision=decision, confirmed_by=answer.by)

    async def _answered(self, question: Question) -> Answer | None:
        """Wait for a person. None when the run is stopped first, or time is up: see `Questions`."""
        progress, questions = self._progress, self._progress.questions
        progress.enter("waiting")

        def told() -> bool:
            return questions.winner(question) is not None or questions.approved_too_late(question)

        await self._cancellation.wait(told, until=question.expires_at, summary=f"{question.tool}: time to confirm it")
        if question.on_expiry == "wait":
            await self._cancellation.wait(told)
        questions.close(question)
        progress.enter("running")
        return questions.winner(question)

    def _would_be_undone(self) -> bool:
        """Whether a later failure would undo an earlier write of this run (SPEC 4.3)."""
        contracts = (self._progress.contract(step.tool) for step in self._progress.steps if step.landed)
        return any(contract is not None and contract.undoable for contract in contracts)

    async def _send(self, step: Step, contract: ToolContract) -> Stop | None:
        progress = self._progress
        if self._cancellation.is_requested():
            return self._stopped_outside()
        key = self._sender.key(step, step.tool, step.arguments)
        step = progress.change(step, state="sent", key=key, sent_at=workflow.now())
        outcome, attempts = await self._sender.call(step, contract)
        step = progress.settle(progress.change(step, attempts=attempts), outcome)
        if self._cancellation.is_requested():
            step = progress.change(step, stopped=stop_class(outcome))
        if outcome.status == "in_doubt" and contract.writes:
            return await self._settle_doubt(step, outcome)
        if outcome.status == "done":
            return None
        if self._cancellation.is_requested():
            return self._stopped_outside()
        return Stop(progress.words.failed(step.tool, outcome.failure.type if outcome.failure else "Error"))

    async def _settle_doubt(self, step: Step, outcome: Outcome) -> Stop | None:
        progress = self._progress
        settled = await settle_call(progress, self._sender, self._cancellation, step, outcome)
        if settled.happened:
            return None
        if settled.unknown or progress.step(step.position).stopped:
            return self._stopped_outside()
        return Stop(progress.words.did_not_happen(step.tool, settled.by))

    def _stopped_outside(self) -> Stop:
        words, stop, condemned = self._progress.words, self._cancellation, self._progress.condemned
        if condemned is not None:
            return Stop(words.condemned(condemned.by, condemned.reason))
        return Stop(words.stopped_by(stop.by, stop.reason) if stop.by else words.cancelled_outside())

    # What arrives from outside. Handlers are synchronous and total.

    @workflow.signal(name=STOP_SIGNAL, description="Stop now and undo what was done: {by, reason}.")
    def stop(self, stop: object = None, *_: object) -> None:
        """Stop the run, whatever comes with the request (SPEC 8.4)."""
        by, reason = stop_words(stop)
        self._cancellation.request(by=by, reason=reason)

    @workflow.signal(name=CONDEMN_SIGNAL, description="Undo everything, on an operator's word: {by, reason}.")
    def condemn(self, order: object = None, *_: object) -> None:
        """Take no step more, and undo what was done, also where the agent's runs are independent (SPEC 8.3)."""
        progress = self._progress
        told = order_of(order, progress.run)
        progress.condemn(told)
        leave_a_trace("a condemnation")
        progress.questions.withdraw("confirm")
        self._cancellation.request(by=told.by, reason=told.reason)
