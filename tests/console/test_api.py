"""The API as programs use it, against a real server, worker and console."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from amends.console.limits import Replays
from amends.examples.shop.store import Store
from amends.tests.console.conftest import Caller, Place

ORDER = "charge order 4411 40.00, then update the crm for order 4411, then provision the account for order 4411"
WAIT = {"Prefer": "wait=20"}


async def ordered(caller: Caller, by: str, turn: str = "charge order 4411 40.00") -> dict[str, Any]:
    answer = await caller.post(f"/v1/threads/{by}/turns", {"turn": turn}, by=by, key=uuid4().hex, **WAIT)
    assert answer.status_code == 201, answer.text
    run: dict[str, Any] = answer.json()["run"]
    return run


async def answered(caller: Caller, run: dict[str, Any], word: str, by: str, key: str = "", **more: object):
    question = run["waiting"][0]
    body = {"answer": word, "digest": question["digest"], **more}
    path = f"/v1/runs/{run['run']}/questions/{question['id']}/answer"
    return await caller.post(path, body, by=by, key=key or uuid4().hex, **WAIT)


async def test_the_failed_order_over_http(caller: Caller, shop: Store) -> None:
    run = await ordered(caller, "u-17", ORDER)
    while run["waiting"]:
        answer = await answered(caller, run, "approve", "u-17")
        assert answer.status_code == 200, answer.text
        run = answer.json()
    assert run["text"] == (
        "This run stopped: provision_account failed (RuntimeError). "
        "Undone, latest first: update_crm (by restore_crm), charge_card (by refund_card)."
    )
    assert {told["by"] for told in run["answers"]} == {"u-17"}
    audit = await caller.get("/v1/threads/u-17/audit", by="u-17")
    assert audit.status_code == 200
    assert '"by":"u-17"' in audit.text.replace(" ", "")


async def test_a_turn_with_a_key_that_came_before_starts_no_second_run(caller: Caller) -> None:
    key = uuid4().hex
    one = await caller.post("/v1/threads/ana/turns", {"turn": "get order 4411"}, key=key)
    two = await caller.post("/v1/threads/ana/turns", {"turn": "get order 4411"}, key=key)
    other = await caller.post("/v1/threads/ana/turns", {"turn": "get order 4412"}, key=key)
    assert one.status_code == 201, one.text
    assert one.json()["run"]["run"] == two.json()["run"]["run"]
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


async def test_keys_and_bodies_are_known_after_a_restart_too(place: Place, caller: Caller) -> None:
    key, other = uuid4().hex, uuid4().hex
    turn = {"turn": "charge order 4411 1.50"}
    one = await caller.post("/v1/threads/ana/turns", turn, key=key)
    run = one.json()["run"]
    assert (await answered(caller, run, "skip", "ana", key=other)).status_code == 200
    place.console.replays = Replays()
    again = await caller.post("/v1/threads/ana/turns", turn, key=key)
    assert again.json()["run"]["run"] == run["run"]
    assert (await answered(caller, run, "skip", "ana", key=other)).status_code == 200
    place.console.replays = Replays()
    for said in (
        await caller.post("/v1/threads/ana/turns", {"turn": "charge order 4411 1.60"}, key=key),
        await answered(caller, run, "approve", "ana", key=other),
    ):
        assert (said.status_code, said.json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.parametrize(
    "body",
    [
        b'{"turn":"\\ud800"}',
        b'{"turn":"\xff"}',
        b'{"turn":"get order 4411","language":"\\udfff"}',
        b'{"turn":1e999}',
        b"[" * 100_000,
        b"",
    ],
)
async def test_a_body_that_is_no_text_is_refused(caller: Caller, body: bytes) -> None:
    headers = {**caller.signed("ana"), "Idempotency-Key": uuid4().hex, "Content-Type": "application/json"}
    for path in ("/v1/plan", "/v1/threads/ana/turns"):
        said = await caller.http.post(path, content=body, headers=headers)
        assert said.status_code in (400, 422), said.text


async def test_an_answer_is_taken_once_and_a_second_person_is_told_who_was_first(caller: Caller) -> None:
    run = await ordered(caller, "ana", "charge order 4411 1.00")
    one, two = await asyncio.gather(answered(caller, run, "skip", "ana"), answered(caller, run, "approve", "bia"))
    first, second = sorted((one, two), key=lambda answer: answer.status_code)
    assert (first.status_code, second.status_code) == (200, 409), (one.text, two.text)
    assert second.json()["code"] == "question_closed"
    winner = "ana answered skip" if first is one else "bia answered approve"
    assert second.json()["detail"].startswith(winner)


async def test_the_same_answer_request_again_is_answered_as_the_first_was(caller: Caller) -> None:
    run = await ordered(caller, "ana", "charge order 4411 2.00")
    key = uuid4().hex
    one, two = await answered(caller, run, "skip", "ana", key=key), await answered(caller, run, "skip", "ana", key=key)
    assert (one.status_code, two.status_code) == (200, 200)
    assert len(two.json()["answers"]) == 1


async def test_an_answer_to_something_else_than_was_shown_changes_nothing(caller: Caller) -> None:
    run = await ordered(caller, "ana", "charge order 4411 3.00")
    wrong = await answered(caller, run, "approve", "ana", digest="sha256:other")
    assert (wrong.status_code, wrong.json()["code"]) == (409, "digest_mismatch")
    no_word = await answered(caller, run, "yes", "ana")
    assert no_word.status_code == 422
    assert (await answered(caller, run, "skip", "ana")).status_code == 200


async def test_others_threads_and_runs_are_not_there(caller: Caller) -> None:
    run = await ordered(caller, "ana", "charge order 4411 4.00")
    for path in ("/v1/threads/ana", f"/v1/runs/{run['run']}", f"/v1/runs/{run['run']}/events", "/v1/threads/ana/audit"):
        assert (await caller.get(path, by="u-18")).status_code == 404, path
    assert (await answered(caller, run, "approve", "u-18")).status_code == 404
    assert (await answered(caller, run, "approve", "olga")).status_code == 200  # an operator may
    assert (await caller.post("/v1/threads/ana/turns", {"turn": "get order 4411"}, by="bia")).status_code == 403


async def test_nobody_without_a_token_gets_anything(caller: Caller) -> None:
    for path in ("/v1/runs", "/v1/questions", "/v1/threads/ana"):
        for by in (None, "amp_wrong"):
            answer = await caller.get(path, by=by)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert answer.headers["content-type"] == "application/problem+json"


async def test_what_another_site_makes_a_browser_send_is_refused(place: Place, caller: Caller) -> None:
    said = await caller.post("/v1/plan", {"turn": "get order 4411"}, Origin="https://evil.example")
    assert (said.status_code, said.json()["code"]) == (403, "csrf")
    local = await caller.http.get(f"{place.local}/v1/runs", headers={"Host": "evil.example"})
    assert (local.status_code, local.json()["code"]) == (403, "not_local")


async def test_a_post_needs_its_key_its_type_and_a_bearable_size(caller: Caller) -> None:
    path = "/v1/threads/ana/turns"
    none = await caller.http.post(path, json={"turn": "x"}, headers=caller.signed("ana"))
    form = await caller.http.post(path, content="turn=x", headers={**caller.signed("ana"), "Idempotency-Key": "k"})
    large = await caller.post(path, {"turn": "x" * 300_000})
    codes = [(answer.status_code, answer.json()["code"]) for answer in (none, form, large)]
    assert codes == [(400, "idempotency_key_missing"), (415, "not_json"), (413, "too_large")]


async def test_a_stream_that_comes_back_misses_and_repeats_nothing(caller: Caller) -> None:
    run = await ordered(caller, "ana", "charge order 4411 5.00")
    path = f"/v1/runs/{run['run']}/events"

    async def read(last: str | None, most: int) -> list[str]:
        headers = {**caller.signed("ana"), "Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        found: list[str] = []
        async with caller.http.stream("GET", path, headers=headers) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("id: "):
                    found.append(line.removeprefix("id: "))
                if len(found) == most or line == "event: end":
                    break
        return found

    seen = await read(None, 2)
    reading = asyncio.ensure_future(read(seen[-1], 99))
    assert (await answered(caller, run, "approve", "ana")).status_code == 200
    seen += await reading
    assert seen == [str(number) for number in range(1, len(seen) + 1)]
    whole = (await caller.get(path)).json()["items"]
    assert [each["type"] for each in whole] == [
        "run.started", "question.opened", "question.answered", "step.in_flight", "step.done", "run.ended"
    ]  # fmt: skip
    assert len(whole) == len(seen)
    over = await caller.get(path, **{"Accept": "text/event-stream", "Last-Event-ID": seen[-1]})
    assert over.status_code == 204


async def test_the_language_of_a_thread_is_set_and_used(caller: Caller) -> None:
    path = "/v1/threads/u-18/settings"
    put = await caller.http.put(path, json={"selector_language": "pt-BR"}, headers=caller.signed("u-18"))
    assert put.status_code == 200, put.text
    assert (await caller.get(path, by="u-18")).json() == {"selector_language": "pt-BR"}
    run = await ordered(caller, "u-18", "cobre 40,00 do pedido 4411")
    assert run["language"] == "pt-BR"
    assert (await answered(caller, run, "cancel all", "u-18")).json()["state"] == "undone"
    await caller.http.put(path, json={"selector_language": None}, headers=caller.signed("u-18"))
