"""A tool bench: the tools of a real agent with bodies that do what a test says (SPEC 5.3, 9.7).

The contracts, the checks and the argument readers stay the agent's own; only what happens when a tool is called is
scripted. What was called, in which order and under which key, is kept in `ToolBench.calls`, which is the only
witness a test needs::

    bench = ToolBench(load_agent("agent.yaml"))
    bench.on("provision_account").raises(RuntimeError("down"))
    ...
    assert bench.names == ["charge_card", "provision_account", "refund_card"]
"""

import asyncio
import dataclasses
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from ..tools.context import ToolContext
from ..tools.loader import LoadedAgent
from ..tools.tool import Tool

__all__ = ["BenchCall", "Script", "ToolBench"]


@dataclasses.dataclass(frozen=True)
class BenchCall:
    """One call that reached a tool. ``arguments`` are in the tool's own types, without the context."""

    tool: str
    arguments: Mapping[str, object]
    context: ToolContext

    @property
    def key(self) -> str:
        """The idempotency key the call carried."""
        return self.context.idempotency_key


Body = Callable[[BenchCall], Awaitable[object]]


class Script:
    """What one tool does, call by call. The last thing said is done again for every further call."""

    def __init__(self) -> None:
        self._bodies: deque[Body] = deque()

    def returns(self, value: object) -> Self:
        """Answer with ``value``."""

        async def body(_: BenchCall) -> object:
            return value

        return self.does(body)

    def raises(self, error: BaseException, *, times: int = 1) -> Self:
        """Raise ``error``, ``times`` calls in a row if more is said after it."""

        async def body(_: BenchCall) -> object:
            raise error

        for _ in range(times):
            self.does(body)
        return self

    def hangs(self) -> Self:
        """Take the call and never answer."""

        async def body(_: BenchCall) -> object:
            await asyncio.Event().wait()
            return None

        return self.does(body)

    def does(self, body: Body) -> Self:
        """Do anything: ``body`` is called with the call."""
        self._bodies.append(body)
        return self

    async def serve(self, call: BenchCall) -> object:
        """Do the next thing that was said; with nothing said, return a result that names the tool."""
        if not self._bodies:
            return {"id": f"{call.tool}-{call.context.step}"}
        body = self._bodies.popleft() if len(self._bodies) > 1 else self._bodies[0]
        return await body(call)


class ToolBench:
    """The tools of an agent, scripted.

    Args:
        agent: the agent whose tools they are.
    """

    def __init__(self, agent: LoadedAgent) -> None:
        self.calls: list[BenchCall] = []
        self._scripts: dict[str, Script] = {}
        self.agent = dataclasses.replace(
            agent, tools={name: self._scripted(tool) for name, tool in agent.tools.items()}
        )

    @property
    def names(self) -> list[str]:
        """The tools that were called, in order."""
        return [call.tool for call in self.calls]

    def on(self, tool: str) -> Script:
        """Return the script of a tool, to say what it does.

        Raises:
            KeyError: the agent has no such tool.
        """
        if tool not in self.agent.tools:
            raise KeyError(f"the agent has no tool {tool!r}; it has {', '.join(self.agent.tools)}")
        return self._scripts.setdefault(tool, Script())

    def called(self, tool: str) -> list[BenchCall]:
        """Return the calls of one tool, in order."""
        return [call for call in self.calls if call.tool == tool]

    def _scripted(self, tool: Tool) -> Tool:
        async def function(*, _context: ToolContext, **arguments: object) -> object:
            call = BenchCall(tool.name, arguments, _context)
            self.calls.append(call)
            return await self._scripts.setdefault(tool.name, Script()).serve(call)

        signature = dataclasses.replace(tool.signature, context="_context")
        return dataclasses.replace(tool, function=function, is_async=True, signature=signature)
