"""The record of a session, read from where it is kept, exported and verified (SPEC 7.4).

The session holds the latest lines and the names of the sealed pages; a page is the input of a workflow that stays open.
A page is read from its history, so that neither a worker nor any code of ours has a say in what it holds.
"""

import asyncio
import dataclasses
import json
from collections.abc import Iterator, Sequence

from pydantic import ValidationError
from temporalio.client import WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from ..contract.chain import BrokenChain, Head, Header, verify
from ..contract.memory import Memory, Message
from ..contract.names import RECORD_QUERY, session_workflow_id
from ..contract.record import Entry, Page, Tail
from .asking import ask
from .patience import while_served
from .place import Place

__all__ = ["SessionRecord", "parse_record", "read_record"]

PAGES_AT_ONCE = 8


@dataclasses.dataclass(frozen=True)
class SessionRecord:
    """A record: its header and its lines, each one JSON object.

    ``header`` is None where it was lost, with the rest of a file's first line.
    """

    header: Header | None
    lines: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The lines, read.

        Raises:
            ValueError: a line cannot be read; `verify` says which.
        """
        return tuple(Entry.model_validate(json.loads(line)) for line in self.lines)

    @property
    def memory(self) -> tuple[Message, ...]:
        """The whole memory, from the first turn on, as a model would read it (SPEC 7.2)."""
        return Memory.of(self.entries)

    def verify(self, *heads: Head) -> BrokenChain | None:
        """Return the first place where it is not what was written, or None.

        Args:
            heads: ends of the chain that were kept elsewhere.
        """
        if self.header is None:
            return BrokenChain(line=0, kind="missing", why="the header is gone, which says whose record this is")
        return verify(self.header.session, self.lines, self.header.head, *heads)

    def text(self) -> Iterator[str]:
        """Yield the lines of a file that holds the record: JSON lines, the header first."""
        if self.header is not None:
            yield self.header.model_dump_json()
        yield from self.lines


def parse_record(lines: Sequence[str]) -> SessionRecord:
    """Read an exported record, whatever became of it; blank lines do not count."""
    filled = [line for line in lines if line.strip()]
    try:
        header = Header.model_validate_json(filled[0]) if filled else None
    except ValidationError:
        return SessionRecord(header=None, lines=tuple(filled))
    return SessionRecord(header=header, lines=tuple(filled[1:]))


async def read_record(place: Place, agent: str, user: str) -> SessionRecord:
    """Read the record of a user's session: sealed pages, and what the session holds now.

    A page that is gone leaves a gap, which `SessionRecord.verify` tells.

    Raises:
        RPCError: with the status ``NOT_FOUND``: the user has no session.
    """
    handle: WorkflowHandle[object, object] = place.client.get_workflow_handle(session_workflow_id(agent, user))
    tail: Tail = await while_served(ask(handle, RECORD_QUERY, result_type=Tail), place)
    room = asyncio.Semaphore(PAGES_AT_ONCE)
    pages = await asyncio.gather(*(_page(place, name, room) for name in tail.chain.pages))
    header = Header(
        session=tail.chain.session,
        agent=tail.agent,
        user=tail.user,
        at=tail.at,
        head=Head(count=tail.chain.count, hash=tail.chain.head),
        open_run=tail.open_run,
    )
    return SessionRecord(header=header, lines=(*(line for page in pages for line in page), *tail.chain.lines))


async def _page(place: Place, name: str, room: asyncio.Semaphore) -> tuple[str, ...]:
    async with room:
        try:
            events = place.client.get_workflow_handle(name).fetch_history_events(page_size=1)
            started = (await anext(events)).workflow_execution_started_event_attributes
        except RPCError as error:
            if error.status == RPCStatusCode.NOT_FOUND:
                return ()
            raise
    (page,) = await place.client.data_converter.decode(started.input.payloads, [Page])
    return Page.model_validate(page).lines
