"""Typed rules: plain frozen data that a run carries in its input, and that says what a call may do (SPEC 3.3, 3.5).

A rule concerns one or more tools (its ``actions``), may hold only under a condition (``when``), and has one effect. A
list of actions is shorthand for the same rule on each of them; ``*`` is every tool. The sheet, the Colang reader and
the tool words of ``agent.yaml`` all end here, so that there is one meaning whatever the spelling.
"""

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from ..contract.canonical import sha256
from ..contract.model import Wire
from ..contract.tool import Origin

__all__ = [
    "ANY_TOOL",
    "RESERVED_IDS",
    "SEMANTICS",
    "After",
    "AllOf",
    "AnyOf",
    "AtMost",
    "Condition",
    "Confirm",
    "ConfirmAfter",
    "FactHolds",
    "FlagIs",
    "Never",
    "Not",
    "NotAfter",
    "NumberIs",
    "Period",
    "Requires",
    "Rule",
    "Rulebook",
    "TextIs",
    "Unconfirmed",
]

SEMANTICS = 1
"""The number of the check's meaning. A released number keeps its meaning for ever; a new meaning gets a new one."""

ANY_TOOL = "*"

RESERVED_IDS = frozenset({"listed", "arguments", "writes", "outside", "undo"})
"""Ids of what the check itself says, which no rule of a file may take."""

Period = Literal["run", "session", "day", "user_day", "all_day"]
"""What a cap counts over. The last two cross sessions, so the room is taken from a ledger before the check."""


class NumberIs(Wire):
    """A number compared exactly: ``over`` excludes the bound, ``at_least`` includes it; ``in`` takes several values."""

    kind: Literal["number"] = "number"
    argument: str
    op: Literal["over", "under", "at_least", "at_most", "in", "not_in"]
    values: tuple[Decimal, ...] = Field(min_length=1)


class TextIs(Wire):
    """A text argument that is, or is not, one of the given texts. Compared whole and case by case, in Unicode NFC."""

    kind: Literal["text"] = "text"
    argument: str
    op: Literal["in", "not_in"]
    values: tuple[str, ...] = Field(min_length=1)

    @field_validator("values")
    @classmethod
    def _one_spelling(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(unicodedata.normalize("NFC", value) for value in values)


class FlagIs(Wire):
    """A boolean argument that is true, or false."""

    kind: Literal["flag"] = "flag"
    argument: str
    value: bool


class FactHolds(Wire):
    """A fact the host gave as ``True``. Any other value, and no value, does not hold."""

    kind: Literal["fact"] = "fact"
    fact: str


class AllOf(Wire):
    """Every part holds."""

    kind: Literal["all"] = "all"
    parts: tuple["Condition", ...] = Field(min_length=1)


class AnyOf(Wire):
    """At least one part holds."""

    kind: Literal["any"] = "any"
    parts: tuple["Condition", ...] = Field(min_length=1)


class Not(Wire):
    """The part does not hold. The denial of what is unknown is unknown."""

    kind: Literal["not"] = "not"
    part: "Condition"


Condition = Annotated[
    NumberIs | TextIs | FlagIs | FactHolds | AllOf | AnyOf | Not,
    Field(discriminator="kind"),
]


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


class Rulebook(Wire):
    """The rules of an agent file, as pinned to a run when it starts (SPEC 3.5).

    ``facts`` are the facts the host may give, or None when no file lists them. ``confirm_writes`` False lets writes run
    without a person unless a rule asks for one.
    """

    rules: tuple[Rule, ...] = ()
    facts: tuple[str, ...] | None = None
    confirm_writes: bool = True
    semantics: int = SEMANTICS

    @cached_property
    def hash(self) -> str:
        """SHA-256 of what the rules mean and say. The place where a rule is written does not count."""
        return sha256(_without_origin(self.model_dump()))

    @cached_property
    def _by_tool(self) -> Mapping[str, tuple[Rule, ...]]:
        named = {tool for rule in self.rules for tool in rule.actions}
        return {
            tool: tuple(rule for rule in self.rules if tool in rule.actions or ANY_TOOL in rule.actions)
            for tool in named | {ANY_TOOL}
        }

    def of(self, tool: str) -> tuple[Rule, ...]:
        """The rules that concern ``tool``, in file order."""
        by_tool = self._by_tool
        return by_tool.get(tool) or by_tool[ANY_TOOL]


def _without_origin(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_origin(item) for key, item in value.items() if key != "origin"}
    if isinstance(value, list | tuple):
        return [_without_origin(item) for item in value]
    return value
