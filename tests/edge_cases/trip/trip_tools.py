"""The tools of a trip. Each writes to a side store, which is the only witness of what took effect."""

import os

from amends import Undo, tool
from amends.testing.target import Target
from amends.testing.witness import Witness
from amends.tools.context import ToolContext

PATIENCE = 2.0


def target() -> Target:
    return Target(Witness(os.environ["TRIP_WITNESS"]), patience=PATIENCE)


@tool(writes=True, timeout=PATIENCE, undo=Undo("cancel_flight", flight="$result.id", trip="$args.trip"))
async def reserve_flight(trip: str, context: ToolContext):
    """Reserve the flight of a trip."""
    return await target().write("reserve_flight", trip, context, keeps_keys=False)


@tool(writes=True, timeout=PATIENCE, undo=None)
async def cancel_flight(flight: str, trip: str, context: ToolContext):
    """Cancel a flight."""
    return await target().write("cancel_flight", trip, context, keeps_keys=False, undoes=flight)


@tool(writes=True, timeout=PATIENCE, undo=Undo("cancel_hotel", hotel="$result.id", trip="$args.trip"))
async def reserve_hotel(trip: str, context: ToolContext):
    """Reserve the hotel of a trip."""
    return await target().write("reserve_hotel", trip, context, keeps_keys=False)


@tool(writes=True, timeout=PATIENCE, undo=None)
async def cancel_hotel(hotel: str, trip: str, context: ToolContext):
    """Cancel a hotel."""
    return await target().write("cancel_hotel", trip, context, keeps_keys=False, undoes=hotel)


@tool(writes=True, timeout=PATIENCE, undo=Undo("refund_card", charge="$result.id", trip="$args.trip"))
async def charge_card(trip: str, context: ToolContext):
    """Charge the card of a trip."""
    return await target().write("charge_card", trip, context, keeps_keys=False)


@tool(writes=True, timeout=PATIENCE, undo=None, retry_safe=True)
async def refund_card(charge: str, trip: str, context: ToolContext):
    """Refund a charge."""
    return await target().write("refund_card", trip, context, keeps_keys=True, undoes=charge)


@tool(writes=True, timeout=PATIENCE, irreversible=True)
async def send_confirmation(trip: str, context: ToolContext):
    """Send the confirmation of a trip."""
    return await target().write("send_confirmation", trip, context, keeps_keys=False)
