"""``amends worker`` and ``amends dev`` as processes: signals, queues, metrics, versions."""

import asyncio
import json
import signal
import socket
import urllib.request
from collections.abc import Callable

import pytest
from amends.client.dev_server import find_binary

SLOW_TOOLS = '''
import time
from pathlib import Path

from amends import tool


@tool(writes=True, undo="none_needed")
def bake_cake(cake_id: str) -> dict[str, str]:
    """Bake a cake."""
    Path("begun").touch()
    time.sleep(1.5)
    return {"cake_id": cake_id}


@tool(writes=True, irreversible=True)
def none_needed(cake_id: str) -> None:
    """Throw it away."""
'''
SLOW_AGENT = """
agents:
  {name}:
    tools: [bake_cake, none_needed]
  {name}-two:
    tools: [bake_cake, none_needed]
tools:
  - python: ./bakery_tools.py
"""


@pytest.fixture
def bakery(shop, temporal, task_queue):
    """A bakery with two agents on the session's server, with names no other test uses."""
    name = task_queue
    (shop.folder / "bakery_tools.py").write_text(SLOW_TOOLS)
    (shop.folder / "agent.yaml").write_text(SLOW_AGENT.format(name=name))
    shop.environment = {"TEMPORAL_ADDRESS": temporal.address, "BAKERY": name}
    return shop


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not await asyncio.to_thread(is_so):
            await asyncio.sleep(0.02)


async def bake(bakery, started, *words: str):
    """Start a worker and a run whose call is in flight when this returns."""
    name = bakery.environment["BAKERY"]
    worker = started(bakery, "worker", *words, until="Stop with")
    asked = await asyncio.to_thread(bakery.amends, "chat", "--name", name, "--as", "u", typed="bake cake 4411\n")
    assert asked.returncode == 3, asked.stderr
    answering = bakery.starts("confirm", "u", "approve", "--name", name, "--json")
    await until((bakery.folder / "begun").exists)
    return worker, answering


async def test_a_worker_that_is_told_to_stop_lets_the_call_in_flight_end(bakery, started) -> None:
    worker, answering = await bake(bakery, started, "--drain", "10s")
    worker.send_signal(signal.SIGTERM)
    said, _ = await asyncio.to_thread(worker.communicate, timeout=20)
    assert (worker.returncode, said) == (0, "")
    answering.kill()
    answering.communicate()
    started(bakery, "worker", until="Stop with")
    shown = await asyncio.to_thread(bakery.amends, "show", "u", "--name", bakery.environment["BAKERY"], "--json")
    view = json.loads(shown.stdout)
    assert (view["state"], view["steps"][0]["state"], view["steps"][0]["attempts"]) == ("done", "done", 1)


async def test_a_second_signal_does_not_wait(bakery, started) -> None:
    worker, answering = await bake(bakery, started, "--drain", "60s")
    worker.send_signal(signal.SIGTERM)
    while "Stopping" not in (await asyncio.to_thread(worker.stderr.readline)):
        pass
    worker.send_signal(signal.SIGINT)
    _, told = await asyncio.to_thread(worker.communicate, timeout=1.2)
    assert worker.returncode == 130
    assert "Cut off. Calls that were in flight will be asked about." in told
    answering.kill()
    answering.communicate()


async def test_each_agent_of_a_file_is_served_on_a_queue_of_its_own(bakery, started) -> None:
    started(bakery, "worker", until="Stop with")
    for name in (bakery.environment["BAKERY"], f"{bakery.environment['BAKERY']}-two"):
        asked = await asyncio.to_thread(bakery.amends, "chat", "--name", name, "--as", "u", typed="bake cake 4411\n")
        assert asked.returncode == 3, asked.stderr
        assert f"amends confirm run:{name}:u:" in asked.stderr


async def test_a_versioned_worker_with_metrics_serves_once_its_version_is_current(bakery, started) -> None:
    name = bakery.environment["BAKERY"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    version = ("--deployment", name, "--build-id", "b1")
    started(bakery, "worker", *version, "--name", name, "--metrics", f":{port}", until="Stop with")
    current = ("worker", "deployment", "set-current-version", "--deployment-name", name, "--build-id", "b1", "--yes")
    await until(
        lambda: (
            bakery.command(str(find_binary()), *current, "--address", bakery.environment["TEMPORAL_ADDRESS"]).returncode
            == 0
        )
    )
    asked = await asyncio.to_thread(bakery.amends, "chat", "--name", name, "--as", "u", typed="bake cake 4411\n")
    assert asked.returncode == 3, asked.stderr
    skipped = await asyncio.to_thread(bakery.amends, "confirm", "u", "skip", "--name", name)
    assert (skipped.returncode, skipped.stdout) == (0, "Nothing was done. Skipped: bake_cake.\n")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        assert b"temporal_workflow_completed" in answer.read()


async def test_a_metrics_address_that_is_taken_is_told_as_the_setting_it_is(bakery) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = await asyncio.to_thread(bakery.amends, "worker", "--metrics", address)
    assert done.returncode == 2
    assert f"error: --metrics = '{address}': it cannot be served there" in done.stderr


async def test_dev_prints_its_links_and_ends_with_ctrl_c(shop, started) -> None:
    dev = started(shop, "dev", until="Stop with Ctrl-C.")
    links = dict(dev.stdout.readline().rstrip("\n").split("  ", 1) for _ in range(5))
    links = {title.strip(): value.strip() for title, value in links.items()}
    assert (links["Queue"], links["Chat"]) == ("amends-desk", "amends chat")
    for each in ("Temporal UI", "Console"):
        with urllib.request.urlopen(links[each], timeout=5) as page:
            assert page.status == 200
    shown = await asyncio.to_thread(shop.amends, "chat", "--as", "u", "--no-input", typed="get order 4411\n")
    assert (shown.returncode, shown.stdout) == (0, "Done: get_order.\n")
    shown = await asyncio.to_thread(shop.amends, "show", "u", "--temporal")
    assert links["Temporal UI"] in shown.stdout
    dev.send_signal(signal.SIGINT)
    assert await asyncio.to_thread(dev.wait, 20) == 0
