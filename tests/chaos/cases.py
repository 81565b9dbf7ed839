"""Random runs: their calls, what goes wrong, what people say and when somebody stops them. All of a seed."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from amends.contract.question import AnswerWord
from amends.testing.target import Fault

__all__ = ["KINDS", "READS", "Case", "Halt", "Kind", "PlannedCall", "make_case"]


@dataclass(frozen=True)
class Kind:
    """What the bank's agent says of a tool: whether it writes, is safe to repeat, can be asked about; and its undo."""

    writes: bool = True
    safe: bool = False
    asked: bool = False
    undo: str = ""


KINDS: Mapping[str, Kind] = {
    "look": Kind(writes=False, safe=True),
    "find": Kind(writes=False, safe=True),
    "pay": Kind(undo="repay"),
    "repay": Kind(),
    "book": Kind(safe=True, undo="unbook"),
    "unbook": Kind(safe=True),
    "ship": Kind(undo="recall"),
    "recall": Kind(safe=True),
    "hold": Kind(safe=True, undo="release"),
    "release": Kind(),
    "mail": Kind(),
    "note": Kind(safe=True),
    "wire": Kind(asked=True, undo="unwire"),
    "unwire": Kind(asked=True),
}
READS = frozenset(tool for tool, kind in KINDS.items() if not kind.writes)

_FORWARD = ("look", "pay", "pay", "book", "ship", "hold", "mail", "note", "wire")
_HARMLESS: tuple[Fault, ...] = ("slow",)
_DEFINITE: tuple[Fault, ...] = ("raise", "refuse", "not sent")
_DOUBT: tuple[Fault, ...] = (
    "time out",
    "commit, time out",
    "commit, raise",
    "hang",
    "commit, hang",
    "late",
    "late raise",
)
_ODD: tuple[Fault, ...] = ("junk",)
_DEADLY: tuple[Fault, ...] = ("die", "commit, die")


@dataclass(frozen=True)
class PlannedCall:
    """One call: a tool, and the account it is about, which no other call of any run has."""

    tool: str
    account: str


@dataclass(frozen=True)
class Halt:
    """When and how a run is stopped: so many seconds after so many questions were seen; by a person, or by Temporal."""

    how: Literal["stop", "cancel"]
    after: int
    delay: float


@dataclass(frozen=True)
class Case:
    """One random run. ``confirm`` and ``undo`` are what people say in turn; ``noise`` whether they say too much."""

    name: str
    calls: tuple[PlannedCall, ...]
    faults: Mapping[tuple[str, str], tuple[str, ...]]
    confirm: tuple[AnswerWord, ...]
    undo: tuple[AnswerWord, ...]
    noise: bool
    halt: Halt | None

    @property
    def turn(self) -> str:
        """The turn as the plain selector reads it."""
        return "; ".join(f"{call.tool}(account={call.account})" for call in self.calls)


def make_case(seed: str, number: int, *, deadly: bool) -> Case:
    """Return the run of a seed; ``deadly`` lets tools kill the worker they run in."""
    dice = random.Random(f"{seed}/{number}")
    name = f"{seed}-{number}"
    calls = tuple(
        PlannedCall(dice.choice(_FORWARD), f"{name}-{position}") for position in range(1, dice.randint(1, 5) + 1)
    )
    faults: dict[tuple[str, str], tuple[str, ...]] = {}
    for call in calls:
        kind = KINDS[call.tool]
        faults[call.tool, call.account] = _faults(dice, most=3, bad=0.3, deadly=deadly)
        if kind.undo:
            faults[kind.undo, call.account] = _faults(dice, most=6, bad=0.4, deadly=deadly, undo=True)
        if kind.asked:
            faults["find", call.account] = _faults(dice, most=4, bad=0.2, deadly=deadly)
    # Most runs are to fail late, because rollbacks are what this is about.
    if dice.random() < 0.6:
        last = calls[-1]
        faults[last.tool, last.account] = (dice.choice(("raise", "refuse", "commit, time out")),)
    words: tuple[AnswerWord, ...] = ("approve",) * 12 + ("skip", "cancel all")
    undo: tuple[AnswerWord, ...] = ("retry", "retry", "done by hand", "abandon")
    halt = Halt(dice.choice(("stop", "cancel")), dice.randint(0, 4), dice.choice((0.0, 0.05, 0.3, 1.0)))
    return Case(
        name=name,
        calls=calls,
        faults=faults,
        confirm=tuple(dice.choice(words) for _ in calls),
        undo=tuple(dice.choice(undo) for _ in range(20)),
        noise=dice.random() < 0.5,
        halt=halt if dice.random() < 0.3 else None,
    )


def _faults(dice: random.Random, *, most: int, bad: float, deadly: bool, undo: bool = False) -> tuple[str, ...]:
    kinds = [*_HARMLESS, *_DEFINITE, *_DOUBT, *(() if undo else _ODD), *(_DEADLY * 2 if deadly else ())]
    if undo and dice.random() < 0.25:
        # Four failures in a row are what it takes to be stuck.
        return ("raise",) * dice.choice((4, 4, 8))
    return tuple(dice.choice(kinds) if dice.random() < bad else "" for _ in range(dice.randint(1, most)))
