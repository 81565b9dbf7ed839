"""The commands as a whole: help, errors, versions, lints, verify."""

import json
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from amends.cli.main import COMMANDS, run

ROOT = Path(__file__).parents[2]
SHOP = str(ROOT / "examples" / "shop" / "agent.yaml")
DESK = str(ROOT / "tests" / "cases" / "desk" / "agent.yaml")
ORDER_BY_ONE = """
from amends import tool


@tool(writes=True, undo="refund")
def charge(order_id: str) -> dict[str, str]:
    \"\"\"Charge an order.\"\"\"
    return {"charge_id": order_id}


@tool(writes=True, irreversible=True)
def refund(charge_id: str) -> None:
    \"\"\"Refund a charge.\"\"\"


@tool(writes=True)
def wire(order_id: str) -> None:
    \"\"\"Wire an order.\"\"\"
"""


def test_help_names_every_command_and_loads_none() -> None:
    script = (
        "import sys; from amends.cli.main import run; run(['--help']); "
        "sys.exit(int(bool({'temporalio', 'pydantic', 'rich', 'yaml'} & set(sys.modules))))"
    )
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert time.monotonic() - began < 2
    assert [line.split()[0] for line in done.stdout.split("Commands:\n")[1].splitlines()] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_of_its_own_and_keywords_only(name: str, capsys) -> None:
    assert run([name, "--help"]) == 0
    assert f"Usage: amends {name}" in capsys.readouterr().out
    assert import_module(f"amends.cli.{name}").command.help


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_documented(name: str) -> None:
    assert f"`amends {name}" in (ROOT / "docs" / "cli.md").read_text()


def test_every_exit_code_is_documented() -> None:
    from amends.cli.exits import Exit

    said = (ROOT / "docs" / "cli.md").read_text()
    assert [code for code in Exit if f"| {code.value} |" not in said] == []


def test_a_mistake_in_a_file_is_told_with_its_place_and_the_way_out(tmp_path: Path, capsys) -> None:
    (tmp_path / "agent.yaml").write_text("agents:\n  desk:\n    toolz: [charge]\ntools: []\n")
    path = str(tmp_path / "agent.yaml")
    assert run(["lint", path]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"error: {path}:3: " in told.err
    assert "did you mean tools?" in told.err
    assert run(["verify", path, "--json"]) == 2
    told = capsys.readouterr()
    problem = json.loads(told.err)
    assert (told.out, problem["code"]) == ("", "file_mistakes")
    assert {mistake["line"] for mistake in problem["errors"]} >= {3}


def test_an_agent_that_is_not_there_is_named_with_the_nearest(capsys) -> None:
    assert run(["plan", "get order 4411", "--agent", SHOP, "--name", "desc"]) == 9
    assert "Did you mean desk?" in capsys.readouterr().err


def test_what_was_typed_wrong_is_usage_in_words_and_as_json(capsys) -> None:
    assert run(["paln"]) == 2
    assert "No such command 'paln'" in capsys.readouterr().err
    assert run(["confirm", "u-17", "yes", "--json"]) == 2
    problem = json.loads(capsys.readouterr().err)
    assert problem["code"] == "usage"
    assert "'approve', 'skip', 'cancel all'" in problem["detail"]


def test_a_fault_of_ours_is_told_without_a_traceback_and_with_the_way_to_one(monkeypatch, capsys) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr("amends.cli.plan.load_agent", fails)
    assert run(["plan", "get order 4411"]) == 1
    told = capsys.readouterr().err
    assert told == "error: RuntimeError: out of order\nThis is a fault of amends. AMENDS_TRACEBACK=1 shows where.\n"
    monkeypatch.setenv("AMENDS_TRACEBACK", "1")
    assert run(["plan", "get order 4411"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_an_unreachable_server_is_told_as_one(monkeypatch, capsys) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    assert run(["runs", "--agent", SHOP, "--json"]) == 11
    problem = json.loads(capsys.readouterr().err)
    assert (problem["code"], problem["status"]) == ("temporal_unreachable", 503)
    assert "127.0.0.1:1" in problem["detail"]


def test_a_worker_setting_that_cannot_be_is_refused_before_anything_starts(capsys) -> None:
    assert run(["worker", SHOP, "--drain", "soon"]) == 2
    assert capsys.readouterr().err == "error: --drain = 'soon': a time such as 30s, 2m or 1h, at most 24h\n"


def test_an_answer_that_says_what_somebody_did_needs_a_note(capsys) -> None:
    assert run(["answer", "u-17", "done by hand"]) == 2
    assert "'done by hand' needs --note" in capsys.readouterr().err


def test_versions(capsys) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "amends 0.1.0\n"
    assert run(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"schema", "amends", "semantics", "temporalio", "python"}


@pytest.fixture
def desk(tmp_path: Path) -> str:
    (tmp_path / "cli_wire_tools.py").write_text(ORDER_BY_ONE)
    (tmp_path / "agent.yaml").write_text(
        "agents:\n  desk:\n    tools: [charge, refund, wire]\ntools:\n  - python: ./cli_wire_tools.py\n"
    )
    return str(tmp_path / "agent.yaml")


def test_lint_prints_notes_and_fails_only_when_asked_to(desk: str, capsys) -> None:
    assert run(["lint", desk]) == 0
    told = capsys.readouterr().out
    assert "note write_without_compensation [wire]: a write neither compensated nor marked irreversible\n" in told
    assert told.endswith(" notes. None fails anything.\n")
    assert run(["lint", desk, "--strict", "--json"]) == 10
    codes = {(lint["code"], lint["tool"]) for lint in json.loads(capsys.readouterr().out)["lints"]}
    assert ("write_not_retry_safe", "wire") in codes
    assert run(["lint", SHOP, "--strict"]) == 0


def test_verify_fails_on_an_error_and_says_the_route(desk: str, capsys) -> None:
    assert run(["verify", desk]) == 1
    told = capsys.readouterr().out
    assert "error QG105 [desk, wire]" in told
    assert told.splitlines()[-1].startswith("failed: ")
    assert run(["verify", desk, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["passed"]) == ("amends.verify/1", False)
    assert "QG105" in {finding["code"] for finding in said["findings"]}
    assert run(["verify", desk, "--sarif"]) == 1
    assert json.loads(capsys.readouterr().out)["version"] == "2.1.0"


def test_verify_passes_the_shop_and_the_cases(capsys) -> None:
    assert run(["verify", SHOP]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("passed: 0 errors")
    assert run(["verify", DESK]) == 0
    assert "QG115" not in capsys.readouterr().out


def test_verify_finds_a_tool_that_no_turn_can_say(tmp_path: Path, capsys) -> None:
    (tmp_path / "cli_blob_tools.py").write_text(
        "from amends import tool\n\n\n@tool\ndef get_blob(blob: dict[str, str]) -> None:\n    '''Get a blob.'''\n"
    )
    (tmp_path / "agent.yaml").write_text(
        "agents:\n  desk:\n    tools: [get_blob]\ntools:\n  - python: ./cli_blob_tools.py\n"
    )
    assert run(["verify", str(tmp_path / "agent.yaml")]) == 0
    assert "warning QG115 [get_blob]: no turn can say get_blob (en): no turn can say its parameter blob" in (
        capsys.readouterr().out
    )


def test_a_privilege_that_is_no_number_cannot_be_verified(tmp_path: Path, capsys) -> None:
    text = Path(SHOP).read_text().replace("    on_unread", "    privilege: high\n    on_unread")
    (tmp_path / "agent.yaml").write_text(text)
    shutil.copy(Path(SHOP).with_name("policy.co"), tmp_path)
    assert run(["verify", str(tmp_path / "agent.yaml")]) == 2
    assert "agent.yaml:6: privilege 'high' is no number" in capsys.readouterr().err


def test_a_large_result_is_kept_in_the_state_folder_and_shown_whole(tmp_path: Path) -> None:
    (tmp_path / "reports.py").write_text(
        "from amends import tool\n\n\n@tool\ndef get_report(order_id: str) -> dict[str, str]:\n"
        '    """Get a report."""\n    return {"id": order_id, "body": "x" * 400_000}\n'
    )
    (tmp_path / "agent.yaml").write_text("agents:\n  desk:\n    tools: [get_report]\ntools:\n  python: [reports]\n")
    amends = str(Path(sys.executable).parent / "amends")

    def command(*words: str, typed: str = "") -> str:
        done = subprocess.run(
            [amends, *words], cwd=tmp_path, input=typed, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert command("chat", "--as", "u-1", typed="get the report for order 4411\n") == "Done: get_report.\n"
    kept = json.loads(command("show", "u-1", "--json"))["steps"][0]["result"]
    assert kept["amends_left_out"] > 400_000
    assert json.loads(command("show", "u-1", "--result", "1")) == {"id": "4411", "body": "x" * 400_000}
