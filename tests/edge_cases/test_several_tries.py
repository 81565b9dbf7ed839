"""Several tries of one call: each speaks for itself, and a doubt about one is not settled by another (SPEC 5.3)."""

import pytest
from amends import NotSent, Refused
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk

BOOKING = {"booking": {"slots": [{"id": "slot-9"}]}}


@pytest.mark.parametrize(
    "error", [RuntimeError("down"), Refused("no"), NotSent("no route")], ids=lambda e: type(e).__name__
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


async def test_a_later_try_that_succeeds_settles_it(bench: ToolBench, desk: Desk):
    bench.on("book_slot").raises(TimeoutError("it may have gone through")).returns(BOOKING)
    reply = await desk.order("book_slot(order_id=4411)")
    assert (reply.text, bench.names) == ("Done: book_slot.", ["book_slot", "book_slot"])


async def test_a_read_that_says_no_has_said_it(bench: ToolBench, desk: Desk):
    bench.on("get_order").raises(TimeoutError()).raises(LookupError("no such order"))
    reply = await desk.order("get_order(order_id=1)")
    assert reply.text == "This run stopped: get_order failed (LookupError)."
