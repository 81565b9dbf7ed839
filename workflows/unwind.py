"""The unwind of a run that is over: the same reverse loop as a run's own, on an operator's word (SPEC 8.1, 8.2).

The run's session has set the tombstone before this workflow begins, and starts it, so that there is one for each run at
a time. What the run did is read from its history by an activity. Then come the same doubts, order, keys, tries and
questions as in a run that undoes itself: see `rollback`.
"""

from temporalio import workflow
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from ..contract.loaded import LoadedRun, LoadRequest, UnwindInput
    from ..contract.names import CONDEMN_SIGNAL, UNWIND_WORKFLOW
    from ..contract.outcome import Failure, Outcome
    from ..contract.run import RunState, RunView
    from ..contract.unwind import UnwindReport, UnwindVerdict
    from .attended import Attended
    from .cancellation import Cancellation
    from .doubt import settle_call
    from .loading import start_loading
    from .progress import Progress
    from .rollback import roll_back
    from .sending import Sender
    from .stopping import order_of, rolled_back_words

__all__ = ["UnwindWorkflow"]

_UNSETTLED = frozenset(("sent", "in doubt"))


@workflow.defn(name=UNWIND_WORKFLOW)
class UnwindWorkflow(Attended):
    """Undoes one run that is over. A cancel request changes nothing: a rollback is never cut off (SPEC 6.4)."""

    @workflow.init
    def __init__(self, given: UnwindInput) -> None:
        super().__init__(None, _empty(given, "undoing", "unwinding"))
        self._given = given
        self._cancellation = Cancellation()
        self._progress: Progress | None = None
        self._past_uncertain = given.order.past_uncertain

    @workflow.run
    async def run(self, given: UnwindInput) -> RunView:
        """Undo what the run did; return it as it is then, with the reply to whoever wanted it undone."""
        workflow.set_current_details(f"Unwind of `{given.order.run}`, by {given.order.by}: {given.order.reason}")
        loaded = await self._load()
        if loaded is None:
            return _empty(given, "condemned", "swept")
        progress = Progress(loaded.given, steps=loaded.steps, shown_as=workflow.info().workflow_id)
        progress.condemn(given.order.model_copy(update={"past_uncertain": self._past_uncertain}), given.tombstone)
        progress.choose(given.order.steps)
        self._progress = progress
        self.attend(progress)
        sender = Sender(progress, self._cancellation)
        progress.enter("undoing")
        await self._settle_doubts(progress, sender, loaded)
        await roll_back(progress, sender, self._cancellation)
        said = (progress.words.unwound(given.order.by, given.order.reason), *rolled_back_words(progress))
        return progress.end("condemned", " ".join(said))

    @workflow.signal(name=CONDEMN_SIGNAL, description="Go on past what nobody knows of: {by, reason, past_uncertain}.")
    def condemn(self, order: object = None, *_: object) -> None:
        """Take a later word of an operator: it may say not to wait for answers, and changes nothing else."""
        told = order_of(order, self._given.order.run)
        self._past_uncertain = self._past_uncertain or told.past_uncertain
        if self._progress is not None:
            self._progress.condemn(told)

    async def _load(self) -> LoadedRun | None:
        """Read what the run did. None when Temporal has let go of its history."""
        given = self._given
        known = dict.fromkeys(filter(None, (given.order.latest, given.tombstone.execution)))
        request = LoadRequest(run=given.order.run, unwound_by=tuple(known), order=given.order)
        try:
            return await self._cancellation.outlast(start_loading(request))
        except ActivityError as error:
            workflow.logger.warning("%s cannot be read: %s", self._given.order.run, error.cause)
            return None

    async def _settle_doubts(self, progress: Progress, sender: Sender, loaded: LoadedRun) -> None:
        """Find out about calls that were under way when the run was ended by force."""
        lost = Outcome(status="in_doubt", worker_lost=True, failure=Failure(type="EndedByForce"))
        for step in reversed(loaded.steps):
            if step.writes and step.state in _UNSETTLED:
                in_doubt = progress.settle(step, lost)
                await settle_call(progress, sender, self._cancellation, in_doubt, lost, ended_at=loaded.closed_at)
        progress.enter("undoing")


def _empty(given: UnwindInput, state: RunState, verdict: UnwindVerdict) -> RunView:
    """Return what an unwind shows that does not know what the run did."""
    order = given.order
    return RunView(
        run=workflow.info().workflow_id,
        session="",
        agent=given.agent,
        user=given.user,
        turn="",
        language="en",
        state=state,
        condemned=given.tombstone,
        unwinding=UnwindReport(
            run=order.run,
            condemned=True,
            tombstone=given.tombstone,
            verdict=verdict,
            unwind=workflow.info().workflow_id,
        ),
        ended_at=workflow.now() if verdict == "swept" else None,
    )
