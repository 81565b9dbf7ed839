"""One rule of a sheet, read into one typed rule for each effect it states."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple, TypeAlias, get_args

from pydantic import TypeAdapter

from ..contract.mistakes import nearest
from ..contract.tool import ToolContract
from .amounts import exact_number
from .comparisons import NotExact, parameter_of, worth
from .effects import ANY_TOOL, RESERVED_IDS, Period, Rule
from .sheet_conditions import read_fact, read_when
from .sheet_entry import Entry

__all__ = ["Known", "read_rule"]

_EFFECTS = ("requires", "requires_confirmation", "never", "after", "not_after", "at_most")
_KEYS = ("id", "action", "when", *_EFFECTS, "same", "say")
_PERIODS: tuple[str, ...] = get_args(Period)
_LONGEST_ID = 80
_RULE: TypeAdapter[Rule] = TypeAdapter(Rule)

Stated: TypeAlias = dict[str, object]


class Known(NamedTuple):
    """What a rule may name: the tools, and the facts when any file lists them."""

    tools: Mapping[str, ToolContract]
    facts: Collection[str] | None


def read_rule(entry: Entry, number: int, known: Known) -> list[Rule]:
    """Read one entry of ``rules``, the ``number``-th of its sheet, into its effects in the order they are written.

    Raises:
        FileMistake: something in it is not exact.
    """
    said = entry.mapping(_KEYS, "a rule is a mapping with an action and at least one effect")
    effects = [key for key in said if key in _EFFECTS]
    if "action" not in said:
        raise entry.mistake("the rule has no action: the tool it is about, a list of tools, or '*'")
    if not effects:
        raise entry.mistake(f"the rule has no effect; it needs one of {', '.join(_EFFECTS)}")
    if "same" in said and "after" not in said:
        raise said["same"].mistake("same belongs to after: it names the arguments that must be equal")
    actions = _actions(said["action"], known)
    concerned = list(known.tools.values()) if ANY_TOOL in actions else [known.tools[name] for name in actions]
    shared: Stated = {"id": _rule_id(said.get("id"), entry, number), "actions": actions, "origin": entry.origin}
    if "when" in said:
        shared["when"] = read_when(said["when"], concerned, known.facts)
    if "say" in said:
        shared["say"] = said["say"].text("say is the sentence a person reads")
    return [_RULE.validate_python({**shared, **_effect(key, said, concerned, known)}) for key in effects]


def _rule_id(entry: Entry | None, rule: Entry, number: int) -> str:
    if entry is None:
        return f"{PurePath(rule.origin.file).stem}-{number}"
    said = entry.text("an id is a short text, such as large-charge")
    if len(said) > _LONGEST_ID:
        raise entry.mistake(f"an id has at most {_LONGEST_ID} characters")
    if said in RESERVED_IDS:
        raise entry.mistake(f"the id {said} is what the check calls its own decisions; choose another")
    return said


def _actions(entry: Entry, known: Known) -> tuple[str, ...]:
    if entry.value == ANY_TOOL:
        return (ANY_TOOL,)
    return _tool_names(entry, known)


def _tool_names(entry: Entry, known: Known) -> tuple[str, ...]:
    names: list[str] = []
    for each in entry.one_or_more("the list names no tool"):
        name = each.text("a tool's name is wanted here")
        if name not in known.tools:
            raise each.mistake(f"there is no tool {name}", nearest(name, known.tools))
        if name in names:
            raise each.mistake(f"{name} is named twice")
        names.append(name)
    return tuple(names)


def _effect(key: str, said: Mapping[str, Entry], concerned: Sequence[ToolContract], known: Known) -> Stated:
    entry = said[key]
    match key:
        case "requires":
            facts = [read_fact(each, known.facts) for each in entry.one_or_more("the list names no fact")]
            return {"effect": "requires", "facts": facts}
        case "requires_confirmation":
            wanted = entry.truth("requires_confirmation is true, or false for a write that needs none")
            return {"effect": "confirm" if wanted else "unconfirmed"}
        case "never":
            if entry.value is not True:
                raise entry.mistake("never is true; leave it out otherwise")
            return {"effect": "never"}
        case "after":
            before = _tool_names(entry, known)
            compared = [*concerned, *(known.tools[name] for name in before)]
            return {"effect": "after", "tools": before, "same": _same(said.get("same"), compared)}
        case "not_after":
            return {"effect": "not_after", "tools": _tool_names(entry, known)}
        case _:
            return {"effect": "at_most", **_cap(entry, concerned)}


def _same(entry: Entry | None, tools: Sequence[ToolContract]) -> tuple[str, ...]:
    names: list[str] = []
    for each in entry.one_or_more("the list names no argument") if entry else ():
        name = each.text("an argument's name is wanted here")
        for tool in tools:
            try:
                parameter = parameter_of(tool, name)
            except NotExact as error:
                raise each.not_exact(error) from None
            if worth(parameter) is None:
                raise each.mistake(f"{name} of {tool.name} is a list or an object, and has no one value to compare")
        names.append(name)
    return tuple(names)


def _cap(entry: Entry, concerned: Sequence[ToolContract]) -> Stated:
    if not isinstance(entry.value, dict):
        return {"calls": _whole_number(entry)}
    said = entry.mapping(("calls", "total", "limit", "per"), "a cap is a number of calls, or total with limit")
    if "calls" not in said and "total" not in said:
        raise entry.mistake("a cap says calls, or total with limit")
    if ("total" in said) != ("limit" in said):
        raise entry.mistake("a total and its limit are given together")
    cap: Stated = {}
    if "calls" in said:
        cap["calls"] = _whole_number(said["calls"])
    if "total" in said:
        cap["total"] = _summed_argument(said["total"], concerned)
        cap["limit"] = limit = None if isinstance(said["limit"].value, str) else exact_number(said["limit"].value)
        if limit is None or limit < 0:
            raise said["limit"].mistake("limit is a number, 0 or more")
        cap["actions"] = tuple(tool.name for tool in concerned)
    if "per" in said:
        cap["per"] = per = said["per"].text(f"per is one of {', '.join(_PERIODS)}")
        if per not in _PERIODS:
            raise said["per"].mistake(f"per is one of {', '.join(_PERIODS)}, not {per}", nearest(per, _PERIODS))
    return cap


def _summed_argument(entry: Entry, concerned: Sequence[ToolContract]) -> str:
    name = entry.text("total names the argument to add up")
    for tool in concerned:
        try:
            parameter = parameter_of(tool, name)
        except NotExact as error:
            raise entry.not_exact(error) from None
        if worth(parameter) != "number":
            raise entry.mistake(f"{name} of {tool.name} is not a number, and cannot be added up")
    return name


def _whole_number(entry: Entry) -> int:
    if type(entry.value) is not int or entry.value < 0:
        raise entry.mistake("a number of calls is a whole number, 0 or more")
    return entry.value
