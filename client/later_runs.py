"""What later runs of a session wrote that still stands: an operator who undoes an older one should know (SPEC 8.2)."""

from temporalio.service import RPCError, RPCStatusCode

from ..contract.unwind import LaterRun
from .audit import read_record
from .place import Place

__all__ = ["later_runs"]

_UNDONE = frozenset(("undone", "undone by hand"))


async def later_runs(place: Place, agent: str, user: str, run: str) -> tuple[LaterRun, ...]:
    """Return the runs that the session of ``run`` took after it, with the tools of their writes that still stand.

    An open run is none of them: its lines are written when it is over.
    """
    try:
        entries = (await read_record(place, agent, user)).entries
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return ()
        raise
    begun = [entry.run for entry in entries if entry.kind == "turn" and entry.run]
    after = dict.fromkeys(begun[begun.index(run) + 1 :] if run in begun else ())
    undone = {entry.step for entry in entries if entry.kind == "undo" and entry.outcome in _UNDONE}
    wrote: dict[str, list[str]] = {run: [] for run in after}
    for entry in entries:
        standing = entry.kind == "call" and entry.outcome not in ("failed", "did not happen") and entry.key
        if standing and entry.writes and entry.run in wrote and entry.step not in undone:
            wrote[entry.run].append(entry.tool)
    return tuple(LaterRun(run=run, tools=tuple(tools)) for run, tools in wrote.items() if tools)
