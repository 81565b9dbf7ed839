"""Operator tokens: made once, checked in constant time, hashed at rest, expiring, revocable (SPEC 8.1)."""

import hmac
import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from amends import AsyncAgent
from amends.client import operators as module
from amends.client.connect import ConnectionSettings
from amends.client.locks import FileLock
from amends.client.operators import Operators, claimed_name, operators_path
from amends.contract.errors import Conflict, NotAllowed, NotFound
from amends.contract.mistakes import FileMistakes

ROOT = Path(__file__).parents[2]
START = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def operators(tmp_path: Path, clock: Clock) -> Operators:
    return Operators(tmp_path / ".amends" / "operators.json", clock=clock)


def refusal(operators: Operators, token: str | None, scope: module.OperatorScope = "undo") -> NotAllowed:
    with pytest.raises(NotAllowed) as told:
        operators.check(token, scope)
    return told.value


# What a token is


def test_a_token_names_its_operator_and_lets_its_scopes_through(operators: Operators):
    token = operators.create("oncall-1", ("answer", "undo"), 90 * DAY)
    assert token.startswith("amo_oncall-1_")
    assert len(token) == len("amo_oncall-1_") + 43
    allowed = operators.check(token, "undo")
    assert allowed == operators.check(token, "answer")
    assert allowed.model_dump() == {
        "name": "oncall-1",
        "scopes": ("undo", "answer"),
        "created_at": START,
        "expires_at": START + 90 * DAY,
        "revoked_at": None,
    }
    assert list(operators) == [allowed]


def test_each_refusal_has_a_code_and_the_way_out(operators: Operators, clock: Clock):
    told = refusal(operators, "amo_x_" + "a" * 43)
    assert told.code == "operator_token_not_configured"
    assert str(told) == "This needs an operator token, and none exists. Make one: amends operator create NAME."

    token = operators.create("ops", ("export",), DAY)
    for missing in (None, ""):
        told = refusal(operators, missing)
        assert told.code == "operator_token_required"
        assert str(told) == (
            "An operator token is required. Give it in AMENDS_OPERATOR_TOKEN, with --token-file or as token=."
        )

    told = refusal(operators, token)
    assert told.code == "operator_token_scope"
    assert str(told) == ("The operator token ops allows export, and not undo. Use one that was made with --scope undo.")

    clock.now = START + DAY
    told = refusal(operators, token, "export")
    assert told.code == "operator_token_expired"
    assert str(told) == (
        "The operator token ops expired at 2026-03-06 12:00Z. Make another: amends operator create NAME."
    )

    operators.revoke("ops")
    told = refusal(operators, token, "export")
    assert told.code == "operator_token_revoked"
    assert str(told) == (
        "The operator token ops was revoked at 2026-03-06 12:00Z. Make another: amends operator create NAME."
    )


def test_a_token_is_good_to_its_last_moment_and_not_after(operators: Operators, clock: Clock):
    token = operators.create("ops", ("undo",), DAY)
    clock.now = START + DAY - timedelta(microseconds=1)
    assert operators.check(token, "undo").name == "ops"
    clock.now = START + DAY
    assert refusal(operators, token).code == "operator_token_expired"


def test_a_wrong_secret_an_unknown_name_and_no_token_at_all_are_told_the_same(operators: Operators):
    token = operators.create("ops", ("undo",), DAY)
    secret = token.removeprefix("amo_ops_")
    wrong = [
        "amo_ops_" + "A" * 43,
        f"amo_nobody_{secret}",
        token[:-1],
        f"{token}A",
        f"{token}\n",
        token.upper(),
        secret,
        "amo__" + secret,
        "ops",
        "sha256:" + "0" * 64,
        "\udc80é\x00",
        "x" * 100_000,
    ]
    (said,) = {str(refusal(operators, each)) for each in wrong}
    assert said == (
        "An operator token is required; this one is not known. "
        "Was all of it given? If it is lost, make another: amends operator create NAME."
    )
    assert {refusal(operators, each).code for each in wrong} == {"operator_token_required"}


def test_there_is_one_comparison_of_equal_lengths_whatever_the_token_says(
    operators: Operators, monkeypatch: pytest.MonkeyPatch
):
    token = operators.create("ops", ("undo",), DAY)
    operators.create("other", ("undo",), DAY)
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def counting(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counting)
    for given in (token, "amo_ops_" + "A" * 43, "amo_nobody_" + "A" * 43, "nonsense"):
        compared.clear()
        try:
            operators.check(given, "undo")
        except NotAllowed as told:
            assert told.code == "operator_token_required"  # noqa: PT017 - one of the four is let through
        assert compared == [(71, 71)], given


def test_the_name_that_a_token_claims_can_be_read_from_it_and_proves_nothing():
    assert claimed_name("amo_oncall-2_" + "A" * 43) == "oncall-2"
    assert [claimed_name(other) for other in (None, "", "amo_oncall-2_short", "amo_A_" + "A" * 43)] == [""] * 4


# Rotation


def test_two_tokens_are_valid_at_once_until_the_old_one_is_revoked(operators: Operators, clock: Clock):
    old = operators.create("oncall-1", ("undo",), 30 * DAY)
    clock.now += DAY
    new = operators.create("oncall-2", ("undo",), 30 * DAY)
    assert [operators.check(token, "undo").name for token in (old, new)] == ["oncall-1", "oncall-2"]

    clock.now += DAY
    assert operators.revoke("oncall-1").revoked_at == clock.now
    assert refusal(operators, old).code == "operator_token_revoked"
    assert operators.check(new, "undo").name == "oncall-2"

    clock.now += DAY
    assert operators.revoke("oncall-1").revoked_at == START + 2 * DAY, "the first revocation stands"
    assert [(line.name, line.state(clock.now)) for line in operators] == [
        ("oncall-1", "revoked"),
        ("oncall-2", "valid"),
    ]
    assert [line.state(START + 31 * DAY) for line in operators] == ["revoked", "expired"]


def test_a_name_is_given_once_since_records_name_it(operators: Operators, clock: Clock):
    operators.create("ops", ("undo",), DAY)
    operators.revoke("ops")
    clock.now += 400 * DAY
    with pytest.raises(Conflict, match="There is a token named ops already, or was one") as told:
        operators.create("ops", ("undo",), DAY)
    assert told.value.code == "operator_name_taken"
    assert len(list(operators)) == 1


def test_only_a_token_that_there_is_can_be_revoked(operators: Operators):
    with pytest.raises(NotFound, match="There is no operator token named 'ops'") as told:
        operators.revoke("ops")
    assert told.value.code == "no_such_operator"
    assert not operators.path.exists()


def test_a_revocation_counts_for_who_has_looked_before(operators: Operators):
    token = operators.create("ops", ("undo",), DAY)
    elsewhere = Operators(operators.path, clock=lambda: START)
    assert elsewhere.check(token, "undo").name == "ops"
    operators.revoke("ops")
    assert refusal(elsewhere, token).code == "operator_token_revoked"


@pytest.mark.parametrize("name", ["", "Ops", "on call", "a_b", "-a", "é", "a" * 51, "a\n"])
def test_a_name_that_could_not_be_read_back_is_refused(operators: Operators, name: str):
    with pytest.raises(ValueError, match=r"^name is "):
        operators.create(name, ("undo",), DAY)
    assert not operators.path.exists()


@pytest.mark.parametrize(
    ("scopes", "lifetime", "said"),
    [
        ((), DAY, "scopes: none is given; there are undo, answer, export, settings"),
        (("undo", "all"), DAY, "scopes: 'all' is none; there are undo, answer, export, settings"),
        (("undo",), timedelta(0), "lifetime is 0:00:00; it must be more than nothing and 366 days at most"),
        (("undo",), 367 * DAY, "lifetime is 367 days, 0:00:00; it must be more than nothing and 366 days at most"),
    ],
)
def test_scopes_and_lifetimes_that_cannot_be_are_refused(operators: Operators, scopes, lifetime, said: str):
    with pytest.raises(ValueError) as told:  # noqa: PT011 - the whole text is compared
        operators.create("ops", scopes, lifetime)
    assert str(told.value) == said
    assert not operators.path.exists()


# The file


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
