"""`@tool`: marks a plain typed function as something an agent may call (SPEC 1.1).

The function stays what it is, callable and typed as before; the declaration is left on it as an attribute. The
annotations are read when an agent is loaded, not here, because names in them may be defined further down the module.
"""

import datetime as dt
import inspect
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final, Literal, TypeVar, overload

from pydantic import ValidationError

from ..contract.mistakes import FileMistake
from ..contract.tool import Origin, QueryBinding, UndoBinding
from .declaration import DECLARATION, Declaration, Undo

__all__ = ["origin_of", "tool"]

_Function = TypeVar("_Function", bound=Callable[..., object])


class _Unsaid(Enum):
    """Tells an undo that was not mentioned from ``undo=None``, which says that on purpose nothing undoes the write."""

    UNSAID = "unsaid"


_UNSAID: Final = _Unsaid.UNSAID


@overload
def tool(function: _Function, /) -> _Function: ...


@overload
def tool(
    *,
    name: str | None = None,
    writes: bool = False,
    undo: str | Undo | Literal[_Unsaid.UNSAID] | None = ...,
    undo_priority: int = 0,
    irreversible: Literal[False] = False,
    retry_safe: bool = False,
    outcome_query: str | None = None,
    reads_outside: bool = False,
    sends_out: bool = False,
    after: str | Sequence[str] = (),
    not_after: str | Sequence[str] = (),
    at_most: int | None = None,
    timeout: float | dt.timedelta | None = None,
) -> Callable[[_Function], _Function]: ...


@overload
def tool(
    *,
    name: str | None = None,
    writes: Literal[True],
    irreversible: Literal[True],
    retry_safe: bool = False,
    outcome_query: str | None = None,
    reads_outside: bool = False,
    sends_out: bool = False,
    after: str | Sequence[str] = (),
    not_after: str | Sequence[str] = (),
    at_most: int | None = None,
    timeout: float | dt.timedelta | None = None,
) -> Callable[[_Function], _Function]: ...


def tool(
    function: _Function | None = None,
    /,
    *,
    name: str | None = None,
    writes: bool | None = None,
    undo: str | Undo | _Unsaid | None = _UNSAID,
    undo_priority: int | None = None,
    irreversible: bool | None = None,
    retry_safe: bool | None = None,
    outcome_query: str | None = None,
    reads_outside: bool | None = None,
    sends_out: bool | None = None,
    after: str | Sequence[str] | None = None,
    not_after: str | Sequence[str] | None = None,
    at_most: int | None = None,
    timeout: float | dt.timedelta | None = None,
) -> _Function | Callable[[_Function], _Function]:
    """Mark a function, sync or async, as a tool. ``@tool`` alone makes a tool that reads.

    Args:
        function: the function, when the decorator is used without words.
        name: the tool's name, if not the function's.
        writes: it has an effect, so a person confirms it and a failed run undoes it.
        undo: the tool that undoes it, by name or as an `Undo` that binds its arguments. None says on purpose that a
            failed run may leave this write.
        undo_priority: above 0, a rollback comes to its undo before others, whatever the order of the writes.
        irreversible: nothing undoes it, and its confirmation says so. Not together with ``undo``.
        retry_safe: sending it twice under one idempotency key takes effect once, so doubt is settled by sending again.
        outcome_query: the read that can tell whether it took effect, asked before a person is. It may take the write's
            arguments by name, and ``key`` or ``idempotency_key``; it answers true, false, or
            ``{"happened": ..., "result": ...}``.
        reads_outside: its result holds text that others wrote.
        sends_out: it sends something to the outside.
        after: tools that must have run before it in the session.
        not_after: tools after which it may not run in the session.
        at_most: how often it may run in a session.
        timeout: the longest one call may take, in seconds or as a timedelta; 60 seconds when not said.

    Raises:
        FileMistake: two of the words contradict each other, or one has a value it cannot have; with file and line.
    """
    words: dict[str, object] = {
        "name": name,
        "writes": writes,
        "irreversible": irreversible,
        "retry_safe": retry_safe,
        "undo_priority": undo_priority,
        "outcome_query": QueryBinding(tool=outcome_query) if outcome_query else None,
        "reads_outside": reads_outside,
        "sends_out": sends_out,
        "after": _names(after),
        "not_after": _names(not_after),
        "at_most": at_most,
        "timeout_ms": _milliseconds(timeout),
    }
    words = {word: value for word, value in words.items() if value is not None}

    def mark(function: _Function) -> _Function:
        origin = origin_of(function)
        _refuse_what_is_no_function(function, origin)
        setattr(function, DECLARATION, _declare(words, undo, origin))
        return function

    return mark if function is None else mark(function)


def origin_of(function: Callable[..., object]) -> Origin:
    """Return where a function is written: its file, and the line of its ``def`` or of its first decorator."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return Origin(file=code.co_filename, line=code.co_firstlineno) if code else Origin()


def _declare(words: dict[str, object], undo: str | Undo | _Unsaid | None, origin: Origin) -> Declaration:
    try:
        if undo is not _UNSAID:
            words = {**words, "undo": _binding(undo)}
        declaration = Declaration.model_validate(words, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        word = ".".join(str(part) for part in first["loc"])
        raise FileMistake(f"@tool cannot take {word}={first['input']!r}: {first['msg'].lower()}", origin) from None
    wrong = declaration.contradiction()
    if wrong is not None:
        raise FileMistake(f"@tool: {wrong}", origin)
    return declaration


def _binding(undo: str | Undo | _Unsaid | None) -> UndoBinding | object | None:
    match undo:
        case Undo():
            return undo.binding
        case str():
            return UndoBinding(tool=undo)
        case _:
            return undo


def _refuse_what_is_no_function(function: object, origin: Origin) -> None:
    if not inspect.isfunction(function):
        raise FileMistake(
            f"@tool marks a function, not {function!r}; write `@tool` above a `def`, and its words by name",
            origin,
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise FileMistake(f"the tool {function.__name__} yields; a tool returns one result", origin)


def _names(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def _milliseconds(timeout: float | dt.timedelta | None) -> int | None:
    if timeout is None:
        return None
    seconds = timeout.total_seconds() if isinstance(timeout, dt.timedelta) else timeout
    return round(seconds * 1000)
