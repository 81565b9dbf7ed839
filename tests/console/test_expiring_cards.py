"""A card that has expired: over the API, on the page without JavaScript, and in the inbox (SPEC 9.3, 12.3)."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.console.desk import Desk as ConsoleDesk
from amends.console.guard import Console
from amends.console.people import People
from amends.console.seal import Seal
from amends.console.serving import listening
from amends.contract.question import Expiry, Question
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import make_bench
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"


@dataclass
class Stage:
    bench: ToolBench
    desk: Desk
    http: httpx.AsyncClient

    async def expired(self) -> Question:
        (question,) = (await self.desk.chat(CHARGE, user=self.desk.user)).waiting
        assert question.expires_at is not None
        await asyncio.sleep((question.expires_at - datetime.now(UTC)).total_seconds() + 0.05)
        return question


@pytest.fixture
async def stage(client: Client, task_queue: str, tmp_path: Path) -> AsyncIterator[Stage]:
    bench = make_bench(name="expiring", expiry=Expiry(seconds=1))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        console = Console(
            desk=ConsoleDesk(desk), people=People.alone("ana"), seal=Seal.of_file(tmp_path / "console.key")
        )
        async with (
            listening(console, host="127.0.0.1", port=0) as url,
            httpx.AsyncClient(base_url=url, timeout=60, headers={"Origin": url}) as http,
        ):
            yield Stage(bench, desk, http)


async def test_over_the_api_it_is_gone_and_the_one_asked_anew_is_named(stage: Stage) -> None:
    old = await stage.expired()
    assert old.expires_at is not None
    (shown,) = [each["question"] for each in (await stage.http.get("/v1/questions")).json()["items"]]
    assert (shown["expires_at"], shown["on_expiry"]) == (old.expires_at.isoformat().replace("+00:00", "Z"), "wait")
    key = uuid4().hex
    for _ in range(2):  # the same request again is told the same
        said = await stage.http.post(
            f"/v1/runs/{old.run}/questions/{old.id}/answer",
            json={"answer": "approve", "digest": old.digest},
            headers={"Idempotency-Key": key},
        )
        problem = said.json()
        assert (said.status_code, problem["code"], problem["question_id"]) == (410, "question_expired", "q2")
    (new,) = [each["question"] for each in (await stage.http.get("/v1/questions")).json()["items"]]
    said = await stage.http.post(
        f"/v1/runs/{old.run}/questions/{new['id']}/answer",
        json={"answer": "approve", "digest": new["digest"]},
        headers={"Idempotency-Key": uuid4().hex, "Prefer": "wait=20"},
    )
    assert said.json()["text"] == "Done: charge_card."


@pytest.mark.parametrize(
    ("language", "expires", "told"),
    [
        (
            "en",
            "an approval after that is not taken, and it is asked anew.",
            "That question had expired, so nothing was approved. Look at the run as it is now.",
        ),
        (
            "pt-BR",
            "uma aprovação depois disso não vale, e a pergunta é feita de novo.",
            "Essa pergunta tinha expirado, então nada foi aprovado. Veja a execução como está agora.",
        ),
    ],
)
async def test_on_the_page_the_card_says_when_and_a_late_click_shows_it_anew(
    stage: Stage, language, expires, told
) -> None:
    stage.http.headers["Accept-Language"] = language
    old = await stage.expired()
    page = unescape((await stage.http.get(f"/runs/{old.run}")).text)
    assert expires in page
    assert f"{old.expires_at:%Y-%m-%d %H:%M:%S}Z" in page
    await asyncio.sleep(1)  # a new card takes no click
    form = dict(re.findall(r'name="(form_token|digest|name|back|shown)" value="([^"]*)"', page))
    said = await stage.http.post(f"/runs/{old.run}/questions/{old.id}/answer", data={**form, "answer": "approve"})
    page = unescape(said.text)
    assert (said.status_code, told in page) == (410, True), page
    assert 'id="card-q2-' in page
    assert stage.bench.names == []
    inbox = unescape((await stage.http.get("/inbox")).text)
    assert re.search(r"<td><time datetime=[^>]*>[^<]*</time></td><td><a ", inbox), inbox
