"""Keeping a history: of a scenario's last run, or of its session; without what names a machine."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import amends
from amends.contract.names import session_workflow_id
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled
from temporalio.client import Client, WorkflowHistory

_ROOT = f"{Path(amends.__file__).parent}/".encode()
"""Where tools are declared stands in a run's input, and is a path of the machine that recorded it."""

__all__ = ["FOLDER", "load", "record"]

FOLDER = Path(__file__).parent / amends.__version__.rpartition(".")[0]
"""Where this version's histories are kept."""


async def record(
    client: Client, desk: Desk, name: str, *, of: Literal["run", "session", "first session"] = "run"
) -> None:
    """Write the history of the desk's latest run, of its session, or of the session's first execution."""
    workflow = session_workflow_id(desk.name, desk.user)
    if of == "run":
        workflow = (await settled(desk)).runs[-1].run
    history = await client.get_workflow_handle(workflow).fetch_history()
    if of == "first session":
        first = history.events[0].workflow_execution_started_event_attributes.first_execution_run_id
        history = await client.get_workflow_handle(workflow, run_id=first).fetch_history()
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(_scrubbed(_plain(history)), separators=(",", ":"), ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(f"{text}\n")


def _plain(history: WorkflowHistory) -> Any:
    return {"workflowId": history.workflow_id, **json.loads(history.to_json())}


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(_kept(value))
    return [_scrubbed(item) for item in value] if isinstance(value, list) else value


def _kept(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if key == "identity":
            yield key, "recorder"
        elif key == "stackTrace":
            continue
        elif key == "data" and isinstance(item, str):
            yield key, b64encode(b64decode(item).replace(_ROOT, b"")).decode()
        elif key == "taskQueue" and item.get("kind") == "TASK_QUEUE_KIND_STICKY":
            yield key, {"name": "sticky", "kind": item["kind"], "normalName": item.get("normalName", "")}
        else:
            yield key, _scrubbed(item)


def load(file: Path) -> WorkflowHistory:
    """Read a recorded history."""
    text = file.read_text()
    return WorkflowHistory.from_json(json.loads(text)["workflowId"], text)
