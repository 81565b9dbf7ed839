"""The plan of an unwind, and its report, as an operator reads them (SPEC 8.2)."""

from collections.abc import Iterator, Mapping

from rich.text import Text

from ..contract.unwind import UndoEntry, UndoReason, UndoStatus, UnwindReport, UnwindVerdict
from ..contract.wording import call_text
from .replies import answer_hint
from .terminal import columns, styled, visible

__all__ = ["plan_lines", "report_lines", "would_do_something"]

_SETTLED: frozenset[UndoStatus] = frozenset(
    ("compensated", "already-compensated", "skipped-not-executed", "skipped-no-hook", "done-by-hand")
)

_STAYS: Mapping[UndoReason, str] = {
    "irreversible": "nothing can undo it: stays as it is",
    "undo-none": "needs no undo: stays as it is",
    "no-undo": "no undo is declared: stays as it is",
    "undo-missing": "the tool that undoes it is gone: stays as it is",
    "effect": "nobody knows whether it took effect",
    "undo": "nobody knows whether its undo took effect",
    "not-chosen": "not chosen: stays as it is",
    "stopped": "not tried, since the unwind stopped before it",
}
_CAME_TO: Mapping[UnwindVerdict, str] = {
    "unwound": "Unwound: everything that took effect is undone.",
    "unwound-with-leftovers": "Unwound with leftovers: what can be undone is undone, and something stays.",
    "stuck": "Stuck: a person has to say how it goes on.",
    "abandoned": "Abandoned: a person ended the unwind; what is not undone stays.",
    "nothing-to-undo": "Nothing to undo: no write of this run stands.",
    "unwinding": "Under way: the same command again shows how far it is.",
    "swept": "Swept: Temporal no longer has this run's history, so nobody can say what it did.",
}
_WOULD_COME_TO: Mapping[UnwindVerdict, str] = {
    **_CAME_TO,
    "unwound": "If every undo succeeds, everything that took effect is undone.",
    "unwound-with-leftovers": "If every undo succeeds, what can be undone is undone, and something stays.",
}


def plan_lines(plan: UnwindReport) -> Iterator[Text | str]:
    """Say what an unwind would do, and what it would leave."""
    yield styled("Undo plan for ", (plan.run, "bold"), f"  plan {plan.digest}" if plan.digest else "")
    yield from _table(plan)
    yield (_WOULD_COME_TO if would_do_something(plan) else _CAME_TO)[plan.verdict]
    yield from _around(plan)
    if plan.tombstone is None and plan.verdict != "swept":
        yield "Once it is begun the run can never go on."
    elif plan.unwind:
        yield f"It is under way, as {plan.unwind}."
        yield from _asks(plan)


def would_do_something(plan: UnwindReport) -> bool:
    """Whether an unwind would have anything to do with a write of the run."""
    return any(entry.status not in _SETTLED for entry in plan.entries)


def report_lines(report: UnwindReport) -> Iterator[Text | str]:
    """Say how far an unwind is or what it came to, and what it asks, with the commands that answer."""
    yield styled("Unwind of ", (report.run, "bold"))
    yield from _table(report)
    yield _CAME_TO[report.verdict]
    yield from _around(report)
    yield from _asks(report)


def _asks(report: UnwindReport) -> Iterator[str]:
    for question in report.waiting:
        yield f"It asks: {question.text}"
        yield from (f"  {line}" for line in answer_hint(question))
    if report.waiting:
        yield "It goes on by itself once that is answered."


def _table(report: UnwindReport) -> Iterator[str]:
    rows = [
        (str(order), entry.status, f"{entry.position} {entry.tool}", _undo(entry))
        for order, entry in enumerate(report.entries, 1)
    ]
    if rows:
        yield from (f"  {line}" for line in columns([("order", "status", "step", "undo call"), *rows]))


def _undo(entry: UndoEntry) -> str:
    said = [call_text(entry.undo, dict(entry.arguments)) if entry.undo else ""]
    if entry.reason:
        said.append(_STAYS[entry.reason])
    elif entry.status == "skipped-not-executed":
        said.append("it did not take effect")
    elif entry.status == "busy":
        said.append("under way")
    elif entry.status == "done-by-hand":
        said = [f"by hand, {entry.by}"]
    if entry.attempts and entry.status in ("failed", "abandoned"):
        said.append(f"{entry.attempts} {'try' if entry.attempts == 1 else 'tries'}")
    if entry.error:
        said.append(entry.error)
    if entry.dependents:
        said.append(f"what stands on it stays: step {', '.join(map(str, entry.dependents))}")
    return visible("; ".join(part for part in said if part))


def _around(report: UnwindReport) -> Iterator[str]:
    """Say who condemned the run, and which other runs have to do with it."""
    if report.tombstone is not None:
        stone = report.tombstone
        token = f" (token {stone.token})" if stone.token else ""
        yield f"Condemned by {visible(stone.by)}{token} at {stone.at:%Y-%m-%d %H:%M:%S}Z: {visible(stone.reason)}"
    for later in report.later:
        yield f"Later run {later.run} of this session wrote {', '.join(later.tools)}, which stays."
    for fork in report.forks:
        yield f"Run {fork} stands on this one, and is condemned with it."
