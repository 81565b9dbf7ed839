"""What an error that a tool raised says of its effect (SPEC 5.3).

A tool may say it outright, with the typed errors of `contract.errors`. Otherwise an ordinary error is definite: the
tool looked at what happened and says no. A time-out or a lost connection is not: it says that the tool stopped looking.
The same is true of an error that was raised *because* of one, so the chain of causes is followed; ``raise ... from
None`` is how an author says that the cause does not matter.

Libraries have their own classes for time-outs and lost connections, most of which are no subclass of Python's. They
are known by name, along the whole class hierarchy, so that no library has to be imported.
"""

import asyncio
import re
from collections.abc import Iterator
from http.client import HTTPException
from ssl import SSLError

from ..contract.errors import NotSent, OutcomeUnknown, Refused
from ..contract.outcome import Failure, Outcome

__all__ = ["failure_of", "outcome_of_raised"]

LONGEST_MESSAGE = 500

_DOUBTFUL = (
    OutcomeUnknown,
    TimeoutError,
    ConnectionError,
    EOFError,
    SSLError,
    HTTPException,
    asyncio.CancelledError,
    SystemExit,
)
_DOUBTFUL_NAMES = re.compile(
    r"Timeout|TimedOut|ConnectionError|ConnectionClosed|ConnectError|TransportError|ProtocolError|NetworkError"
    r"|RemoteDisconnected|ServerDisconnected|BrokenPipe|DeadlineExceeded|ServiceUnavailable"
)


def outcome_of_raised(error: BaseException, *, worker_lost: bool = False) -> Outcome:
    """Return the outcome of a call that raised ``error`` after it was sent.

    ``worker_lost`` says that the worker was told to stop in the middle of the call.
    """
    failure = failure_of(error)
    match error:
        case NotSent():
            return Outcome(status="never_sent", failure=failure)
        case Refused():
            return Outcome(status="failed", failure=failure, refused=True)
        case OutcomeUnknown():
            return Outcome(status="in_doubt", failure=failure)
        case _ if worker_lost:
            return Outcome(status="in_doubt", failure=failure, worker_lost=True)
        case _ if any(_doubtful(link) for link in _chain(error)):
            return Outcome(status="in_doubt", failure=failure)
        case _:
            return Outcome(status="failed", failure=failure)


def failure_of(error: BaseException) -> Failure:
    """Return the name of an error's class and its message, cut to a length that any store takes."""
    return Failure(type=type(error).__name__, message=_message(error)[:LONGEST_MESSAGE])


def _message(error: BaseException) -> str:
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - a tool's error may fail to print itself, and that must not become the news
        return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _doubtful(error: BaseException) -> bool:
    if isinstance(error, _DOUBTFUL):
        return True
    if isinstance(error, BaseExceptionGroup):
        return any(_doubtful(inner) for inner in error.exceptions)
    return any(_DOUBTFUL_NAMES.search(kind.__name__) for kind in type(error).__mro__)
