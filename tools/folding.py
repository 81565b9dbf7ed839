"""A session's record, folded for what a rulebook asks (SPEC 3.6)."""

import json
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from ..contract.record import Entry
from ..rulebook.record import Record
from ..rulebook.rules import Rulebook
from ..rulebook.step_events import recorded_events

__all__ = ["fold_lines"]


def fold_lines(lines: Iterable[str], rulebook: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the wire form of what these lines of a record come to, kept for what ``rulebook`` asks."""
    entries = (Entry.model_validate(json.loads(line)) for line in lines)
    events = recorded_events(entries)
    return Record.of(events, rulebook=Rulebook.model_validate(rulebook)).state().model_dump(mode="json")
