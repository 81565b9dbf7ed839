"""What a run knows of itself, and shows: its steps, its state, its questions (SPEC 4.7, 12.4)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue, ValidationError
from temporalio import workflow
from temporalio.common import SearchAttributeKey

from ..contract.names import STATE_ATTRIBUTE, run_id
from ..contract.outcome import LateOutcome, Outcome
from ..contract.run import RunInput, RunState, RunView, Step, StepState
from ..contract.sizes import ALL_RESULTS, fit, json_bytes
from ..contract.tool import ToolContract, result_paths
from ..contract.unwind import CondemnRequest, Tombstone, UnwindReport
from ..contract.wording import call_text, words
from ..rulebook.record import Record, RecordState
from ..rulebook.rules import Rulebook
from ..rulebook.step_events import call_event, call_events
from ..rulebook.unwinding import Unwinding, reverse_order, unwind_report
from .entries import kept_values
from .questions import Questions

__all__ = ["Progress", "call_event", "call_events"]

_STATE = SearchAttributeKey.for_keyword(STATE_ATTRIBUTE)
_UNDONE = frozenset(("undone", "undone by hand"))


LEAST_ROOM = 4 * 1024
"""Bytes that a result always has, so that the field an undo needs is kept whatever else the run has read."""


class Progress:
    """The one mutable picture of a run. Everything else in `workflows` reads it and changes it through here."""

    def __init__(self, given: RunInput, *, steps: Sequence[Step] = (), shown_as: str = "") -> None:
        """Begin a run, or go on with the steps of one that is over.

        Args:
            given: what the run was started with.
            steps: its steps as they are.
            shown_as: the workflow that takes the answers to its questions, where that is not the run's own.
        """
        self.given = given
        self.run = run_id(given.session, given.number)
        self.shown_as = shown_as or self.run
        self.words = words(given.language)
        self.rulebook = Rulebook.model_validate(given.rulebook)
        known = RecordState.model_validate(given.record) if given.record else None
        self.record = Record(known, rulebook=self.rulebook)
        self.questions = Questions(self.shown_as, proof=given.proof)
        self.steps: list[Step] = list(steps)
        self.text = ""
        self.undone: list[int] = []
        self.left: list[int] = []
        self.notice = ""
        self.condemned: Tombstone | None = None
        self.past_uncertain = False
        self.abandoned = False
        self.barred = False
        self._chosen: frozenset[int] = frozenset()
        self._passed: set[int] = set()
        self._late: dict[tuple[int, bool, int], Outcome] = {}
        self._state: RunState = "running"
        self._listed: RunState = "running"
        self._landed = max((step.landed for step in self.steps), default=0)
        self._results = 0
        self._started_at = workflow.now()
        self._ended_at: datetime | None = None

    @property
    def state(self) -> RunState:
        """The state of the run (SPEC 4.7)."""
        return self._state

    def contract(self, tool: str) -> ToolContract | None:
        """The pinned contract of a tool, or None when the agent has no such tool."""
        return self.given.tools.get(tool)

    def step(self, position: int) -> Step:
        """The step at ``position``, counted from 1."""
        return self.steps[position - 1]

    def undoable(self, step: Step) -> bool:
        """Whether a rollback has a tool to call for a step."""
        contract = self.contract(step.tool)
        return contract is not None and contract.undoable

    def leave(self, step: Step) -> None:
        """Note that a write stays, because nothing undoes it."""
        self.change(step, state="left")
        self.left.append(step.position)

    def pass_over(self, step: Step) -> None:
        """Note that a rollback goes on past a write whose undo is in doubt, as its operator wants (SPEC 8.5)."""
        self._passed.add(step.position)

    def ahead(self) -> list[Step]:
        """The writes that took effect and that a rollback has yet to come to, in its order: by priority, latest first.

        It is made anew each time, because a call that was believed not to have happened may turn out to have.
        """
        seen = {*self.undone, *self.left, *self._passed}
        return [
            step
            for step in reverse_order(self.steps, self.given.tools)
            if step.position not in seen
            and step.state not in _UNDONE
            and (not self._chosen or step.position in self._chosen)
        ]

    def condemn(self, order: CondemnRequest, tombstone: Tombstone | None = None) -> None:
        """Note that an operator has the run undone. The first word stands (SPEC 8.2).

        Args:
            order: what the operator said.
            tombstone: the one that stands already, if one does.
        """
        self.past_uncertain = self.past_uncertain or order.past_uncertain
        if self.condemned is None:
            self.condemned = tombstone or Tombstone(
                run=self.run, by=order.by, reason=order.reason, at=workflow.now(), token=order.token
            )

    def choose(self, positions: Collection[int]) -> None:
        """Undo these steps alone; none means all."""
        self._chosen = frozenset(positions)

    def propose(self, tool: str, arguments: Mapping[str, JsonValue]) -> Step:
        """Add the next step. Its session-wide number follows from the run's first one, so it never goes back."""
        contract = self.contract(tool)
        step = Step(
            position=len(self.steps) + 1,
            number=self.given.first_step + len(self.steps),
            tool=tool,
            arguments=arguments,
            writes=contract is None or contract.writes,
            day=workflow.now().date().isoformat(),
        )
        self.steps.append(step)
        return step

    def change(self, step: Step, **fields: object) -> Step:
        """Replace fields of a step; return the step as it is now."""
        changed = self.step(step.position).model_copy(update=fields)
        self.steps[step.position - 1] = changed
        if "state" in fields:
            for event in call_events(changed, self.run):
                self.record.note(event)
        return changed

    def settle(self, step: Step, outcome: Outcome) -> Step:
        """Note what became of a sent call. A write that took effect gets its place in the order of landing."""
        now = workflow.now()
        if outcome.status == "done":
            # A write has one place in the order of landing, however late it became known that it landed.
            landed = step.writes and not outcome.unchanged
            self._landed += landed
            return self.change(
                step,
                state="done",
                result=self._room_for(step, outcome.result),
                landed=self._landed if landed else 0,
                unchanged=step.writes and outcome.unchanged,
                ended_at=now,
            )
        state: StepState = "in doubt" if outcome.status == "in_doubt" else "failed"
        return self.change(step, state=state, failure=outcome.failure, ended_at=now)

    def _room_for(self, step: Step, result: JsonValue) -> JsonValue:
        """Return a result as the run keeps it: whole while there is room, then only what its undo needs.

        What a run shows and returns is one payload, and one that is too large would wedge the run for ever.
        """
        contract = self.contract(step.tool)
        kept = fit(result, result_paths(contract) if contract else (), max(LEAST_ROOM, ALL_RESULTS - self._results))
        self._results += json_bytes(kept)
        return kept

    def supply(self, step: Step, result: JsonValue) -> Step:
        """Note what a person says that a call returned, where its own result never came."""
        return self.change(step, result=self._room_for(step, result))

    def enter(self, state: RunState) -> None:
        """Go into a state and show it.

        The search attribute costs a history event and, on a paid service, an action. It is left out where a run goes
        on after an answer: such a run stays listed as waiting until it waits again or leaves that round, so a list may
        show a run that does not need a person just now, and never hides one that does. See
        docs/decisions/0005-state-attribute.md.
        """
        self._state = state
        if self.given.attributes and state != self._listed and not (state == "running" and self._listed == "waiting"):
            workflow.upsert_search_attributes([_STATE.value_set(state)])
            self._listed = state
        workflow.set_current_details(self._details())

    def note(self, notice: str) -> None:
        """Say what the run waits for, where it is no person; empty when it waits for nothing of the kind."""
        self.notice = notice
        workflow.set_current_details(self._details())

    def testify(self, step: Step, evidence: str) -> Step:
        """Add a line to what is known of how a doubt was settled."""
        return self.change(step, evidence=(*self.step(step.position).evidence, evidence))

    def note_if_changed(self, notice: str) -> None:
        """Say it unless it is said already."""
        if notice != self.notice:
            self.note(notice)

    def report_late(self, raw: object) -> None:
        """Take what a worker reports of a call that was given up, whatever it is. Never raises.

        A call that was believed not to have happened, and did, is a write that must be undone: its step is reopened,
        and a rollback that is under way comes to it.
        """
        try:
            late = LateOutcome.model_validate(raw)
        except ValidationError:
            return
        step = next((step for step in self.steps if step.number == late.step), None)
        if step is None or late.outcome.status == "in_doubt":
            return
        self._late[late.step, late.undo, late.attempt] = late.outcome
        landed = late.outcome.status == "done" and not late.outcome.unchanged
        if not late.undo and landed and step.state == "did not happen":
            self.settle(self.testify(step, "the worker reported late: done"), late.outcome)

    def late(self, step: Step, *, undo: bool, tries: Collection[int]) -> Outcome | None:
        """Return what workers reported late of a step's call or undo, if that settles the doubt about ``tries``.

        One try that took effect settles it. One that did not, or found it already so, speaks for itself: each of them
        must have said so.
        """
        told = [self._late.get((step.number, undo, attempt)) for attempt in tries]
        done = next((each for each in told if each and each.status == "done" and not each.unchanged), None)
        return done or (told[-1] if all(told) else None)

    def end(self, state: RunState, text: str) -> RunView:
        """Close the run with its one reply."""
        self.text = text
        self._ended_at = workflow.now()
        self.enter(state)
        return self.view()

    def view(self) -> RunView:
        """Return what the run shows now."""
        return RunView(
            run=self.shown_as,
            session=self.given.session,
            agent=self.given.agent,
            user=self.given.user,
            turn=self.given.turn,
            language=self.given.language,
            state=self._state,
            steps=tuple(self.steps),
            waiting=self.questions.open,
            answers=self.questions.answered,
            asked=self.questions.asked,
            planned=len(self.given.calls),
            text=self.text,
            undone=tuple(self.undone),
            left=tuple(self.left),
            notice=self.notice,
            started_at=self._started_at,
            ended_at=self._ended_at,
            forked_from=self.given.forked_from,
            condemned=self.condemned,
            unwinding=self._report() if self.condemned else None,
        )

    def _report(self) -> UnwindReport:
        since = self._started_at if self.shown_as != self.run else self.condemned.at if self.condemned else None
        unwinding = Unwinding(
            self.given,
            self.steps,
            over=self._ended_at is not None,
            since=since,
            chosen=self._chosen,
            waiting={question.position for question in self.questions.open},
            abandoned=self.abandoned,
        )
        report = unwind_report(unwinding, tombstone=self.condemned, unwind=self.shown_as)
        # The steps have them whole. All of it is one payload, and one that is too large would wedge the run for ever.
        shown = (entry.model_copy(update={"arguments": kept_values(entry.arguments)}) for entry in report.entries)
        return report.model_copy(update={"entries": tuple(shown)})

    def _details(self) -> str:
        lines = [f"**{self._state}** · {self.given.user}", ""]
        for step in self.steps:
            undo = f", undo by {step.undo.tool}: {step.undo.tries} sent" if step.undo else ""
            lines.append(f"{step.position}. `{call_text(step.tool, dict(step.arguments))}` {step.state}{undo}")
        lines += [f"\n> {question.text}" for question in self.questions.open]
        if self.notice:
            lines.append(f"\n{self.notice}")
        if self.text:
            lines.append(f"\n{self.text}")
        return "\n".join(lines)
