"""An agent that demands proof takes only answers that its console signed (SPEC 13.2)."""

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.console.desk import Desk as ConsoleDesk
from amends.console.guard import Console
from amends.console.people import People
from amends.console.seal import Seal
from amends.console.serving import answer_key, listening
from amends.contract.errors import Conflict
from amends.contract.mistakes import FileMistakes
from amends.contract.names import ANSWER_SIGNAL
from amends.contract.proof import is_proven, public_key, signed
from amends.contract.question import Answer
from amends.testing.bench import ToolBench
from amends.testing.desk import Desk, open_desk
from amends.tests.scenarios.stage import make_bench, run_of
from amends.tools.loader import load_agent
from amends.worker.settings import BadSetting
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from temporalio.client import Client

CHARGE = "charge_card(order_id=4411, amount=40.00)"
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)


@dataclass
class Stage:
    bench: ToolBench
    desk: Desk
    url: str

    async def answer(self, run: str, question: Any) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.url, timeout=60) as http:
            return await http.post(
                f"/v1/runs/{run}/questions/{question.id}/answer",
                json={"answer": "approve", "digest": question.digest, "note": "é"},
                headers={"Idempotency-Key": uuid4().hex, "Prefer": "wait=20"},
            )


@pytest.fixture
async def stage(client: Client, task_queue: str, tmp_path: Path, request) -> AsyncIterator[Stage]:
    bench = make_bench(name="proof", proof=public_key(KEY))
    async with open_desk(client, bench.agent, task_queue=task_queue) as desk:
        seal = Seal.of_file(tmp_path / "console.key")
        signing = ConsoleDesk(desk, getattr(request, "param", KEY))
        async with listening(
            Console(desk=signing, people=People.alone("ana"), seal=seal), host="127.0.0.1", port=0
        ) as url:
            yield Stage(bench, desk, url)


async def test_an_answer_that_anybody_signals_is_refused_and_the_consoles_is_taken(stage: Stage) -> None:
    (question,) = (await stage.desk.chat(CHARGE, user=stage.desk.user)).waiting
    with pytest.raises(Conflict) as refused:
        await stage.desk.confirm(stage.desk.user, "approve")
    assert refused.value.code == "unproven_answer"
    assert stage.bench.names == []
    said = await stage.answer(question.run, question)
    assert said.status_code == 200, said.text
    view = said.json()
    assert view["text"] == "Done: charge_card."
    assert [(each["by"], each["accepted"], each["reason"]) for each in view["answers"]] == [
        (stage.desk.user, False, "unproven"),
        ("ana", True, ""),
    ]


@pytest.mark.parametrize("stage", [OTHER], indirect=True)
async def test_the_answer_of_another_console_is_refused(stage: Stage) -> None:
    (question,) = (await stage.desk.chat(CHARGE, user=stage.desk.user)).waiting
    said = await stage.answer(question.run, question)
    assert (said.status_code, said.json()["code"]) == (409, "unproven_answer")
    assert (await stage.desk.run(question.run)).state == "waiting"


async def test_a_signature_is_good_for_one_question_of_one_run(stage: Stage) -> None:
    two = f"{CHARGE}; update_crm(order_id=4411)"
    (question,) = (await stage.desk.chat(two, user=stage.desk.user)).waiting
    assert (await stage.answer(question.run, question)).status_code == 200
    history = [event async for event in run_of(stage.desk, question.run).fetch_history_events()]
    seen = [
        event.workflow_execution_signaled_event_attributes.input.payloads[0].data
        for event in history
        if event.HasField("workflow_execution_signaled_event_attributes")
    ]
    stolen = Answer.model_validate_json(seen[0])
    await run_of(stage.desk, question.run).signal(
        ANSWER_SIGNAL, stolen.model_copy(update={"question_id": "q2", "digest": "", "answer_id": "stolen"})
    )
    view = await stage.desk.run(question.run)
    assert view.answers[-1].reason == "unproven"
    assert [each.id for each in view.waiting] == ["q2"]


ANSWER = Answer(question_id="q1", answer="happened", by="ana", note="n", answer_id="a", digest="d", result={"x": 1.5})


@pytest.mark.parametrize(
    "change",
    [
        {"question_id": "q2"},
        {"answer": "did not happen"},
        {"by": "eve"},
        {"note": ""},
        {"answer_id": "b"},
        {"digest": "e"},
        {"result": {"x": 2.5}},
        {"proof": ""},
        {"proof": "é" * 88},
        {"proof": base64.b64encode(b"0" * 64).decode()},
    ],
)
def test_whatever_is_changed_in_an_answer_it_is_no_longer_proven(change: dict[str, object]) -> None:
    answer = signed(ANSWER, "run:desk:u:1:1", KEY)
    assert is_proven(Answer.model_validate_json(answer.model_dump_json()), "run:desk:u:1:1", public_key(KEY))
    assert not is_proven(answer.model_copy(update=change), "run:desk:u:1:1", public_key(KEY))
    assert not is_proven(answer, "run:desk:u:1:2", public_key(KEY))
    assert not is_proven(answer, "run:desk:u:1:1", public_key(OTHER))
    assert not is_proven(answer, "run:desk:u:1:1", "ed25519:x")


def test_a_console_whose_key_the_agent_does_not_name_does_not_start(tmp_path: Path) -> None:
    key = answer_key("", tmp_path)
    assert public_key(answer_key(public_key(key), tmp_path)) == public_key(key)
    with pytest.raises(BadSetting, match="demands answers signed by"):
        answer_key(public_key(KEY), tmp_path)
    assert (tmp_path / "answers.key").stat().st_mode & 0o077 == 0


def test_the_agent_file_names_the_key(tmp_path: Path) -> None:
    tools = "agents: {desk: {tools: [get]}}\ntools: [python: ./t.py]\n"
    (tmp_path / "t.py").write_text("from amends import tool\n\n\n@tool\ndef get(order_id: str): ...\n")
    file = tmp_path / "agent.yaml"
    file.write_text(tools)
    plain = load_agent(file)
    file.write_text(f"{tools}proof: {public_key(KEY)}\n")
    assert load_agent(file).proof == public_key(KEY)
    assert load_agent(file).digest != plain.digest
    file.write_text(f"{tools}proof: abc\n")
    with pytest.raises(FileMistakes, match=r"agent\.yaml:3"):
        load_agent(file)
