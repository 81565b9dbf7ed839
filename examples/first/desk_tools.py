"""The tools of the desk. Each is a typed function; what it may do, and what undoes it, stands above it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from amends import Kind, ToolContext, tool

OrderId = Annotated[str, Kind("id", pattern=r"\d{3,10}")]
FILE = Path(__file__).parent / "seats.json"


@dataclass(frozen=True)
class Seats:
    """How many seats an order has."""

    order_id: str
    seats: int


@tool
def get_seats(order_id: OrderId) -> Seats:
    """Look up the seats of an order."""
    return Seats(order_id, _read()["seats"].get(order_id, 0))


@tool(writes=True, undo="remove_seats", retry_safe=True)
def add_seats(order_id: OrderId, seats: int, context: ToolContext) -> Seats:
    """Add seats to an order."""
    return _change(order_id, seats, context.idempotency_key)


@tool(writes=True, undo=None, retry_safe=True)
def remove_seats(order_id: OrderId, seats: int, context: ToolContext) -> Seats:
    """Take seats away from an order."""
    return _change(order_id, -seats, context.idempotency_key)


def _change(order_id: str, seats: int, key: str) -> Seats:
    """Change the seats once for each key, however often the call is sent: that is what ``retry_safe`` promises."""
    world = _read()
    if key not in world["done"]:
        world["seats"][order_id] = world["seats"].get(order_id, 0) + seats
        world["done"].append(key)
        FILE.write_text(json.dumps(world), encoding="utf-8")
    return Seats(order_id, world["seats"][order_id])


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"seats": {}, "done": []}
    return found
