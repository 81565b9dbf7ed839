"""What the pages take from forms, without a browser."""

import time
from uuid import uuid4

import httpx2 as httpx
import pytest
from amends.tests.console.conftest import Place


async def asked(http: httpx.AsyncClient) -> dict[str, str]:
    """Have a question asked; return the path of its form, and its digest."""
    headers = {"Idempotency-Key": uuid4().hex, "Prefer": "wait=20"}
    turn = {"turn": "charge order 4411 1.00"}
    said = await http.post(f"/v1/threads/u-{uuid4().hex[:6]}/turns", json=turn, headers=headers)
    run = said.json()["run"]
    (question,) = run["waiting"]
    return {"path": f"/runs/{run['run']}/questions/{question['id']}/answer", "digest": question["digest"]}


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ('{"charge_id": x}', "Expecting value, character 15"),
        ("[1]", "a list"),
        ("ch_91", "Expecting value, character 1"),
    ],
)
async def test_a_result_that_is_no_object_is_refused_and_says_what_is_wrong(
    place: Place, result: str, why: str
) -> None:
    async with httpx.AsyncClient(base_url=place.local, timeout=60) as http:
        question = await asked(http)
        form = {
            "form_token": place.console.seal.form_token("root"),
            "answer": "happened",
            "digest": question["digest"],
            "shown": str(int(time.time() * 1000) - 5000),
            "name": uuid4().hex,
            "result": result,
        }
        said = await http.post(question["path"], data=form)
        assert said.status_code == 422
        assert f"must be a JSON object, such as {{&#34;charge_id&#34;: &#34;ch_91&#34;}} ({why})" in said.text
        done = await http.post(question["path"], data={**form, "answer": "skip", "result": ""}, follow_redirects=True)
        assert done.status_code == 200


@pytest.mark.parametrize("token", ["", "x", "é"])
async def test_a_form_of_another_console_is_refused(place: Place, token: str) -> None:
    async with httpx.AsyncClient(base_url=place.local, timeout=60) as http:
        said = await http.post("/settings", data={"form_token": token, "selector_language": "pt-BR"})
        assert said.status_code == 403
        assert "This form is not one of this console" in said.text
