"""From rule files to the rulebook that is pinned to runs. Load time only: this reads files, and brings in lark."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.tool import Origin, ToolContract
from .colang import read_colang
from .effects import Rule
from .rules import Rulebook
from .sheet import Sheet, read_sheet
from .tool_words import rules_of_words

__all__ = ["RuleFile", "build_rulebook", "load_rulebook"]

_SHEETS = (".yaml", ".yml")
_FLOWS = (".co",)


class RuleFile(NamedTuple):
    """A rule file that was read: its name for messages, whose ending says what it holds, and its text."""

    name: str
    text: str


def load_rulebook(
    paths: Iterable[Path], *, tools: Mapping[str, ToolContract], facts: Collection[str] | None = None
) -> Rulebook:
    """Read rule files and join them with what the tools themselves declare.

    Args:
        paths: YAML sheets (``.yaml``, ``.yml``) and Colang files (``.co``).
        tools: every tool of every agent, by name.
        facts: facts that the agent file lists; None when it lists none.

    Raises:
        FileMistakes: a file cannot be read, or something in one is wrong.
    """
    files: list[RuleFile] = []
    for path in paths:
        try:
            files.append(RuleFile(str(path), path.read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise FileMistakes([FileMistake(f"cannot be read: {said}", Origin(file=str(path)))]) from error
    return build_rulebook(files, tools=tools, facts=facts)


def build_rulebook(
    files: Iterable[RuleFile], *, tools: Mapping[str, ToolContract], facts: Collection[str] | None = None
) -> Rulebook:
    """Do the same with files that were read already.

    The sheets are read first, because the facts they list hold for the flows too. The rules keep this order: those of
    the tools' own words, then file by file as given.

    Raises:
        FileMistakes: something is wrong with a file.
    """
    mistakes: list[FileMistake] = []
    files = tuple(files)
    sheets: dict[str, Sheet] = {}
    known = None if facts is None else tuple(facts)
    for file in files:
        ending = Path(file.name).suffix
        if ending not in (*_SHEETS, *_FLOWS):
            place = Origin(file=file.name)
            mistakes.append(FileMistake("a rule file is a .yaml sheet or a .co file of flows", place))
        elif ending in _SHEETS:
            try:
                sheet = sheets[file.name] = read_sheet(file.text, file=file.name, tools=tools, facts=known)
            except FileMistakes as found:
                mistakes.extend(found.mistakes)
            else:
                known = known if sheet.facts is None else (*(known or ()), *sheet.facts)
    rules: list[Rule] = []
    for file in files:
        if file.name in sheets:
            rules.extend(sheets[file.name].rules)
        elif Path(file.name).suffix in _FLOWS:
            try:
                rules.extend(read_colang(file.text, file=file.name, tools=tools, facts=known))
            except FileMistakes as found:
                mistakes.extend(found.mistakes)
    mistakes.extend(_repeated_ids(rules))
    if mistakes:
        raise FileMistakes(mistakes)
    return Rulebook(
        rules=(*rules_of_words(tools), *rules),
        facts=None if known is None else tuple(dict.fromkeys(known)),
        confirm_writes=all(sheet.confirm_writes is not False for sheet in sheets.values()),
    )


def _repeated_ids(rules: Iterable[Rule]) -> list[FileMistake]:
    """Find ids that two rules of the files share. The effects of one rule share its id and its place."""
    first: dict[str, Origin] = {}
    mistakes: dict[tuple[str, int], FileMistake] = {}
    for rule in rules:
        other = first.setdefault(rule.id, rule.origin)
        is_same_flow = rule.origin.file == other.file and rule.origin.file.endswith(_FLOWS)
        if rule.origin != other and not is_same_flow:
            place = (rule.origin.file, rule.origin.line)
            mistakes[place] = FileMistake(f"the id {rule.id} is taken by the rule at {other}", rule.origin)
    return list(mistakes.values())
