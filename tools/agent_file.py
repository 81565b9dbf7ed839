"""``agent.yaml``: what a person may write in it, read into frozen models with a line for every mistake (SPEC 1.4)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from ..contract.durations import read_duration
from ..contract.mistakes import FileMistake, FileMistakes
from ..contract.model import Stated
from ..contract.proof import ProofKey
from ..contract.question import Expiry, OnExpiry
from ..contract.reading import Language
from ..contract.stated import read_stated
from ..contract.tool import LONGEST_CALL_MS, Origin, QueryBinding, ToolName, UndoBinding
from ..contract.yaml12 import Places, YamlPath, YamlValue, load_yaml
from .declaration import Declaration

__all__ = ["AgentFile", "AgentWords", "Entry", "Source", "read_agent_file"]


_SOURCES: Final = ("python", "mcp", "openapi")
_NOT_YET: Final[Mapping[str, str]] = {
    "mcp": "this release cannot load the tools of an MCP server; wrap each in a function of a module",
    "openapi": "this release cannot load the tools of an OpenAPI document; wrap each in a function of a module",
    "ask": "this release cannot hand a turn to a model, so it cannot ask for that either; write refuse",
    "model": "this release cannot hand a turn to a model; write refuse",
}


def _as_agent_name(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name):
        raise ValueError("a name is small letters, digits, - and _, a letter first, 63 at most")
    return name


AgentName = Annotated[str, AfterValidator(_as_agent_name)]


def _as_undo(value: object) -> object:
    if value is None:
        raise ValueError("an empty undo says nothing; write `undo: none` to say that nothing undoes it")
    if isinstance(value, str):
        return None if value == "none" else {"tool": value}
    return value


def _as_names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


LONGEST_EXPIRY = timedelta(days=366)


def _as_expiry(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} has no unit; write a length of time such as 8h, 30m or 2d")  # noqa: TRY004 - of a file
    length = read_duration(value)
    if length > LONGEST_EXPIRY:
        raise ValueError(f"{value} is more than {LONGEST_EXPIRY.days} days")
    return length


Names: TypeAlias = Annotated[tuple[ToolName, ...], BeforeValidator(_as_names)]


class AgentWords(Stated):
    """What the file says of one agent. ``model``, ``hands_off_to`` and ``privilege`` are kept and not used yet."""

    model: str | None = None
    tools: tuple[str, ...] = Field(min_length=1)
    on_unread: Literal["refuse", "ask", "model"] = "refuse"
    clarify: bool = False
    hands_off_to: tuple[str, ...] = ()
    privilege: int | str | None = None
    language: Language | None = None
    confirm_expires: Annotated[timedelta | None, BeforeValidator(_as_expiry)] = None
    on_expiry: OnExpiry | None = None

    @property
    def expiry(self) -> Expiry | None:
        """How long a write waits to be confirmed; None for ever."""
        if self.confirm_expires is None:
            return None
        return Expiry(seconds=int(self.confirm_expires.total_seconds()), then=self.on_expiry or "wait")


class _BindingWords(Stated):
    tool: ToolName
    arguments: Mapping[str, JsonValue] | None = None


def _as_query(value: object) -> object:
    return {"tool": value} if isinstance(value, str) else value


class _ToolWords(Stated):
    """What an entry under a tool's name may say. ``timeout`` is in seconds."""

    writes: bool = False
    undo: Annotated[_BindingWords | None, BeforeValidator(_as_undo)] = None
    irreversible: bool = False
    retry_safe: bool = False
    undo_priority: int = 0
    outcome_query: Annotated[_BindingWords | None, BeforeValidator(_as_query)] = None
    reads_outside: bool = False
    sends_out: bool = False
    after: Names = ()
    not_after: Names = ()
    at_most: int | None = Field(default=None, ge=0)
    timeout: Decimal | None = Field(default=None, gt=0, le=LONGEST_CALL_MS // 1000)

    @property
    def declaration(self) -> Declaration:
        """The same as a declaration that says only what was written."""
        said: dict[str, object] = {name: getattr(self, name) for name in self.model_fields_set}
        if self.undo is not None:
            said["undo"] = UndoBinding(tool=self.undo.tool, arguments=self.undo.arguments)
        if self.outcome_query is not None:
            said["outcome_query"] = QueryBinding(tool=self.outcome_query.tool, arguments=self.outcome_query.arguments)
        if (timeout := said.pop("timeout", None)) is not None:
            said["timeout_ms"] = max(1, round(Decimal(str(timeout)) * 1000))
        return Declaration.model_validate(said)


class _FileWords(Stated):
    agents: Mapping[AgentName, AgentWords] = Field(min_length=1)
    tools: JsonValue
    rulebook: str | None = None
    runs: Literal["atomic", "independent"] = "atomic"
    proof: ProofKey | None = None
    vocabulary: str | Mapping[Language, str] | None = None
    language: Language | None = None


@dataclass(frozen=True)
class Source:
    """A place where tools come from: a module's dotted name, or the path of a ``.py`` file beside the agent file."""

    target: str
    origin: Origin


@dataclass(frozen=True)
class Entry:
    """What the file says of one tool, over what its decorator says."""

    declaration: Declaration
    origin: Origin


@dataclass(frozen=True)
class AgentFile:
    """An agent file, read and found free of mistakes in itself.

    Attributes:
        path: the file.
        agents: by name, in file order.
        sources: where the tools come from.
        entries: by the name of the tool.
        rulebook: the path of the rulebook as written, or None.
        atomic: whether a failed run is undone.
        proof: the public key that answers must be signed with; empty where none is demanded.
        vocabulary: the path of the vocabulary for each language; None stands for the language the vocabulary names.
        language: what the file says of the language its turns are read in.
        places: where everything in the file stands.
    """

    path: Path
    agents: Mapping[str, AgentWords]
    sources: tuple[Source, ...]
    entries: Mapping[str, Entry]
    rulebook: str | None
    atomic: bool
    proof: str
    vocabulary: Mapping[Language | None, str]
    language: Language | None
    places: Places


def read_agent_file(path: Path) -> AgentFile:
    """Read an agent file.

    Raises:
        FileMistakes: everything that is wrong in it, each with its line.
    """
    file = str(path)
    try:
        document = load_yaml(path.read_text(encoding="utf-8"), file=file)
    except FileMistake as mistake:
        raise FileMistakes([mistake]) from None
    except (OSError, UnicodeDecodeError) as error:
        why = "there is no such file" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error}"
        raise FileMistakes([FileMistake(why, Origin(file=file))]) from None
    places = document.places
    mistakes: list[FileMistake] = []
    sources, entries = _read_tools(document.value, places, mistakes)
    try:
        words = read_stated(_FileWords, document.value, places)
    except FileMistakes as found:
        raise FileMistakes([*found.mistakes, *mistakes]) from None
    mistakes += _at_odds(words, places)
    if mistakes:
        raise FileMistakes(mistakes)
    return AgentFile(
        path=path,
        agents=words.agents,
        sources=tuple(sources),
        entries=entries,
        rulebook=words.rulebook,
        atomic=words.runs == "atomic",
        proof=words.proof or "",
        vocabulary=_vocabulary(words.vocabulary),
        language=words.language,
        places=places,
    )


def _vocabulary(said: str | Mapping[Language, str] | None) -> Mapping[Language | None, str]:
    if said is None:
        return {}
    return {None: said} if isinstance(said, str) else {language: path for language, path in said.items()}  # noqa: C416


def _at_odds(words: _FileWords, places: Places) -> Iterator[FileMistake]:
    for name, agent in words.agents.items():
        at = ("agents", name)
        if agent.on_unread != "refuse":
            yield FileMistake(
                f"on_unread: {agent.on_unread}: {_NOT_YET[agent.on_unread]}", places.of((*at, "on_unread"))
            )
        if agent.on_expiry is not None and agent.confirm_expires is None:
            yield FileMistake(
                f"on_expiry: {agent.on_expiry}: nothing expires; write confirm_expires as well, such as 8h",
                places.of((*at, "on_expiry")),
            )


def _read_tools(
    document: YamlValue, places: Places, mistakes: list[FileMistake]
) -> tuple[list[Source], dict[str, Entry]]:
    """Read the sources and the entries by name; both may stand in one list, or as the keys of one mapping."""
    sources: list[Source] = []
    entries: dict[str, Entry] = {}
    for path, value in _tool_items(document, places, mistakes):
        name, origin = str(path[-1]), places.of(path)
        if name == "python":
            targets = value if isinstance(value, list) else [value]
            sources += [Source(target, origin) for target in targets if isinstance(target, str)]
            if not all(isinstance(target, str) for target in targets):
                mistakes.append(FileMistake(f"python: {value!r} is no module; write `python: shop.tools`", origin))
        elif name in _SOURCES:
            mistakes.append(FileMistake(f"{name}: {_NOT_YET[name]}", origin))
        elif name in entries:
            mistakes.append(FileMistake(f"{name} has two entries; one is at {entries[name].origin}", origin))
        else:
            try:
                entries[name] = Entry(read_stated(_ToolWords, value, places, path).declaration, origin)
            except FileMistakes as found:
                mistakes += found.mistakes
    return sources, entries


def _tool_items(
    document: YamlValue, places: Places, mistakes: list[FileMistake]
) -> Iterator[tuple[YamlPath, YamlValue]]:
    tools = document.get("tools", []) if isinstance(document, dict) else []
    parts: list[tuple[YamlPath, YamlValue]] = [(("tools",), tools)]
    if isinstance(tools, list):
        parts = [(("tools", index), item) for index, item in enumerate(tools)]
    for path, item in parts:
        if isinstance(item, dict):
            yield from (((*path, name), value) for name, value in item.items())
        else:
            said = f"{item!r} is no source; write `- python: {item or 'shop.tools'}`, or an entry with keys"
            mistakes.append(FileMistake(said, places.of(path)))
