"""Keeping a history: of a scenario's last run, or of its session; without what names a machine."""

import json
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import amends
import pytest
from amends.contract.names import session_workflow_id, unwind_id
from amends.testing.desk import Desk
from amends.tests.scenarios.stage import settled
from temporalio.client import Client, WorkflowHistory

_ROOT = f"{Path(amends.__file__).parent}/".encode()
"""Where tools are declared stands in a run's input, and is a path of the machine that recorded it."""

__all__ = ["FOLDER", "KeepHistory", "is_recording", "keep_as", "load", "record", "record_marked"]

KeepHistory = Callable[[str], Awaitable[None]]
"""The fixture ``keep_history``."""

FOLDER = Path(__file__).parent / amends.__version__.rpartition(".")[0]
"""Where this version's histories are kept."""


async def record(
    client: Client, desk: Desk, name: str, *, of: Literal["run", "session", "first session", "unwind"] = "run"
) -> None:
    """Write the history of the desk's latest run, of its unwind, of its session, or of that one's first execution."""
    workflow = session_workflow_id(desk.name, desk.user)
    if of in ("run", "unwind"):
        run = (await settled(desk)).runs[-1].run
        workflow = unwind_id(run) if of == "unwind" else run
    if of != "first session":
        await keep_as(client, workflow, name)
        return
    history = await client.get_workflow_handle(workflow).fetch_history()
    first = history.events[0].workflow_execution_started_event_attributes.first_execution_run_id
    await keep_as(client, workflow, name, execution=first)


async def record_marked(client: Client, desk: Desk, request: pytest.FixtureRequest) -> None:
    """Write the history that the mark ``recorded`` of a test asks for, where the test does not do so itself."""
    marker = request.node.get_closest_marker("recorded")
    if marker and "keep_history" not in request.fixturenames and is_recording(request.config):
        await record(client, desk, *marker.args, **marker.kwargs)


def is_recording(config: pytest.Config) -> bool:
    """Say whether histories are to be written, with the engine's real waits, since a replay compares them."""
    return bool(config.getoption("--record-histories", default=False))


async def keep_as(client: Client, workflow: str, name: str, *, execution: str | None = None) -> None:
    """Write the history of a workflow, or of one execution of it."""
    history = await client.get_workflow_handle(workflow, run_id=execution).fetch_history()
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
