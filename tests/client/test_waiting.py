"""Waiting for Temporal, for a worker and for a run: told at once when nobody is there, and never twice (SPEC 4.8)."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from amends import Unreachable
from amends.client import patience
from amends.client.following import Follower
from amends.client.history import HistoryReader
from amends.client.patience import served, while_served
from amends.client.place import Place
from amends.contract.run import RunView
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode


@pytest.fixture
def place(client: Client, task_queue: str) -> Place:
    return Place(client=client, address="127.0.0.1:1", task_queue=task_queue, attributes=True)


async def forever() -> None:
    await asyncio.Event().wait()


async def test_a_call_that_ends_is_not_asked_who_polls(place: Place, monkeypatch: pytest.MonkeyPatch):
    async def told(_: Place) -> bool:
        raise AssertionError("it need not be looked")

    monkeypatch.setattr(patience, "served", told)
    assert await while_served(asyncio.sleep(0, "done"), place) == "done"


async def test_a_call_on_a_queue_that_nobody_polls_is_given_up(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patience, "LOOK_EVERY", 0.05)
    assert not await served(place)
    started = time.monotonic()
    with pytest.raises(Unreachable, match="Start one with `amends worker`") as told:
        await while_served(forever(), place)
    assert told.value.code == "no_worker_polling"
    assert time.monotonic() - started < 2


async def test_a_call_goes_on_for_as_long_as_somebody_polls(place: Place, monkeypatch: pytest.MonkeyPatch):
    looks = iter([True, True, False])

    async def told(_: Place) -> bool:
        return next(looks)

    monkeypatch.setattr(patience, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(patience, "served", told)
    with pytest.raises(Unreachable):
        await while_served(forever(), place)
    assert list(looks) == []


async def test_a_server_that_does_not_answer_is_named(place: Place):
    async def unavailable() -> None:
        raise RPCError("connection refused", RPCStatusCode.UNAVAILABLE, b"")

    with pytest.raises(Unreachable, match=r"Temporal at 127\.0\.0\.1:1 does not answer") as told:
        await while_served(unavailable(), place)
    assert told.value.code == "temporal_unreachable"


async def test_another_answer_of_the_server_is_not_taken_for_silence(place: Place):
    async def denied() -> None:
        raise RPCError("no", RPCStatusCode.PERMISSION_DENIED, b"")

    with pytest.raises(RPCError):
        await while_served(denied(), place)


# Following a run


STARTED = EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED
DONE = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
SENT = EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
BACK = EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED


class Pages:
    """The long poll of a history: pages come when a test lets them."""

    def __init__(self, *pages: Sequence[Any]) -> None:
        self._pages = [[HistoryEvent(event_type=kind) for kind in page] for page in pages]
        self.current_page: list[HistoryEvent] | None = None
        self.asked = 0
        self.reading = 0

    def fetch_history_events(self, **_: object) -> "Pages":
        return self

    async def fetch_next_page(self) -> None:
        self.asked += 1
        self.reading += 1
        assert self.reading == 1, "two callers read at once"
        try:
            await asyncio.sleep(0.01)
            if self.asked > len(self._pages):
                await asyncio.Event().wait()
            self.current_page = self._pages[self.asked - 1]
        finally:
            self.reading -= 1


class Followed(Follower):
    """A follower of a run that is made of pages, and that waits for a person whenever it is looked at."""

    def __init__(self, client: Client, pages: Pages) -> None:
        super().__init__(client, "run:x:1")
        self.views = 0
        self._history = HistoryReader(pages)  # type: ignore[arg-type]

    async def _attention(self) -> RunView:
        self.views += 1
        shown = RunView(run="run:x:1", session="x", agent="desk", user="u", turn="", language="en", state="waiting")
        return shown.model_copy(update={"waiting": ("a question",)})


async def test_a_run_is_looked_at_once_it_is_idle_and_not_before(client: Client):
    pages = Pages([STARTED], [DONE, SENT], [BACK, STARTED], [DONE])
    followed = Followed(client, pages)
    assert (await followed.until_attention()).waiting
    assert (pages.asked, followed.views) == (4, 1)


async def test_callers_that_wait_together_read_each_page_once(client: Client):
    pages = Pages([STARTED], [DONE, SENT], [BACK, STARTED], [DONE])
    followed = Followed(client, pages)
    views = await asyncio.wait_for(asyncio.gather(*(followed.until_attention() for _ in range(5))), timeout=5)
    assert all(view.waiting for view in views)
    assert pages.asked == 4


async def test_a_caller_whose_event_another_one_read_does_not_wait_for_a_further_one(client: Client):
    followed = Followed(client, Pages([STARTED, DONE]))
    before = followed.read
    await followed.until_attention()
    view = await asyncio.wait_for(followed.until_attention(since=before), timeout=5)
    assert view.waiting


async def test_a_caller_who_did_something_since_waits_for_its_events(client: Client):
    followed = Followed(client, Pages([STARTED, DONE], [STARTED], [DONE]))
    await followed.until_attention()
    await asyncio.wait_for(followed.until_attention(since=followed.read), timeout=5)
    assert (followed.read, followed.views) == (3, 2)
