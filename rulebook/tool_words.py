"""The order and cap words of a tool's own declaration, as rules like those of a file (SPEC 1.2, 3.3).

``after``, ``not_after`` and ``at_most`` of a tool are the rules of the same name. ``reads_outside`` and ``sends_out``
make one rule together: after a tool that reads what outsiders wrote, a tool that sends something out is confirmed by a
person, whatever else the rulebook waives.
"""

from collections.abc import Mapping

from ..contract.mistakes import FileMistake, FileMistakes, nearest
from ..contract.tool import ToolContract
from .effects import After, AtMost, ConfirmAfter, NotAfter, Rule

__all__ = ["rules_of_words"]


def rules_of_words(tools: Mapping[str, ToolContract]) -> tuple[Rule, ...]:
    """Return the rules that the declarations of these tools state, tool by tool.

    Raises:
        FileMistakes: a declaration names a tool that is not among them.
    """
    mistakes = [
        FileMistake(f"{word} of {tool.name} names {name}, and there is no such tool", tool.origin, nearest(name, tools))
        for tool in tools.values()
        for word, names in (("after", tool.after), ("not_after", tool.not_after))
        for name in names
        if name not in tools
    ]
    if mistakes:
        raise FileMistakes(mistakes)
    outside = tuple(tool.name for tool in tools.values() if tool.reads_outside)
    return tuple(rule for tool in tools.values() for rule in _rules(tool, outside))


def _rules(tool: ToolContract, outside: tuple[str, ...]) -> list[Rule]:
    on = {"actions": (tool.name,), "origin": tool.origin}
    rules: list[Rule] = []
    if tool.after:
        rules.append(After.model_validate({"id": f"{tool.name}.after", **on, "tools": tool.after}))
    if tool.not_after:
        rules.append(NotAfter.model_validate({"id": f"{tool.name}.not_after", **on, "tools": tool.not_after}))
    if tool.at_most is not None:
        rules.append(AtMost.model_validate({"id": f"{tool.name}.at_most", **on, "calls": tool.at_most}))
    if tool.sends_out and outside:
        rules.append(ConfirmAfter.model_validate({"id": "outside", **on, "tools": outside}))
    return rules
