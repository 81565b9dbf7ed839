"""Asking a workflow by a query, and once more where no answer comes.

A query is in no history: a worker that dies with it, or puts the workflow out of its memory in that moment, loses it,
and Temporal waits half a minute for the answer. Asking again costs nothing, since a query changes nothing.
"""

import itertools
from datetime import timedelta
from typing import Any, TypeVar

from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

__all__ = ["ask"]

WITHIN = tuple(timedelta(seconds=seconds) for seconds in (3, 6, 12))
"""How long to wait for an answer before asking again; the last goes on. A worker that replays a long history takes some
seconds, and each time it is asked it has come further."""
_NO_ANSWER = {RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED}

_T = TypeVar("_T")


async def ask(handle: WorkflowHandle[Any, Any], query: str, *arguments: object, result_type: type[_T]) -> _T:
    """Return the answer of a workflow to a query, however often it must be asked.

    Raises:
        RPCError: as the SDK does, but for an answer that does not come.
    """
    for within in itertools.chain(WITHIN, itertools.repeat(WITHIN[-1])):
        try:
            answer: _T = await handle.query(query, args=arguments, result_type=result_type, rpc_timeout=within)
        except RPCError as error:
            if error.status not in _NO_ANSWER:
                raise
        else:
            return answer
    raise AssertionError("asking never ends by itself")
