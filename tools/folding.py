"""A session's record, folded from what its runs showed at their ends (SPEC 3.6)."""

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from ..contract.run import RunView
from ..rulebook.record import Record
from ..rulebook.rules import Rulebook
from ..rulebook.step_events import call_events

__all__ = ["fold_runs"]


def fold_runs(views: Iterable[RunView], rulebook: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the wire form of the record of these runs, oldest first, kept for what ``rulebook`` asks."""
    events = (event for view in views for step in view.steps for event in call_events(step, view.run))
    return Record.of(events, rulebook=Rulebook.model_validate(rulebook)).state().model_dump(mode="json")
