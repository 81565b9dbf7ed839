"""Several tries of one call: each speaks for itself, and a doubt about one is not settled by another (SPEC 5.3)."""

import asyncio
import contextlib
import dataclasses
from typing import Any

import pytest
from amends import NotSent, Refused, Unchanged
from amends.contract.tool import QueryBinding
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import view_when
from temporalio.client import Client

BOOKING = {"booking": {"slots": [{"id": "slot-9"}]}}


@pytest.mark.parametrize(
    "error",
    [RuntimeError("down"), Refused("no"), NotSent("no route"), Unchanged(result=BOOKING)],
    ids=lambda e: type(e).__name__,
)
async def test_a_later_try_that_says_no_does_not_settle_the_doubt_about_an_earlier_one(
    bench: ToolBench, desk: Desk, error: Exception
):
    bench.on("book_slot").raises(TimeoutError("it may have gone through")).raises(error)
    await desk.chat("update_crm(order_id=4411); book_slot(order_id=4411)", user=desk.user)
    await desk.confirm(desk.user, "approve")
    reply = await desk.confirm(desk.user, "approve")
    assert [question.text for question in reply.waiting] == [
        "Did book_slot take effect? The call was sent and no answer came back."
    ]
    assert bench.names == ["update_crm", "book_slot", "book_slot"]
    reply = await desk.answer(desk.user, "happened", result=BOOKING)
    assert reply.text == "Done: update_crm, book_slot."


async def test_g055_a_later_try_that_succeeds_settles_it(bench: ToolBench, desk: Desk):
    bench.on("book_slot").raises(TimeoutError("it may have gone through")).returns(BOOKING)
    reply = await desk.order("book_slot(order_id=4411)")
    assert (reply.text, bench.names) == ("Done: book_slot.", ["book_slot", "book_slot"])


async def test_a_read_that_says_no_has_said_it(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(TimeoutError()).raises(LookupError("no such order"))
    reply = await desk.order("get_order(order_id=1)")
    assert reply.text == "This run stopped: get_order failed (LookupError)."


def with_words(bench: ToolBench, tool: str, **words: Any) -> ToolBench:
    """Return a bench of the same agent with other words of one tool's contract."""
    changed = bench.agent.tools[tool].contract.model_copy(update=words)
    tools = {**bench.agent.tools, tool: dataclasses.replace(bench.agent.tools[tool], contract=changed)}
    return ToolBench(dataclasses.replace(bench.agent, tools=tools))


class Outliving:
    """A tool that goes on past its time limit, and ends, when the test lets it, with what it is to raise or return."""

    def __init__(self, end: Exception | object) -> None:
        """Take how it ends."""
        self.end = end
        self.may_end = asyncio.Event()

    async def __call__(self, _: BenchCall) -> object:
        """Be cut off, then go on."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        await self.may_end.wait()
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


async def test_a_late_no_of_one_try_says_nothing_of_the_others(client: Client, task_queue: str, bench: ToolBench):
    late = with_words(bench, "book_slot", timeout_ms=200)
    first = Outliving(RuntimeError("no, as it turns out"))
    late.on("book_slot").does(first).raises(TimeoutError()).hangs()
    async with open_desk(client, late.agent, task_queue=task_queue) as desk:
        await desk.chat("book_slot(order_id=4411)", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        first.may_end.set()
        await asyncio.sleep(0.4)
        assert [question.kind for question in (await desk.run(reply.run)).waiting] == ["outcome"]
        reply = await desk.answer(desk.user, "happened", result=BOOKING)
    assert reply.text == "Done: book_slot."


async def test_a_late_no_of_one_undo_does_not_settle_the_next(client: Client, task_queue: str, bench: ToolBench):
    late = with_words(bench, "refund_card", timeout_ms=200)
    refund = Outliving(RuntimeError("no, as it turns out"))
    late.on("refund_card").does(refund).raises(TimeoutError()).returns({})
    async with open_desk(client, late.agent, task_queue=task_queue) as desk:
        await desk.chat("charge_card(order_id=4411, amount=40.00); update_crm(order_id=4411)", user=desk.user)
        await desk.confirm(desk.user, "approve")
        reply = await desk.confirm(desk.user, "cancel all")
        (first,) = reply.waiting
        refund.may_end.set()
        # The worker itself says that the first try came to nothing, so the second is sent without an answer.
        await view_when(desk, reply.run, lambda view: view.waiting and view.waiting[0].id != first.id)
        reply = await desk.attend(reply.run)
        assert reply.waiting[0].text == "Did refund_card take effect? The call was sent and no answer came back."
        reply = await desk.answer(desk.user, "happened", question=reply.waiting[0].id)
    assert reply.text.endswith("Undone, latest first: charge_card (by refund_card).")
    assert len(late.called("refund_card")) == 2, "a refund that happened is not sent again"


async def test_a_late_answer_of_an_outcome_query_is_not_taken_for_its_write(
    client: Client, task_queue: str, bench: ToolBench
):
    query = QueryBinding(tool="get_order", arguments={"order_id": "$args.order_id"})
    asked = with_words(with_words(bench, "get_order", timeout_ms=200), "charge_card", outcome_query=query)
    asked.on("charge_card").raises(TimeoutError())
    late = Outliving({"happened": False})
    asked.on("get_order").does(late)
    async with open_desk(client, asked.agent, task_queue=task_queue) as desk:
        await desk.chat("charge_card(order_id=4411, amount=40.00)", user=desk.user)
        reply = await desk.confirm(desk.user, "approve")
        late.may_end.set()
        await asyncio.sleep(0.4)
        assert [question.kind for question in (await desk.run(reply.run)).waiting] == ["outcome"]
        reply = await desk.answer(desk.user, "did not happen")
    assert reply.text == f"This run stopped: charge_card did not happen, said {desk.user}."
