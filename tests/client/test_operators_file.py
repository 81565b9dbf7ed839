"""The operators file: who may read and write it, what it may say, several writers, and where it is."""

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from amends import AsyncAgent
from amends.client.connect import ConnectionSettings
from amends.client.locks import FileLock
from amends.client.operators import Operators, operators_path
from amends.contract.mistakes import FileMistakes

ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def operators(tmp_path: Path) -> Operators:
    return Operators(tmp_path / ".amends" / "operators.json", clock=lambda: START)


def test_the_secret_is_nowhere_in_the_folder_and_only_its_owner_reads_it(operators: Operators):
    token = operators.create("ops", ("undo",), DAY)
    secret = token.removeprefix("amo_ops_")
    folder = operators.path.parent
    for file in folder.rglob("*"):
        assert secret not in file.read_text(), file
    assert stat.S_IMODE(operators.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
    assert sorted(file.name for file in folder.iterdir()) == [".gitignore", "operators.json", "operators.json.lock"]


def test_a_folder_that_was_there_is_left_as_it_is(tmp_path: Path):
    (tmp_path / "mine").mkdir(mode=0o755)
    Operators(tmp_path / "mine" / "operators.json").create("ops", ("undo",), DAY)
    assert not (tmp_path / "mine" / ".gitignore").exists()
    assert stat.S_IMODE((tmp_path / "mine").stat().st_mode) == 0o755


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(operators: Operators, mode: int):
    token = operators.create("ops", ("undo",), DAY)
    operators.path.chmod(mode)
    for use in (
        lambda: operators.check(token, "undo"),
        lambda: list(operators),
        lambda: operators.create("me", ("undo",), DAY),
        lambda: operators.revoke("ops"),
    ):
        with pytest.raises(FileMistakes) as told:
            use()
        assert str(told.value) == (
            f"{operators.path}: others may write it (mode {mode:04o}); chmod 600 {operators.path}"
        )


def test_a_file_in_a_folder_that_everybody_may_write_is_not_believed(operators: Operators):
    operators.create("ops", ("undo",), DAY)
    operators.path.parent.chmod(0o777)
    with pytest.raises(FileMistakes, match="everybody may write its folder, and so replace it; chmod o-w"):
        list(operators)


def test_a_file_of_another_user_is_not_believed(operators: Operators, monkeypatch: pytest.MonkeyPatch):
    operators.create("ops", ("undo",), DAY)
    mine = os.geteuid()
    if mine == 0:
        os.chown(operators.path, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(FileMistakes, match="it belongs to another user"):
        list(operators)


GOOD = {
    "name": "ops",
    "scopes": ["undo"],
    "created_at": "2026-03-05T12:00:00Z",
    "expires_at": "2026-03-06T12:00:00Z",
    "token": "sha256:" + "0" * 64,
}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "Invalid JSON"),
        ("[]", "Input should be an object"),
        ('{"operatorz": []}', "operatorz: Extra inputs are not permitted"),
        ({"token": "sha256:short"}, "operators.0.token: "),
        ({"scopes": ["undo", "all"]}, "operators.0.scopes.1: "),
        ({"expires_at": "2026-03-06T12:00:00"}, "operators.0.expires_at: Input should have timezone info"),
        ({"name": "A_B"}, "operators.0.name: "),
        ({"admin": True}, "operators.0.admin: Extra inputs are not permitted"),
    ],
)
def test_a_broken_file_is_told_with_its_place_and_nobody_is_let_in(operators: Operators, content, said: str):
    operators.create("ops", ("undo",), DAY)
    text = content if isinstance(content, str) else json.dumps({"operators": [{**GOOD, **content}]})
    operators.path.write_text(text)
    with pytest.raises(FileMistakes) as told:
        operators.check("amo_ops_" + "A" * 43, "undo")
    assert str(told.value).startswith(f"{operators.path}: ")
    assert said in str(told.value)
    with pytest.raises(FileMistakes):
        operators.create("other", ("undo",), DAY)
    assert operators.path.read_text() == text, "a file that cannot be read is not overwritten"


def test_a_name_that_stands_twice_is_a_mistake(operators: Operators):
    operators.create("ops", ("undo",), DAY)
    operators.path.write_text(json.dumps({"operators": [GOOD, GOOD]}))
    with pytest.raises(FileMistakes, match="ops: a name has one line"):
        list(operators)


def test_what_is_no_file_or_no_text_is_told(operators: Operators):
    operators.create("ops", ("undo",), DAY)
    operators.path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileMistakes, match="it is not UTF-8"):
        list(operators)
    operators.path.unlink()
    operators.path.mkdir()
    with pytest.raises(FileMistakes, match="it cannot be read: Is a directory"):
        list(operators)


def test_a_linked_file_is_written_where_it_is(tmp_path: Path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "operators.json"
    link.symlink_to(tmp_path / "real" / "operators.json")
    Operators(link).create("ops", ("undo",), DAY)
    assert link.is_symlink()
    assert [line.name for line in Operators(tmp_path / "real" / "operators.json")] == ["ops"]


MAKE_SOME = """
import sys
from datetime import timedelta
from pathlib import Path
from amends.client.operators import Operators

operators = Operators(Path(sys.argv[1]))
for number in range(5):
    operators.create(f"{sys.argv[2]}-{number}", ("undo",), timedelta(days=1))
    operators.revoke(f"{sys.argv[2]}-{number}")
"""


def test_writers_of_several_processes_lose_nothing_of_each_other(tmp_path: Path):
    path = tmp_path / ".amends" / "operators.json"
    writers = [
        subprocess.Popen([sys.executable, "-c", MAKE_SOME, str(path), f"w{number}"], stderr=subprocess.PIPE, text=True)
        for number in range(3)
    ]
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    made = list(Operators(path))
    assert sorted(line.name for line in made) == sorted(f"w{w}-{n}" for w in range(3) for n in range(5))
    assert all(line.revoked_at is not None for line in made)


def test_a_writer_that_never_gives_way_is_told_of(operators: Operators, monkeypatch: pytest.MonkeyPatch):
    operators.create("ops", ("undo",), DAY)
    monkeypatch.setattr("amends.client.operators_file._PATIENCE", 0.05)
    lock = FileLock(operators.path.with_name("operators.json.lock"))
    assert lock.try_exclusive()
    with pytest.raises(FileMistakes, match=r"another process has held it for 0\.05 s; try again"):
        operators.revoke("ops")
    lock.release()
    assert operators.revoke("ops").revoked_at == START


# Its place


def test_the_file_is_in_the_state_folder_or_where_the_variable_says(tmp_path: Path):
    beside = ConnectionSettings(beside=tmp_path)
    assert operators_path(beside, {}) == tmp_path / ".amends" / "operators.json"
    assert operators_path(beside, {"AMENDS_STATE": "/state"}) == Path("/state/operators.json")
    assert operators_path(ConnectionSettings(state=Path("/chosen"), beside=tmp_path), {"AMENDS_STATE": "/state"}) == (
        Path("/chosen/operators.json")
    )
    assert operators_path(ConnectionSettings(state=":memory:", beside=tmp_path), {}) == (
        tmp_path / ".amends" / "operators.json"
    )
    assert operators_path(beside, {"AMENDS_OPERATORS": "/etc/operators.json"}) == Path("/etc/operators.json")


def test_an_agent_has_the_operators_of_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    agent = AsyncAgent.from_file(ROOT / "examples" / "shop" / "agent.yaml", state=tmp_path)
    token = agent.operators.create("ops", ("undo",), DAY)
    assert agent.operators.path == tmp_path / "operators.json"
    assert Operators(tmp_path / "operators.json").check(token, "undo").name == "ops"
    monkeypatch.setenv("AMENDS_OPERATORS", str(tmp_path / "other.json"))
    assert list(agent.operators) == []
