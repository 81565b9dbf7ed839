"""The rulebook: every rule of an agent file, as plain frozen data that a run carries in its input (SPEC 3.5)."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from ..contract.canonical import sha256
from .conditions import AllOf, AnyOf, Condition, FactHolds, FlagIs, Not, NumberIs, Test, TextIs
from .derived import Derived
from .effects import (
    ANY_TOOL,
    RESERVED_IDS,
    After,
    AtMost,
    Confirm,
    ConfirmAfter,
    Never,
    NotAfter,
    Period,
    Requires,
    Rule,
    Unconfirmed,
)
from .rulings import Ruling, ruling_of, waiver_of

__all__ = [
    "ANY_TOOL", "RESERVED_IDS", "SEMANTICS",
    "After", "AllOf", "AnyOf", "AtMost", "Condition", "Confirm", "ConfirmAfter", "FactHolds", "FlagIs", "Never", "Not",
    "NotAfter", "NumberIs", "Period", "Requires", "Rule", "Rulebook", "TextIs", "ToolRules", "Unconfirmed",
]  # fmt: skip

SEMANTICS = 1
"""The number of the check's meaning. A released number keeps its meaning for ever; a new meaning gets a new one."""


class ToolRules(NamedTuple):
    """The rules that concern one tool, made ready: what each says of a call, and what waives the confirmation."""

    rulings: tuple[Ruling, ...]
    waivers: tuple[Test, ...]


class Rulebook(Derived):
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

    def of(self, tool: str) -> tuple[Rule, ...]:
        """The rules that concern ``tool``, in file order."""
        return tuple(rule for rule in self.rules if tool in rule.actions or ANY_TOOL in rule.actions)

    @cached_property
    def totals(self) -> tuple[tuple[str, str], ...]:
        """The totals its caps ask for: tool and argument."""
        caps = [rule for rule in self.rules if isinstance(rule, AtMost)]
        return tuple((tool, rule.total) for rule in caps if rule.total is not None for tool in rule.actions)

    @cached_property
    def compared(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The values its order rules compare: tool, and names of arguments."""
        orders = [rule for rule in self.rules if isinstance(rule, After)]
        return tuple((tool, rule.same) for rule in orders if rule.same for tool in rule.tools)

    def ready(self, tool: str) -> ToolRules:
        """The same rules, made ready for the check; made once for each tool that has rules of its own."""
        return self._ready.get(tool) or self._ready[ANY_TOOL]

    @cached_property
    def _ready(self) -> Mapping[str, ToolRules]:
        named = {tool for rule in self.rules for tool in rule.actions}
        return {tool: _made_ready(self.of(tool)) for tool in named | {ANY_TOOL}}


def _made_ready(rules: tuple[Rule, ...]) -> ToolRules:
    return ToolRules(
        rulings=tuple(ruling_of(rule) for rule in rules if not isinstance(rule, Unconfirmed)),
        waivers=tuple(waiver_of(rule) for rule in rules if isinstance(rule, Unconfirmed)),
    )


def _without_origin(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_origin(item) for key, item in value.items() if key != "origin"}
    if isinstance(value, list | tuple):
        return [_without_origin(item) for item in value]
    return value
