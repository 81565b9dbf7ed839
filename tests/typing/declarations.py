"""What users write. It is not run: `make types` checks it with mypy strict, as their own checkers would.

A line that must be refused carries ``type: ignore`` with the code of its error; since unused ignores are errors too,
such a line fails the check as soon as it is accepted.
"""

import datetime as dt
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Annotated, assert_type

from amends import Kind, NotSent, OutcomeUnknown, Refused, ToolContext, Undo, tool

OrderId = Annotated[str, Kind("id", pattern=r"\d{3,10}")]


class Charge:
    """What a charge returns."""

    id: str


@tool
def get_order(order_id: OrderId) -> dict[str, str]:
    """Look up an order."""
    return {"id": order_id}


@tool(writes=True, undo="refund_card", timeout=dt.timedelta(seconds=5), at_most=3)
async def charge_card(order_id: OrderId, amount: Decimal, *, context: ToolContext) -> Charge:
    """Charge the card on file for an order."""
    if amount > 1000:
        raise Refused("the bank said no", details={"decline_code": "51"})
    if context.attempt > 1:
        raise NotSent("the bank's address did not resolve")
    raise OutcomeUnknown("the bank hung up")


@tool(writes=True, undo=Undo("label", add="$args.remove", remove="$args.add"))
def label(add: str = "", remove: str = "") -> None:
    """Label an order."""


@tool(writes=True, undo=None, after="get_order", not_after=["charge_card"])
def save_draft(text: str) -> None:
    """Save a draft."""


@tool(writes=True, irreversible=True, sends_out=True, timeout=2.5)
def send_receipt(order_id: OrderId) -> None:
    """Send the receipt."""


def hand_on(look: Callable[[str], dict[str, str]], charging: Awaitable[Charge]) -> None:
    """Take a sync tool and what an async one gives."""


def keeps_the_signature(context: ToolContext) -> None:
    """A decorated function has the type it had before."""
    assert_type(get_order("4411"), dict[str, str])
    hand_on(get_order, charge_card("4411", Decimal(40), context=context))
    label(remove="vip")
    hand_on(label, save_draft("x"))  # type: ignore[arg-type]
    get_order(4411)  # type: ignore[arg-type]
    label(colour="red")  # type: ignore[call-arg]
    charge_card("4411", "40.00", context=context)  # type: ignore[arg-type, unused-coroutine]


def refuses_words_that_exclude_each_other() -> None:
    """An irreversible tool has no undo, and must say that it writes."""
    tool(writes=True, irreversible=True, undo="refund_card")  # type: ignore[call-overload]
    tool(irreversible=True)  # type: ignore[call-overload]
    tool(writes="yes")  # type: ignore[call-overload]
    tool("charge_card")  # type: ignore[call-overload]
    Kind("money-ish")  # type: ignore[arg-type]
