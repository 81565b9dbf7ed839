"""Whether one condition always holds when another does, for the calls of one tool."""

from ..contract.tool import ToolContract
from .conditions import Condition, Not
from .facts import find_facts
from .options import Demand, options_of

__all__ = ["can_hold", "implies"]


def implies(tool: ToolContract, condition: Condition | None, other: Condition | None) -> bool:
    """Whether ``other`` holds in every call of ``tool`` in which ``condition`` holds; None always holds.

    False when it is not known, because there are too many cases to go through.
    """
    if other is None:
        return True
    return not can_hold(tool, [True if condition is None else condition, Not(part=other)])


def can_hold(tool: ToolContract, demands: list[Demand]) -> bool:
    """Whether some facts and some arguments meet all the demands; True also when that is not known."""
    return find_facts([options_of(tool, demands)]) is not None
