"""A target system that misbehaves as it is told, in the process that calls it (SPEC 5.3, 5.6).

A tool's body hands its call to `Target.write` or `Target.read`. What happens then stands in the witness's script, per
subject and delivery, so that it also happens in a worker process that a test does not share memory with. With nothing
said, a write takes effect and returns ``{"id": <effect>}``.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from typing import Literal, get_args

from pydantic import JsonValue

from ..contract.errors import NotSent, OutcomeUnknown, Refused
from ..tools.context import ToolContext
from .witness import Delivery, Witness

__all__ = ["FAULTS", "Fault", "Target"]

Fault = Literal[
    "raise", "refuse", "not sent", "time out", "commit, time out", "commit, raise", "commit, raise anything", "hang",
    "commit, hang", "late", "late raise", "die", "commit, die", "slow", "junk",
]  # fmt: skip
"""What the target does instead of its duty. What stands behind a comma happens after the effect.

``raise``: an ordinary error, so definitely without effect. ``commit, raise``: an error that says the outcome is
unknown. ``commit, raise anything``: an ordinary error although it took effect, which a tool must never do.
``hang``: no answer, until it is given up. ``late``: it outlives its time limit, then takes effect; ``late raise``:
then says no. ``die``: its process is killed. ``junk``: it takes effect and returns nothing of use.
"""
FAULTS: tuple[Fault, ...] = get_args(Fault)

_ERRORS: Mapping[str, Callable[[], Exception]] = {
    "raise": lambda: RuntimeError("it broke"),
    "refuse": lambda: Refused("it says no"),
    "not sent": lambda: NotSent("no way there"),
    "time out": lambda: TimeoutError("no answer"),
    "commit, time out": lambda: TimeoutError("no answer"),
    "commit, raise": lambda: OutcomeUnknown("the line went dead"),
    "commit, raise anything": lambda: KeyError("receipt"),
}
LATE = 0.2
"""Seconds by which a late call outlives its time limit."""


class Target:
    """One target system.

    Args:
        witness: what it writes to.
        patience: the time limit of its tools, in seconds.
    """

    def __init__(self, witness: Witness, *, patience: float) -> None:
        self.witness = witness
        self._patience = patience

    async def write(
        self, tool: str, subject: str, context: ToolContext, *, keeps_keys: bool, undoes: str | None = None
    ) -> JsonValue:
        """Take a write, or an undo of the effect ``undoes``, and do what the script says."""
        delivery = self.witness.begin(tool, subject, context)

        def commit() -> JsonValue:
            taken_back = int(undoes) if undoes is not None else None
            return {"id": str(self.witness.take_effect(delivery, keeps_keys=keeps_keys, undoes=taken_back))}

        try:
            result = await self._do(delivery, commit)
        except asyncio.CancelledError:
            self.witness.end(delivery, "given up")
            raise
        except BaseException as error:
            self.witness.end(delivery, f"raised {type(error).__name__}")
            raise
        self.witness.end(delivery, "returned")
        return result

    async def read(self, tool: str, subject: str, context: ToolContext, answer: JsonValue = None) -> JsonValue:
        """Take a read, answered with ``answer``, and do what the script says."""
        delivery = self.witness.begin(tool, subject, context, writes=False)
        try:
            result = await self._do(delivery, lambda: answer)
        except asyncio.CancelledError:
            self.witness.end(delivery, "given up")
            raise
        except BaseException as error:
            self.witness.end(delivery, f"raised {type(error).__name__}")
            raise
        self.witness.end(delivery, f"returned {result}")
        return result

    async def _do(self, delivery: Delivery, commit: Callable[[], JsonValue]) -> JsonValue:
        fault = delivery.fault
        if fault and fault not in FAULTS:
            raise AssertionError(f"nothing says how to do {fault!r}; the faults are {', '.join(FAULTS)}")
        if fault.startswith("commit"):
            commit()
        if fault in _ERRORS:
            error = _ERRORS[fault]()
            raise error
        match fault.removeprefix("commit, "):
            case "hang":
                await asyncio.Event().wait()
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "late":
                await self._outlive()
            case "late raise":
                await self._outlive()
                raise RuntimeError("it broke, late")
            case "slow":
                await asyncio.sleep(self._patience / 4)
        result = commit()
        return ["nothing", "of use"] if fault == "junk" else result

    async def _outlive(self) -> None:
        """Go on past the time limit, as code does that cannot be cancelled."""
        try:
            await asyncio.sleep(self._patience + LATE)
        except asyncio.CancelledError:
            await asyncio.sleep(LATE)
