"""``amends operator``: tokens made, listed and revoked; the secret goes to stdout once and nowhere else (SPEC 8.1)."""

import json
import re
from pathlib import Path

import pytest
from amends.cli.main import run
from amends.client.operators import Operators
from amends.contract.errors import NotAllowed


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.yaml").write_text("this: is not read\n")
    return tmp_path


def operators(folder: Path) -> Operators:
    return Operators(folder / ".amends" / "operators.json")


def test_the_token_is_all_that_goes_to_stdout(in_a_folder: Path, capsys):
    words = ["operator", "create", "oncall-1", "--scope", "answer", "--scope", "undo", "--expires", "12h"]
    assert run(words) == 0
    told = capsys.readouterr()
    token = told.out.removesuffix("\n")
    made = operators(in_a_folder).check(token, "undo")
    assert (made.name, made.scopes) == ("oncall-1", ("undo", "answer"))
    assert (made.expires_at - made.created_at).total_seconds() == 12 * 3600
    assert token not in told.err
    assert re.fullmatch(
        r"Operator token oncall-1: allows undo, answer until \d{4}-\d\d-\d\d \d\d:\d\dZ.\n"
        rf"It is shown this once; {in_a_folder}/.amends/operators.json keeps a hash of it.\n"
        r"Use it as AMENDS_OPERATOR_TOKEN or with --token-file.\n",
        told.err,
    )


def test_a_token_undoes_and_lasts_90_days_unless_told_otherwise(in_a_folder: Path, capsys):
    assert run(["operator", "create", "ops"]) == 0
    (made,) = operators(in_a_folder)
    assert made.scopes == ("undo",)
    assert (made.expires_at - made.created_at).days == 90


def test_a_rotation_as_the_page_has_it(in_a_folder: Path, capsys):
    assert run(["operator", "list"]) == 0
    assert capsys.readouterr().err == (
        f"{in_a_folder}/.amends/operators.json has no operator token. Make one: amends operator create NAME\n"
    )
    tokens = []
    for name in ("oncall-1", "oncall-2"):
        assert run(["operator", "create", name]) == 0
        tokens.append(capsys.readouterr().out.strip())
    assert run(["operator", "revoke", "oncall-1"]) == 0
    assert re.fullmatch(r"Operator token oncall-1 is revoked since \S+ \S+\.\n", capsys.readouterr().err)
    known = operators(in_a_folder)
    assert known.check(tokens[1], "undo").name == "oncall-2"
    with pytest.raises(NotAllowed, match="was revoked"):
        known.check(tokens[0], "undo")

    assert run(["operator", "list"]) == 0
    told = capsys.readouterr()
    assert [line.split()[:3] for line in told.out.splitlines()] == [
        ["NAME", "STATE", "SCOPES"],
        ["oncall-1", "revoked", "undo"],
        ["oncall-2", "valid", "undo"],
    ]
    assert run(["operator", "list", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["file"]) == ("amends.operators/1", str(known.path))
    assert [(line["name"], line["state"], line["revoked_at"] is None) for line in said["operators"]] == [
        ("oncall-1", "revoked", False),
        ("oncall-2", "valid", True),
    ]
    assert "token" not in said["operators"][0]
    for token in tokens:
        assert token not in told.out + json.dumps(said)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ["create", "ops"],
            7,
            "error: There is a token named ops already, or was one; records may name it.",
        ),
        (["create", "On Call"], 2, "name is 'On Call'; it must be 1 to 50 small letters"),
        (["create", "new", "--expires", "2 weeks"], 2, "'2 weeks' is no length of time such as 90d, 8h, 30m or 45s"),
        (["create", "new", "--expires", "367d"], 2, "it must be more than nothing and 366 days at most"),
        (["create", "new", "--scope", "all"], 2, "'all' is not one of 'undo', 'answer', 'export', 'settings'"),
        (["revoke", "nobody"], 9, "error: There is no operator token named 'nobody'. `amends operator list`"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(in_a_folder: Path, words, code: int, said: str, capsys):
    assert run(["operator", "create", "ops"]) == 0
    capsys.readouterr()
    before = operators(in_a_folder).path.read_bytes()
    assert run(["operator", *words]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert operators(in_a_folder).path.read_bytes() == before


def test_tokens_are_not_made_where_there_is_no_agent(in_a_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    (in_a_folder / "agent.yaml").unlink()
    assert run(["operator", "create", "ops"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "there is no agent.yaml, and tokens are kept beside the agent file" in told.err
    assert list(in_a_folder.iterdir()) == []

    assert run(["operator", "create", "ops", "--state-folder", "state"]) == 0
    assert [line.name for line in Operators(in_a_folder / "state" / "operators.json")] == ["ops"]
    monkeypatch.setenv("AMENDS_OPERATORS", "elsewhere.json")
    assert run(["operator", "create", "there"]) == 0
    assert [line.name for line in Operators(in_a_folder / "elsewhere.json")] == ["there"]


def test_a_broken_file_is_named(in_a_folder: Path, capsys):
    assert run(["operator", "create", "ops"]) == 0
    operators(in_a_folder).path.write_text("{")
    for words in (["list"], ["create", "other"], ["revoke", "ops"]):
        capsys.readouterr()
        assert run(["operator", *words]) == 2
        assert f"error: {in_a_folder}/.amends/operators.json: Invalid JSON" in capsys.readouterr().err
