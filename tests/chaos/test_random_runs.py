"""Random runs against the model: the short form, without kills. `make chaos` runs the long one, with them."""

import asyncio
import os
from datetime import timedelta

import pytest
from amends.testing.desk import open_desk
from amends.tests import workflow_cache
from amends.tests.chaos.cases import Case, make_case
from amends.tests.chaos.fleet import Nursery
from amends.tests.chaos.nursery import load_bank
from amends.tests.chaos.running import Played, judge, play
from amends.workflows import rollback, sending
from temporalio.client import Client

RUNS = 60
AT_ONCE = 4 if workflow_cache.is_switched_off() else RUNS
"""A worker that keeps no workflow gives up the reading of a turn when another workflow's task comes, and the server
hands it out again only after 10 s. Sixty sessions at once spend minutes on that, and show no more than four do."""
SEED = os.environ.get("SEED", "short")


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch, workers: Nursery) -> None:
    quick = timedelta(milliseconds=20)
    monkeypatch.setattr(rollback, "WAITS", (quick, quick, quick))
    monkeypatch.setattr(sending, "PAUSES", (quick, quick))
    monkeypatch.setenv("BANK_WITNESS", str(workers.witness.file))


async def test_whatever_goes_wrong_a_run_ends_as_the_model_says_and_says_what_is_true(
    client: Client, task_queue: str, workers: Nursery
):
    cases = [make_case(SEED, number, deadly=False) for number in range(RUNS)]
    places = asyncio.Semaphore(AT_ONCE)
    async with open_desk(client, load_bank(), task_queue=task_queue) as desk:

        async def played_in_turn(case: Case) -> Played:
            async with places:
                return await play(case, desk, client, workers.witness)

        played = await asyncio.gather(*map(played_in_turn, cases))
    bad = [verdict for verdict in (judge(each, workers.witness, []) for each in played) if not verdict.good]
    assert not bad, "\n".join(map(str, bad))
