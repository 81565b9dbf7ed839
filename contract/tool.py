"""What is known of a tool before it is ever called: its contract (SPEC 1.2, 1.3).

The contract is plain data. The selector reads turns with it, the rulebook checks calls with it, lints and `verify`
speak of it, and a run carries the contracts of its own tools, so that a changed file never changes a run in flight
(SPEC 3.5). The function behind a tool stays in the registry of the worker.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from .canonical import sha256
from .model import Wire

__all__ = [
    "LONGEST_CALL_MS",
    "Kind",
    "KindName",
    "Origin",
    "Parameter",
    "QueryBinding",
    "ToolContract",
    "ToolName",
    "UndoBinding",
    "result_paths",
]

ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""A tool's name: small letters, digits and underscores, a letter first, 63 characters at most."""

KindName = Literal["id", "money", "decimal", "int", "date", "email", "text", "enum", "bool"]
"""How a value of a parameter is said in a turn."""


class Kind:
    r"""Marks a parameter's annotation with the kind of value it takes: ``Annotated[str, Kind("id", pattern=r"\\d+")]``.

    Args:
        name: one of ``id money decimal int date email text enum bool``.
        pattern: for ids, the whole shape as a regular expression without nested repetition.
    """

    __slots__ = ("name", "pattern")

    def __init__(self, name: KindName, *, pattern: str | None = None) -> None:
        self.name: KindName = name
        self.pattern = pattern

    def __repr__(self) -> str:
        return f"Kind({self.name!r})" if self.pattern is None else f"Kind({self.name!r}, pattern={self.pattern!r})"


class Origin(Wire):
    """Where something was declared: a file and a line, for messages to the person who wrote it."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def place(self) -> str:
        """The same without the folders, for a sentence: ``policy.co:12``."""
        name = self.file.replace("\\", "/").rpartition("/")[2]
        return f"{name}:{self.line}" if self.line else name


class Parameter(Wire):
    """One parameter of a tool, as its annotation says.

    ``kind`` is None for a parameter a turn cannot say (an object, say); ``many`` marks a list of such values;
    ``values`` are the words of an enum; ``base`` is the JSON type of one value.
    """

    name: str
    kind: KindName | None = None
    base: Literal["string", "integer", "number", "boolean", "object", "array", "any"] = "string"
    required: bool = True
    many: bool = False
    pattern: str | None = None
    values: tuple[str, ...] = ()


class UndoBinding(Wire):
    """How a write is undone: the tool, and where each of its arguments comes from (SPEC 1.3).

    ``arguments`` maps a parameter of the undo to ``$args.<name>``, to ``$result.<dotted.path>`` or to a plain value.
    None stands for the short form, before registration has bound each parameter by its name.
    """

    tool: ToolName
    arguments: Mapping[str, JsonValue] | None = None


class QueryBinding(Wire):
    """Which read can tell whether a write took effect, and what it is asked with (SPEC 5.5).

    ``arguments`` maps its parameters to ``$args.<name>`` of the write, to ``$key``, the write's idempotency key, or to
    a plain value. None stands for the short form, before registration has bound each parameter by its name. The read
    answers true, false, or ``{"happened": true | false, "result": {...}}``; anything else means that it cannot tell.
    """

    tool: ToolName
    arguments: Mapping[str, JsonValue] | None = None


LONGEST_CALL_MS = 7 * 24 * 3600 * 1000
"""The longest a call may be allowed to take: a week, in milliseconds."""


class ToolContract(Wire):
    """Everything the engine knows of one tool (SPEC 1.2).

    ``undo`` None and ``undo_none`` False says nothing about recovery; ``undo_none`` True says on purpose that a failed
    run may leave this write. ``timeout_ms`` is the longest one call may take, in milliseconds. ``result_schema`` is the
    JSON schema of what the tool returns, or None when its annotation says nothing. ``undo_priority`` above 0 makes a
    rollback come to this write's undo before others (SPEC 6.6). ``outcome_query`` names the read that is asked before
    a person is, when nobody knows whether the write took effect.
    """

    name: ToolName
    summary: str = ""
    writes: bool = False
    undo: UndoBinding | None = None
    undo_none: bool = False
    undo_priority: int = 0
    irreversible: bool = False
    retry_safe: bool = False
    outcome_query: QueryBinding | None = None
    reads_outside: bool = False
    sends_out: bool = False
    after: tuple[ToolName, ...] = ()
    not_after: tuple[ToolName, ...] = ()
    at_most: int | None = Field(default=None, ge=0)
    timeout_ms: int = Field(default=60_000, ge=1, le=LONGEST_CALL_MS)
    parameters: tuple[Parameter, ...] = ()
    result_schema: Mapping[str, JsonValue] | None = None
    source: Literal["python", "mcp", "openapi"] = "python"
    origin: Origin = Origin()

    @property
    def undoable(self) -> bool:
        """Whether a rollback has a tool to call for this write."""
        return self.undo is not None and not self.irreversible

    @property
    def shape(self) -> str:
        """SHA-256 of what a call must look like: a worker whose tool has another shape cannot serve this contract."""
        return sha256([parameter.model_dump(mode="json") for parameter in self.parameters])

    @property
    def digest(self) -> str:
        """SHA-256 of what the contract says; where it was written does not count."""
        return sha256(self.model_dump(mode="json", exclude={"origin"}))


def result_paths(contract: ToolContract) -> tuple[str, ...]:
    """Return the dotted paths of the result fields that a write's undo is bound to."""
    sources = (contract.undo.arguments or {}).values() if contract.undo else ()
    return tuple(
        source.removeprefix("$result.")
        for source in sources
        if isinstance(source, str) and source.startswith("$result.")
    )
