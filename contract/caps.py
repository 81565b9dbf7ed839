"""What a run asks of the ledger of a cap that crosses sessions, and tells it afterwards (SPEC 3.3)."""

from decimal import Decimal

from .model import Wire

__all__ = ["Reservation", "RoomRequest", "RoomUse", "Settlement", "Want"]


class Want(Wire):
    """The room one rule wants for a call: so much of what is counted, of at most ``limit`` a day.

    ``counted`` names the sum, such as ``charge_card total amount``, so that two rules about one sum share it. Without a
    limit the call only counts: the rule's condition leaves it out, and a cap counts every call of its tool.
    """

    rule: str
    counted: str
    amount: Decimal
    limit: Decimal | None


class Reservation(Wire):
    """What a call asks of a ledger, all of it or nothing.

    ``ticket`` is the same for every try of one call, so that asking twice takes room once. ``day`` is the UTC date, as
    in the call.
    """

    ticket: str
    day: str
    wants: tuple[Want, ...]


class Settlement(Wire):
    """What became of a call that held room: ``keep`` False gives the room back, because the call had no effect."""

    ticket: str
    keep: bool


class RoomRequest(Wire):
    """What a run asks before it checks a call: room in the ledger of its user, and in the one for all users."""

    agent: str
    user: str
    ticket: str
    day: str
    of_user: tuple[Want, ...] = ()
    of_all: tuple[Want, ...] = ()


class RoomUse(Wire):
    """What a run tells afterwards. ``of_user`` and ``of_all`` say which of the two ledgers it asked."""

    agent: str
    user: str
    ticket: str
    keep: bool
    of_user: bool
    of_all: bool
