"""What the check answers before any call is sent, and what it is told (SPEC 3.1)."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue

from .model import Wire
from .tool import Origin

__all__ = ["Call", "Decision", "Hit", "Verdict"]

Verdict = Literal["allow", "confirm", "refuse"]


class Call(Wire):
    """A call that asks to be sent.

    ``step`` is the session-wide number of the step. ``undoes`` is the number of the step an undo undoes. ``day`` is the
    UTC date as ``YYYY-MM-DD``, given and never read from a clock, because the check is pure. ``approved`` is the digest
    a person approved, once one did.
    """

    agent: str
    tool: str
    arguments: Mapping[str, JsonValue]
    run: str
    step: int
    day: str
    undoes: int | None = None
    approved: str | None = None


class Hit(Wire):
    """One rule that had something to say: its id, what it asks for, why in words, and where it is written."""

    rule: str
    effect: Verdict
    why: str
    origin: Origin = Origin()


class Decision(Wire):
    """The verdict, every rule behind it in file order, and what it was decided with.

    ``rulebook`` is the hash of the rulebook, ``semantics`` the number of the check's meaning, which never changes
    once released. ``digest`` binds tool, canonical arguments, step and rulebook: it is what a person approves.
    """

    verdict: Verdict
    hits: tuple[Hit, ...] = ()
    rulebook: str
    semantics: int = 1
    digest: str
