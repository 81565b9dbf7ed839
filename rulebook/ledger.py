"""The ledger of caps that cross sessions: room is taken before the check, and given back if the call never ran.

Two sessions of one user race for the last of a daily limit, and neither knows of the other's call. So the sums are in
one place, which takes or denies room in one step: a `Ledger` for each user, or one for all. Its answer is recorded
by the run and given to the check as ``reserved``, which only reads it; so the check stays pure, and a replay gets the
recorded answer.

A reservation has a ticket, which is the same for every try of one call, so that asking twice takes room once. A call
that was declined, refused, or failed without effect is released; any other is settled, which keeps the room taken,
an undo included, since the record is not rewound.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from ..contract.caps import Reservation, Want
from ..contract.decision import Call
from ..contract.model import Wire
from .amounts import exact_number, exact_sum
from .conditions import test_of
from .effects import AtMost
from .rules import Rulebook

__all__ = ["Ledger", "LedgerState", "SharedWants", "crosses_sessions", "hoped_room", "wants_of"]

_DAYS_KEPT = 3
_SHARED_PERIODS = ("user_day", "all_day")


class LedgerState(Wire):
    """A ledger, written down: by day, what is taken of each sum, and what each open ticket took."""

    taken: Mapping[str, Mapping[str, Decimal]] = {}
    open: Mapping[str, Mapping[str, Mapping[str, Decimal]]] = {}


class SharedWants(NamedTuple):
    """The wants of a call, by whom the ledger belongs to."""

    of_user: tuple[Want, ...]
    of_all: tuple[Want, ...]


def crosses_sessions(rulebook: Rulebook) -> bool:
    """Whether any rule caps something across sessions, so that a ledger must be asked at all."""
    return any(isinstance(rule, AtMost) and rule.per in _SHARED_PERIODS for rule in rulebook.rules)


def wants_of(rulebook: Rulebook, call: Call, *, facts: Mapping[str, object]) -> SharedWants:
    """Return the room a call needs in the ledger of its user, and in the one for all users.

    A rule whose condition is unknown wants its room, as it also applies; one whose condition does not hold only counts
    the call. An amount that cannot be added up wants none: the check refuses such a call whatever the ledger says.
    """
    found: dict[str, list[Want]] = {"user_day": [], "all_day": []}
    for rule in rulebook.of(call.tool):
        if not isinstance(rule, AtMost) or rule.per not in found:
            continue
        applies = rule.when is None or test_of(rule.when)(call.arguments, facts) is not False
        if rule.calls is not None:
            most = Decimal(rule.calls) if applies else None
            found[rule.per].append(Want(rule=rule.id, counted=f"{call.tool} calls", amount=Decimal(1), limit=most))
        if rule.total is not None and rule.limit is not None:
            amount = exact_number(call.arguments.get(rule.total))
            if amount is not None and amount >= 0:
                counted = f"{call.tool} total {rule.total}"
                most = rule.limit if applies else None
                found[rule.per].append(Want(rule=rule.id, counted=counted, amount=amount, limit=most))
    return SharedWants(tuple(found["user_day"]), tuple(found["all_day"]))


def hoped_room(rulebook: Rulebook, call: Call) -> dict[str, bool]:
    """Return what a ledger with room for everything would answer: what the check is given where nobody is asked."""
    return {
        rule.id: True for rule in rulebook.of(call.tool) if isinstance(rule, AtMost) and rule.per in _SHARED_PERIODS
    }


class Ledger:
    """The sums of one user, or of all, day by day. The three newest days are kept; an older day has no room."""

    def __init__(self, state: LedgerState | None = None) -> None:
        state = state or LedgerState()
        self._taken = {day: dict(sums) for day, sums in state.taken.items()}
        self._open = {
            day: {ticket: dict(sums) for ticket, sums in tickets.items()} for day, tickets in state.open.items()
        }

    def reserve(self, reservation: Reservation) -> dict[str, bool]:
        """Take the room a call wants, if there is room for all of it. Returns, by rule, whether its part fits.

        Nothing is taken unless every answer is True. A ticket that holds its room already is told so again.
        """
        day = reservation.day
        if self._is_past(day):
            return dict.fromkeys((want.rule for want in reservation.wants), False)
        if reservation.ticket in self._open.get(day, {}):
            return dict.fromkeys((want.rule for want in reservation.wants), True)
        sums = self._taken.get(day, {})
        parts = {want.counted: want.amount for want in reservation.wants}
        fits: dict[str, bool] = {}
        for want in reservation.wants:
            reached = exact_sum(sums.get(want.counted, Decimal(0)), want.amount)
            fits[want.rule] = fits.get(want.rule, True) and (want.limit is None or reached <= want.limit)
        if all(fits.values()) and parts:
            self._open.setdefault(day, {})[reservation.ticket] = parts
            self._add(day, parts, 1)
            self._forget()
        return fits

    def release(self, ticket: str) -> None:
        """Give back what a ticket took: its call had no effect. A ticket that holds nothing changes nothing."""
        for day, tickets in self._open.items():
            parts = tickets.pop(ticket, None)
            if parts is not None:
                self._add(day, parts, -1)

    def settle(self, ticket: str) -> None:
        """Keep what a ticket took for good: its call took effect, or nobody knows."""
        for tickets in self._open.values():
            tickets.pop(ticket, None)

    def state(self) -> LedgerState:
        """Write the ledger down."""
        return LedgerState(
            taken={day: dict(sums) for day, sums in self._taken.items()},
            open={
                day: {ticket: dict(parts) for ticket, parts in tickets.items()}
                for day, tickets in self._open.items()
                if tickets
            },
        )

    def _add(self, day: str, parts: Mapping[str, Decimal], sign: int) -> None:
        sums = self._taken.setdefault(day, {})
        for counted, amount in parts.items():
            sums[counted] = exact_sum(sums.get(counted, Decimal(0)), amount * sign)

    def _is_past(self, day: str) -> bool:
        kept = sorted(self._taken)[-_DAYS_KEPT:]
        return len(kept) == _DAYS_KEPT and day < kept[0]

    def _forget(self) -> None:
        for day in sorted(self._taken)[:-_DAYS_KEPT]:
            del self._taken[day]
            self._open.pop(day, None)
