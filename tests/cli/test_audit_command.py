"""``amends audit``: a record out of a session, into a file, and checked there with nothing else at hand."""

import json
from pathlib import Path

import pytest
from amends.cli.main import run
from amends.contract.chain import Head, Header, body_of, first_hash, link
from amends.contract.record import Entry
from amends.tests.cli.conftest import Shop

SESSION = "desk:u-17:ab12cd"
AT = "2026-03-05T12:00:00Z"


def exported(folder: Path, count: int = 5) -> tuple[Path, list[str]]:
    lines, previous = [], first_hash(SESSION)
    for seq in range(1, count + 1):
        entry = Entry.model_validate({"kind": "turn", "at": AT, "by": "u-17", "text": f"turn {seq}"})
        line, previous = link(body_of(entry), seq=seq, previous=previous)
        lines.append(line)
    head = Head(count=count, hash=previous)
    header = Header.model_validate({"session": SESSION, "agent": "desk", "user": "u-17", "at": AT, "head": head})
    file = folder / "record.jsonl"
    file.write_text("\n".join([header.model_dump_json(), *lines]) + "\n")
    return file, [header.model_dump_json(), *lines]


def rewritten(file: Path, lines: list[str]) -> str:
    file.write_text("\n".join(lines) + "\n")
    return str(file)


def test_a_whole_record_is_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, lines = exported(tmp_path)
    assert run(["audit", "verify", str(file)]) == 0
    head = json.loads(lines[-1])["hash"]
    assert capsys.readouterr().out == f"ok: 5 lines, head 5:{head}\n"
    assert run(["audit", "verify", str(file), "--head", f"5:{head}", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"schema": "amends.audit/1", "lines": 5, "head": f"5:{head}", "ok": True, "broken": None}


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda lines: [*lines[:3], lines[3].replace("turn 3", "turn 9"), *lines[4:]], "line 3: edited: "),
        (lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]], "line 2: swapped: "),
        (lambda lines: [*lines[:3], *lines[4:]], "line 3: missing: line 3 is gone; line 4 stands in its place"),
        (lambda lines: lines[:-2], "line 4: cut tail: lines 4 to 5 are gone; the head says that there are 5"),
        (lambda lines: lines[1:], "line 0: missing: the header is gone"),
        (lambda lines: [*lines[:5], "}"], "line 5: edited: it cannot be read"),
        (lambda lines: [], "line 0: missing: "),
    ],
)
def test_the_first_bad_line_is_named_with_what_is_wrong(
    tmp_path: Path, edit, said: str, capsys: pytest.CaptureFixture[str]
):
    file, lines = exported(tmp_path)
    assert run(["audit", "verify", rewritten(file, edit(lines))]) == 10
    assert capsys.readouterr().out.startswith(said)


def test_a_tail_that_was_cut_with_a_header_to_match_is_found_with_a_head_that_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file, lines = exported(tmp_path)
    kept = tmp_path / "head"
    kept.write_text(f"5:{json.loads(lines[-1])['hash']}\n")
    _, shorter = exported(tmp_path, 3)
    assert run(["audit", "verify", rewritten(file, shorter)]) == 0
    assert run(["audit", "verify", str(file), "--head", str(kept), "--json"]) == 10
    broken = json.loads(capsys.readouterr().out.split("\n", 1)[1])["broken"]
    assert (broken["line"], broken["kind"]) == (4, "cut tail")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a FILE or --user, one of the two"),
        (["x", "--user", "u-17"], "give a FILE or --user, one of the two"),
        (["no/such/file"], "cannot be read"),
        (["FILE", "--head", "5"], "'5' is no head"),
    ],
)
def test_what_cannot_be_checked_is_a_usage_error(
    tmp_path: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    file, _ = exported(tmp_path)
    assert run(["audit", "verify", *(str(file) if word == "FILE" else word for word in words)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("standing")
def test_a_session_is_exported_verified_and_its_head_kept(shop: Shop):
    chatted = shop.amends("chat", "--as", "u-17", typed="look up order 4411\n")
    assert chatted.returncode == 0, chatted.stderr
    done = shop.amends("audit", "export", "u-17", "-o", "record.jsonl")
    assert done.returncode == 0, done.stderr
    header, *lines = (shop.folder / "record.jsonl").read_text().splitlines()
    assert json.loads(header)["user"] == "u-17"
    assert [json.loads(line)["kind"] for line in lines] == ["turn", "call", "end"]
    head = shop.amends("audit", "head", "u-17").stdout.strip()
    assert head == f"3:{json.loads(lines[-1])['hash']}"
    assert shop.amends("audit", "verify", "record.jsonl", "--head", head).stdout == f"ok: 3 lines, head {head}\n"
    assert shop.amends("audit", "verify", "--user", "u-17", "--head", head).returncode == 0
    assert shop.amends("audit", "export", "nobody").returncode == 9
