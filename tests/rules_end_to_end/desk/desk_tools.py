"""The contracts of a desk whose amounts are numbers. What a tool does when it is called is said by each test."""

from decimal import Decimal
from typing import TypedDict

from amends import Undo, tool


class Done(TypedDict):
    """What a bench answers when a test says nothing else."""

    id: str


@tool
def get_order(order_id: str) -> None:
    """Look up an order."""


@tool(writes=True, undo=Undo("refund_card", charge_id="$result.id", amount="$args.amount"), timeout=1)
def charge_card(order_id: str, amount: Decimal) -> Done:
    """Charge the card on file for an order."""
    raise AssertionError("a bench stands in for it")


@tool(writes=True, undo=None, retry_safe=True)
def refund_card(charge_id: str, amount: Decimal) -> None:
    """Refund a charge."""


@tool(writes=True, undo=Undo("restore_crm", order_id="$args.order_id", previous="$result.id"), retry_safe=True)
def update_crm(order_id: str) -> Done:
    """Mark an order as paid in the CRM."""
    raise AssertionError("a bench stands in for it")


@tool(writes=True, undo=None, retry_safe=True)
def restore_crm(order_id: str, previous: str) -> None:
    """Set what the CRM says of an order back to what it said before."""


@tool(writes=True, irreversible=True)
def send_receipt(order_id: str) -> None:
    """Send the receipt for an order."""
