"""A till. A charge says which process it is in, takes effect, and then takes its time."""

import asyncio
import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from amends import Kind, Undo, tool
from amends.testing.witness import Witness
from amends.tools.context import ToolContext

OrderId = Annotated[str, Kind("id", pattern=r"\d{3,10}")]


def store() -> Witness:
    return Witness(os.environ["TILL_WITNESS"])


@tool(writes=True, undo=Undo("refund_card", charge="$result.charge"))
async def charge_card(order_id: OrderId, amount: Decimal, context: ToolContext) -> dict[str, str]:
    """Charge the card of an order."""
    delivery = store().begin("charge_card", order_id, context)
    if "TILL_TAKES_EFFECT" in os.environ:
        store().take_effect(delivery, keeps_keys=False)
    Path(os.environ["TILL_PID"]).write_text(str(os.getpid()))
    await asyncio.sleep(60)
    return {"charge": str(store().take_effect(delivery, keeps_keys=False))}


@tool(writes=True, undo=None)
async def refund_card(charge: str, context: ToolContext) -> dict[str, str]:
    """Refund a charge."""
    refund = store().begin("refund_card", charge, context)
    return {"id": str(store().take_effect(refund, keeps_keys=False, undoes=int(charge)))}
