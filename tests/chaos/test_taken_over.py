"""A worker killed with -9 in the middle of a call: another takes over, and a person is asked, soon (SPEC 5.5, 5.6)."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from amends.client.agent import AsyncAgent
from amends.client.embedded import EmbeddedServer
from amends.testing.witness import Witness
from amends.tests.histories.recording import KeepHistory

AGENT_FILE = Path(__file__).parent / "till" / "agent.yaml"
AMENDS = str(Path(sys.executable).parent / "amends")
SOON = 15.0
ASKED = "Did charge_card take effect? It was being sent when the run stopped."


@dataclass(frozen=True)
class Till:
    """The till of one test: two workers as anybody starts them, and a client."""

    agent: AsyncAgent
    witness: Witness
    pid_file: Path

    async def pid_in_the_call(self) -> int:
        async with asyncio.timeout(30):
            while not (self.pid_file.exists() and self.pid_file.read_text()):
                await asyncio.sleep(0.02)
        return int(self.pid_file.read_text())


@asynccontextmanager
async def open_till(
    server: EmbeddedServer, folder: Path, task_queue: str, patch: pytest.MonkeyPatch, **environment: str
) -> AsyncIterator[Till]:
    settings = {
        "TEMPORAL_ADDRESS": server.address,
        "TEMPORAL_NAMESPACE": server.namespace,
        "TILL_WITNESS": str(folder / "witness.db"),
        "TILL_PID": str(folder / "pid"),
        **environment,
    }
    for name, value in settings.items():
        patch.setenv(name, value)
    words = [AMENDS, "worker", str(AGENT_FILE), "--task-queue", task_queue]
    workers = [
        subprocess.Popen(words, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    try:
        async with AsyncAgent.from_file(AGENT_FILE, task_queue=task_queue) as agent:
            yield Till(agent, Witness(folder / "witness.db"), folder / "pid")
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


async def killed_in_the_call(till: Till) -> float:
    """Kill the worker in the middle of the charge; return how long it takes until the person is asked."""
    await till.agent.chat("charge order 4411 40.00", user="u-1")
    confirming = asyncio.create_task(till.agent.confirm("u-1", "approve"))
    pid = await till.pid_in_the_call()
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    reply = await confirming
    (question,) = reply.waiting
    assert (question.kind, question.text) == ("outcome", ASKED)
    assert question.answers == ("happened", "did not happen")
    return time.monotonic() - killed


@pytest.mark.recorded("worker_lost")
async def test_g062_g066_g126_the_other_worker_asks_within_15_seconds_and_the_charge_is_not_sent_again(
    temporal: EmbeddedServer,
    tmp_path: Path,
    task_queue: str,
    monkeypatch: pytest.MonkeyPatch,
    keep_history: KeepHistory,
):
    async with open_till(temporal, tmp_path, task_queue, monkeypatch, TILL_TAKES_EFFECT="yes") as till:
        seconds = await killed_in_the_call(till)
        print(f"asked after {seconds:.1f} s")
        assert seconds < SOON
        (charge,) = till.witness.standing()
        reply = await till.agent.answer("u-1", "happened", result={"charge": str(charge.id)})
        assert reply.text == "Done: charge_card."
        assert [each.tool for each in till.witness.deliveries()] == ["charge_card"]
        await keep_history(reply.run)
