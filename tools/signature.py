"""From a function's annotations to its parameters, and from arguments as they travel to arguments it can take.

Two readers stand behind each parameter. The *exact* one reads every float as ``Decimal`` and takes nothing on trust
(no text for a flag, no number for a date): it makes the one wire form. The *native* one makes the function's own types
from that form.
"""

import inspect
import json
import re
import reprlib
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import SchemaError

from ..contract.errors import ArgumentProblem, BadArguments
from ..contract.mistakes import FileMistake, FileMistakes, nearest
from ..contract.tool import Origin, Parameter
from .context import ToolContext
from .kinds import exact, parameter_of
from .wire import number_text, wire_argument

__all__ = ["Signature", "read_signature"]

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_LAX_BASES: Final = frozenset({"object", "any"})


@dataclass(frozen=True, eq=False)
class Signature:
    """The parameters of one tool, and how its arguments are read.

    Attributes:
        parameters: in the order of the function; the context is not among them.
        context: the name of the parameter that takes the `ToolContext`, or None.
    """

    parameters: tuple[Parameter, ...]
    context: str | None
    exact: Mapping[str, TypeAdapter[object]]
    native: Mapping[str, TypeAdapter[object]]
    empty: frozenset[str]
    """The parameters whose default is None, for which None says nothing."""

    def canonical(self, tool: str, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments in their one wire form, in the order of the parameters.

        Raises:
            BadArguments: with every problem found.
        """
        problems = self._misnamed(arguments)
        read: dict[str, JsonValue] = {}
        for parameter in self.parameters:
            name = parameter.name
            if name not in arguments:
                if parameter.required:
                    problems.append(ArgumentProblem(name, "", "it is missing"))
                continue
            if arguments[name] is None and name in self.empty:
                continue
            try:
                read[name] = _canonical(parameter, self.exact[name], arguments[name])
            except ValidationError as error:
                problems += _problems(name, error)
            except Exception as error:  # noqa: BLE001 - a validator of the tool's own may raise anything
                problems.append(ArgumentProblem(name, reprlib.repr(arguments[name]), _error_text(error)))
        if problems:
            raise BadArguments(tool, tuple(problems))
        return read

    def bind(self, tool: str, arguments: Mapping[str, JsonValue], context: ToolContext) -> dict[str, object]:
        """Return what the function is called with, by keyword, in its own types.

        Raises:
            BadArguments: with every problem found.
        """
        bound: dict[str, object] = {}
        problems: list[ArgumentProblem] = []
        for name, value in self.canonical(tool, arguments).items():
            try:
                bound[name] = self.native[name].validate_json(json.dumps(value))
            except ValidationError as error:
                problems += _problems(name, error)
            except Exception as error:  # noqa: BLE001 - as in canonical
                problems.append(ArgumentProblem(name, reprlib.repr(value), _error_text(error)))
        if problems:
            raise BadArguments(tool, tuple(problems))
        return bound if self.context is None else {**bound, self.context: context}

    def _misnamed(self, arguments: Mapping[str, JsonValue]) -> list[ArgumentProblem]:
        known = [parameter.name for parameter in self.parameters]
        return [
            ArgumentProblem(
                name,
                reprlib.repr(value),
                f"there is no such argument; did you mean {' or '.join(near)}?"
                if (near := nearest(name, known))
                else f"there is no such argument; it takes {', '.join(known) or 'none'}",
            )
            for name, value in arguments.items()
            if name not in known
        ]


def read_signature(function: Callable[..., object], origin: Origin) -> Signature:
    """Read the parameters of a tool from its annotations.

    Raises:
        FileMistakes: every parameter that a call cannot fill, each with what to write instead.
    """
    mistakes: list[FileMistake] = []
    parameters: list[Parameter] = []
    contexts: list[str] = []
    readers: tuple[dict[str, TypeAdapter[object]], dict[str, TypeAdapter[object]]] = ({}, {})
    given = inspect.signature(function).parameters
    hints = _hints(function, origin)
    for name, parameter in given.items():
        try:
            _refuse_unfit(parameter)
            annotation = hints[name]
            if ToolContext in (annotation, *typing.get_args(annotation)):
                contexts.append(name)
                continue
            parameters.append(parameter_of(name, annotation, required=parameter.default is parameter.empty))
            readers[0][name] = _reader(exact(annotation))
            readers[1][name] = _reader(annotation)
        except (PydanticUserError, SchemaError):
            said = f"{name}: a call cannot carry {inspect.formatannotation(hints[name])}; use plain types or a model"
            mistakes.append(FileMistake(f"{function.__name__}({said})", origin))
        except ValueError as error:
            mistakes.append(FileMistake(f"{function.__name__}({error})", origin))
    if len(contexts) > 1:
        mistakes.append(FileMistake(f"{function.__name__} asks for the context twice: {', '.join(contexts)}", origin))
    if mistakes:
        raise FileMistakes(mistakes)
    empty = frozenset(name for name, parameter in given.items() if parameter.default is None)
    return Signature(tuple(parameters), contexts[0] if contexts else None, *readers, empty)


def _reader(annotation: Any) -> TypeAdapter[object]:  # noqa: ANN401 -- an annotation may be any object
    return TypeAdapter(annotation)


def _hints(function: Callable[..., object], origin: Origin) -> dict[str, object]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        said = f"{function.__name__}: its annotations cannot be read: {error}"
        way_out = "import what they name at run time, at the top of the module"
        raise FileMistakes([FileMistake(f"{said}; {way_out}", origin)]) from None


def _refuse_unfit(parameter: inspect.Parameter) -> None:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ValueError(f"{parameter}: a tool names each of its parameters; write them out")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise ValueError(f"{name}, /: arguments are given by name; take the / away")
    if parameter.annotation is parameter.empty:
        raise ValueError(f"{name}: it has no annotation; write {name}: str, or whatever it is")
    if isinstance(parameter.default, FieldInfo):
        raise ValueError(  # noqa: TRY004 -- one kind of error for one kind of mistake
            f"{name}: Field() is no default here; write Annotated[..., Field(...)]"
        )


def _canonical(parameter: Parameter, reader: TypeAdapter[object], value: JsonValue) -> JsonValue:
    plain = _plain(value)
    if parameter.base == "integer":
        plain = [_integer(item) for item in plain] if isinstance(plain, list) else _integer(plain)
    strict = parameter.base not in _LAX_BASES
    made = wire_argument(
        reader.validate_json(json.dumps(plain), strict=strict or None), money=parameter.kind == "money"
    )
    items = made if parameter.many and isinstance(made, list) else [made]
    said = [_said(parameter, item) for item in items]
    return said if items is made else said[0]


def _said(parameter: Parameter, value: JsonValue) -> JsonValue:
    """Hold a text to the kind its marker promises, which its type alone does not say."""
    if not isinstance(value, str):
        return value
    if parameter.pattern is not None and not re.fullmatch(parameter.pattern, value):
        raise ValueError(f"{value!r} has not the shape {parameter.pattern}")
    if parameter.base == "string" and parameter.kind in ("money", "decimal"):
        try:
            return number_text(Decimal(value), money=parameter.kind == "money")
        except InvalidOperation:
            raise ValueError(f"{value!r} is no number") from None
    if parameter.kind == "date":
        return date.fromisoformat(value).isoformat()
    return value


def _plain(value: object) -> JsonValue:
    """Take a value as it arrives: JSON, or an exact number made by hand.

    Raises:
        TypeError: a float, or something that is not JSON.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            raise TypeError(f"{value!r} is a binary float, which has lost digits; write it as text, {str(value)!r}")
        case Decimal():
            return number_text(value, money=False)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            raise TypeError(f"a {type(value).__name__} is not JSON")


def _integer(value: JsonValue) -> JsonValue:
    return int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value


def _problems(name: str, error: ValidationError) -> list[ArgumentProblem]:
    return [
        ArgumentProblem(
            ".".join((name, *(str(part) for part in found["loc"]))),
            reprlib.repr(found["input"]),
            found["msg"].removeprefix("Value error, "),
        )
        for found in error.errors(include_url=False, include_context=False)
    ]


def _error_text(error: Exception) -> str:
    """Return what an error says for a person; one that says nothing of use is named."""
    return str(error) if isinstance(error, TypeError | ValueError) else f"{type(error).__name__}: {error}"
