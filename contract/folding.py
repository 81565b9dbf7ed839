"""Folding a session's record anew, when a changed rulebook asks what it was not kept for (SPEC 3.6)."""

from collections.abc import Mapping

from pydantic import JsonValue

from .model import Wire
from .record import Chain

__all__ = ["FoldRequest", "Folded"]


class FoldRequest(Wire):
    """What to fold: the session's record, and for which rules.

    ``rulebook`` is the wire form of `rulebook.rules.Rulebook`.
    """

    chain: Chain
    rulebook: Mapping[str, JsonValue]


class Folded(Wire):
    """The record as the wire form of `rulebook.record.RecordState`; or None, and ``missing`` names a page that is gone.

    A page is kept for as long as it is open, which it is until somebody terminates it.
    """

    record: Mapping[str, JsonValue] | None = None
    missing: str = ""
