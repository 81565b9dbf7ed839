"""The running fold of a session's calls: the counters that order rules, caps and totals ask for (SPEC 3.6, 13.6).

A check must cost the same after ten thousand calls, so rules never see the list of calls, only what this fold keeps of
it. It is noted once for everything that becomes known of a call, and travels from run to run as a `RecordState`.

What each outcome counts for (a call that is an undo counts for ``not_after`` alone):

===================  =====  ==================  ==================  ================
                     ran    in flight, unknown  ran, later undone   failed
===================  =====  ==================  ==================  ================
satisfies ``after``  yes    no                  no                  no
breaks ``not_after`` yes    yes                 yes                 yes
counts for a cap     yes    yes                 yes                 no
===================  =====  ==================  ==================  ================

A call that was declined or refused was never sent, and counts for nothing.

Bounds, each on the strict side: per-day counters are kept for the three newest days, and an older day is unknown;
per-run counters for the eight newest runs; the values of ``after ... same`` for the thousand newest of each rule, and
a value that fell out has not run. Totals and values are kept for what the rulebook asks. A question that an older
rulebook did not ask, about a tool that was called since, is unknown until the record is folded again with `Record.of`.
"""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Literal, Self

from ..contract.canonical import canonical_json
from ..contract.model import Wire
from ..contract.record import CallEvent
from .amounts import exact_number, exact_sum
from .rules import Rulebook
from .steps import StepBook, standing_of

__all__ = ["Record", "RecordState"]

_DAYS_KEPT = 3
_RUNS_KEPT = 8
_VALUES_KEPT = 1000
_SESSION = "session"

Window = Literal["run", "session", "day"]


class RecordState(Wire):
    """A record, written down. Scopes are ``session``, ``run <id>`` and ``day <date>``; steps are ranges as text."""

    seen: str = ""
    opened: str = ""
    undone: str = ""
    void: str = ""
    sent: tuple[str, ...] = ()
    live: Mapping[str, int] = {}
    calls: Mapping[str, Mapping[str, int]] = {}
    totals: Mapping[str, Mapping[str, Decimal]] = {}
    uncounted: Mapping[str, Mapping[str, int]] = {}
    same: Mapping[str, Mapping[str, int]] = {}
    keeps: tuple[str, ...] = ()


class Record:
    """What the session did so far, as the check asks for it.

    Args:
        state: where an earlier record stood; None for a session that has done nothing.
        rulebook: whose totals and values to keep.
    """

    def __init__(self, state: RecordState | None = None, *, rulebook: Rulebook | None = None) -> None:
        state = state or RecordState()
        self._steps = StepBook(seen=state.seen, opened=state.opened, undone=state.undone, void=state.void)
        self._sent = set(state.sent)
        self._live = dict(state.live)
        self._calls = {scope: dict(counts) for scope, counts in state.calls.items()}
        self._totals = {scope: dict(sums) for scope, sums in state.totals.items()}
        self._uncounted = {scope: dict(counts) for scope, counts in state.uncounted.items()}
        self._same = {asked: dict(counts) for asked, counts in state.same.items()}
        self._keeps = set(state.keeps)
        self._oldest_day = ""
        self._forget()
        self._summed: dict[str, set[str]] = {}
        self._compared: dict[str, set[tuple[str, ...]]] = {}
        self._lacks: list[str] = []
        for tool, asked in _questions(rulebook) if rulebook else ():
            if asked not in self._keeps and tool in self._sent:
                self._lacks.append(asked)
            else:
                self._keeps.add(asked)
        for asked in self._keeps:
            tool, _, rest = asked.partition(" ")
            what, _, names_text = rest.partition(" ")
            if what == "total":
                self._summed.setdefault(tool, set()).add(names_text)
            else:
                self._compared.setdefault(tool, set()).add(tuple(names_text.split(",")))

    @classmethod
    def of(cls, events: Iterable[CallEvent], *, rulebook: Rulebook | None = None) -> Self:
        """Fold a whole list of calls, as after a change of the rulebook."""
        record = cls(rulebook=rulebook)
        for event in events:
            record.note(event)
        return record

    @property
    def lacks(self) -> tuple[str, ...]:
        """What the rulebook asks and this record cannot tell; the check refuses such calls until `of` folds it anew."""
        return tuple(self._lacks)

    def note(self, event: CallEvent) -> None:
        """Add a call, or what has become known of the call with the same step. The latest note of a step stands.

        An undo is noted as its own event (with ``undoes``), and the write it undid is noted again with ``undone``.
        """
        if event.outcome not in ("declined", "refused"):
            self._sent.add(event.tool)
        if event.undoes is not None:
            return
        before = self._steps.standing(event.step)
        after = standing_of(event)
        self._steps.set(event.step, after)
        counted = (after in ("open", "live", "undone")) - (before in ("open", "live", "undone"))
        lives = (after == "live") - (before == "live")
        if counted:
            self._count(event, counted)
        if lives:
            self._live[event.tool] = self._live.get(event.tool, 0) + lives
            for names in self._compared.get(event.tool, ()):
                self._remember(event, names, lives)

    def state(self) -> RecordState:
        """Write the record down. Its size grows with tools, days, runs and gaps, not with the number of calls."""
        steps = self._steps
        return RecordState(
            seen=str(steps.seen),
            opened=str(steps.opened),
            undone=str(steps.undone),
            void=str(steps.void),
            sent=tuple(sorted(self._sent)),
            live=dict(self._live),
            calls={scope: dict(counts) for scope, counts in self._calls.items()},
            totals={scope: dict(sums) for scope, sums in self._totals.items()},
            uncounted={scope: dict(counts) for scope, counts in self._uncounted.items()},
            same={asked: dict(counts) for asked, counts in self._same.items()},
            keeps=tuple(sorted(self._keeps)),
        )

    def has_run(self, tool: str) -> bool:
        """Whether a call of ``tool`` ran and still stands."""
        return self._live.get(tool, 0) > 0

    def has_run_with(self, tool: str, names: tuple[str, ...], arguments: Mapping[str, object]) -> bool | None:
        """Whether such a call also had the values that ``arguments`` has for ``names``; None when not kept."""
        asked = _values_question(tool, names)
        if asked not in self._keeps:
            return None
        values = _values_key(arguments, names)
        return values is not None and self._same.get(asked, {}).get(values, 0) > 0

    def keeps_values(self, tool: str, names: tuple[str, ...]) -> bool:
        """Whether the values of these arguments are kept from the tool's first call on."""
        return _values_question(tool, names) in self._keeps

    def keeps_total(self, tool: str, argument: str) -> bool:
        """Whether the total of this argument is kept from the tool's first call on."""
        return _total_question(tool, argument) in self._keeps

    def was_sent(self, tool: str) -> bool:
        """Whether a call of ``tool`` was ever sent, whatever became of it."""
        return tool in self._sent

    def calls(self, tool: str, window: Window, *, run: str, day: str) -> int | None:
        """How many calls of ``tool`` count in the window; None when that day is no longer kept."""
        scope = _scope(window, run, day)
        counts = self._calls.get(scope)
        if counts is None:
            return None if window == "day" and self._forgotten(scope) else 0
        return counts.get(tool, 0)

    def total(self, tool: str, argument: str, window: Window, *, run: str, day: str) -> Decimal | None:
        """The sum of an argument over those calls; None when it is not kept, or one of them had no number there."""
        asked = _total_question(tool, argument)
        scope = _scope(window, run, day)
        if asked not in self._keeps or (window == "day" and self._forgotten(scope)):
            return None
        if self._uncounted.get(scope, {}).get(asked, 0):
            return None
        return self._totals.get(scope, {}).get(asked, Decimal(0))

    def _count(self, event: CallEvent, by: int) -> None:
        for window in ("session", "run", "day"):
            scope = _scope(window, event.run, event.day)
            if window == "day" and self._forgotten(scope):
                continue
            counts = self._calls.pop(scope, {})
            self._calls[scope] = counts
            counts[event.tool] = counts.get(event.tool, 0) + by
            for argument in self._summed.get(event.tool, ()):
                self._add(event, argument, scope, by)
        self._forget()

    def _add(self, event: CallEvent, argument: str, scope: str, by: int) -> None:
        asked = _total_question(event.tool, argument)
        amount = exact_number(event.arguments.get(argument))
        if amount is None:
            uncounted = self._uncounted.setdefault(scope, {})
            uncounted[asked] = uncounted.get(asked, 0) + by
        elif amount > 0:
            sums = self._totals.setdefault(scope, {})
            sums[asked] = exact_sum(sums.get(asked, Decimal(0)), amount * by)

    def _remember(self, event: CallEvent, names: tuple[str, ...], by: int) -> None:
        values = _values_key(event.arguments, names)
        if values is None:
            return
        counts = self._same.setdefault(_values_question(event.tool, names), {})
        held = counts.pop(values, 0) + by
        if held > 0:
            counts[values] = held
        while len(counts) > _VALUES_KEPT:
            del counts[next(iter(counts))]

    def _forgotten(self, scope: str) -> bool:
        return scope < self._oldest_day

    def _forget(self) -> None:
        days = sorted(scope for scope in self._calls if scope.startswith("day "))
        runs = [scope for scope in self._calls if scope.startswith("run ")]
        for scope in (*days[:-_DAYS_KEPT], *runs[:-_RUNS_KEPT]):
            for kept in (self._calls, self._totals, self._uncounted):
                kept.pop(scope, None)
        self._oldest_day = days[-_DAYS_KEPT] if len(days) >= _DAYS_KEPT else ""


def _scope(window: Window, run: str, day: str) -> str:
    match window:
        case "session":
            return _SESSION
        case "run":
            return f"run {run}"
        case "day":
            return f"day {day}"


@lru_cache(maxsize=1024)
def _total_question(tool: str, argument: str) -> str:
    return f"{tool} total {argument}"


@lru_cache(maxsize=1024)
def _values_question(tool: str, names: tuple[str, ...]) -> str:
    return f"{tool} same {','.join(names)}"


def _questions(rulebook: Rulebook) -> Iterator[tuple[str, str]]:
    for tool, argument in rulebook.totals:
        yield tool, _total_question(tool, argument)
    for tool, names in rulebook.compared:
        yield tool, _values_question(tool, names)


def _values_key(arguments: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    """One text for the values of these arguments; an order number said as text and one said as a number are the same.

    None when a value is missing or has no exact form: such values are not the same as any.
    """
    values = [str(value) if type(value) is int else value for value in map(arguments.get, names)]
    if None in values:
        return None
    if len(values) == 1 and isinstance(values[0], str) and values[0].isascii():
        return f'["{values[0]}"]'
    try:
        return canonical_json(values)
    except (TypeError, ValueError):
        return None
