"""The rule sheet: rules in YAML, read into typed rules, each mistake with its line (SPEC 3.3)."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.tool import ToolContract
from ..contract.yaml12 import load_yaml
from .effects import Rule
from .sheet_conditions import read_fact
from .sheet_entry import Entry
from .sheet_rule import Known, read_rule

__all__ = ["Sheet", "read_sheet"]


class Sheet(NamedTuple):
    """What a rule file states. ``facts`` None: it lists none; ``confirm_writes`` None: it does not say."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[str, ...] | None = None
    confirm_writes: bool | None = None


def read_sheet(
    text: str, *, file: str, tools: Mapping[str, ToolContract], facts: Collection[str] | None = None
) -> Sheet:
    """Read a rule sheet.

    Args:
        text: the YAML.
        file: what to call it in messages.
        tools: every tool a rule may name.
        facts: the facts that other files list; None when none does. A list in this sheet adds to them.

    Raises:
        FileMistakes: what is wrong with it; of each rule its first mistake.
    """
    mistakes: list[FileMistake] = []
    try:
        document = load_yaml(text, file=file)
        top = Entry(document.value, (), document.places)
        said = top.mapping(("rules", "facts", "confirm_writes"), "a rule sheet is a mapping with the key rules")
        if "rules" not in said:
            raise top.mistake("a rule sheet has the key rules: a list, one entry for each rule")
        own = _listed_facts(said["facts"]) if "facts" in said else None
        confirm = said["confirm_writes"].truth("confirm_writes is true or false") if "confirm_writes" in said else None
        entries = said["rules"].items("rules is a list, one entry for each rule")
    except FileMistake as mistake:
        raise FileMistakes([mistake]) from None
    listed = None if facts is None and own is None else (*(facts or ()), *(own or ()))
    known = Known(tools, listed)
    rules: list[Rule] = []
    for number, entry in enumerate(entries, 1):
        try:
            rules.extend(read_rule(entry, number, known))
        except FileMistake as mistake:
            mistakes.append(mistake)
    if mistakes:
        raise FileMistakes(mistakes)
    return Sheet(tuple(rules), own, confirm)


def _listed_facts(entry: Entry) -> tuple[str, ...]:
    names: list[str] = []
    for each in entry.items("facts is a list of names"):
        name = read_fact(each, None)
        if name in names:
            raise each.mistake(f"the fact {name} is listed twice")
        names.append(name)
    return tuple(names)
