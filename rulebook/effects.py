"""Typed rules: what each one asks of a call (SPEC 3.3).

A rule concerns one or more tools (its ``actions``), may hold only under a condition (``when``), and has one effect. A
list of actions is shorthand for the same rule on each of them; ``*`` is every tool. The sheet, the Colang reader and
the tool words of ``agent.yaml`` all end here, so that there is one meaning whatever the spelling.
"""

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ..contract.model import Wire
from ..contract.tool import Origin
from .conditions import Condition

__all__ = [
    "ANY_TOOL", "RESERVED_IDS", "After", "AtMost", "Confirm", "ConfirmAfter", "Never", "NotAfter", "Period",
    "Requires", "Rule", "Unconfirmed",
]  # fmt: skip

ANY_TOOL = "*"

RESERVED_IDS = frozenset({"listed", "arguments", "writes", "outside", "undo"})
"""Ids of what the check itself says, which no rule of a file may take."""

Period = Literal["run", "session", "day", "user_day", "all_day"]
"""What a cap counts over. The last two cross sessions, so the room is taken from a ledger before the check."""


class _Ruled(Wire):
    """What every rule says: its id, the tools it concerns, when it applies, the words for the person, its place."""

    id: str
    actions: tuple[str, ...] = Field(min_length=1)
    when: Condition | None = None
    say: str = ""
    origin: Origin = Origin()


class Requires(_Ruled):
    """Refuse unless the host gave every one of these facts as ``True``."""

    effect: Literal["requires"] = "requires"
    facts: tuple[str, ...] = Field(min_length=1)


class Confirm(_Ruled):
    """A person confirms the call."""

    effect: Literal["confirm"] = "confirm"


class Unconfirmed(_Ruled):
    """A stated class of write that needs no confirmation (SPEC 3.2). Other rules may still ask for one."""

    effect: Literal["unconfirmed"] = "unconfirmed"


class Never(_Ruled):
    """Refuse."""

    effect: Literal["never"] = "never"


class After(_Ruled):
    """Refuse until each of these tools ran, was not undone, and (``same``) had the same values for these arguments."""

    effect: Literal["after"] = "after"
    tools: tuple[str, ...] = Field(min_length=1)
    same: tuple[str, ...] = ()


class NotAfter(_Ruled):
    """Refuse once any of these tools was sent, whatever became of it."""

    effect: Literal["not_after"] = "not_after"
    tools: tuple[str, ...] = Field(min_length=1)


class ConfirmAfter(_Ruled):
    """A person confirms the call once any of these tools was sent."""

    effect: Literal["confirm_after"] = "confirm_after"
    tools: tuple[str, ...] = Field(min_length=1)


class AtMost(_Ruled):
    """Refuse past a number of calls, or past a total of one argument, of the tool itself, over a period.

    ``calls`` counts this call too; so does ``limit``, the largest total of ``total`` (an argument) still allowed. What
    ``when`` leaves out is not refused, but every call of the tool counts.
    """

    effect: Literal["at_most"] = "at_most"
    calls: int | None = Field(default=None, ge=0)
    total: str | None = None
    limit: Decimal | None = Field(default=None, ge=0)
    per: Period = "session"

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.calls is None and self.total is None:
            raise ValueError("a cap is a number of calls, or the total of an argument with its limit")
        if (self.total is None) != (self.limit is None):
            raise ValueError("a total and its limit are given together")
        if self.total is not None and ANY_TOOL in self.actions:
            raise ValueError("a total names the tools whose argument it adds up")
        return self


Rule = Annotated[
    Requires | Confirm | Unconfirmed | Never | After | NotAfter | ConfirmAfter | AtMost,
    Field(discriminator="effect"),
]
