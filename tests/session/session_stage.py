"""What the tests of sessions stand on: turns, and looking at a session from outside."""

from typing import Any

from amends.contract.names import LANGUAGE_UPDATE, session_workflow_id
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import run_of
from temporalio.client import Client, WorkflowHandle

LOOK = "get_order(order_id=4411)"
NOTE = "add_note(order_id=4411, text=x)"
CHARGE = "charge_card(order_id=4411, amount=40.00)"
ORDER = f"{CHARGE}; provision_account(order_id=4411)"


def client_of(desk: Desk) -> Client:
    home: Any = desk._home
    client: Client = home._given.client
    return client


def session_of(desk: Desk) -> WorkflowHandle[Any, Any]:
    return run_of(desk, session_workflow_id(desk.name, desk.user))


async def language(desk: Desk, times: int = 1) -> None:
    """Send updates that do nothing much."""
    for _ in range(times):
        await session_of(desk).execute_update(LANGUAGE_UPDATE, None)


async def executions(desk: Desk) -> int:
    """Return how many executions the desk's session has had: one more than it continued as new."""
    count, run_id = 0, None
    while True:
        handle = client_of(desk).get_workflow_handle(session_workflow_id(desk.name, desk.user), run_id=run_id)
        events = handle.fetch_history_events(page_size=1)
        run_id = (await anext(events)).workflow_execution_started_event_attributes.continued_execution_run_id
        count += 1
        if not run_id:
            return count
