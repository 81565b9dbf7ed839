"""A tool as a worker holds it: its contract, its function, and the way between the two (SPEC 1.1)."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from ..contract.mistakes import FileMistake
from ..contract.tool import Origin, ToolContract
from .context import ToolContext
from .declaration import Declaration
from .decorator import origin_of
from .result_schema import result_schema
from .signature import Signature, read_signature
from .wire import wire_result

__all__ = ["Tool", "make_tool", "tool_name"]


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool of an agent.

    Attributes:
        contract: everything that is known of it before it is called.
        function: the function itself.
        is_async: whether calling it gives something to await.
        signature: its parameters and the readers of their values.
    """

    contract: ToolContract
    function: Callable[..., object]
    is_async: bool
    signature: Signature

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.contract.name

    def canonical(self, arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the arguments in the one form they travel, are approved and are sent in.

        Numbers that are not integers become exact text: money with at least two decimals (``"40"`` to ``"40.00"``),
        others without trailing zeros. Dates become ISO 8601, text Unicode NFC, enums their value. Optional arguments
        that were not given stay out. Doing it twice changes nothing.

        Raises:
            BadArguments: an argument is unknown, missing, or not what its annotation says; a float is refused, since
                it has lost the digits that were meant.
        """
        return self.signature.canonical(self.name, arguments)

    def call(self, arguments: Mapping[str, JsonValue], context: ToolContext) -> dict[str, object]:
        """Return the keyword arguments to call the function with: its own types, and the context if it asks for it.

        Raises:
            BadArguments: as `canonical`. It is found before anything is sent.
        """
        return self.signature.bind(self.name, arguments, context)

    def wire_result(self, value: object) -> JsonValue:
        """Return a result as it is recorded. It never raises, because the effect has happened by now."""
        return wire_result(value)


def tool_name(function: Callable[..., object], declaration: Declaration) -> str:
    """Return the name of a declared function: the one its declaration gives, or its own."""
    return declaration.name or function.__name__


def make_tool(function: Callable[..., object], declaration: Declaration) -> Tool:
    """Make a tool of a function and what is said of it.

    Raises:
        FileMistake: its name is no tool name, or two words contradict each other.
        FileMistakes: parameters that a call cannot fill.
    """
    origin = origin_of(function)
    wrong = declaration.contradiction()
    if wrong is not None:
        raise FileMistake(f"{function.__name__}: {wrong}", origin)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        said = f"{function.__name__} yields, so calling it would do nothing; a tool returns its result"
        raise FileMistake(said, origin)
    signature = read_signature(function, origin)
    return Tool(_contract(function, declaration, signature, origin), function, _is_async(function), signature)


def _contract(
    function: Callable[..., object], declaration: Declaration, signature: Signature, origin: Origin
) -> ToolContract:
    name = tool_name(function, declaration)
    words = {word: value for word, value in declaration.said.items() if word != "name"}
    try:
        return ToolContract.model_validate(
            {
                **words,
                "name": name,
                "summary": _first_sentence(inspect.getdoc(function) or ""),
                "undo_none": declaration.undo is None and "undo" in declaration.said,
                "parameters": signature.parameters,
                "result_schema": result_schema(function),
                "origin": origin,
            }
        )
    except ValidationError:
        raise FileMistake(
            f"{name!r} is no name for a tool: small letters, digits and _, a letter first, 63 characters at most; "
            f'rename it, or write @tool(name="{_snake(name)}")',
            origin,
        ) from None


def _is_async(function: Callable[..., object]) -> bool:
    # What is called decides, not what it wraps: a wrapper may have run the coroutine to its end by itself.
    return inspect.iscoroutinefunction(function)


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n", 1)[0].split())
    return re.split(r"(?<=[.!?])\s", paragraph, maxsplit=1)[0]


def _snake(name: str) -> str:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return re.sub(r"[^a-z0-9_]+", "_", parted).strip("_") or "my_tool"
