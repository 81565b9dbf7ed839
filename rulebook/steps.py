"""What is known of each step number, kept small: a session may have ten thousand steps.

Step numbers of a session go up one by one, and nearly all of them end as *live* (ran, not undone). So the steps seen,
and those that stand otherwise, are kept as ranges: a long session without trouble is one range.
"""

from bisect import bisect_right
from typing import Literal

from ..contract.record import CallEvent

__all__ = ["Standing", "StepBook", "StepRanges", "standing_of"]

Standing = Literal["new", "open", "live", "undone", "void"]
"""`open`: sent, and not known to have run. `void`: it had no effect and counts for nothing."""


def standing_of(event: CallEvent) -> Standing:
    """Return what a call event says of its step."""
    match event.outcome:
        case "ran":
            return "undone" if event.undone else "live"
        case "in_flight" | "unknown":
            return "open"
        case "failed" | "declined" | "refused":
            return "void"


class StepRanges:
    """A set of step numbers, held as ranges and written as text: ``1-4,6,8-9000``."""

    __slots__ = ("_highs", "_lows")

    def __init__(self, text: str = "") -> None:
        self._lows: list[int] = []
        self._highs: list[int] = []
        for part in filter(None, text.split(",")):
            low, _, high = part.partition("-")
            self._lows.append(int(low))
            self._highs.append(int(high or low))

    def __contains__(self, step: int) -> bool:
        at = bisect_right(self._lows, step) - 1
        return at >= 0 and step <= self._highs[at]

    def __str__(self) -> str:
        return ",".join(
            str(low) if low == high else f"{low}-{high}" for low, high in zip(self._lows, self._highs, strict=True)
        )

    def add(self, step: int) -> None:
        """Put ``step`` into the set."""
        if step in self:
            return
        lows, highs = self._lows, self._highs
        at = bisect_right(lows, step)
        joins_left = at > 0 and highs[at - 1] == step - 1
        joins_right = at < len(lows) and lows[at] == step + 1
        if joins_left and joins_right:
            highs[at - 1] = highs[at]
            del lows[at], highs[at]
        elif joins_left:
            highs[at - 1] = step
        elif joins_right:
            lows[at] = step
        else:
            lows.insert(at, step)
            highs.insert(at, step)

    def discard(self, step: int) -> None:
        """Take ``step`` out of the set, if it is there."""
        if step not in self:
            return
        lows, highs = self._lows, self._highs
        at = bisect_right(lows, step) - 1
        low, high = lows[at], highs[at]
        kept = [(a, b) for a, b in ((low, step - 1), (step + 1, high)) if a <= b]
        lows[at : at + 1] = [a for a, _ in kept]
        highs[at : at + 1] = [b for _, b in kept]


class StepBook:
    """The standing of every step seen so far, by step number."""

    __slots__ = ("opened", "seen", "undone", "void")

    def __init__(self, *, seen: str = "", opened: str = "", undone: str = "", void: str = "") -> None:
        self.seen = StepRanges(seen)
        self.opened = StepRanges(opened)
        self.undone = StepRanges(undone)
        self.void = StepRanges(void)

    def standing(self, step: int) -> Standing:
        """Return what is known of ``step``; ``new`` when nothing is."""
        if step not in self.seen:
            return "new"
        if step in self.opened:
            return "open"
        if step in self.undone:
            return "undone"
        return "void" if step in self.void else "live"

    def set(self, step: int, standing: Standing) -> None:
        """Note the standing of ``step``."""
        self.seen.add(step)
        for name, members in (("open", self.opened), ("undone", self.undone), ("void", self.void)):
            if name == standing:
                members.add(step)
            else:
                members.discard(step)
