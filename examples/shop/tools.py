"""The tools of the shop's desk: plain typed functions over `store.Store`.

Each passes its idempotency key on, so that a call sent twice takes effect once; that is why each write may say
``retry_safe``. `CALLS` is the list of tools that ran, kept in the store so that it outlives the process.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, overload

from amends import Kind, Refused, ToolContext, tool
from pydantic import Field

from .store import Row, Store

__all__ = [
    "CALLS",
    "Account",
    "CallLog",
    "Charge",
    "CrmUpdate",
    "Order",
    "Receipt",
    "charge_card",
    "get_order",
    "provision_account",
    "refund_card",
    "restore_crm",
    "send_receipt",
    "update_crm",
]

OrderId = Annotated[str, Kind("id", pattern=r"\d{3,10}")]
Amount = Annotated[Decimal, Field(gt=0)]


@dataclass(frozen=True)
class Order:
    """An order, and what the CRM says of it."""

    order_id: str
    customer: str
    email: str
    total: Decimal
    status: str


@dataclass(frozen=True)
class Charge:
    """A charge that went through."""

    charge_id: str
    order_id: str
    amount: Decimal


@dataclass(frozen=True)
class CrmUpdate:
    """What the CRM said of an order before it was marked as paid."""

    order_id: str
    previous: str


@dataclass(frozen=True)
class Account:
    """The account that was made for an order."""

    account_id: str
    order_id: str


@dataclass(frozen=True)
class Receipt:
    """A receipt that went out."""

    receipt_id: str
    email: str


@tool
def get_order(order_id: OrderId, context: ToolContext) -> Order:
    """Look up an order."""
    store = _noted("get_order", context)
    row = store.order(order_id)
    if row is None:
        raise Refused(f"there is no order {order_id}")
    return Order(row["order_id"], row["customer"], row["email"], Decimal(row["total"]), row["status"])


@tool(writes=True, undo="refund_card", retry_safe=True)
def charge_card(order_id: OrderId, amount: Amount, context: ToolContext) -> Charge:
    """Charge the card on file for an order."""

    def charge(connection: sqlite3.Connection) -> Row:
        _require_order(connection, order_id)
        charge_id = _new_id("ch")
        connection.execute(
            "INSERT INTO charges (charge_id, order_id, amount) VALUES (?, ?, ?)", (charge_id, order_id, str(amount))
        )
        return {"charge_id": charge_id, "order_id": order_id, "amount": str(amount)}

    arguments = {"order_id": order_id, "amount": str(amount)}
    row = _noted("charge_card", context).once(context.idempotency_key, "charge_card", arguments, charge)
    return Charge(row["charge_id"], row["order_id"], Decimal(row["amount"]))


@tool(writes=True, irreversible=True, retry_safe=True)
def refund_card(charge_id: str, amount: Amount, context: ToolContext) -> Charge:
    """Refund a charge."""

    def refund(connection: sqlite3.Connection) -> Row:
        row = connection.execute("SELECT * FROM charges WHERE charge_id = ?", (charge_id,)).fetchone()
        if row is None:
            raise Refused(f"there is no charge {charge_id}")
        refunded = Decimal(row["refunded"]) + amount
        if refunded > Decimal(row["amount"]):
            raise Refused(f"of {charge_id}, {row['amount']} was charged and {row['refunded']} refunded: not {amount}")
        connection.execute("UPDATE charges SET refunded = ? WHERE charge_id = ?", (str(refunded), charge_id))
        return {"charge_id": charge_id, "order_id": row["order_id"], "amount": str(amount)}

    arguments = {"charge_id": charge_id, "amount": str(amount)}
    row = _noted("refund_card", context).once(context.idempotency_key, "refund_card", arguments, refund)
    return Charge(row["charge_id"], row["order_id"], Decimal(row["amount"]))


@tool(writes=True, undo="restore_crm", retry_safe=True)
def update_crm(order_id: OrderId, context: ToolContext) -> CrmUpdate:
    """Mark an order as paid in the CRM."""

    def update(connection: sqlite3.Connection) -> Row:
        previous = _require_order(connection, order_id)
        connection.execute("UPDATE crm SET status = 'paid' WHERE order_id = ?", (order_id,))
        return {"order_id": order_id, "previous": previous}

    arguments = {"order_id": order_id}
    return CrmUpdate(**_noted("update_crm", context).once(context.idempotency_key, "update_crm", arguments, update))


@tool(writes=True, undo=None, retry_safe=True)
def restore_crm(order_id: OrderId, previous: str, context: ToolContext) -> CrmUpdate:
    """Set what the CRM says of an order back to what it said before."""

    def restore(connection: sqlite3.Connection) -> Row:
        replaced = _require_order(connection, order_id)
        connection.execute("UPDATE crm SET status = ? WHERE order_id = ?", (previous, order_id))
        return {"order_id": order_id, "previous": replaced}

    arguments = {"order_id": order_id, "previous": previous}
    return CrmUpdate(**_noted("restore_crm", context).once(context.idempotency_key, "restore_crm", arguments, restore))


@tool(writes=True, undo=None, retry_safe=True)
def provision_account(order_id: OrderId, context: ToolContext) -> Account:
    """Provision an account for an order.

    Its undo is None on purpose: an account without an order is empty, and the next try for the order finds it.
    """
    store = _noted("provision_account", context)
    if not store.is_up("provisioning"):
        raise RuntimeError("the provisioning service is down")

    def provision(connection: sqlite3.Connection) -> Row:
        _require_order(connection, order_id)
        known = connection.execute("SELECT account_id FROM accounts WHERE order_id = ?", (order_id,)).fetchone()
        account_id = known["account_id"] if known else _new_id("ac")
        connection.execute("INSERT OR IGNORE INTO accounts VALUES (?, ?)", (order_id, account_id))
        return {"account_id": account_id, "order_id": order_id}

    return Account(**store.once(context.idempotency_key, "provision_account", {"order_id": order_id}, provision))


@tool(writes=True, irreversible=True, retry_safe=True, sends_out=True)
def send_receipt(order_id: OrderId, context: ToolContext) -> Receipt:
    """Send the receipt for an order."""

    def send(connection: sqlite3.Connection) -> Row:
        _require_order(connection, order_id)
        receipt_id = _new_id("re")
        email = connection.execute("SELECT email FROM orders WHERE order_id = ?", (order_id,)).fetchone()["email"]
        connection.execute("INSERT INTO receipts VALUES (?, ?, ?)", (receipt_id, order_id, email))
        return {"receipt_id": receipt_id, "email": email}

    arguments = {"order_id": order_id}
    return Receipt(**_noted("send_receipt", context).once(context.idempotency_key, "send_receipt", arguments, send))


class CallLog(Sequence[str]):
    """The names of the tools that ran, in order, as the store has them."""

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return Store().calls()[index]

    def __len__(self) -> int:
        return len(Store().calls())

    def __repr__(self) -> str:
        return repr(Store().calls())

    def __eq__(self, other: object) -> bool:
        return Store().calls() == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes, like a list

    def clear(self) -> None:
        """Forget them; the world stays as it is."""
        Store().clear_calls()


CALLS = CallLog()


def _noted(tool_name: str, context: ToolContext) -> Store:
    store = Store()
    store.note_call(tool_name, context.idempotency_key)
    return store


def _require_order(connection: sqlite3.Connection, order_id: str) -> str:
    """Return what the CRM says of an order, and refuse one that does not exist."""
    row = connection.execute("SELECT status FROM crm WHERE order_id = ?", (order_id,)).fetchone()
    if row is None:
        raise Refused(f"there is no order {order_id}")
    return str(row["status"])


def _new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(6)}"
