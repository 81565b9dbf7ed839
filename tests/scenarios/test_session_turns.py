"""A session: its turns, one at a time, and what it remembers of them (SPEC 7.1 to 7.3)."""

import asyncio
import datetime as dt
from collections.abc import Sequence

import pytest
from amends import Conflict
from amends.contract.names import LANGUAGE_UPDATE, session_workflow_id
from amends.contract.reading import Language, Reading, Unread
from amends.contract.tool import ToolContract
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.testing.plain import compile_plain_selector
from amends.tests.scenarios.stage import ORDER, make_bench, run_of, settled
from temporalio.client import Client

NOTE = "add_note(order_id=4411, text=x)"
LOOK = "get_order(order_id=4411)"


@pytest.mark.recorded("session_of_several_turns", of="session")
async def test_a_session_keeps_what_became_of_every_turn(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("down"))
    done = await desk.order(NOTE)
    unread = await desk.chat("do something nice", user=desk.user)
    failed = await desk.order(ORDER, language="pt-BR")
    session = await settled(desk)
    assert [(line.turn, line.state, line.text, line.run) for line in session.runs] == [
        (NOTE, "done", "Done: add_note.", done.run),
        ("do something nice", "refused", unread.text, ""),
        (ORDER, "undone", failed.text, failed.run),
    ]
    assert (session.open_run, session.user, session.agent) == ("", desk.user, "desk")


async def test_the_memory_after_a_failed_run_holds_the_turn_and_one_reply(bench: ToolBench, desk: Desk):
    bench.on("provision_account").raises(RuntimeError("an error trace that no model should read"))
    await desk.order(NOTE)
    failed = await desk.order(ORDER)
    memory = (await settled(desk)).memory
    assert [(message.role, message.text or message.tool) for message in memory] == [
        ("user", NOTE),
        ("tool", "add_note"),
        ("assistant", "Done: add_note."),
        ("user", ORDER),
        ("assistant", failed.text),
    ]
    assert {message.run for message in memory[3:]} == {failed.run}


async def test_an_unread_turn_is_told_why_and_starts_nothing(bench: ToolBench, desk: Desk):
    reply = await desk.chat("do something nice", user=desk.user)
    assert (reply.state, reply.run, reply.waiting, bench.names) == ("refused", "", (), [])
    assert reply.unread is not None
    assert reply.unread.code == "no_tool"
    assert reply.text
    session = await settled(desk)
    assert [line.run for line in session.runs] == [""]
    assert [message.text for message in session.memory] == ["do something nice", reply.text]


async def test_g065_a_turn_during_an_open_run_is_told_what_it_waits_for(bench: ToolBench, desk: Desk):
    open_run = await desk.chat(ORDER, user=desk.user)
    with pytest.raises(Conflict, match="It asks: Run charge_card") as told:
        await desk.chat(LOOK, user=desk.user)
    assert told.value.code == "thread_is_waiting"
    assert (told.value.run_id, told.value.question_id) == (open_run.run, "q1")
    assert bench.names == []


async def test_of_two_turns_at_once_one_runs(bench: ToolBench, desk: Desk):
    replies = await asyncio.gather(
        desk.chat(NOTE, user=desk.user), desk.chat(NOTE, user=desk.user), return_exceptions=True
    )
    assert sorted(type(reply).__name__ for reply in replies) == ["Conflict", "Reply"]
    await desk.confirm(desk.user, "approve")
    assert bench.names == ["add_note"]


async def test_a_queued_turn_waits_for_the_open_run(bench: ToolBench, desk: Desk):
    await desk.chat(NOTE, user=desk.user)
    queued = [asyncio.create_task(desk.chat(LOOK, user=desk.user, queue=True)) for _ in range(3)]
    await asyncio.sleep(0.2)
    assert not any(task.done() for task in queued)
    await desk.confirm(desk.user, "approve")
    replies = await asyncio.gather(*queued)
    assert {reply.text for reply in replies} == {"Done: get_order."}
    assert bench.names == ["add_note", *["get_order"] * 3]
    assert len({reply.run for reply in replies}) == 3


async def test_g053_the_same_request_twice_is_one_run(bench: ToolBench, desk: Desk):
    first = await desk.chat(LOOK, user=desk.user, key="click-1")
    again = await desk.chat(LOOK, user=desk.user, key="click-1")
    assert (again.run, again.text) == (first.run, first.text)
    at_once = await asyncio.gather(*(desk.chat(LOOK, user=desk.user, key="click-2", queue=True) for _ in range(3)))
    assert len({reply.run for reply in at_once}) == 1
    assert bench.names == ["get_order"] * 2


async def test_g086_the_same_request_while_its_run_is_open_shows_that_run(bench: ToolBench, desk: Desk):
    first = await desk.chat(NOTE, user=desk.user, key="click-1")
    again = await desk.chat(NOTE, user=desk.user, key="click-1")
    assert again.waiting == first.waiting
    await desk.confirm(desk.user, "skip")


async def test_the_turn_right_after_a_run_is_never_told_that_it_is_still_open(bench: ToolBench, desk: Desk):
    for number in range(50):
        reply = await desk.order(NOTE if number % 5 == 0 else LOOK)
        assert reply.state == "done"
    assert len(bench.names) == 50
    assert len((await settled(desk)).runs) == 50


async def test_sessions_of_two_people_do_not_wait_for_each_other(bench: ToolBench, desk: Desk):
    await desk.chat(NOTE, user=desk.user)
    assert (await desk.order(LOOK, user=f"{desk.user}-other")).state == "done"


async def test_the_session_has_a_language_that_a_turn_may_overrule(desk: Desk):
    await desk.order(LOOK)
    session = run_of(desk, session_workflow_id(desk.name, desk.user))
    await session.execute_update(LANGUAGE_UPDATE, "pt-BR")
    assert (await desk.order(LOOK)).text == "Feito: get_order."
    assert (await desk.order(LOOK, language="en")).text == "Done: get_order."
    await session.execute_update(LANGUAGE_UPDATE, None)
    assert (await desk.order(LOOK)).text == "Done: get_order."


async def test_a_turn_that_is_too_long_is_refused_before_it_is_read(bench: ToolBench, desk: Desk):
    with pytest.raises(ValueError, match="2001 characters"):
        await desk.chat("x" * 2001, user=desk.user)
    assert bench.names == []


@pytest.mark.parametrize("user", ["", "x" * 101, "a\nb"])
async def test_a_user_that_cannot_be_named_is_refused(desk: Desk, user: str):
    with pytest.raises(ValueError, match="user is"):
        await desk.chat(LOOK, user=user)


async def test_a_run_started_elsewhere_can_be_attended(bench: ToolBench, desk: Desk):
    reply = await desk.chat(NOTE, user=desk.user)
    attending = asyncio.create_task(desk.attend(reply.run))
    assert (await attending).waiting == reply.waiting
    await desk.confirm(desk.user, "approve")
    assert (await desk.attend(reply.run)).text == "Done: add_note."


async def test_a_session_goes_on_under_the_load_of_many_turns_at_once(bench: ToolBench, desk: Desk):
    replies = await asyncio.gather(*(desk.chat(LOOK, user=desk.user, queue=True) for _ in range(8)))
    assert {reply.state for reply in replies} == {"done"}
    numbers = [step.number for reply in replies for step in reply.steps]
    assert sorted(numbers) == list(range(1, 9))
    assert len((await settled(desk)).runs) == 8


class BrokenSelector:
    """A selector with a fault: it raises at every turn but the plain ones."""

    lexicon = "broken"

    def __init__(self, language: Language, tools: Sequence[ToolContract], vocabulary: object) -> None:
        self.language = language
        self._plain = compile_plain_selector(language, tools, vocabulary)

    def read(self, turn: str, today: dt.date | None = None) -> Reading | Unread:
        if turn == "break":
            raise ZeroDivisionError("a fault of the selector")
        return self._plain.read(turn, today)


async def test_a_selector_that_breaks_at_a_turn_holds_nobody_up(client: Client, task_queue: str):
    bench = make_bench(compile_selector=BrokenSelector)
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        async with asyncio.timeout(2):
            with pytest.raises(Exception, match=r"fail|fault"):
                await desk.chat("break", user=desk.user)
        assert (await desk.order(LOOK)).state == "done"
