"""Stopping while workers are busy, and deploying while a run is stuck: edge cases D8 and D11 (docs/cases.md)."""

import asyncio
import dataclasses

import pytest
from amends import Undo, tool
from amends.testing.bench import BenchCall, ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.histories.recording import KeepHistory
from amends.tests.scenarios.stage import eventually, make_bench, view_when
from amends.tools.declaration import DECLARATION
from amends.tools.loader import LoadedAgent
from amends.tools.tool import make_tool
from amends.worker.serving import make_worker
from amends.worker.settings import WorkerSettings
from temporalio.client import Client

NOTE = "add_note(order_id=4411, text=x)"
STOPPED = "This run stopped: stopped by ops: enough. In flight when it was stopped: "


class Busy:
    """Calls that end when and how a test says."""

    def __init__(self) -> None:
        self.began: set[str] = set()
        self._ends: dict[str, asyncio.Future[object]] = {}

    async def __call__(self, call: BenchCall) -> object:
        order = str(call.arguments["order_id"])
        self.began.add(order)
        return await self._ends.setdefault(order, asyncio.get_running_loop().create_future())

    def end(self, order: str, with_: object) -> None:
        future = self._ends.setdefault(order, asyncio.get_running_loop().create_future())
        if isinstance(with_, Exception):
            future.set_exception(with_)
        else:
            future.set_result(with_)


@pytest.mark.recorded("stopped_in_flight")
async def test_d08_stop_while_workers_are_busy(client: Client, task_queue: str, keep_history: KeepHistory):
    """Each of four calls is in another place when the agent is stopped, once; the answer says of each where it was."""
    bench = make_bench(name=f"d08-{task_queue}")
    bench.agent = patient(bench.agent, "charge_card")
    busy = Busy()
    bench.on("charge_card").does(busy)
    workers = [make_worker(client, [bench.agent], task_queue=task_queue, settings=WorkerSettings(max_activities=3))]
    async with open_desk(client, bench.agent, task_queue=task_queue, workers=workers) as desk:
        runs: dict[str, str] = {}
        for order in ("1", "2", "3", "4"):
            await charge(desk, order, runs)
            # The fourth finds all three places of the worker taken, so it is scheduled and not begun.
            await eventually(lambda: busy.began == {*runs} - {"4"})
        listed = f"WorkflowId STARTS_WITH 'run:{bench.agent.name}:' AND ExecutionStatus = 'Running'"

        async def all_are_listed() -> bool:
            return (await client.count_workflows(listed)).count == 4

        await eventually(all_are_listed)
        stopping = asyncio.create_task(desk.stop_all(by="ops", reason="enough."))
        before_dispatch = await view_when(desk, runs["4"], lambda view: view.over)
        busy.end("1", {"id": "ch-1"})
        busy.end("2", RuntimeError("declined"))
        busy.end("3", TimeoutError("no answer"))
        committed = await view_when(desk, runs["1"], lambda view: view.over)
        aborted = await view_when(desk, runs["2"], lambda view: view.over)
        unknown = await view_when(desk, runs["3"], lambda view: view.waiting)
        stopped = {each.run: each for each in (await stopping).runs}
    assert [stopped[runs[order]].found for order in ("4", "2", "3", "1")] == [
        "before dispatch", "aborted", "unknown", "committed"
    ]  # fmt: skip
    assert stopped[runs["1"]].text == committed.text
    assert stopped[runs["3"]].waiting == unknown.waiting
    assert before_dispatch.text == f"{STOPPED}charge_card, which was not sent."
    assert committed.text == (
        f"{STOPPED}charge_card, which took effect. Undone, latest first: charge_card (by refund_card)."
    )
    assert aborted.text == f"{STOPPED}charge_card, which was aborted."
    assert unknown.steps[0].stopped == "unknown"
    assert unknown.waiting[0].text == "Did charge_card take effect? The call was sent and no answer came back."
    assert busy.began == {"1", "2", "3"}
    assert bench.names == ["charge_card"] * 3 + ["refund_card"]
    await keep_history(runs["1"])


def patient(agent: LoadedAgent, name: str) -> LoadedAgent:
    """Give a tool a minute for its call, so that it ends when the test says so."""
    tool = agent.tools[name]
    contract = tool.contract.model_copy(update={"timeout_ms": 60_000})
    return dataclasses.replace(agent, tools={**agent.tools, name: dataclasses.replace(tool, contract=contract)})


async def charge(desk: Desk, order: str, runs: dict[str, str]) -> None:
    reply = await desk.chat(f"charge_card(order_id={order}, amount=40.00); {NOTE}", user=f"{desk.user}-{order}")
    runs[order] = reply.run
    approving = asyncio.create_task(desk.confirm(f"{desk.user}-{order}", "approve"))
    approving.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    await view_when(desk, reply.run, lambda view: view.steps[0].state == "sent")


def renamed(agent: LoadedAgent) -> LoadedAgent:
    """The next release: the undo of update_crm has another name, and the old one is gone."""

    @tool(writes=True, undo=None)
    def reset_crm(order_id: str, previous: str):
        """Set what the CRM says of an order back."""

    @tool(writes=True, undo=Undo("reset_crm", order_id="$args.order_id", previous="$result.id"))
    def update_crm(order_id: str):
        """Mark an order as paid in the CRM."""

    tools = {name: each for name, each in agent.tools.items() if name != "restore_crm"}
    for function in (reset_crm, update_crm):
        tools[function.__name__] = make_tool(function, getattr(function, DECLARATION))
    return dataclasses.replace(agent, tools=tools)


@pytest.mark.recorded("deploy_while_stuck")
async def test_d11_a_deploy_while_a_run_is_stuck(client: Client, task_queue: str, keep_history: KeepHistory):
    old, restored = make_bench(), make_bench()
    new = ToolBench(renamed(make_bench().agent))
    old.on("provision_account").raises(RuntimeError("down"))
    old.on("restore_crm").raises(RuntimeError("busy"))
    async with open_desk(client, old.agent, task_queue=task_queue) as desk:
        await desk.chat("update_crm(order_id=4411); provision_account(order_id=4411)", user=desk.user)
        await desk.confirm(desk.user, "approve")
        reply = await desk.confirm(desk.user, "approve")
        assert reply.state == "stuck"
    async with open_desk(client, new.agent, task_queue=task_queue, user=desk.user) as deployed:
        reply = await deployed.answer(desk.user, "retry")
        (question,) = reply.waiting
        assert question.text == (
            "Undoing update_crm failed after 8 tries (NotRegistered). 1 step(s) still need undoing."
        )
        assert question.undo == "restore_crm", "what undoes a write is what the run was started with"
    async with open_desk(client, restored.agent, task_queue=task_queue, user=desk.user) as again:
        reply = await again.answer(desk.user, "retry")
    assert reply.text.endswith("Undone, latest first: update_crm (by restore_crm).")
    assert restored.names == ["restore_crm"]
    assert new.names == []
    await keep_history(reply.run)
