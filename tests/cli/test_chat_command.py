"""``amends chat`` at a terminal and from a pipe, and the commands that answer and look."""

import asyncio
import io
import json
import os
import pty
import re
import select
import signal
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest
from amends.cli import main
from amends.tools.loader import load_agent
from amends.worker.serving import serving

RECEIPT = "charge order 4411 40.00, then send the receipt for order 4411"
PROMPT = "approve / skip / cancel all > "
DONE = "\x04"
LEAVE = "\x03"


class Terminal:
    """A command with a terminal of its own, as a person has one."""

    def __init__(self, shop, *words: str) -> None:
        self.said = ""
        self._read = 0
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            # Whoever started the tests in the background had Ctrl-C ignored, and that is passed on.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(shop.folder)
            os.execve(words[0], list(words), {**shop.environ(), "NO_COLOR": "1"})

    def types(self, text: str, *, after: str) -> None:
        """Type once ``after`` is shown, counted from what was typed last."""
        deadline = time.monotonic() + 20
        while after not in self.said[self._read :]:
            assert time.monotonic() < deadline, self.said
            assert self._hears(), self.said
        self._read = len(self.said)
        os.write(self._descriptor, text.encode())

    def ends(self) -> int:
        deadline = time.monotonic() + 60
        while not self._has_ended():
            if time.monotonic() > deadline:
                os.kill(self._pid, signal.SIGKILL)
                raise AssertionError(f"it does not end: {self.said}")
            self._hears(1)
        while self._hears(0):
            pass
        _, status = os.waitpid(self._pid, 0)
        os.close(self._descriptor)
        return os.waitstatus_to_exitcode(status)

    def _has_ended(self) -> bool:
        return bool(os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))

    def _hears(self, seconds: float = 20) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        try:
            heard = os.read(self._descriptor, 65536) if ready else b""
        except OSError:  # the other side has gone, and the process follows at once
            heard = b""
            time.sleep(0.05)
        self.said += heard.decode().replace("\r\n", "\n")
        return bool(heard)


@pytest.fixture
async def desk(shop, temporal, client, task_queue, monkeypatch) -> AsyncIterator[object]:
    """The shop on the session's server, served by this process."""
    monkeypatch.setenv("SHOP_DB", str(shop.folder / "shop.db"))
    shop.environment = {"TEMPORAL_ADDRESS": temporal.address, "AMENDS_TASK_QUEUE": task_queue}
    async with serving(client, [load_agent(shop.folder / "agent.yaml")], task_queue=task_queue):
        yield shop


@pytest.fixture
def user() -> str:
    return f"u-{uuid.uuid4().hex[:8]}"


async def talk(desk, user: str, *typed: tuple[str, str]) -> tuple[int, str]:
    def converse() -> tuple[int, str]:
        terminal = Terminal(desk, desk.program, "chat", "--as", user)
        for after, text in typed:
            terminal.types(text, after=after)
        return terminal.ends(), terminal.said

    return await asyncio.to_thread(converse)


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


async def run(desk, *words: str, typed: str = "") -> Done:
    """Run a command with pipes for stdin and both outputs; in this process, for speed."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(typed))
        patch.chdir(desk.folder)
        for name, value in desk.environment.items():
            patch.setenv(name, value)
        code = await asyncio.to_thread(main.run, words)
    return Done(code, stdout.getvalue(), stderr.getvalue())


async def test_a_person_confirms_each_write_and_reads_the_reply(desk, user) -> None:
    code, said = await talk(
        desk,
        user,
        ("> ", f"{RECEIPT}\n"),
        (PROMPT, "\n"),
        (PROMPT, "y\n"),
        (PROMPT, "aprovar\n"),
        (PROMPT, "cancel all\n"),
        ("> ", DONE),
    )
    assert code == 0
    assert (
        re.sub(r"\d+\.\d s  key \w{8}", "0.0 s  key 12345678", said).strip()
        == f"""\
You are {user}, with desk. Ctrl-D ends, Ctrl-C leaves an open run.
> {RECEIPT}

Step 1  charge_card
        order_id  4411
        amount    40.00
        If a later step fails, it is undone by refund_card.
        Run charge_card?
  {PROMPT}
  Run charge_card?
  {PROMPT}y
  'y' is none of the answers. Type one of them in full.
  Run charge_card?
  {PROMPT}aprovar
        done  0.0 s  key 12345678

Step 2  send_receipt
        order_id  4411
        Nothing can undo this step once it runs.
        Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it.
  {PROMPT}cancel all
        declined
undo    charge_card by refund_card: undone

This run stopped: cancelled by {user}. Undone, latest first: charge_card (by refund_card).
>"""
    )
    assert desk.store.calls() == ["charge_card", "refund_card"]


async def test_what_was_typed_before_a_card_was_shown_does_not_answer_it(desk, user) -> None:
    code, said = await talk(
        desk,
        user,
        ("> ", f"{RECEIPT}\n"),
        (PROMPT, "approve\napprove\n"),
        (PROMPT, "skip\n"),
        ("Done: charge_card. Skipped: send_receipt.", DONE),
    )
    assert code == 0, said
    assert desk.store.calls() == ["charge_card"]


async def test_ctrl_c_leaves_a_run_that_chat_comes_back_to(desk, user) -> None:
    code, said = await talk(desk, user, ("> ", "charge order 4411 40.00\n"), (PROMPT, LEAVE))
    assert code == 130
    assert f"Detached. The run goes on: amends show run:desk:{user}:" in said
    code, said = await talk(desk, user, (PROMPT, "skip\n"), ("Nothing was done. Skipped: charge_card.", DONE))
    assert code == 0
    assert "Step 1  charge_card" in said


async def test_from_a_pipe_each_line_is_a_turn_and_nobody_is_asked(desk, user) -> None:
    done = await run(desk, "chat", "--as", user, typed=f"get order 4411\n\n{RECEIPT}\nget order 4412\n")
    assert (done.returncode, done.stdout) == (3, "Done: get_order.\n")
    assert "Step 1  charge_card\n        order_id  4411\n        amount    40.00\n" in done.stderr
    assert "A person must answer, and nobody can be asked here." in done.stderr
    assert desk.store.calls() == ["get_order"]


async def test_a_turn_that_is_not_read_and_one_for_a_run_that_waits(desk, user) -> None:
    unread = await run(desk, "chat", "--as", user, typed="do not charge order 4411 40.00\n")
    assert (unread.returncode, unread.stderr) == (12, "")
    assert unread.stdout.startswith("“not” says what not to do")
    assert (await run(desk, "chat", "--as", user, typed="charge order 4411 40.00\n")).returncode == 3
    waits = await run(desk, "chat", "--as", user, typed="charge order 4411 40.00\n")
    assert (waits.returncode, waits.stdout) == (7, "")
    assert "is still open. It asks: Run charge_card?" in waits.stderr


async def test_the_commands_printed_with_a_question_answer_exactly_that_question(desk, user) -> None:
    asked = await run(desk, "chat", "--as", user, typed=f"{RECEIPT}\n")
    approve = next(line.split() for line in asked.stderr.splitlines() if " approve " in line)
    first = await run(desk, *approve[1:], "--by", "ana", "--note", "on the phone")
    assert first.returncode == 3
    assert "Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it." in first.stdout
    again = await run(desk, *approve[1:], "--json")
    assert (again.returncode, again.stdout) == (7, "")
    assert json.loads(again.stderr)["code"] == "digest_mismatch"
    ended = await run(desk, "confirm", approve[2], "skip")
    assert (ended.returncode, ended.stdout) == (0, "Done: charge_card. Skipped: send_receipt.\n")
    over = await run(desk, "confirm", approve[2], "skip", "--json")
    assert (over.returncode, json.loads(over.stderr)["code"]) == (7, "already_ended")
    shown = (await run(desk, "show", user)).stdout
    assert "q1: ana answered approve at " in shown
    assert "(on the phone)" in shown
    assert shown.endswith("\nDone: charge_card. Skipped: send_receipt.\n")


async def test_runs_are_listed_by_user_and_by_state(desk, user) -> None:
    await run(desk, "chat", "--as", user, typed="get order 4411\ncharge order 4411 40.00\n")

    async def listed(*words: str):
        return json.loads((await run(desk, "runs", "--user", user, "--json", *words)).stdout)["runs"]

    async with asyncio.timeout(15):
        while [each["state"] for each in await listed()] != ["waiting", "done"]:
            await asyncio.sleep(0.1)
    waiting = await listed("--state", "waiting")
    assert [each["user"] for each in waiting] == [user]
    table = (await run(desk, "runs", "--user", user, "--limit", "1")).stdout.splitlines()
    assert table[0].split() == ["RUN", "USER", "STATE", "STARTED", "ENDED"]
    assert table[1].split()[:3] == [waiting[0]["run"], user, "waiting"]
    assert len(table) == 2


async def test_a_run_or_a_user_that_is_not_there_is_not_found(desk, user) -> None:
    for target, code in ((user, "no_such_session"), ("run:desk:nobody:1:1", "no_such_run")):
        missing = await run(desk, "show", target, "--json")
        assert (missing.returncode, missing.stdout, json.loads(missing.stderr)["code"]) == (9, "", code)
