"""A process that has loaded everything and forks a worker for each line it is given.

A worker of its own takes a second to load. Chaos kills hundreds, so they are forked from one process that has loaded
the engine and started nothing: no thread, no connection. It answers each line with the process id, and ends its
workers and itself when its input ends, which is also what happens when whoever started it is killed.

``python -m amends.tests.chaos.nursery``
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from amends.testing.plain import compile_plain_selector
from amends.testing.witness import Witness
from amends.tests import workflow_cache
from amends.tests.chaos.traps import Traps
from amends.tools.loader import LoadedAgent, load_agent
from amends.worker.serving import serving
from amends.workflows import rollback, sending
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

__all__ = ["AGENT_FILE", "Birth", "load_bank"]

AGENT_FILE = Path(__file__).parent / "bank" / "agent.yaml"


@dataclass(frozen=True)
class Birth:
    """What a worker is to be. ``hurried`` makes the engine's waits short: a long run of chaos needs many runs."""

    address: str
    namespace: str
    task_queue: str
    witness: str
    log: str
    hurried: bool = False

    def line(self) -> str:
        """Return it as the nursery reads it."""
        return json.dumps(asdict(self)) + "\n"


def load_bank() -> LoadedAgent:
    """Load the bank's agent."""
    return load_agent(AGENT_FILE, compile_selector=compile_plain_selector)


def hurry() -> None:
    """Make the engine's waits short in this process."""
    quick = timedelta(milliseconds=20)
    rollback.WAITS = (quick, quick, quick)
    sending.PAUSES = (quick, quick)
    sending.HEARTBEAT = timedelta(seconds=3)


async def work(birth: Birth, agent: LoadedAgent) -> None:
    """Serve until the process is killed."""
    client = await Client.connect(
        birth.address,
        namespace=birth.namespace,
        data_converter=pydantic_data_converter,
        interceptors=[Traps(Witness(birth.witness))],
    )
    async with serving(client, [agent], task_queue=birth.task_queue):
        await asyncio.Event().wait()


def live(birth: Birth, agent: LoadedAgent) -> None:
    """Be a worker. Does not return."""
    log = os.open(birth.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ["BANK_WITNESS"] = birth.witness
    if birth.hurried:
        hurry()
    try:
        asyncio.run(work(birth, agent))
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(1)


def main() -> None:
    """Fork a worker for each line, until there are no more."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.environ["BANK_WITNESS"] = os.devnull
    if workflow_cache.is_switched_off():
        workflow_cache.switch_off()
    agent = load_bank()
    children: list[int] = []
    for line in sys.stdin:
        birth = Birth(**json.loads(line))
        child = os.fork()
        if not child:
            live(birth, agent)
        children.append(child)
        print(child, flush=True)
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
