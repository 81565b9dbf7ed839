"""The scenarios' desk, its writes and undos made on a side store, which is the only witness of what took effect."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from amends.testing.bench import BenchCall, ToolBench
from amends.testing.witness import Witness

__all__ = ["Gate", "Happens", "on_the_side_store"]

UNDOES = {"refund_card": "charge_id", "restore_crm": "previous"}
"""For each undo, the argument that names the effect it takes back."""


class Gate:
    """Tells when a call is in it, and holds the call until it is let go."""

    def __init__(self) -> None:
        self.entered, self.open = asyncio.Event(), asyncio.Event()

    async def pass_through(self) -> None:
        """Wait here until the gate is opened."""
        self.entered.set()
        await self.open.wait()


@dataclass(frozen=True)
class Happens:
    """What happens in one call: it waits at a gate, takes effect or not, and then raises or returns."""

    gate: Gate | None = None
    takes_effect: bool = True
    error: Exception | None = None
    returns: Callable[[int], object] = field(default=lambda effect: {"id": str(effect)})


def on_the_side_store(bench: ToolBench, witness: Witness, tool: str, *calls: Happens) -> None:
    """Let ``tool`` do what is said, call by call, the last one for every further call; with nothing said, its duty."""
    for happens in calls or (Happens(),):
        bench.on(tool).does(_body(witness, happens))


def _body(witness: Witness, happens: Happens) -> Callable[[BenchCall], Awaitable[object]]:
    async def body(call: BenchCall) -> object:
        delivery = witness.begin(call.tool, "4411", call.context, writes=call.tool != "get_order")
        if happens.gate:
            await happens.gate.pass_through()
        effect = 0
        if happens.takes_effect:
            undoes = int(str(call.arguments[UNDOES[call.tool]])) if call.tool in UNDOES else None
            effect = witness.take_effect(delivery, keeps_keys=call.tool == "restore_crm", undoes=undoes)
        witness.end(delivery, "raised" if happens.error else "returned")
        if happens.error:
            raise happens.error
        return happens.returns(effect)

    return body
