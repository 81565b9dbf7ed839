"""Asking for the one value that a turn lacks, and reading the answer as that value only (SPEC 2.4)."""

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path

import amends
import pytest
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tools.loader import load_agent
from temporalio.client import Client

SHOP = Path(amends.__file__).parent / "examples" / "shop" / "agent.yaml"


@pytest.fixture
def shop() -> ToolBench:
    return ToolBench(dataclasses.replace(load_agent(SHOP, context={"card_on_file": True}), clarify=True))


@pytest.fixture
async def clerk(client: Client, shop: ToolBench, task_queue: str) -> AsyncIterator[Desk]:
    async with open_desk(client, shop.agent, task_queue=task_queue) as desk:
        yield desk


async def test_the_missing_value_is_asked_for_and_completes_the_turn(shop: ToolBench, clerk: Desk):
    reply = await clerk.chat("charge order 4411", user=clerk.user)
    assert (reply.text, reply.state, reply.over) == (
        "charge_card needs the amount. Say just that, or say something else.",
        "reading",
        False,
    )
    reply = await clerk.chat("40.00", user=clerk.user)
    assert reply.waiting[0].arguments == {"order_id": "4411", "amount": "40.00"}
    reply = await clerk.confirm(clerk.user, "approve")
    assert reply.state == "done"
    assert shop.names == ["charge_card"]
    assert (await clerk.run(reply.run)).turn == "charge order 4411 / 40.00"


async def test_any_other_answer_is_a_turn_of_its_own(shop: ToolBench, clerk: Desk):
    await clerk.chat("charge order 4411", user=clerk.user)
    reply = await clerk.chat("get order 4411", user=clerk.user)
    assert reply.text == "Done: get_order."
    reply = await clerk.chat("40.00", user=clerk.user)
    assert reply.state == "refused", "the question is closed by the turn that came instead"
    assert shop.names == ["get_order"]


@pytest.mark.parametrize("answer", ["forty", "40,00", "not 40.00", "40.00 or 45.00", "if you can, 40.00", "-40.00"])
async def test_what_is_not_exactly_that_value_completes_nothing(shop: ToolBench, clerk: Desk, answer: str):
    await clerk.chat("charge order 4411", user=clerk.user)
    assert (await clerk.chat(answer, user=clerk.user)).state == "refused"
    assert shop.names == []


async def test_it_is_asked_in_the_language_of_the_turn(clerk: Desk):
    reply = await clerk.chat("cobre o pedido 4411", user=clerk.user, language="pt-BR")
    assert reply.text == "charge_card precisa de: amount. Diga só isso, ou diga outra coisa."
    reply = await clerk.chat("40,00", user=clerk.user)
    assert reply.waiting[0].arguments == {"order_id": "4411", "amount": "40.00"}


async def test_two_missing_values_are_not_asked_for(clerk: Desk):
    assert (await clerk.chat("charge", user=clerk.user)).state == "refused"


async def test_an_agent_that_does_not_clarify_asks_to_say_it_again(client: Client, task_queue: str):
    bench = ToolBench(load_agent(SHOP))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        assert (await desk.chat("charge order 4411", user=desk.user)).state == "refused"
