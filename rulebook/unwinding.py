"""The plan of a rollback, and its report, by one pure function of a run's steps (SPEC 6.1, 8.2).

The reverse loop asks here which write comes next and what its undo is called with; an operator's dry run asks the very
same. So a plan cannot say anything else than what an unwind then does.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from ..contract.canonical import sha256
from ..contract.decision import Call
from ..contract.keys import idempotency_key
from ..contract.names import run_id
from ..contract.outcome import Failure
from ..contract.run import RunInput, Step
from ..contract.tool import ToolContract
from ..contract.unwind import Tombstone, UndoEntry, UndoReason, UndoStatus, UnwindReport, UnwindVerdict
from .rules import Rulebook
from .step_events import call_event
from .undo import UnboundArgument, bind_undo, check_undo

__all__ = ["BoundUndo", "Unwinding", "bound_undo", "reverse_order", "unwind_report"]

MISSING = "UndoToolMissing"
"""The failure of an undo whose tool the run was not given."""
_GONE = frozenset((MISSING, "NotRegistered"))
_NOT_EXECUTED = frozenset(("failed", "did not happen"))
_UNDONE = frozenset(("undone", "undone by hand"))
_STAYS: frozenset[UndoStatus] = frozenset(("skipped-no-hook", "uncertain", "failed", "not-attempted", "abandoned"))
_UNDOES: frozenset[UndoStatus] = frozenset(("compensated", "already-compensated", "would-compensate", "done-by-hand"))


@dataclass(frozen=True)
class BoundUndo:
    """An undo ready to be sent, or the reason why it cannot be. ``tool`` is its name either way."""

    tool: str
    contract: ToolContract | None = None
    arguments: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)
    key: str = ""
    problem: Failure | None = None


@dataclass(frozen=True)
class Unwinding:
    """A run as its plan or its report needs it.

    Attributes:
        given: what the run was started with.
        steps: its steps as they are now.
        over: whether nothing of it is under way any more, neither the run nor an unwind of it.
        since: when the unwind began that is reported on; what was undone before that was undone already.
        chosen: the positions to undo; empty for all.
        waiting: the positions that a person is asked about.
        abandoned: whether a person ended the rollback before its end.
    """

    given: RunInput
    steps: Sequence[Step]
    over: bool
    since: datetime | None = None
    chosen: Collection[int] = ()
    waiting: Collection[int] = ()
    abandoned: bool = False

    def contract(self, step: Step) -> ToolContract | None:
        """The pinned contract of a step's tool."""
        return self.given.tools.get(step.tool)


def reverse_order(steps: Sequence[Step], tools: Mapping[str, ToolContract]) -> list[Step]:
    """Return the writes that took effect in the order of a rollback: by priority, then latest first (SPEC 6.1, 6.6)."""

    def place(step: Step) -> tuple[int, int]:
        contract = tools.get(step.tool)
        return (contract.undo_priority if contract and contract.undoable else 0), step.landed

    return sorted((step for step in steps if step.landed), key=place, reverse=True)


def bound_undo(given: RunInput, rulebook: Rulebook, step: Step, *, day: str) -> BoundUndo:
    """Bind the undo of a step, and check it as the agent whose write it undoes (SPEC 3.4).

    Args:
        given: what the run was started with.
        rulebook: its rules.
        step: the write.
        day: the UTC date of the check.
    """
    contract = given.tools.get(step.tool)
    name = contract.undo.tool if contract and contract.undo else ""
    undo = given.tools.get(name)
    if contract is None or undo is None:
        return BoundUndo(name, problem=Failure(type=MISSING, message=name))
    try:
        arguments = bind_undo(contract, step.arguments, step.result, undo_tool=undo)
    except UnboundArgument as error:
        return BoundUndo(name, problem=Failure(type="UnboundArgument", message=str(error)))
    run = run_id(given.session, given.number)
    call = Call(
        agent=given.agent, tool=name, arguments=arguments, run=run, step=step.number, day=day, undoes=step.number
    )
    decision = check_undo(rulebook, call, undoes=call_event(step, run), contract=contract, tools=given.tools)
    if decision.verdict != "allow":
        why = "; ".join(hit.why for hit in decision.hits)
        return BoundUndo(name, problem=Failure(type="UndoRefused", message=why))
    key = idempotency_key(
        session=given.session, step=step.number, tool=name, arguments=arguments, tenant=given.tenant, undo=True
    )
    return BoundUndo(name, undo, arguments, key)


def unwind_report(
    unwinding: Unwinding,
    *,
    dry_run: bool = False,
    tombstone: Tombstone | None = None,
    unwind: str = "",
    forks: Collection[str] = (),
) -> UnwindReport:
    """Return the plan of an unwind (``dry_run``), or the report of one.

    Args:
        unwinding: the run.
        dry_run: say what an unwind would do from here on.
        tombstone: who condemned the run, if anybody did.
        unwind: the workflow that undoes it.
        forks: the runs that go on from it, which are undone before it.
    """
    given = unwinding.given
    entries = tuple(_Reporter(unwinding, dry_run=dry_run).entries())
    # Not their statuses: who gives the same word again, to go on where an unwind got stuck, means the same plan.
    chosen = [entry for entry in entries if entry.reason != "not-chosen"]
    named = [entry for entry in chosen if entry.undo or entry.status in ("uncertain", "busy")]
    return UnwindReport(
        run=run_id(given.session, given.number),
        dry_run=dry_run,
        condemned=tombstone is not None,
        tombstone=tombstone.model_copy(update={"entries": ()}) if tombstone else None,
        verdict=_verdict(unwinding, entries, dry_run=dry_run),
        entries=entries,
        digest=sha256(
            [given.session, given.number, *([e.position, e.undo, e.arguments, e.key] for e in named), *forks]
        ),
        unwind=unwind,
        forks=tuple(forks),
    )


class _Reporter:
    def __init__(self, unwinding: Unwinding, *, dry_run: bool) -> None:
        self._unwinding = unwinding
        self._dry_run = dry_run
        self._rulebook = Rulebook.model_validate(unwinding.given.rulebook)
        # A call whose outcome is open has the latest place, since a run takes one step at a time.
        unsettled = [step for step in unwinding.steps if step.writes and not step.landed]
        self._ordered = [*reversed(unsettled), *reverse_order(unwinding.steps, unwinding.given.tools)]

    def entries(self) -> Iterator[UndoEntry]:
        for step in self._ordered:
            status, reason = self._status(step)
            if status is not None:
                yield self._entry(step, status, reason)

    def _status(self, step: Step) -> tuple[UndoStatus | None, UndoReason]:
        unwinding, dry_run = self._unwinding, self._dry_run
        doubted = unwinding.over or step.position in unwinding.waiting
        match step.state:
            case "undone":
                ended = step.undo.ended_at if step.undo else None
                now = not dry_run and unwinding.since and ended and ended >= unwinding.since
                return ("compensated" if now else "already-compensated"), ""
            case "undone by hand":
                return "done-by-hand", ""
            case "failed" | "did not happen":
                return "skipped-not-executed", ""
            case "in doubt":
                return "uncertain", "effect"
            case "sent":
                return ("uncertain", "effect") if doubted else ("busy", "")
            case "undoing":
                return self._undoing(step) if doubted else ("busy", "")
            case "done" | "undo failed" | "left" if step.landed:
                return self._standing(step)
        return None, ""

    def _undoing(self, step: Step) -> tuple[UndoStatus, UndoReason]:
        """An undo that was under way when everything of the run ended, or that a person is asked about."""
        bound = self._bound(step)
        if self._dry_run and bound.contract is not None and bound.contract.retry_safe:
            return "would-compensate", ""
        return "uncertain", "undo"

    def _standing(self, step: Step) -> tuple[UndoStatus, UndoReason]:
        unwinding = self._unwinding
        contract = unwinding.contract(step)
        if contract is None or not contract.undoable:
            return "skipped-no-hook", _why_left(contract)
        if unwinding.chosen and step.position not in unwinding.chosen:
            return "not-attempted", "not-chosen"
        failure = self._bound(step).problem if self._dry_run else step.undo and step.undo.failure
        if step.state == "done" and not self._dry_run:
            stopped = unwinding.over or unwinding.waiting
            return "not-attempted", "stopped" if stopped else ""
        if failure and failure.type in _GONE:
            return "skipped-no-hook", "undo-missing"
        if self._dry_run:
            return ("failed" if failure else "would-compensate"), ""
        return ("abandoned" if unwinding.abandoned else "failed"), ""

    def _bound(self, step: Step) -> BoundUndo:
        return bound_undo(self._unwinding.given, self._rulebook, step, day=step.day)

    def _entry(self, step: Step, status: UndoStatus, reason: UndoReason) -> UndoEntry:
        undo, failure = step.undo, step.failure if step.state in _NOT_EXECUTED else None
        bound = None
        if status == "would-compensate" or (status in ("failed", "not-attempted") and self._may_bind(step)):
            bound = self._bound(step)
            failure = bound.problem
        if undo is not None and undo.failure is not None and not self._dry_run:
            failure = undo.failure
        return UndoEntry(
            position=step.position,
            step=step.number,
            tool=step.tool,
            status=status,
            reason=reason,
            undo=bound.tool if bound else undo.tool if undo else "",
            arguments=bound.arguments if bound else undo.arguments if undo else {},
            key=bound.key if bound else undo.key if undo else "",
            attempts=undo.tries if undo else 0,
            error=f"{failure.type}: {failure.message}".rstrip(": ") if failure else "",
            by=undo.by if undo else "",
            at=undo.ended_at if undo else step.ended_at,
            dependents=tuple(self._dependents(step)) if reason != "not-chosen" else (),
        )

    def _may_bind(self, step: Step) -> bool:
        contract = self._unwinding.contract(step)
        return step.landed > 0 and contract is not None and contract.undoable

    def _dependents(self, step: Step) -> Iterator[int]:
        """Yield the later writes that stand on this one and would stay: bound to its result, or ordered after it."""
        contract, chosen = self._unwinding.contract(step), self._unwinding.chosen
        if not step.landed or contract is None or not contract.undoable:
            return
        # What it was called with and gives back, such as the order, came from elsewhere: others have it from there too.
        returned = set(_leaves(step.result)) - set(_leaves(dict(step.arguments)))
        for later in self._unwinding.steps:
            its = self._unwinding.contract(later)
            if later.landed <= step.landed or later.state in _UNDONE or its is None:
                continue
            stays = not its.undoable or (chosen and later.position not in chosen)
            if stays and (step.tool in its.after or returned & set(_leaves(dict(later.arguments)))):
                yield later.position


def _why_left(contract: ToolContract | None) -> UndoReason:
    if contract is None:
        return "undo-missing"
    if contract.irreversible:
        return "irreversible"
    return "undo-none" if contract.undo_none else "no-undo"


def _leaves(value: JsonValue) -> Iterator[str]:
    """Yield the texts and numbers in a value that may identify something: short ones say nothing."""
    match value:
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case bool() | None:
            return
        case _ if len(str(value)) >= SHORTEST_ID:
            yield str(value)


SHORTEST_ID = 4
"""Characters from which on the same text in a result and in an argument is no accident."""


def _verdict(unwinding: Unwinding, entries: Sequence[UndoEntry], *, dry_run: bool) -> UnwindVerdict:
    if unwinding.abandoned and not dry_run:
        return "abandoned"
    if unwinding.waiting and not dry_run:
        return "stuck"
    if not unwinding.over and not dry_run:
        return "unwinding"
    if not dry_run and any(entry.status == "failed" or entry.reason in ("stopped", "undo") for entry in entries):
        return "stuck"  # it was ended by force, in the middle
    if any(entry.status in _STAYS for entry in entries):
        return "unwound-with-leftovers"
    undoes = any(entry.status in _UNDOES or entry.status == "busy" for entry in entries)
    return "unwound" if undoes else "nothing-to-undo"
