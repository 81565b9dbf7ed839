"""The ``when`` of a rule: a mapping of conditions that must all hold."""

from collections.abc import Collection, Sequence

from ..contract.mistakes import nearest
from ..contract.tool import ToolContract
from .comparisons import COMPARISONS, Comparison, NotExact, comparison
from .conditions import AllOf, AnyOf, Condition, FactHolds, Not
from .sheet_entry import Entry

__all__ = ["read_fact", "read_when"]

_MAPPING = "conditions are a mapping, such as {amount_over: 200, not_fact: supervisor_approved}"


def read_when(entry: Entry, tools: Sequence[ToolContract], facts: Collection[str] | None) -> Condition:
    """Read the conditions of a rule about these tools.

    Raises:
        FileMistake: a condition is unknown, or has no exact meaning for one of the tools.
    """
    parts = [_condition(key, each, tools, facts) for key, each in entry.open_mapping(_MAPPING).items()]
    return parts[0] if len(parts) == 1 else AllOf(parts=tuple(parts))


def read_fact(entry: Entry, facts: Collection[str] | None) -> str:
    """Return the name of a fact.

    Raises:
        FileMistake: it is no name, or the facts are listed and it is not among them.
    """
    name = entry.text("a fact is a name, such as card_on_file")
    if not name.isidentifier():
        raise entry.mistake(f"a fact is a name of letters, digits and underscores, not {name!r}")
    if facts is not None and name not in facts:
        raise entry.mistake(f"the facts list has no {name}", nearest(name, facts))
    return name


def _condition(key: str, entry: Entry, tools: Sequence[ToolContract], facts: Collection[str] | None) -> Condition:
    match key:
        case "fact":
            return FactHolds(fact=read_fact(entry, facts))
        case "not_fact":
            return Not(part=FactHolds(fact=read_fact(entry, facts)))
        case "not":
            return Not(part=read_when(entry, tools, facts))
        case "all" | "any":
            parts = [read_when(each, tools, facts) for each in entry.items(f"{key} is a list of conditions")]
            if not parts:
                raise entry.mistake(f"{key} is a list of at least one condition")
            return AllOf(parts=tuple(parts)) if key == "all" else AnyOf(parts=tuple(parts))
    name, op = _name_and_comparison(key, entry, tools)
    try:
        return comparison(name, op, entry.value, tools)
    except NotExact as error:
        raise entry.not_exact(error) from None


def _name_and_comparison(key: str, entry: Entry, tools: Sequence[ToolContract]) -> tuple[str, Comparison]:
    """Split ``amount_at_least``. An argument's own name may end like a comparison: the longest real name is meant."""
    splits = [(key.removesuffix(f"_{op}"), op) for op in COMPARISONS if key.endswith(f"_{op}")]
    names = {parameter.name for tool in tools for parameter in tool.parameters}
    real = [split for split in splits if split[0] in names]
    if real:
        return max(real, key=lambda split: len(split[0]))
    if splits:
        name = min((name for name, _ in splits), key=len)
        about = ", ".join(tool.name for tool in tools) if len(tools) <= 3 else "any of these tools"
        raise entry.mistake(f"{about} has no argument {name}", nearest(name, names))
    forms = ", ".join(f"<argument>_{op}" for op in COMPARISONS)
    raise entry.mistake(
        f"{key} is no condition; the conditions are {forms}, fact, not_fact, all, any and not",
        nearest(key, [*(f"{name}_{op}" for name in names for op in COMPARISONS), "fact", "not_fact"]),
    )
