"""One console for all of its tests: a copy of the shop on the run's server, a worker, and a real listening server."""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from amends.client.agent import AsyncAgent
from amends.client.connect import Connection, ConnectionSettings
from amends.client.home import Home
from amends.client.search_attributes import ensure_search_attributes
from amends.console.desk import Desk
from amends.console.guard import Console
from amends.console.limits import Rate
from amends.console.people import People, make_token, token_hash
from amends.console.seal import Seal
from amends.console.serving import listening
from amends.examples.shop.store import Store
from amends.tests.console.browsing import CHROMIUM, PATIENCE
from amends.tests.console.picturing import Picture, take, take_none
from amends.tools.loader import load_agent
from amends.worker.serving import make_worker
from playwright.async_api import Browser, Page, async_playwright
from temporalio.client import Client

ROOT = Path(__file__).parents[2]
QUEUE = "test-console"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--console-pictures", action="store_true", help="write the pictures of docs/images anew")


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Picture:
    return take if request.config.getoption("--console-pictures") else take_none


@dataclass
class Place:
    """Two listening consoles of one desk: one where people sign in, and the one of somebody at this machine."""

    url: str
    local: str
    tokens: dict[str, str]
    store: Store
    console: Console
    log: list[str]


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(scope="session")
async def place(client: Client, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    folder = tmp_path_factory.mktemp("console")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOP_DB", str(folder / "shop.db"))
        store = Store(folder / "shop.db")
        roles = {
            "ana": "desk",
            "bia": "desk, reviewer",
            "olga": "operator, auditor",
            "ida": "auditor",
            "tess": "desk",
            "lea": "desk",
            "u-17": "desk",
            "u-18": "desk",
        }
        tokens = {name: make_token() for name in roles}
        said = (f"{name}: {{roles: [{each}], token: '{token_hash(tokens[name])}'}}" for name, each in roles.items())
        (folder / "people.yaml").write_text("\n".join(said))
        # Its own name: on the server that all tests share, others have runs of an agent called desk.
        agent = replace(load_agent(ROOT / "examples/shop/agent.yaml", context={"card_on_file": True}), name="console")
        attributes = await ensure_search_attributes(client)
        connection = Connection(client=client, embedded=None, search_attributes=attributes)
        desk = Desk(AsyncAgent(Home.on(agent, connection, task_queue=QUEUE, settings=ConnectionSettings(state=folder))))
        quick: dict[str, Any] = {
            "posts": Rate(at_once=10_000, a_second=1_000),
            "sign_ins": Rate(at_once=1_000, a_second=100),
        }
        people = People.of_file(folder / "people.yaml")
        signed = Console(desk=desk, people=people, seal=Seal.of_file(folder / "console.key"), **quick)
        alone = Console(desk=desk, people=People.alone("root"), seal=signed.seal, **quick)
        kept = _Kept()
        logging.getLogger().addHandler(kept)
        logging.getLogger("amends.console").setLevel(logging.DEBUG)
        async with (
            make_worker(client, [agent], task_queue=QUEUE),
            listening(signed, host="127.0.0.1", port=0) as url,
            listening(alone, host="127.0.0.1", port=0) as local,
        ):
            yield Place(url, local, tokens, store, signed, kept.lines)
        logging.getLogger().removeHandler(kept)


@pytest.fixture
def shop(place: Place) -> Iterator[Store]:
    """The shop, whose provisioning is down as in the failed order."""
    place.store.switch("provisioning", up=False)
    yield place.store
    place.store.switch("provisioning", up=True)


@pytest.fixture(autouse=True)
def nothing_broke(place: Place) -> Iterator[None]:
    """No page and no operation may end in an error of our own, whoever asked for it and whether or not it was seen."""
    before = len(place.log)
    yield
    assert [line for line in place.log[before:] if re.search(r" 500 \d+ ms$", line)] == []


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("not run: there is no chromium on the PATH (apt-get install chromium)")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


Opens = Callable[..., Awaitable[Page]]


@pytest.fixture
async def opens(browser: Browser, place: Place) -> AsyncIterator[Opens]:
    """Opens a page of a browser of somebody's own; ``**options`` are those of Playwright's contexts."""
    async with AsyncExitStack() as stack:

        async def page(**options: Any) -> Page:
            context = await browser.new_context(**{"locale": "en-US", "base_url": place.local, **options})
            stack.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE)
            return await context.new_page()

        yield page


@pytest.fixture
async def page(opens: Opens) -> Page:
    return await opens()


@pytest.fixture
async def caller(place: Place) -> AsyncIterator["Caller"]:
    async with httpx.AsyncClient(base_url=place.url, timeout=30) as http:
        yield Caller(http, place)


@dataclass
class Caller:
    """Requests in somebody's name."""

    http: httpx.AsyncClient
    place: Place

    async def get(self, path: str, by: str | None = "ana", **headers: str) -> httpx.Response:
        return await self.http.get(path, headers={**self.signed(by), **headers})

    async def post(
        self, path: str, body: object, by: str | None = "ana", key: str = "k", **headers: str
    ) -> httpx.Response:
        return await self.http.post(path, json=body, headers={**self.signed(by), "Idempotency-Key": key, **headers})

    def signed(self, by: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.place.tokens.get(by, by)}"} if by else {}
