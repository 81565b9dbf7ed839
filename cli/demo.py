"""``amends demo``: the failed order, for real: an embedded Temporal server, a worker, and the example shop's own tools.

Two orders are given while the shop's provisioning is down, each write is approved as it comes, and both runs fail at
their last step. What is printed comes from the runs and from the shop's database; what it should be stands here only to
be compared with.
"""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import click

from ..client.agent import AsyncAgent
from ..client.blocking import Agent
from ..client.connect import ConnectionSettings
from ..client.home import Home
from ..contract.names import default_task_queue
from ..contract.reply import Reply
from ..examples.shop.store import Store, World
from ..tools.loader import load_agent
from .cards import card, step_state
from .exits import Exit
from .terminal import columns, note, say, styled

__all__ = ["agent_file", "command"]


@dataclass(frozen=True)
class _Order:
    """An order of the demo, and what its run must come to. ``receipts`` is how many stay sent."""

    user: str
    turn: str
    reply: str
    tools: tuple[str, ...]
    receipts: int = 0


_ORDER_ID = "4411"
_ORDERS = (
    _Order(
        user="u-17",
        turn="charge order 4411 40.00, then update the crm for order 4411, then provision the account for order 4411",
        reply=(
            "This run stopped: provision_account failed (RuntimeError). "
            "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
        ),
        tools=("charge_card", "update_crm", "provision_account", "restore_crm", "refund_card"),
    ),
    _Order(
        user="u-18",
        turn="charge order 4411 40.00, then send the receipt for order 4411, then provision the account for order 4411",
        reply=(
            "This run stopped: provision_account failed (RuntimeError). "
            "Undone, latest first: charge_card (by refund_card). "
            "Not undoable, and left as they are: send_receipt."
        ),
        tools=("charge_card", "send_receipt", "provision_account", "refund_card"),
        receipts=1,
    ),
)


@click.command()
@click.option(
    "--state-folder",
    "state",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep the server's state and the shop in this new folder, to look at afterwards.  [default: keep nothing]",
)
def command(*, state: Path | None) -> Exit:
    """Run the failed order: two orders to a small shop whose provisioning is down.

    A Temporal server is started for it, and ended. It takes a few seconds.
    Exits with 1 if anything is not as it should.
    """
    if state is not None and state.exists() and any(state.iterdir()):
        raise click.UsageError(
            f"{state} is not empty; name a new folder, and remove that one yourself if it is in the way"
        )
    with _folder(state) as folder:
        shop = Store(folder / "shop.db")
        os.environ["SHOP_DB"] = str(shop.path)
        shop.switch("provisioning", up=False)
        say("A shop with an open order, and a provisioning service that is down.")
        with _desk(folder) as desk:
            wrong = [fault for order in _ORDERS for fault in _run(desk, shop, order)]
    for fault in wrong:
        note(styled(("not as it should be: ", "bold red"), fault))
    _say_where_to_look(state)
    return Exit.FAULT if wrong else Exit.DONE


@contextmanager
def _folder(state: Path | None) -> Iterator[Path]:
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
        yield state.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="amends-demo-") as folder:
        yield Path(folder)


def agent_file() -> Path:
    """Return where the example shop's agent file is."""
    return Path(str(files("amends.examples.shop") / "agent.yaml"))


def _desk(folder: Path) -> Agent:
    """The shop's desk on a server of its own, whatever the environment says of servers and queues."""
    agent = load_agent(agent_file())
    settings = ConnectionSettings(embedded=True, state=folder)
    return Agent(AsyncAgent(Home(agent, settings, task_queue=default_task_queue(agent.name), worker=True)))


def _run(desk: Agent, shop: Store, order: _Order) -> Iterator[str]:
    """Give an order and show all of it; yield whatever is not as it should be."""
    before = shop.snapshot()
    shop.clear_calls()
    say()
    say(styled((order.user, "bold"), f": {order.turn}"))
    reply = _approve_each(desk, order)
    say()
    say(reply.text)
    say("The tools ran in this order:")
    for number, tool in enumerate(shop.calls(), 1):
        say(f"{number}. {tool}")
    after = shop.snapshot()
    say(f"Order {_ORDER_ID} in the shop's database:")
    for line in _compared(before, after):
        say(f"  {line}")
    if reply.text != order.reply:
        yield f"the reply is {reply.text!r}, not {order.reply!r}"
    if tuple(shop.calls()) != order.tools:
        yield f"the tools ran as {', '.join(shop.calls())}, not as {', '.join(order.tools)}"
    if after != _expected(before, order):
        yield f"the shop's database was {before} and is {after}"


def _approve_each(desk: Agent, order: _Order) -> Reply:
    reply = desk.chat(order.turn, user=order.user)
    while reply.waiting and reply.waiting[0].kind == "confirm":
        question = reply.waiting[0]
        say()
        for line in card(question, atomic=desk.loaded.atomic):
            say(styled("  ", line))
        reply = desk.confirm(order.user, "approve", question=question.id, digest=question.digest)
        say(f"          approve: {step_state(reply.steps[question.position - 1])}")
    return reply


def _compared(before: World, after: World) -> list[str]:
    rows = [("", *before[_ORDER_ID])]
    for when, world in (("before", before), ("after", after)):
        rows.append((when, *("-" if value is None else str(value) for value in world[_ORDER_ID].values())))
    return columns(rows)


def _expected(before: World, order: _Order) -> World:
    """The world as it was, but for the receipt."""
    sent = int(before[_ORDER_ID]["receipts"] or 0) + order.receipts
    return {**before, _ORDER_ID: {**before[_ORDER_ID], "receipts": sent}}


def _say_where_to_look(state: Path | None) -> None:
    say()
    folder = state or Path(".amends/demo")
    if state is None:
        say("Nothing was kept. To look at such runs in the console and in Temporal's UI, run it again and keep them:")
        say(f"  amends demo --state-folder {folder}")
    else:
        say("To look at these runs in the console and in Temporal's UI:")
    agent = agent_file()
    here = Path.cwd()
    shown = agent.relative_to(here) if agent.is_relative_to(here) else agent
    shop = shlex.quote(str(folder / "shop.db"))
    say(f"  SHOP_DB={shop} amends dev --agent {shlex.quote(str(shown))} --state-folder {shlex.quote(str(folder))}")
