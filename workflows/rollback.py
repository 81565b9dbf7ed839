"""The reverse loop: undoing what a run did, last write first (SPEC 6).

The rules it keeps, each because of a way in which a rollback can make things worse:

* One undo at a time, in the reverse order of taking effect: a later write may stand on an earlier one. Only an undo
  whose contract gives it a priority goes before that order (SPEC 6.6).
* Every call has ended before the first undo is sent, so that an undo never runs before the write it undoes can no
  longer land.
* An undo is bound to its own step, checked, and not confirmed again: a person approved the write.
* An undo that fails is tried three more times under its own key, with growing waits. Then the loop stops and asks:
  going on past it would undo earlier writes out of order.
* An undo whose outcome nobody knows is sent again only where that is safe. Otherwise it is found out, as for any call.
* Nothing in here can be cut off: every wait outlasts a cancel request.
"""

from datetime import timedelta
from typing import Literal

from temporalio import workflow

from ..contract.outcome import Failure, Outcome
from ..contract.question import Answer
from ..contract.run import Step, UndoView
from ..contract.wording import stuck_text
from ..rulebook.unwinding import BoundUndo, bound_undo
from .cancellation import Cancellation
from .doubt import Doubt, Unsettled
from .progress import Progress
from .sending import Sender

__all__ = ["roll_back"]

UNDO_TRIES = 4
"""An undo is sent once and tried three more times (SPEC 6.2)."""
_Came = Literal["undone", "passed over", "ended"]
WAITS = (timedelta(seconds=1), timedelta(seconds=2), timedelta(seconds=4))


async def roll_back(progress: Progress, sender: Sender, cancellation: Cancellation) -> bool:
    """Undo every write of the run that took effect, latest first.

    Returns True when nothing undoable remains, False when it ended before that: a person abandoned it, or this
    execution may not send (`Progress.barred`). What was undone and what stays is noted in ``progress``.
    """
    progress.enter("undoing")
    loop = _Rollback(progress, sender, cancellation)
    while ahead := progress.ahead():
        step = ahead[0]
        if not progress.undoable(step):
            progress.leave(step)
            continue
        match await loop.undo(step):
            case "undone":
                progress.undone.append(step.position)
            case "passed over":
                progress.pass_over(step)
            case "ended":
                for each in ahead:
                    if not progress.undoable(each):
                        progress.leave(each)
                return False
    return True


class _Rollback:
    def __init__(self, progress: Progress, sender: Sender, cancellation: Cancellation) -> None:
        self._progress = progress
        self._sender = sender
        self._cancellation = cancellation

    async def undo(self, step: Step) -> _Came:
        """Undo one write, asking a person where it must."""
        try:
            return await self._undo(step)
        except Unsettled:
            return "passed over"

    async def _undo(self, step: Step) -> _Came:
        sent = step.undo.tries if step.undo else 0
        if step.state == "undoing" and sent and await self._landed_before(step, sent):
            self._close(step, sent, state="undone")
            return "undone"
        while True:
            bound = self._bind(step)
            view = UndoView(tool=bound.tool, arguments=bound.arguments, key=bound.key, tries=sent)
            step = self._progress.change(step, state="undoing", undo=view)
            failure, sent = await self._try(step, bound, sent)
            if failure is None:
                self._close(step, sent, state="undone")
                return "undone"
            step = self._close(step, sent, state="undo failed", failure=failure)
            if self._progress.barred:
                return "ended"
            answer = await self._ask_stuck(step, sent, failure)
            if answer.answer == "abandon":
                self._progress.abandoned = True
                return "ended"
            if answer.answer == "done by hand":
                self._close(step, sent, state="undone by hand", by=answer.by)
                return "undone"
            if isinstance(answer.result, dict):
                # What the undo needs of a result that never came, supplied by whoever answers.
                known = step.result if isinstance(step.result, dict) else {}
                step = self._progress.supply(step, {**known, **answer.result})

    def _close(self, step: Step, tries: int, *, state: str, failure: Failure | None = None, by: str = "") -> Step:
        if step.undo is None:
            raise AssertionError("a step is given its undo before the undo is sent")
        undo = step.undo.model_copy(
            update={"tries": tries, "failure": failure, "by": by, "ended_at": workflow.now()},
        )
        return self._progress.change(step, state=state, undo=undo)

    async def _try(self, step: Step, bound: BoundUndo, sent: int) -> tuple[Failure | None, int]:
        """Send the undo until it is done or its tries are spent; return the failure, if any, and how often."""
        if bound.contract is None:
            return bound.problem, sent
        failure = Failure(type="Error")
        for attempt in range(UNDO_TRIES):
            if attempt:
                pause = WAITS[attempt - 1]
                await self._cancellation.sleep_through(pause, f"before {bound.contract.name} is tried again")
            sent += 1
            step = self._count(step, sent)
            outcome = await self._sender.undo(step, bound.contract, bound.arguments, key=bound.key, attempt=sent)
            if outcome.status == "done" or await self._happened_in_doubt(step, bound, outcome, sent):
                return None, sent
            failure = outcome.failure or failure
            if outcome.refused:
                # A definite no, such as a credential that was withdrawn, does not become a yes by asking again.
                break
        return failure, sent

    def _count(self, step: Step, sent: int) -> Step:
        """Show that an undo is sent for the ``sent``-th time, before it is: a run may be ended by force any time."""
        if step.undo is None:
            raise AssertionError("a step is given its undo before the undo is sent")
        return self._progress.change(step, undo=step.undo.model_copy(update={"tries": sent}))

    def _bind(self, step: Step) -> BoundUndo:
        progress = self._progress
        return bound_undo(progress.given, progress.rulebook, step, day=workflow.now().date().isoformat())

    async def _landed_before(self, step: Step, sent: int) -> bool:
        """Find out about an undo that was under way when the run was ended by force, unless it may be sent again."""
        doubt = Outcome(status="in_doubt", worker_lost=True, failure=Failure(type="EndedByForce"))
        return await self._happened_in_doubt(step, self._bind(step), doubt, sent)

    async def _happened_in_doubt(self, step: Step, bound: BoundUndo, outcome: Outcome, attempt: int) -> bool:
        """Settle an undo in doubt: safe to repeat counts as one failed try, any other is found out (SPEC 5.7)."""
        if outcome.status != "in_doubt" or bound.contract is None or bound.contract.retry_safe:
            return False
        doubt = Doubt(
            self._progress,
            self._sender,
            self._cancellation,
            step=step,
            contract=bound.contract,
            arguments=bound.arguments,
            key=bound.key,
            undo=True,
            tries=(attempt,),
        )
        settled = await doubt.settle(outcome)
        if settled.unknown:
            raise Unsettled
        return settled.happened

    async def _ask_stuck(self, step: Step, tries: int, failure: Failure) -> Answer:
        progress = self._progress
        question = progress.questions.ask(
            "undo",
            position=step.position,
            tool=step.tool,
            arguments=step.undo.arguments if step.undo else {},
            text=stuck_text(
                step.tool, tries=tries, error=failure.type, remaining=sum(map(progress.undoable, progress.ahead()))
            ),
            at=workflow.now(),
            bound_to=step.undo.key if step.undo else "",
            undo=step.undo.tool if step.undo else None,
        )
        progress.enter("stuck")
        await self._cancellation.wait_through(lambda: progress.questions.winner(question) is not None)
        progress.enter("undoing")
        answer = progress.questions.winner(question)
        if answer is None:
            raise AssertionError("a question that was waited for has an answer")
        return answer
