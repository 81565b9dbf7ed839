"""The contracts of the scenarios' desk. What a tool does when it is called is said by each test, on its bench."""

from amends import Undo, tool


@tool(timeout=1)
def get_order(order_id: str):
    """Look up an order."""


@tool
def get_stock(item: str):
    """Look up the stock of an item."""


@tool(writes=True, timeout=1, undo=Undo("refund_card", charge_id="$result.id", amount="$args.amount"))
def charge_card(order_id: str, amount: str):
    """Charge the card on file for an order."""


@tool(writes=True, undo=None, timeout=1)
def refund_card(charge_id: str, amount: str):
    """Refund a charge."""


@tool(writes=True, undo=Undo("restore_crm", order_id="$args.order_id", previous="$result.id"))
def update_crm(order_id: str):
    """Mark an order as paid in the CRM."""


@tool(writes=True, undo=None, retry_safe=True)
def restore_crm(order_id: str, previous: str):
    """Set what the CRM says of an order back to what it said before."""


@tool(
    writes=True, retry_safe=True, undo=Undo("free_slot", slot="$result.booking.slots.0.id", order_id="$args.order_id")
)
def book_slot(order_id: str):
    """Book a delivery slot for an order."""


@tool(writes=True, undo=None)
def free_slot(slot: str, order_id: str):
    """Give a delivery slot back."""


@tool(writes=True, irreversible=True)
def send_receipt(order_id: str):
    """Send the receipt for an order."""


@tool(writes=True, undo=None)
def add_note(order_id: str, text: str):
    """Add a note to an order."""


@tool(writes=True, undo=Undo("label", add="$args.remove", remove="$args.add"))
def label(add: str, remove: str):
    """Put one label on the desk's folder and take another off."""


@tool(writes=True)
def provision_account(order_id: str):
    """Provision an account for an order."""


@tool(writes=True, undo=Undo("release_stock", reservation="$result.id"))
def reserve_stock(item: str):
    """Reserve an item; the desk may not release it."""


@tool(writes=True, undo=None)
def release_stock(reservation: str):
    """Give a reservation back: a tool that the desk lacks."""
