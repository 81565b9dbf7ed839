"""Every recorded history replays on this release, everything it did compared; and every recorded scenario has one.

They are kept for as long as runs of their version may be open, and written by
``pytest -m recorded --record-histories``. Once 0.1 is released its files are not written again: a
change of the workflows that would change one of them is a patch beside the old way, never a new recording.
"""

import json
import re
from pathlib import Path

import pytest
from amends.testing.replay import replay
from amends.tests.histories.recording import FOLDER, load
from temporalio.client import WorkflowHistory

HISTORIES = sorted(Path(__file__).parent.glob("*/*.json"))
TESTS = Path(__file__).parents[1]
LARGEST = 100_000


def recorded_scenarios() -> set[str]:
    """The names in the ``recorded`` marks of the scenarios."""
    texts = (file.read_text() for file in TESTS.rglob("test_*.py"))
    return {name for text in texts for name in re.findall(r'pytest\.mark\.recorded\(\s*"(\w+)"', text)}


@pytest.mark.parametrize("file", HISTORIES, ids=lambda file: f"{file.parent.name}/{file.stem}")
async def test_a_recorded_history_replays_without_a_difference(file: Path):
    assert await replay(load(file)) == ()


def test_every_recorded_scenario_has_a_history_and_every_history_a_scenario():
    assert recorded_scenarios() == {file.stem for file in FOLDER.glob("*.json")}


def test_histories_are_small_and_name_no_machine():
    for file in HISTORIES:
        text = file.read_text()
        assert len(text) < LARGEST, file
        assert "\n" not in text.rstrip("\n"), file
        assert "stackTrace" not in text, file
        assert set(identities(json.loads(text))) <= {"recorder"}, file


def identities(value: object) -> list[str]:
    if isinstance(value, dict):
        own = [value["identity"]] if "identity" in value else []
        return own + [found for item in value.values() for found in identities(item)]
    return [found for item in value for found in identities(item)] if isinstance(value, list) else []


async def test_a_history_that_was_cut_off_goes_on_from_there():
    history = load(FOLDER / "failed_and_undone.json")
    ends = [n for n, event in enumerate(history.events) if event.HasField("workflow_task_started_event_attributes")]
    for end in ends[2:]:
        assert await replay(WorkflowHistory(history.workflow_id, history.events[: end + 1])) == ()
