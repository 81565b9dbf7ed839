"""How far a long call is, in the words of its tool (SPEC 12.3)."""

from datetime import datetime

from .model import Wire

__all__ = ["LONGEST_NOTE", "Progress"]

LONGEST_NOTE = 200


class Progress(Wire):
    """What a call said last of how far it is. ``total`` is None where the tool does not know it. ``at`` is UTC."""

    done: int
    total: int | None = None
    note: str = ""
    at: datetime
