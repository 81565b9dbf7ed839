"""Undos: where their arguments come from, and the check that allows exactly the undo of one step (SPEC 1.3, 3.4).

An undo is bound, not ruled: no rule can refuse it and nobody confirms it again, because it takes back a write that was
checked and approved. In exchange it may do nothing else: the step ran, in this run, was not undone, and every argument
is the one bound from that step.
"""

from collections.abc import Mapping
from decimal import Decimal

from pydantic import JsonValue

from ..contract.canonical import canonical_json, decimal_text
from ..contract.decision import Call, Decision, Hit
from ..contract.record import CallEvent
from ..contract.tool import ToolContract, UndoBinding
from .result_fields import result_field
from .rules import Rulebook
from .verdict import argument_hits, decide, refusal

__all__ = ["UnboundArgument", "bind_undo", "check_undo", "resolve_undo"]

_FROM_ARGUMENTS = "$args."
_FROM_RESULT = "$result"


class UnboundArgument(LookupError):  # noqa: N818 - it names the condition
    """An argument of an undo could not be taken from its step.

    Attributes:
        parameter: the parameter of the undo.
        source: where it was to come from, as declared.
        why: what was missing there.
    """

    def __init__(self, parameter: str, source: str, why: str) -> None:
        super().__init__(parameter, source, why)
        self.parameter = parameter
        self.source = source
        self.why = why

    def __str__(self) -> str:
        return f"{self.parameter} <- {self.source}: {self.why}"


def resolve_undo(write: ToolContract, undo_tool: ToolContract) -> UndoBinding:
    """Return the undo of ``write`` with every parameter bound that its short form binds by name.

    Each parameter of the undo is looked for among the write's arguments, then among its result's fields. A required
    one that neither has stays unbound (the lint ``compensation_unbound``); an optional one is left out. When the schema
    of the result is unknown, a required parameter is bound to the result's field of that name. An undo that says its
    arguments is returned as it is.

    Raises:
        ValueError: the write has no undo, or another one than ``undo_tool``.
    """
    undo = write.undo
    if undo is None or undo.tool != undo_tool.name:
        raise ValueError(f"{write.name} is not undone by {undo_tool.name}")
    if undo.arguments is not None:
        return undo
    own = {parameter.name for parameter in write.parameters}
    bound: dict[str, JsonValue] = {}
    for parameter in undo_tool.parameters:
        if parameter.name in own:
            bound[parameter.name] = f"{_FROM_ARGUMENTS}{parameter.name}"
        elif write.result_schema is None:
            if parameter.required:
                bound[parameter.name] = f"{_FROM_RESULT}.{parameter.name}"
        elif result_field(write.result_schema, parameter.name) is not None:
            bound[parameter.name] = f"{_FROM_RESULT}.{parameter.name}"
    return undo.model_copy(update={"arguments": bound})


def bind_undo(
    contract: ToolContract,
    arguments: Mapping[str, JsonValue],
    result: JsonValue,
    *,
    undo_tool: ToolContract | None = None,
) -> dict[str, JsonValue]:
    """Return the arguments of the undo of one step.

    Args:
        contract: the contract of the write; its undo must be resolved.
        arguments: what the write was called with.
        result: what it returned. A float in it becomes the shortest decimal text that means the same.
        undo_tool: the contract of the undo. With it, an optional parameter whose source is missing is left out.

    Raises:
        UnboundArgument: a source is missing in this step, is no source at all, or was never resolved.
        ValueError: the write has no undo.
    """
    if contract.undo is None:
        raise ValueError(f"{contract.name} has no undo to bind")
    if contract.undo.arguments is None:
        raise UnboundArgument("*", contract.undo.tool, "the short form was not resolved at registration")
    optional = {p.name for p in undo_tool.parameters if not p.required} if undo_tool else set()
    bound: dict[str, JsonValue] = {}
    for parameter, source in contract.undo.arguments.items():
        try:
            bound[parameter] = _exact(_value_of(parameter, source, arguments, result), parameter, source)
        except UnboundArgument:
            if parameter not in optional:
                raise
    for needed in undo_tool.parameters if undo_tool else ():
        if needed.required and needed.name not in bound:
            raise UnboundArgument(needed.name, "nothing", "no argument and no field of the result has this name")
    return bound


def check_undo(
    rulebook: Rulebook,
    call: Call,
    *,
    undoes: CallEvent,
    contract: ToolContract,
    tools: Mapping[str, ToolContract],
) -> Decision:
    """Allow an undo if it undoes exactly that step, and refuse it otherwise; no rule is asked and nobody confirms it.

    Args:
        rulebook: the rules pinned to the run; its hash goes into the decision.
        call: the undo, with ``undoes`` and the arguments it would be sent with.
        undoes: the step it undoes, as the record holds it.
        contract: the contract of the write of that step.
        tools: the tools of the agent whose write it was.
    """
    hits: list[Hit] = []
    undo_tool = tools.get(call.tool)
    if undo_tool is None:
        hits.append(refusal("listed", f"{call.agent} has no tool {call.tool}"))
    else:
        hits.extend(argument_hits(undo_tool, call))
    hits.extend(refusal("undo", why) for why in _step_faults(call, undoes, contract))
    if not hits:
        why = _binding_fault(call, undoes, contract, undo_tool)
        if why:
            hits.append(refusal("undo", why))
    return decide(rulebook, call, hits)


def _step_faults(call: Call, undoes: CallEvent, contract: ToolContract) -> list[str]:
    step = undoes.step
    faults = {
        f"the undo names step {call.undoes}, and was checked against step {step}": call.undoes != step,
        f"step {step} is an undo itself": undoes.undoes is not None,
        f"step {step} was a call of {undoes.tool}, not of {contract.name}": undoes.tool != contract.name,
        f"step {step} did not run: {undoes.outcome}": undoes.outcome != "ran",
        f"step {step} was undone already": undoes.undone,
        f"step {step} belongs to run {undoes.run}, not to {call.run}": undoes.run != call.run,
        f"nothing can undo {contract.name}: it is irreversible": contract.irreversible,
        f"{call.tool} does not undo {contract.name}": contract.undo is None or contract.undo.tool != call.tool,
    }
    return [fault for fault, is_so in faults.items() if is_so]


def _binding_fault(call: Call, undoes: CallEvent, contract: ToolContract, undo_tool: ToolContract | None) -> str:
    try:
        bound = bind_undo(contract, undoes.arguments, undoes.result, undo_tool=undo_tool)
        if canonical_json(bound) == canonical_json(call.arguments):
            return ""
    except UnboundArgument as unbound:
        return f"{call.tool} of step {undoes.step} is not bound: {unbound}"
    except (TypeError, ValueError) as error:
        return f"{call.tool} of step {undoes.step} has no exact arguments: {error}"
    differing = sorted(name for name in {*bound, *call.arguments} if bound.get(name) != call.arguments.get(name))
    return f"{', '.join(differing)} of {call.tool} did not come from step {undoes.step}"


def _value_of(parameter: str, source: JsonValue, arguments: Mapping[str, JsonValue], result: JsonValue) -> JsonValue:
    if not isinstance(source, str) or not source.startswith("$"):
        return source
    if source.startswith("$$"):
        return source[1:]
    if source.startswith(_FROM_ARGUMENTS):
        name, *path = source.removeprefix(_FROM_ARGUMENTS).split(".")
        if name not in arguments:
            raise UnboundArgument(parameter, source, f"the step was called without {name}")
        return _walk(arguments[name], path, parameter, source)
    if source == _FROM_RESULT:
        return result
    if source.startswith(f"{_FROM_RESULT}."):
        return _walk(result, source.split(".")[1:], parameter, source)
    raise UnboundArgument(parameter, source, "a source begins with $args. or $result.; a text with $ is written $$")


def _walk(value: JsonValue, path: list[str], parameter: str, source: str) -> JsonValue:
    for field in path:
        if isinstance(value, dict) and field in value:
            value = value[field]
        elif isinstance(value, list) and field.isascii() and field.isdigit() and int(field) < len(value):
            value = value[int(field)]
        else:
            raise UnboundArgument(parameter, source, f"there is no {field} in it")
    return value


def _exact(value: JsonValue, parameter: str, source: JsonValue) -> JsonValue:
    match value:
        case float():
            number = Decimal(repr(value))
            if not number.is_finite():
                raise UnboundArgument(parameter, str(source), f"{value} is not a number that can be sent")
            return decimal_text(number)
        case dict():
            return {key: _exact(item, parameter, source) for key, item in value.items()}
        case list():
            return [_exact(item, parameter, source) for item in value]
        case _:
            return value
