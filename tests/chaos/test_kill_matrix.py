"""A worker killed with -9 at each place of a run, and another that finishes it (SPEC 5.6).

Real processes, the engine's real waits, and no witness but the side store and the reply. All runs of the matrix go at
once, each on a queue of its own, because most of the time is spent waiting for a dead worker's heartbeat.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from amends.contract.reply import Reply
from amends.testing.desk import open_desk
from amends.testing.target import Fault
from amends.tests.chaos.fleet import Fleet, Nursery
from amends.tests.chaos.nursery import load_bank
from amends.tests.chaos.person import Person
from amends.tests.chaos.traps import trap
from amends.tests.chaos.truths import untruths
from temporalio.client import Client

LOST = "It was being sent when the run stopped."
FAILED = "This run stopped: look failed (RuntimeError). Undone, latest first: "
READS = frozenset({"look", "find"})


@dataclass(frozen=True)
class Cell:
    """One run: its calls, where the worker dies, what else goes wrong, and how it must end.

    Accounts are ``a``, ``b``, ``c`` in the order of the calls. ``killed_at`` is the kind of a question: the worker is
    killed while it is open. ``asked`` are the questions other than confirmations, ``sent`` how often each write and
    undo was delivered, where that is not once.
    """

    name: str
    calls: tuple[str, ...]
    text: str
    trap: tuple[str, str, str] | None = None
    killed_at: str = ""
    faults: dict[tuple[str, str], tuple[Fault, ...]] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    sent: dict[str, int] = field(default_factory=dict)
    deaths: int = 1


PAY, BOOK = ("ship", "pay", "look"), ("ship", "book", "look")
PAID_BACK = f"{FAILED}pay (by repay), ship (by recall)."
UNBOOKED = f"{FAILED}book (by unbook), ship (by recall)."
DID_PAY, DID_REPAY = f"Did pay take effect? {LOST}", f"Did repay take effect? {LOST}"
STUCK = "Undoing pay failed after 4 tries (RuntimeError). 2 step(s) still need undoing."

CELLS = [
    # (a) before a call is sent
    Cell("a unsafe write", PAY, PAID_BACK, trap=("scheduling", "pay", "b")),
    Cell("a safe write", BOOK, UNBOOKED, trap=("scheduling", "book", "b")),
    # (b) between sending and effect
    Cell(
        "b unsafe write", PAY, trap=("started", "pay", "b"), asked=(DID_PAY,), sent={"pay": 0},
        text="This run stopped: pay did not happen, said {user}. Undone, latest first: ship (by recall).",
    ),
    Cell(
        "b unsafe write, in the tool", PAY, faults={("pay", "b"): ("die",)}, asked=(DID_PAY,),
        text="This run stopped: pay did not happen, said {user}. Undone, latest first: ship (by recall).",
    ),
    Cell("b safe write", BOOK, UNBOOKED, trap=("started", "book", "b")),
    Cell("b safe write, in the tool", BOOK, UNBOOKED, faults={("book", "b"): ("die",)}, sent={"book": 2}),
    Cell("b read", ("pay", "look", "look"), trap=("started", "look", "b"),
         text="This run stopped: look failed (RuntimeError). Undone, latest first: pay (by repay)."),
    # (c) after the effect and before its report
    Cell("c unsafe write", PAY, PAID_BACK, trap=("ended", "pay", "b"), asked=(DID_PAY,)),
    Cell("c unsafe write, in the tool", PAY, PAID_BACK, faults={("pay", "b"): ("commit, die",)}, asked=(DID_PAY,)),
    Cell("c safe write", BOOK, UNBOOKED, trap=("ended", "book", "b"), sent={"book": 2}),
    Cell("c write that can be looked up", ("ship", "wire", "look"), trap=("ended", "wire", "b"),
         text=f"{FAILED}wire (by unwire), ship (by recall)."),
    # (d) between two undos
    Cell("d after an unsafe undo", PAY, PAID_BACK, trap=("scheduling", "recall", "a")),
    Cell("d after a safe undo", BOOK, UNBOOKED, trap=("scheduling", "recall", "a")),
    Cell("d before the first undo", PAY, PAID_BACK, trap=("scheduling", "repay", "b")),
    # (e) during an undo
    Cell("e unsafe undo, before", PAY, PAID_BACK, trap=("started", "repay", "b"), asked=(DID_REPAY,)),
    Cell("e unsafe undo, after", PAY, PAID_BACK, trap=("ended", "repay", "b"), asked=(DID_REPAY,)),
    Cell("e unsafe undo, in the tool", PAY, PAID_BACK, faults={("repay", "b"): ("die",)}, asked=(DID_REPAY,),
         sent={"repay": 2}),
    Cell("e safe undo, before", BOOK, UNBOOKED, trap=("started", "unbook", "b")),
    Cell("e safe undo, after", BOOK, UNBOOKED, trap=("ended", "unbook", "b"), sent={"unbook": 2}),
    # (f) while waiting for a person
    Cell("f confirm", PAY, PAID_BACK, killed_at="confirm"),
    Cell("f outcome", PAY, PAID_BACK, killed_at="outcome", faults={("pay", "b"): ("commit, time out",)},
         asked=("Did pay take effect? The call was sent and no answer came back.",)),
    Cell("f undo", PAY, PAID_BACK, killed_at="undo", faults={("repay", "b"): ("raise",) * 4}, asked=(STUCK,),
         sent={"repay": 5}),
]  # fmt: skip
AGAIN = [
    Cell("again, six deaths", BOOK, faults={("book", "b"): ("die",) * 6}, sent={"book": 3}, deaths=3,
         asked=(f"Did book take effect? {LOST}",),
         text="This run stopped: book did not happen, said {user}. Undone, latest first: ship (by recall)."),
    Cell("again, a death and an error", BOOK, faults={("book", "b"): ("die", "time out", "die", "die")},
         sent={"book": 3}, deaths=2, asked=(f"Did book take effect? {LOST}",),
         text="This run stopped: book did not happen, said {user}. Undone, latest first: ship (by recall)."),
]  # fmt: skip
"""A write that is safe to repeat, in whose every try something happens."""


@dataclass(frozen=True)
class Ended:
    """What became of a cell: its reply, who answered, the questions, how many workers died."""

    reply: Reply
    user: str
    asked: tuple[str, ...]
    deaths: int


async def play(cell: Cell, client: Client, workers: Nursery) -> Ended:
    """Run a cell to its end, whatever dies."""
    prefix = cell.name.replace(" ", "-").replace(",", "")
    accounts = dict(zip("abc", (f"{prefix}-{letter}" for letter in "abc"), strict=True))
    for (tool, letter), faults in cell.faults.items():
        workers.witness.script(accounts[letter], tool, *faults)
    workers.witness.script(accounts["c"], "look", "raise")
    if cell.trap:
        place, tool, letter = cell.trap
        workers.witness.set_trap(trap(place, tool, accounts[letter]))
    turn = "; ".join(f"{tool}(account={account})" for tool, account in zip(cell.calls, accounts.values(), strict=True))
    fleet = Fleet(workers, f"kill-{prefix}-{os.getpid()}", size=1)
    async with fleet.serving(), open_desk(client, load_bank(), task_queue=fleet.task_queue, workers=[]) as desk:
        asked: list[str] = []
        reply = await desk.chat(turn, user=desk.user)
        while reply.waiting:
            question = reply.waiting[0]
            asked += [question.text] if question.kind != "confirm" else []
            if question.kind == cell.killed_at and not fleet.deaths:
                await kill(fleet)
            word, result = await Person(workers.witness).says(question, list(accounts.values())[question.position - 1])
            reply = await desk.answer(desk.user, word, question=question.id, result=result)
        return Ended(reply, desk.user, tuple(asked), len(fleet.deaths))


async def kill(fleet: Fleet) -> None:
    (pid,) = fleet.pids
    os.kill(pid, signal.SIGKILL)
    while not fleet.deaths:
        await asyncio.sleep(0.02)


@pytest.fixture(scope="module")
async def played(client: Client, workers: Nursery) -> AsyncIterator[dict[str, "asyncio.Task[Ended]"]]:
    os.environ["BANK_WITNESS"] = str(workers.witness.file)
    tasks = {cell.name: asyncio.create_task(play(cell, client, workers)) for cell in (*CELLS, *AGAIN)}
    yield tasks
    for task in tasks.values():
        task.cancel()


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
async def test_g064_g083_g108_another_worker_finishes_the_run(
    cell: Cell, played: dict[str, "asyncio.Task[Ended]"], workers: Nursery
):
    as_it_must(cell, await played[cell.name], workers)


@pytest.mark.parametrize("cell", AGAIN, ids=lambda cell: cell.name)
async def test_g078_g079_g080_g081_whatever_ends_its_tries_a_write_is_sent_three_times_at_most(
    cell: Cell, played: dict[str, "asyncio.Task[Ended]"], workers: Nursery
):
    ended = await played[cell.name]
    as_it_must(cell, ended, workers)
    assert ended.reply.steps[1].attempts == 3, "every try is counted, however it ended"


def as_it_must(cell: Cell, ended: Ended, workers: Nursery) -> None:
    witness, run = workers.witness, ended.reply.run
    assert ended.reply.text == cell.text.format(user=ended.user)
    assert ended.asked == cell.asked
    assert ended.deaths == cell.deaths
    assert untruths(ended.reply.text, witness, run, reads=READS) == []
    assert witness.broken_promises(run) == []
    assert witness.standing(run) == []
    deliveries = [each.tool for each in witness.deliveries(run) if each.writes]
    counts = {tool: deliveries.count(tool) for tool in {*deliveries, *cell.sent}}
    assert counts == {tool: cell.sent.get(tool, 1) for tool in counts}
