"""Folding a session's record anew, when a changed rulebook asks what it was not kept for (SPEC 3.6)."""

from collections.abc import Mapping

from pydantic import JsonValue

from .model import Wire

__all__ = ["FoldRequest", "Folded"]


class FoldRequest(Wire):
    """What to fold: the session's runs by id, oldest first, and for which rules.

    ``rulebook`` is the wire form of `rulebook.rules.Rulebook`.
    """

    runs: tuple[str, ...]
    rulebook: Mapping[str, JsonValue]


class Folded(Wire):
    """The record, as the wire form of `rulebook.record.RecordState`; or None, and ``missing`` names a run that is gone.

    Temporal keeps a run that is over for the retention time of its namespace.
    """

    record: Mapping[str, JsonValue] | None = None
    missing: str = ""
