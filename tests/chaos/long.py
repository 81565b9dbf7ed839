"""Chaos in its long form: hundreds of random runs on workers that are killed all the time. ``make chaos`` runs it.

``SEED=`` says which runs; it is printed, so that whatever was found can be looked at again. ``RUNS=`` says how many.
Ends with 1 when anything was found: a run that is wedged, a reply that is untrue, a write or an undo that came twice,
or an end that the model does not foresee.
"""

import asyncio
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from amends.client import patience
from amends.client.embedded import EmbeddedServer
from amends.testing.desk import open_desk
from amends.tests.chaos.cases import Case, make_case
from amends.tests.chaos.fleet import Fleet, Nursery, nursery
from amends.tests.chaos.nursery import load_bank
from amends.tests.chaos.running import Played, Verdict, judge, play
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

__all__ = ["main"]

AT_A_TIME = 40
WORKERS = 4
KILL_EVERY = (1.0, 4.0)
"""Seconds between two kills of a worker that did nothing wrong; tools kill theirs besides."""


async def kill_some(fleet: Fleet, dice: random.Random) -> None:
    """Kill one worker after another, for ever."""
    while True:
        await asyncio.sleep(dice.uniform(*KILL_EVERY))
        if fleet.pids:
            fleet.kill(dice.choice(fleet.pids))


async def play_all(cases: list[Case], client: Client, workers: Nursery, fleet: Fleet) -> list[Played]:
    """Play runs, some at a time."""
    room = asyncio.Semaphore(AT_A_TIME)
    over: list[Played] = []
    async with open_desk(client, load_bank(), task_queue=fleet.task_queue, workers=[]) as desk:

        async def one(case: Case) -> None:
            async with room:
                over.append(await play(case, desk, client, workers.witness))
            if len(over) % 50 == 0:
                print(f"  {len(over)} runs are over, {len(fleet.deaths)} workers died", flush=True)

        await asyncio.gather(*(one(case) for case in cases))
    return over


async def chaos(seed: str, runs: int, folder: Path) -> tuple[list[Played], list[Verdict], Fleet]:
    """Run chaos; return what was played, the verdicts and the fleet as it was at the end."""
    patience.LOOK_EVERY = 120.0
    os.environ["BANK_WITNESS"] = str(folder / "witness.db")
    async with await EmbeddedServer.open(None) as server, nursery(server, folder) as workers:
        client = await Client.connect(
            server.address, namespace=server.namespace, data_converter=pydantic_data_converter
        )
        fleet = Fleet(workers, f"chaos-{seed}", size=WORKERS, hurried=True)
        async with fleet.serving():
            killing = asyncio.create_task(kill_some(fleet, random.Random(seed)))
            try:
                cases = [make_case(seed, number, deadly=True) for number in range(runs)]
                played = await play_all(cases, client, workers, fleet)
            finally:
                killing.cancel()
        deaths = [death.at for death in fleet.deaths]
        return played, [judge(each, workers.witness, deaths) for each in played], fleet


def report(played: list[Played], verdicts: list[Verdict], fleet: Fleet, seconds: float) -> str:
    """Return what is to be read at the end."""
    witness = fleet.nursery.witness
    faults = Counter(delivery.fault for delivery in witness.deliveries() if delivery.fault)
    states = Counter(each.reply.state if each.reply else "wedged" for each in played)
    asked = Counter(question.kind for each in played for question in each.asked.values())
    lines = [
        f"{len(played)} runs in {seconds:.0f} s; {len(fleet.deaths)} workers were killed",
        f"ends: {', '.join(f'{state} {times}' for state, times in states.most_common())}",
        f"questions: {', '.join(f'{kind} {times}' for kind, times in asked.most_common())}",
        f"faults: {', '.join(f'{fault} {times}' for fault, times in faults.most_common())}",
        f"stopped from outside: {sum(each.halted for each in played)}",
        f"deliveries: {len(witness.deliveries())}, effects: {len(witness.effects())}",
        "",
        f"writes or undos sent twice without their key: {sum(len(each.twice) for each in verdicts)}",
        f"undos lost, or replies untrue: {sum(bool(each.untrue) for each in verdicts)}",
        f"runs wedged: {sum(each.wedged for each in verdicts)}",
        f"ends that the model does not foresee: {sum(bool(each.unforeseen) for each in verdicts)}",
    ]
    return "\n".join([*lines, "", *(str(each) for each in verdicts if not each.good)])


def main() -> int:
    """Run it; return the exit code."""
    seed = os.environ.get("SEED") or secrets.token_hex(4)
    runs = int(os.environ.get("RUNS") or 500)
    print(f"SEED={seed} RUNS={runs}", flush=True)
    with tempfile.TemporaryDirectory(prefix="amends-chaos-") as folder:
        begun = time.monotonic()
        played, verdicts, fleet = asyncio.run(chaos(seed, runs, Path(folder)))
        print(report(played, verdicts, fleet, time.monotonic() - begun))
    return 0 if all(each.good for each in verdicts) else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # An interpreter that ends right after its last connection may crash with all work done.
    time.sleep(0.5)
    os._exit(code)
