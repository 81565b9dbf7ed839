"""A query that gets no answer is asked again (`client.asking`)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from amends.client import asking
from amends.client.asking import ask
from amends.contract.names import VIEW_QUERY, session_workflow_id
from amends.contract.session import SessionView
from amends.testing.desk import open_desk
from amends.tests.scenarios.stage import eventually, make_bench
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError


async def test_a_query_is_asked_until_a_worker_answers(
    client: Client, task_queue: str, monkeypatch: pytest.MonkeyPatch
):
    async with open_desk(client, make_bench().agent, task_queue=task_queue) as desk:
        await desk.order("get_order(order_id=4411)")
    session: WorkflowHandle[Any, Any] = client.get_workflow_handle(session_workflow_id(desk.name, desk.user))
    query, asked = session.query, []

    async def counted(*arguments: Any, **words: Any) -> Any:
        asked.append(arguments)
        return await query(*arguments, **words)

    monkeypatch.setattr(session, "query", counted)
    monkeypatch.setattr(asking, "WITHIN", (timedelta(milliseconds=50), timedelta(seconds=1)))
    answer = asyncio.create_task(ask(session, VIEW_QUERY, result_type=SessionView))
    await eventually(lambda: len(asked) == 3)
    async with open_desk(client, make_bench().agent, task_queue=task_queue, user=desk.user):
        assert (await answer).turns == 1


async def test_any_other_error_is_told(client: Client):
    with pytest.raises(RPCError, match="not found"):
        await ask(client.get_workflow_handle("there-is-none"), VIEW_QUERY, result_type=SessionView)
