"""The tools of the benchmark's agent; their bodies are scripted."""

from decimal import Decimal

from amends import tool


@tool
def bench_read(order_id: str, amount: Decimal) -> dict[str, str]:
    """Read an order."""
    return {"id": f"c-{order_id}", "amount": str(amount)}


@tool(writes=True, undo="bench_undo")
def bench_write(order_id: str, amount: Decimal) -> dict[str, str]:
    """Charge an order."""
    return {"id": f"c-{order_id}", "amount": str(amount)}


@tool(writes=True, irreversible=True)
def bench_undo(order_id: str, amount: Decimal) -> dict[str, str]:
    """Refund an order."""
    return {"id": f"c-{order_id}", "amount": str(amount)}
