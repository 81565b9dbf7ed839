"""What somebody types first: init, doctor, tools, completion, and the inbox once something waits."""

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from amends.cli.init import FILES
from amends.cli.main import run
from amends.client.operators import Operators
from amends.tests.cli.conftest import Shop
from temporalio.client import Client


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> Path:
    assert run(["init", str(tmp_path / "first")]) == 0
    monkeypatch.chdir(tmp_path / "first")
    monkeypatch.setenv("AMENDS_STATE", str(tmp_path / "state"))
    capfd.readouterr()
    return tmp_path / "first"


def test_a_first_agent_passes_verify_as_written(first: Path, capfd) -> None:
    assert sorted(path.name for path in first.iterdir()) == sorted(FILES)
    assert run(["verify"]) == 0
    assert capfd.readouterr().out == "passed: 0 errors, 0 warnings, 0 lints\n"
    assert run(["lint", "--strict"]) == 0
    assert run(["tools", "--gaps", "--json"]) == 0
    assert json.loads(capfd.readouterr().out.partition("\n")[2])["tools"] == []
    assert run(["plan", "add 2 seats for order 4411", "--detailed-exitcode"]) == 20
    assert "Undone by remove_seats(order_id = 4411, seats = 2)." in capfd.readouterr().out


def test_the_test_of_a_first_agent_passes(first: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_desk.py"]
    done = subprocess.run(words, cwd=first, env={**os.environ}, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_nothing_that_is_there_is_overwritten(first: Path, capfd) -> None:
    (first / "agent.yaml").write_text("mine")
    assert run(["init", str(first)]) == 2
    assert "has agent.yaml, desk_tools.py, rules.yaml, test_desk.py already" in capfd.readouterr().err
    assert (first / "agent.yaml").read_text() == "mine"


def test_doctor_finds_everything_there(first: Path, tmp_path: Path, capfd) -> None:
    Operators(tmp_path / "state" / "operators.json").create("oncall-1", ("undo",), timedelta(days=90))
    assert run(["doctor"]) == 0
    said = capfd.readouterr().out
    assert [line[:4].strip() for line in said.splitlines()] == ["ok"] * 6
    assert "agent.yaml: desk; 3 tools" in said
    assert "1 operator token" in said


def test_doctor_says_what_is_wrong_and_the_way_out(first: Path, client: Client, monkeypatch, capfd) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", client.service_client.config.target_host)
    monkeypatch.setenv("AMENDS_TASK_QUEUE", "nobody-polls-this")
    assert run(["doctor"]) == 11
    said = capfd.readouterr().out
    assert "FAIL  nobody-polls-this: no worker polls; its runs wait\n      Start one with `amends worker`." in said
    assert "warn  no operator token exists" in said
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    (first / "rules.yaml").write_text("rules: [{id: a, action: nothing}]")
    assert run(["doctor", "--json"]) == 2
    found = json.loads(capfd.readouterr().out)["checks"]
    assert [each["status"] for each in found] == ["ok", "fail", "fail", "warn"]
    assert "rules.yaml" in found[1]["said"]
    assert "cannot be reached" in found[2]["said"]


@pytest.mark.usefixtures("standing")
def test_the_inbox_lists_what_waits_until_it_is_answered(shop: Shop) -> None:
    assert shop.amends("inbox").returncode == 0
    assert shop.amends("chat", "--as", "u-9", typed="charge order 4411 5.00\n").returncode == 3
    listed = shop.amends("inbox")
    assert listed.returncode == 3, listed.stderr
    heading, line = listed.stdout.splitlines()
    assert heading.split() == ["AGE", "KIND", "RUN", "USER", "ASKS", "EXPIRES"]
    assert line.split()[1] == "confirm"
    assert re.search(r"charge_card\(order_id 4411, amount 5.00\) +never$", line)
    (question,) = json.loads(shop.amends("inbox", "--json", "--user", "u-9", "--tool", "charge_card").stdout)[
        "questions"
    ]
    assert (question["user"], question["kind"], question["text"]) == ("u-9", "confirm", "Run charge_card?")
    assert shop.amends("inbox", "--kind", "undo").stdout == ""
    assert shop.amends("confirm", "u-9", "skip").returncode == 0
    assert shop.amends("inbox").returncode == 0


@pytest.mark.usefixtures("standing")
def test_watch_follows_a_run_to_its_question_and_to_its_end(shop: Shop) -> None:
    assert shop.amends("watch", "u-9").returncode == 9
    shop.amends("chat", "--as", "u-9", typed="charge order 4411 5.00\n")
    waiting = shop.amends("watch", "u-9", "--until", "waiting")
    assert waiting.returncode == 3, waiting.stderr
    assert [line.split()[1] for line in waiting.stdout.splitlines()] == ["run.started", "question.opened"]
    shop.amends("confirm", "u-9", "approve")
    ended = shop.amends("watch", "u-9")
    assert ended.returncode == 0
    types = ["run.started", "question.opened", "question.answered", "step.in_flight", "step.done", "run.ended"]
    assert [line.split()[1] for line in ended.stdout.splitlines()] == types
    assert ended.stdout.splitlines()[-1].endswith("state done  text Done: charge_card.")
    lines = [json.loads(line) for line in shop.amends("watch", "u-9", "--jsonl").stdout.splitlines()]
    assert [(each["seq"], each["type"]) for each in lines] == list(enumerate(types, 1))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_what_the_shell_needs_and_completes(shop: Shop, shell: str) -> None:
    said = shop.amends("completion", shell)
    assert said.returncode == 0
    assert "_AMENDS_COMPLETE" in said.stdout
    shop.environment |= {"_AMENDS_COMPLETE": "bash_complete", "COMP_WORDS": "amends inb", "COMP_CWORD": "1"}
    assert shop.amends().stdout == "plain,inbox\n"
