"""Settling a call whose outcome nobody knows: ask the target, then a person, and never guess (SPEC 5.5, 5.7).

In this order, and each only if the one before could not tell:

1. the outcome query, if the contract names one. Its word that the call happened is taken;
2. a person.

The word that it did *not* happen, whoever gives it, is not settled while the call can still land: the run waits until
the longest time a call may take has passed, and asks the target once more if it can be asked. Meanwhile, and at any
time, the worker itself may still report how the call ended; that is a fact, and settles it at once.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue
from temporalio import workflow

from ..contract.outcome import Outcome
from ..contract.run import RunState, Step
from ..contract.tool import ToolContract
from ..contract.wording import cannot_land_notice, outcome_text
from .cancellation import Cancellation
from .progress import Progress
from .sending import Sender

__all__ = ["Doubt", "Settled", "Unsettled", "evidence_of", "settle_call"]

GRACE = timedelta(seconds=1)
"""What is added to a tool's time limit before a call that was given up counts as unable to land."""


@dataclass(frozen=True)
class Settled:
    """What a doubt came to: whether the call took effect, who said so, and what it returned, as far as is known.

    ``unchanged`` as in an outcome. ``unknown``: nobody could tell, and an operator wants to go on without asking a
    person.
    """

    happened: bool
    by: str
    result: JsonValue = None
    unchanged: bool = False
    unknown: bool = False


class Unsettled(Exception):  # noqa: N818 - it names what happened
    """A doubt was left as it is, on an operator's word."""


NOBODY_KNOWS = Settled(happened=False, by="", unknown=True)


def evidence_of(answer: JsonValue) -> tuple[bool | None, JsonValue]:
    """Read the answer of an outcome query: whether the call happened, and its result.

    None means that the target cannot tell, and so does every answer of another form.
    """
    if isinstance(answer, bool):
        return answer, None
    if isinstance(answer, dict) and isinstance(answer.get("happened"), bool):
        return bool(answer["happened"]), answer.get("result")
    return None, None


class Doubt:
    """One call in doubt, forward or undo, until it is settled.

    ``tries`` are the attempts that nobody knows of. ``ended_at`` is when the run was ended that sent it, if it was.
    """

    def __init__(
        self,
        progress: Progress,
        sender: Sender,
        cancellation: Cancellation,
        *,
        step: Step,
        contract: ToolContract,
        arguments: Mapping[str, JsonValue],
        key: str,
        undo: bool,
        tries: Collection[int],
        ended_at: datetime | None = None,
    ) -> None:
        self._progress = progress
        self._sender = sender
        self._cancellation = cancellation
        self._step = step
        self._contract = contract
        self._arguments = arguments
        self._key = key
        self._undo = undo
        self._tries = tries
        self._begun_by = ended_at
        self._lands_until = workflow.now()

    async def settle(self, outcome: Outcome) -> Settled:
        """Find out. ``outcome`` is the doubt itself; it says which of the two questions a person is asked."""
        # Counted from when the call began, which only its worker knows: it may have waited for one. With no word of
        # a worker, it counts as having begun just now.
        left = timedelta(milliseconds=max(0, self._contract.timeout_ms - (outcome.ran_ms or 0)))
        self._lands_until = (self._begun_by or workflow.now()) + left + GRACE
        settled = self._reported() or await self._ask_target() or await self._ask_person(outcome)
        if settled.happened or settled.unknown or not self._may_land():
            return settled
        return await self._wait_until_it_cannot_land() or await self._ask_target() or settled

    def _reported(self) -> Settled | None:
        """Return what the worker reported after all, if it did."""
        late = self._late()
        if late is None:
            return None
        self._progress.testify(self._step, f"the worker reported late: {late.status.replace('_', ' ')}")
        return Settled(late.status == "done", "the worker", late.result, unchanged=late.unchanged)

    async def _ask_target(self) -> Settled | None:
        query = self._contract.outcome_query
        tool = self._progress.contract(query.tool) if query else None
        if query is None or tool is None:
            return None
        answer = await self._sender.query(self._step, tool, query, self._arguments, key=self._key)
        happened, result = evidence_of(answer)
        said = {True: "it happened", False: "it did not happen", None: "it cannot tell"}[happened]
        self._progress.testify(self._step, f"{tool.name}: {said}")
        return None if happened is None else Settled(happened, tool.name, result)

    async def _ask_person(self, outcome: Outcome) -> Settled:
        progress = self._progress
        if progress.past_uncertain:
            return NOBODY_KNOWS
        question = progress.questions.ask(
            "outcome",
            position=self._step.position,
            tool=self._contract.name,
            arguments=self._arguments,
            text=outcome_text(self._contract.name, worker_lost=outcome.worker_lost),
            at=workflow.now(),
            bound_to=self._key,
            undo=self._contract.undo.tool if self._contract.undo else None,
        )
        asking: RunState = "stuck" if self._undo else "waiting"
        going_on: RunState = "undoing" if self._undo else "running"
        progress.enter(asking)
        await self._cancellation.wait_through(
            lambda: progress.questions.winner(question) is not None or self._has_report() or progress.past_uncertain
        )
        progress.questions.close(question)
        progress.enter(going_on)
        answer = progress.questions.winner(question)
        if answer is None:
            return self._reported() or NOBODY_KNOWS
        progress.testify(self._step, f"{answer.by}: {answer.answer}")
        return Settled(answer.answer == "happened", answer.by, answer.result)

    def _has_report(self) -> bool:
        return self._late() is not None

    def _late(self) -> Outcome | None:
        return self._progress.late(self._step, undo=self._undo, tries=self._tries)

    def _may_land(self) -> bool:
        return workflow.now() < self._lands_until

    async def _wait_until_it_cannot_land(self) -> Settled | None:
        """Wait; return what the worker reported meanwhile, if it did."""
        self._progress.note(cannot_land_notice(self._contract.name))
        await self._cancellation.wait_through(self._has_report, until=self._lands_until)
        self._progress.note("")
        return self._reported()


async def settle_call(
    progress: Progress,
    sender: Sender,
    cancellation: Cancellation,
    step: Step,
    outcome: Outcome,
    *,
    ended_at: datetime | None = None,
) -> Settled:
    """Settle the doubt about a write, and note at its step what it came to."""
    contract = progress.contract(step.tool)
    if contract is None:
        raise AssertionError("a call whose tool is not pinned is never sent")
    doubt = Doubt(
        progress,
        sender,
        cancellation,
        step=step,
        contract=contract,
        arguments=step.arguments,
        key=step.key,
        undo=False,
        tries=range(1, max(step.attempts, 1) + 1),
        ended_at=ended_at,
    )
    settled = await doubt.settle(outcome)
    if settled.happened:
        progress.settle(step, Outcome(status="done", result=settled.result, unchanged=settled.unchanged))
    elif not settled.unknown:
        progress.change(step, state="did not happen")
    return settled
