"""Tools of a target that does what the witness's script says. Each has an account that says what a call is about."""

import os

from amends import Undo, tool
from amends.testing.target import Target
from amends.testing.witness import Witness
from amends.tools.context import ToolContext
from pydantic import JsonValue

PATIENCE = 0.6


def target() -> Target:
    return Target(Witness(os.environ["BANK_WITNESS"]), patience=PATIENCE)


@tool(timeout=PATIENCE)
async def look(account: str, context: ToolContext):
    """Look at an account."""
    return await target().read("look", account, context, {"balance": "1"})


@tool(timeout=PATIENCE)
async def find(key: str, account: str, context: ToolContext):
    """Tell whether a call with a key took effect."""
    effect = Witness(os.environ["BANK_WITNESS"]).effect_of(key)
    found: dict[str, JsonValue] = {"happened": effect is not None, "result": {"id": str(effect.id)} if effect else None}
    return await target().read("find", account, context, found)


@tool(writes=True, timeout=PATIENCE, undo=Undo("repay", effect="$result.id", account="$args.account"))
async def pay(account: str, context: ToolContext):
    """Pay from an account: not safe to repeat, and neither is its undo."""
    return await target().write("pay", account, context, keeps_keys=False)


@tool(writes=True, timeout=PATIENCE, undo=None)
async def repay(effect: str, account: str, context: ToolContext):
    """Pay back."""
    return await target().write("repay", account, context, keeps_keys=False, undoes=effect)


@tool(writes=True, retry_safe=True, timeout=PATIENCE, undo=Undo("unbook", effect="$result.id", account="$args.account"))
async def book(account: str, context: ToolContext):
    """Book: safe to repeat, and so is its undo."""
    return await target().write("book", account, context, keeps_keys=True)


@tool(writes=True, retry_safe=True, timeout=PATIENCE, undo=None)
async def unbook(effect: str, account: str, context: ToolContext):
    """Take a booking back."""
    return await target().write("unbook", account, context, keeps_keys=True, undoes=effect)


@tool(writes=True, timeout=PATIENCE, undo=Undo("recall", effect="$result.id", account="$args.account"))
async def ship(account: str, context: ToolContext):
    """Ship: not safe to repeat, while its undo is."""
    return await target().write("ship", account, context, keeps_keys=False)


@tool(writes=True, retry_safe=True, timeout=PATIENCE, undo=None)
async def recall(effect: str, account: str, context: ToolContext):
    """Call a shipment back."""
    return await target().write("recall", account, context, keeps_keys=True, undoes=effect)


@tool(
    writes=True, retry_safe=True, timeout=PATIENCE, undo=Undo("release", effect="$result.id", account="$args.account")
)
async def hold(account: str, context: ToolContext):
    """Hold: safe to repeat, while its undo is not."""
    return await target().write("hold", account, context, keeps_keys=True)


@tool(writes=True, timeout=PATIENCE, undo=None)
async def release(effect: str, account: str, context: ToolContext):
    """Let go of a hold."""
    return await target().write("release", account, context, keeps_keys=False, undoes=effect)


@tool(writes=True, irreversible=True, timeout=PATIENCE)
async def mail(account: str, context: ToolContext):
    """Send a letter, which nothing takes back."""
    return await target().write("mail", account, context, keeps_keys=False)


@tool(writes=True, retry_safe=True, undo=None, timeout=PATIENCE)
async def note(account: str, context: ToolContext):
    """Leave a note, which a failed run may leave."""
    return await target().write("note", account, context, keeps_keys=True)


@tool(
    writes=True,
    timeout=PATIENCE,
    outcome_query="find",
    undo=Undo("unwire", effect="$result.id", account="$args.account"),
)
async def wire(account: str, context: ToolContext):
    """Send money; the target can be asked whether it went, and so it can for the undo."""
    return await target().write("wire", account, context, keeps_keys=False)


@tool(writes=True, timeout=PATIENCE, outcome_query="find", undo=None)
async def unwire(effect: str, account: str, context: ToolContext):
    """Get money back."""
    return await target().write("unwire", account, context, keeps_keys=False, undoes=effect)
