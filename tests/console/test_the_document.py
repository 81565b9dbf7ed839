"""The API against its own OpenAPI document: thousands of requests made from it, every answer one that it tells of."""

import asyncio
import json
import os
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from amends.tests.console.conftest import Caller

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,negative_data_rejection,unsupported_method,ignored_auth"
)


@pytest.mark.parametrize(("who", "phases"), [("tess", "coverage,fuzzing"), ("olga", "fuzzing,stateful")])
async def test_every_answer_is_one_that_the_document_tells_of(
    caller: Caller, tmp_path: Path, who: str, phases: str
) -> None:
    """As somebody at the desk, about their own run that waits; and as an operator, about anything. No streams here."""
    place = caller.place
    if who == "tess":
        turn = {"turn": "charge order 4411 31.00, then update the crm for order 4411"}
        run = (await caller.post(f"/v1/threads/{who}/turns", turn, by=who, key=uuid4().hex)).json()["run"]["run"]
        known = {"path.user": who, "path.run": run, "path.question": "q1"}
        lines = ["[parameters]", *(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in known.items())]
        (tmp_path / "schemathesis.toml").write_text("\n".join(lines))
    command = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).parent / "schemathesis"), "run", f"{place.url}/v1/openapi.json",
        "--url", place.url, "--header", f"Authorization: Bearer {place.tokens[who]}", "--checks", CHECKS,
        "--phases", phases,
        "--max-examples", "8", "--seed", "7", "--generation-deterministic",
        "--request-timeout", "60", "--suppress-health-check", "all", "--no-color", "--exclude-path-regex", "/events$",
        cwd=tmp_path, env={**os.environ, "COLUMNS": "120"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await command.communicate()
    assert command.returncode == 0, said.decode()
