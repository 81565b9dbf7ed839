"""The console under load: many people at once, each with a live page, a card before them, and a moment to read it.

``python -m amends.benchmarks.console_load`` starts a Temporal server, a worker (`amends worker`) and a console
(`amends serve`), each a process of its own, as on one small machine. Every person has a conversation with an event
stream open all the time; they say a turn of one write, read its card for a while, approve it, and begin anew. Measured
is what a person waits for: from pressing the answer until it is recorded; and from saying a turn until its card is
there. The exit code is 1 where the answers' p95 is above the limit.

``CONVERSATIONS`` (200), ``SECONDS`` (60), ``READS`` (30, seconds on average that a card is read for).
"""

import asyncio
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

import httpx2 as httpx
from amends.client.embedded import EmbeddedServer
from amends.console.people import make_token, token_hash
from amends.examples.shop.store import Store
from rich.console import Console
from rich.table import Table

SHOP = Path(__file__).parents[1] / "examples" / "shop" / "agent.yaml"
LIMIT = 0.5
"""Seconds: the most that an answer may take at p95."""


@dataclass
class Load:
    """What is done, and what was measured: seconds, of answers and of turns."""

    conversations: int
    seconds: float
    reads: float
    answers: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    events: int = 0
    streams: int = 0
    wrong: list[str] = field(default_factory=list)


async def main() -> int:
    """Measure, print the table, and say whether the answers were in time."""
    load = Load(
        conversations=int(os.environ.get("CONVERSATIONS", "200")),
        seconds=float(os.environ.get("SECONDS", "60")),
        reads=float(os.environ.get("READS", "30")),
    )
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="amends-load-")))
        tokens = {f"p-{number}": make_token() for number in range(load.conversations)}
        url = await _start(stack, folder, tokens)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60, limits=limits))
        begun = time.monotonic() + load.reads  # they begin one after the other, and are not measured while they do
        people = [_person(http, load, user, token, begun) for user, token in tokens.items()]
        await asyncio.gather(*people)
    Console(width=max(100, Console().width)).print(_table(load))
    for line in load.wrong[:5]:
        sys.stdout.write(f"wrong: {line}\n")
    return int(bool(load.wrong) or _at(load.answers, 95) > LIMIT)


async def _start(stack: AsyncExitStack, folder: Path, tokens: dict[str, str]) -> str:
    """Start everything; return the console's address."""
    server = await stack.enter_async_context(await EmbeddedServer.open(None))
    Store(folder / "shop.db").switch("provisioning", up=True)
    said = (f"{name}: {{roles: [desk], token: '{token_hash(token)}'}}\n" for name, token in tokens.items())
    (folder / "people.yaml").write_text("".join(said))
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    shop = ["--agent", str(SHOP), "--state-folder", str(folder)]
    environment = {**os.environ, "TEMPORAL_ADDRESS": server.address, "SHOP_DB": str(folder / "shop.db")}
    for words in (
        ["worker", *shop],
        ["serve", *shop, "--people", str(folder / "people.yaml"), "--port", str(port)],
    ):
        await stack.enter_async_context(_running(words, environment, folder / f"{words[0]}.log"))
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url) as http:
        while True:
            with suppress(httpx.TransportError):
                if (await http.get("/healthz")).status_code == 200:
                    return url
            await asyncio.sleep(0.1)


@asynccontextmanager
async def _running(words: list[str], environment: dict[str, str], log: Path) -> AsyncIterator[None]:
    with log.open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "amends.cli.main", *words, env=environment, stdout=said, stderr=said
        )
    try:
        yield
    finally:
        process.terminate()
        await process.wait()


async def _person(http: httpx.AsyncClient, load: Load, user: str, token: str, begun: float) -> None:
    chance = random.Random(user)
    signed = {"Authorization": f"Bearer {token}"}
    await asyncio.sleep(chance.uniform(0, load.reads * 0.9))
    number = 0
    while time.monotonic() < begun + load.seconds:
        number += 1
        sent = time.monotonic()
        said = await http.post(
            f"/v1/threads/{user}/turns",
            json={"turn": "charge order 4411 1.00"},
            headers={**signed, "Idempotency-Key": f"turn-{number}", "Prefer": "wait=30"},
        )
        if said.status_code != 201 or not said.json()["run"]["waiting"]:
            load.wrong.append(f"{user}: {said.status_code} {said.text[:200]}")
            return
        if sent >= begun:
            load.turns.append(time.monotonic() - sent)
        run = said.json()["run"]
        watching = asyncio.ensure_future(_watch(http, load, signed, run["run"]))
        await asyncio.sleep(chance.uniform(0.5, 1.5) * load.reads)
        question = run["waiting"][0]
        sent = time.monotonic()
        said = await http.post(
            f"/v1/runs/{run['run']}/questions/{question['id']}/answer",
            json={"answer": "approve", "digest": question["digest"]},
            headers={**signed, "Idempotency-Key": f"answer-{number}"},
        )
        if said.status_code != 200:
            load.wrong.append(f"{user}: {said.status_code} {said.text[:200]}")
            return
        if sent >= begun:
            load.answers.append(time.monotonic() - sent)
        await watching


async def _watch(http: httpx.AsyncClient, load: Load, signed: dict[str, str], run: str) -> None:
    """Keep the page's stream open until the run is over."""
    load.streams += 1
    async with http.stream("GET", f"/v1/runs/{run}/events", headers={**signed, "Accept": "text/event-stream"}) as got:
        async for line in got.aiter_lines():
            load.events += line.startswith("id: ")


def _at(seconds: list[float], percent: int) -> float:
    return quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _table(load: Load) -> Table:
    title = f"{load.conversations} conversations, {load.seconds:.0f} s, a card read for {load.reads:.0f} s"
    table = Table(title=f"{title}; {load.streams} streams, {load.events} events", title_justify="left")
    table.add_column("")
    for name in ("number", "a second", "p50 ms", "p95 ms", "p99 ms", "most ms"):
        table.add_column(name, justify="right")
    for name, seconds in (("answer recorded", load.answers), ("turn said, card there", load.turns)):
        row = [f"{_at(seconds, percent) * 1000:.0f}" for percent in (50, 95, 99)]
        table.add_row(name, str(len(seconds)), f"{len(seconds) / load.seconds:.1f}", *row, f"{max(seconds) * 1000:.0f}")
    return table


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    # Temporal's runtime has threads that may crash an interpreter which tears itself down under them.
    os._exit(code)
