"""What a session keeps, and how it changes when something happens (SPEC 7). It waits for nothing and calls nothing.

Everything that happens becomes lines of the record first. The memory takes in the same lines, and the counters that
rules ask take in the calls: both are readings of the record, one that is rewound and one that never is.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from datetime import datetime

from pydantic import JsonValue

from ..contract.chain import bounded
from ..contract.ending import still_to_undo, still_to_unwind
from ..contract.memory import Memory
from ..contract.reading import Language
from ..contract.record import CallEvent, Chain, Entry, Tail
from ..contract.run import RunInput, RunView, Step
from ..contract.session import OpenRun, PastRun, Plan, Remains, SessionState, SessionView, Submitted, Turn
from ..contract.unwind import Condemned, CondemnRequest, Standing
from ..contract.wording import words
from ..rulebook.record import Record, RecordState
from ..rulebook.rules import Rulebook
from ..rulebook.step_events import call_events
from .condemning import CondemnedRuns
from .entries import entries_of_run, entries_of_unwind, kept_values
from .ledger import Ledger
from .lineage import Lineage

__all__ = ["Kept"]

REQUESTS_KEPT = 200
"""How many requests are remembered, so that one sent twice is answered alike."""
PAST_KEPT = 50
"""How many past turns a session shows. The record has them all."""


class Kept:
    """The state of one session, made from what it was started with."""

    def __init__(self, state: SessionState) -> None:
        self.agent = state.agent
        self.user = state.user
        self.language = state.language
        self.open = state.open
        self.turns = state.turns
        self.queued = deque(state.queued)
        self.remains = state.remains
        self.ledger = Ledger(state.chain or Chain(session=state.session))
        self._epoch = state.epoch
        self._next_run = state.next_run
        self._next_step = state.next_step
        self._past = deque(state.past, maxlen=PAST_KEPT)
        self._memory = Memory(state.memory)
        self._requests = dict(state.requests)
        self.lacking = state.lacking
        self.stopped = ""
        self._stopped_at: datetime | None = None
        self.forking = ""
        self._lineage = Lineage(state.forks)
        self.condemned = CondemnedRuns(state.tombstones, state.unwinding, self._lineage)
        self._former = state.former
        self._tally = Record(RecordState.model_validate(state.tally) if state.tally else None)

    def state(self) -> SessionState:
        """Return everything, to be carried into the next execution."""
        return SessionState(
            agent=self.agent,
            user=self.user,
            epoch=self._epoch,
            language=self.language,
            next_run=self._next_run,
            next_step=self._next_step,
            chain=self.ledger.chain,
            past=tuple(self._past),
            turns=self.turns,
            tally=self._tally_state(),
            memory=self._memory.remembered,
            requests=self._requests,
            queued=tuple(self.queued),
            open=self.open,
            remains=self.remains,
            lacking=self.lacking,
            tombstones=self.condemned.tombstones,
            unwinding=self.condemned.unwinding,
            former=self._former,
            forks=self._lineage.forks,
        )

    @property
    def session(self) -> str:
        """The session's identity, under which its next run is started."""
        return f"{self.agent}:{self.user}:{self._epoch}"

    @property
    def open_run(self) -> str:
        """The open run, or empty text."""
        return self.open.run if self.open else ""

    def view(self) -> SessionView:
        """Return what the session shows."""
        memory = self._memory.remembered
        return SessionView(
            session=self.session,
            agent=self.agent,
            user=self.user,
            language=self.language,
            open_run=self.open_run,
            stopped=self.stopped,
            stopped_at=self._stopped_at,
            runs=tuple(self._past),
            turns=self.turns,
            queued=len(self.queued),
            memory=memory.messages,
            earlier=memory.earlier,
            remains=self.remains,
            condemned=tuple(tombstone.run for tombstone in self.condemned.tombstones),
            head=self.ledger.head,
        )

    def tail(self, now: datetime) -> Tail:
        """Return the record as the session holds it."""
        return Tail(chain=self.ledger.chain, agent=self.agent, user=self.user, open_run=self.open_run, at=now)

    # Requests

    def answer(self, request: str) -> Submitted | None:
        """Return what a request was answered, if it was made before."""
        return self._requests.get(request)

    def is_queued(self, request: str) -> bool:
        """Whether the turn of a request waits in line."""
        return any(turn.request_id == request for turn in self.queued)

    def remember(self, request: str, submitted: Submitted) -> None:
        """Remember the answer to a request."""
        if request:
            self._requests[request] = submitted
            while len(self._requests) > REQUESTS_KEPT:
                del self._requests[next(iter(self._requests))]

    def queue(self, turn: Turn) -> None:
        """Put a turn in line, unless it is: it will begin once everything before it is over."""
        if not self.is_queued(turn.request_id):
            self.queued.append(turn)

    def stop(self, by: str, reason: str, at: datetime) -> None:
        """Note that the session was stopped. The turns that wait will not begin, and their callers are told."""
        self.stopped, self._stopped_at = "", at
        self._write(Entry(kind="stop", at=at, by=by, text=reason))
        queued, self.queued = self.queued, deque()
        for turn in queued:
            self.remember(turn.request_id, self.note_stopped(turn, by, reason, at))

    def note_stopped(self, turn: Turn, by: str, reason: str, at: datetime) -> Submitted:
        """Note that a turn was not begun because the session was stopped; return what its caller is told."""
        language = turn.language or self.language or "en"
        say = words(language)
        text = say.not_begun(say.stopped_by(by, reason))
        self.note_no_run(turn, language, text, at)
        return Submitted(status="stopped", text=text, language=language)

    # A turn begins

    def count_for(self, rulebook: Mapping[str, JsonValue], folded: Mapping[str, JsonValue] | None = None) -> bool:
        """Keep from now on what a rulebook asks; say whether the counters can tell all of it.

        Where they cannot, because it asks something new of calls that were made, ``folded`` is the record folded anew.
        """
        known = folded or self._tally_state()
        self._tally = Record(RecordState.model_validate(known), rulebook=Rulebook.model_validate(rulebook))
        return not self._tally.lacks

    def run_input(self, turn: Turn, plan: Plan) -> RunInput:
        """Return what the turn's run is started with, and use its numbers up.

        They are used up whatever becomes of the start: numbers are never lent to another run.
        """
        given = RunInput(
            session=self.session,
            number=self._next_run,
            agent=self.agent,
            user=self.user,
            turn=turn.text,
            language=plan.language,
            calls=plan.calls,
            first_step=self._next_step,
            tools=plan.tools,
            rulebook=plan.rulebook,
            record=self._tally_state(),
            facts=turn.facts,
            atomic=plan.atomic,
            proof=plan.proof,
            expiry=plan.expiry,
            attributes=turn.attributes,
            forked_from=plan.forked_from,
        )
        self._next_run += 1
        self._next_step += len(plan.calls)
        return given

    def renew(self, epoch: str) -> None:
        """Take a new identity. The record stays the same one."""
        self._former = (*self._former, self._epoch)
        self._epoch = epoch

    def note_started(self, turn: Turn, plan: Plan, run: str, given: RunInput, at: datetime) -> None:
        """Note that the turn's run was started."""
        self.open = OpenRun(
            run=run,
            turn=turn.text,
            language=plan.language,
            undoable=tuple(sorted({call.tool for call in plan.calls if _undoable(plan, call.tool)})),
            atomic=plan.atomic,
            first_step=given.first_step,
            calls=tuple(call.model_copy(update={"arguments": kept_values(call.arguments)}) for call in given.calls),
        )
        if plan.forked_from:
            self._lineage.note(run, plan.forked_from)
        self._write(self._turn_entry(turn, plan.language, run, at))

    def note_no_run(self, turn: Turn, language: Language, text: str, at: datetime) -> None:
        """Note that the turn started no run, and why."""
        self._write(self._turn_entry(turn, language, "", at))
        self._write(Entry(kind="end", at=at, outcome="refused", text=text))
        self._note_past(PastRun(run="", turn=turn.text, state="refused", at=at, text=text))

    def _turn_entry(self, turn: Turn, language: Language, run: str, at: datetime) -> Entry:
        facts = bounded(dict(turn.facts)) if turn.facts else None
        return Entry(
            kind="turn",
            at=at,
            by=self.user,
            run=run,
            text=turn.text,
            language=language,
            facts=facts if isinstance(facts, dict) else None,
            note=f"fork of {turn.fork_of} after step {turn.at_step}" if turn.fork_of else "",
        )

    # A run ends

    def close(self, view: RunView | None, at: datetime) -> None:
        """Note the end of the open run. ``view`` is None when nothing is left of it to be seen."""
        run, self.open = self.open, None
        if run is None:
            return
        if view is None:
            view = self._unseen(run, at)
            remains = run.undoable
            self._count_unseen(run, at)
        else:
            remains = still_to_undo(view, frozenset(run.undoable), atomic=run.atomic or view.condemned is not None)
        self._count(view.steps, view.run)
        if self.condemned.tombstone(view.run):
            self.condemned.run_ended(view)
        self._next_step = max(self._next_step, *(step.number + 1 for step in view.steps), 0)
        for entry in entries_of_run(view, ended_at=at, remains=remains):
            self._write(entry)
        self._note_past(
            PastRun(run=run.run, turn=run.turn, state=view.state, at=at, text=view.text, steps=len(view.steps))
        )
        self._settle_remains(run.run, remains, at, rewind=view.state != "done")

    def _count(self, steps: Iterable[Step], run: str) -> None:
        for step in steps:
            for event in call_events(step, run):
                self._tally.note(event)

    def _settle_remains(self, run: str, remains: tuple[str, ...], at: datetime, *, rewind: bool) -> None:
        """Note what of a run still needs undoing. When nothing does, its messages may leave the memory."""
        self.remains = tuple(others for others in self.remains if others.run != run)
        if remains:
            self.remains = (*self.remains, Remains(run=run, tools=remains))
        elif rewind:
            self._write(Entry(kind="rewind", at=at, run=run))

    def _count_unseen(self, run: OpenRun, at: datetime) -> None:
        """Count each call that was planned as one whose outcome nobody knows: caps and orders take the strict side."""
        for number, call in enumerate(run.calls, run.first_step):
            self._tally.note(
                CallEvent(
                    step=number,
                    run=run.run,
                    day=at.date().isoformat(),
                    tool=call.tool,
                    arguments=call.arguments,
                    outcome="unknown",
                )
            )

    def _unseen(self, run: OpenRun, at: datetime) -> RunView:
        return RunView(
            run=run.run,
            session=self.session,
            agent=self.agent,
            user=self.user,
            turn=run.turn,
            language=run.language,
            state="left",
            text=words(run.language).ended_outside(),
            ended_at=at,
        )

    # Unwinding

    def condemn(self, order: CondemnRequest, at: datetime) -> Condemned:
        """Set a run's tombstone before anything of it is undone, and say what undoes it (SPEC 8.2).

        What goes on from it is condemned with it, and undone before it.
        """
        for fork in self._lineage.descendants(order.run):
            with_it = order.model_copy(update={"run": fork, "steps": (), "latest": ""})
            self.condemned.condemn(with_it, is_open=fork == self.open_run, at=at)
        told = self.condemned.condemn(order, is_open=order.run == self.open_run, at=at)
        if forks := self.condemned.pending_forks(order.run, self.open_run):
            told = told.model_copy(update={"status": "first", "before": forks})
        token = f"token {order.token}" if order.token else ""
        if not order.repeats:
            self._write(Entry(kind="condemn", at=at, by=order.by, run=order.run, text=order.reason, note=token))
        return told

    def close_unwind(self, run: str, view: RunView | None, at: datetime) -> None:
        """Note what the unwind of a run came to. ``view`` is None when nothing is left of it to be seen."""
        report = view.unwinding if view else None
        self.condemned.unwound(run, report)
        if view is None or report is None:
            self._write(Entry(kind="unwind", at=at, run=run))
            return
        remains = still_to_unwind(report, remained=any(remains.run == run for remains in self.remains))
        self._count(view.steps, run)
        for entry in entries_of_unwind(view, ended_at=at, remains=remains):
            self._write(entry)
        if report.verdict != "swept":
            self._settle_remains(run, remains, at, rewind=True)

    def refuse(self, entry: Entry) -> None:
        """Note that somebody wanted what only an operator may do."""
        self._write(entry)

    def standing(self, run: str) -> Standing:
        """Return what is known of a run."""
        session, _, number = run.removeprefix("run:").rpartition(":")
        mine = session in {f"{self.agent}:{self.user}:{epoch}" for epoch in (*self._former, self._epoch)}
        # Numbers are not counted anew under a new epoch, so none was ever given that is higher than the next.
        known = mine and number.isdigit() and 0 < int(number) < self._next_run
        forks = tuple(self._lineage.descendants(run))
        return Standing(known=known, tombstone=self.condemned.tombstone(run), forks=forks)

    # Everything else

    def set_language(self, language: Language | None, at: datetime) -> None:
        """Set the language of turns that name none."""
        self.language = language
        self._write(Entry(kind="language", at=at, language=language or ""))

    def _write(self, entry: Entry) -> None:
        self.ledger.add(entry)
        self._memory.take(entry)

    def _note_past(self, past: PastRun) -> None:
        self._past.append(past)
        self.turns += 1

    def _tally_state(self) -> Mapping[str, JsonValue]:
        return self._tally.state().model_dump(mode="json")


def _undoable(plan: Plan, tool: str) -> bool:
    contract = plan.tools.get(tool)
    return contract is not None and contract.undoable
