"""What is wrong with how a write is undone, before anything runs: its bindings, its chain of undos, its reach."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from pydantic import JsonValue

from ..contract.tool import Parameter, ToolContract
from .result_fields import result_field
from .undo import resolve_undo

__all__ = ["BindingProblem", "binding_problems", "is_own_inverse", "returns_to"]

_ARGS, _RESULT = "$args.", "$result."


class BindingProblem(NamedTuple):
    """One parameter of an undo that is not well bound: where it was to come from, and what is wrong."""

    parameter: str
    source: str
    kind: Literal["unbound", "unknown", "type", "missing"]
    why: str


def binding_problems(write: ToolContract, undo_tool: ToolContract) -> list[BindingProblem]:
    """Return what is wrong with the arguments of an undo.

    ``unbound``: a required parameter with no source. ``unknown``: a source, or a parameter, that does not exist.
    ``type``: the source has another type. ``missing``: the source need not be there, and the parameter is required.
    """
    bound = resolve_undo(write, undo_tool).arguments or {}
    parameters = {parameter.name: parameter for parameter in undo_tool.parameters}
    found = [
        BindingProblem(name, _shown(source), "unknown", f"{undo_tool.name} has no argument {name}")
        for name, source in bound.items()
        if name not in parameters
    ]
    for name, parameter in parameters.items():
        if name in bound:
            found.extend(_source_problems(write, parameter, bound[name]))
        elif parameter.required:
            short_form = write.undo is not None and write.undo.arguments is None
            source = f"{_RESULT}{name}" if short_form else "nothing"
            found.append(BindingProblem(name, source, "unbound", f"nothing of {write.name} is bound to it"))
    return found


def _source_problems(write: ToolContract, parameter: Parameter, source: JsonValue) -> Iterator[BindingProblem]:
    def problem(kind: Literal["unknown", "type", "missing"], why: str) -> BindingProblem:
        return BindingProblem(parameter.name, _shown(source), kind, why)

    if not isinstance(source, str) or not source.startswith("$") or source.startswith("$$"):
        given = _types_of_value(source)
        if not given & _taken(parameter):
            yield problem("type", f"it takes {_any_of(_taken(parameter))}, not {_any_of(given)}")
    elif source.startswith(_ARGS):
        name, *path = source.removeprefix(_ARGS).split(".")
        argument = next((p for p in write.parameters if p.name == name), None)
        if argument is None:
            yield problem("unknown", f"{write.name} has no argument {name}")
        elif not path:
            if not _given(argument) & _taken(parameter):
                yield problem("type", f"it takes {_any_of(_taken(parameter))}, not {_any_of(_given(argument))}")
            if parameter.required and not argument.required:
                yield problem("missing", f"{name} of {write.name} may be left out")
    elif source.startswith(_RESULT):
        yield from (problem(kind, why) for kind, why in _result_problems(write, parameter, source))
    elif source != "$result":
        yield problem("unknown", "a source begins with $args. or $result.")


def _result_problems(
    write: ToolContract, parameter: Parameter, source: str
) -> Iterator[tuple[Literal["unknown", "type", "missing"], str]]:
    if write.result_schema is None:
        return
    path = source.removeprefix(_RESULT)
    field = result_field(write.result_schema, path)
    if field is None:
        yield "unknown", f"what {write.name} returns has no {path}"
        return
    given = set(field.types) - {"null"}
    if given and not given & _taken(parameter):
        yield "type", f"it takes {_any_of(_taken(parameter))}, not {_any_of(given)}"
    if parameter.required and (not field.always or "null" in field.types):
        yield "missing", f"{path} need not be in what {write.name} returns"


_EVERY_TYPE = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})


def _taken(parameter: Parameter) -> frozenset[str]:
    """The JSON types a parameter takes."""
    if parameter.many:
        return frozenset({"array"})
    if parameter.base == "any":
        return _EVERY_TYPE
    if parameter.kind in ("money", "decimal"):
        return frozenset({"string", "number", "integer"})
    if parameter.base == "number":
        return frozenset({"number", "integer"})
    return frozenset({parameter.base})


def _given(argument: Parameter) -> frozenset[str]:
    """The JSON types an argument of this parameter has, as it was sent: an exact number travels as text."""
    if argument.kind in ("money", "decimal") and not argument.many:
        return frozenset({"string", "number"})
    return frozenset({"number"}) if argument.base == "number" and not argument.many else _taken(argument)


def _types_of_value(value: JsonValue) -> frozenset[str]:
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer"})
        case float():
            return frozenset({"number"})
        case str():
            return frozenset({"string"})
        case dict():
            return frozenset({"object"})
        case _:
            return frozenset({"array"})


def _any_of(types: frozenset[str] | set[str]) -> str:
    return " or ".join(sorted(types))


def _shown(source: JsonValue) -> str:
    return source if isinstance(source, str) else repr(source)


def returns_to(tool: ToolContract, tools: Mapping[str, ToolContract]) -> str | None:
    """Return where the chain of a tool's undos comes back to: undo, undo of the undo, and so on; None if it ends.

    A tool that undoes itself ends the chain; whether it really does is what `is_own_inverse` tells.
    """
    seen = [tool.name]
    here = tool
    while here.undo is not None and here.undo.tool in tools and here.undo.tool != here.name:
        here = tools[here.undo.tool]
        if here.name in seen:
            return here.name
        seen.append(here.name)
    return None


def is_own_inverse(tool: ToolContract) -> bool:
    """Whether a tool that undoes itself brings back what was before.

    It does if it swaps its arguments, so that undoing twice gives the first call again, or if it takes a former value
    from what the call returned.
    """
    bound = resolve_undo(tool, tool).arguments or {}
    if any(isinstance(source, str) and source.startswith("$result") for source in bound.values()):
        return True
    if not all(isinstance(source, str) and source.startswith(_ARGS) for source in bound.values()):
        return False
    swapped = {name: str(source).removeprefix(_ARGS) for name, source in bound.items()}
    return any(name != other for name, other in swapped.items()) and all(
        swapped.get(other) == name for name, other in swapped.items()
    )
