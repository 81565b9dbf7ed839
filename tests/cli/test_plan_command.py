"""``amends plan`` and its JSON: every case of the cases' turns, the verdicts of rules, exit codes, no server."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from amends import Agent
from amends.cli.main import run
from amends.tools.loader import load_agent
from amends.tools.preview import UndoPreview, preview

CASES = Path(__file__).parents[1] / "cases"
SHOP = str(Path(__file__).parents[2] / "examples" / "shop" / "agent.yaml")
DESK = str(CASES / "desk" / "agent.yaml")
TURNS = yaml.load((CASES / "turns.yaml").read_text(), yaml.BaseLoader)
FAILED_ORDER = (
    "charge order 4411 40.00, then send the receipt for order 4411, then provision the account for order 4411"
)


def printed(capsys, *words: str) -> tuple[int, dict[str, Any]]:
    code = run(["plan", *words, "--json"])
    said = capsys.readouterr()
    assert said.err == ""
    return code, json.loads(said.out)


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("case", TURNS, ids=[case["id"] for case in TURNS])
def test_each_turn_of_the_cases_is_printed_as_it_reads(case, capsys) -> None:
    language = "pt-BR" if case["id"].startswith("P") else "en"
    code, said = printed(capsys, case["say"], "--agent", DESK, "--language", language)
    if "calls" in case:
        calls = [
            f"{call['tool']}({', '.join(f'{name}={as_text(value)}' for name, value in call['arguments'].items())})"
            for call in said["calls"]
        ]
        expected = [call.replace("'", "") for call in case["calls"]]
        assert (code, said["read"], said["language"], calls) == (0, True, language, expected)
        assert len(said["lexicon"]) == 64
        assert "unread" not in said
    else:
        assert (code, said["read"]) == (12, False)
        assert case["unread"] in ("any", said["unread"]["code"])
        assert {"code", "start", "end", "text", "near"} <= said["unread"].keys()
        assert "calls" not in said


def test_values_are_strings_integers_booleans_or_lists(capsys) -> None:
    _, said = printed(capsys, "set the quantity of order 4411 to 3", "--agent", DESK)
    assert said["calls"][0]["arguments"] == {"order_id": "4411", "quantity": 3}
    _, said = printed(capsys, "ship order 4411 overnight without notifying the customer", "--agent", DESK)
    assert said["calls"][0]["arguments"] == {"order_id": "4411", "speed": "express", "notify": False}


def test_the_place_of_an_unknown_word_and_the_nearest_known_one(capsys) -> None:
    code, said = printed(capsys, "chrage order 4411 40.00", "--agent", SHOP)
    assert code == 12
    assert said == {
        "schema": "amends.plan/1",
        "read": False,
        "language": "en",
        "agent": "desk",
        "unread": {
            "code": "unknown_word",
            "start": 0,
            "end": 6,
            "text": "chrage",
            "near": ["charge"],
            "missing": [],
            "readings": [],
            "sentence": "I do not know the word “chrage”: say it another way, or add it to the vocabulary. "
            "Did you mean “charge”?",
        },
    }


def test_the_text_shows_what_is_asked_what_undoes_it_and_what_stays(capsys) -> None:
    assert run(["plan", FAILED_ORDER, "--agent", SHOP]) == 0
    assert (
        capsys.readouterr().out
        == """\
Read as English: 3 calls, nothing left over.

1  charge_card
     order_id  4411
     amount    40.00
     Asks you: Run charge_card?
     Undone by refund_card(charge_id = what step 1 returns, amount = 40.00).

2  send_receipt
     order_id  4411
     Nothing can undo this step once it runs.
     Asks you: Run send_receipt? Nothing undoes this step, and the steps after it cannot undo it.

3  provision_account
     order_id  4411
     Asks you: Run provision_account?

If step 3 fails: charge_card is undone. send_receipt stays.
Nothing was run.
"""
    )


def test_the_text_of_an_unread_turn_points_at_the_place(capsys) -> None:
    assert run(["plan", "please chrage order 4411 40.00", "--agent", SHOP]) == 12
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Not read (unknown_word): I do not know the word “chrage”")
    assert lines[2:] == ["  please chrage order 4411 40.00", "         ^^^^^^"]


@pytest.mark.parametrize(
    ("turn", "code"), [("get order 4411", 0), ("charge order 4411 40.00", 20), ("charge order 4411", 12)]
)
def test_the_detailed_exit_code_tells_reading_from_writing(turn: str, code: int, capsys) -> None:
    assert run(["plan", turn, "--agent", SHOP, "--detailed-exitcode"]) == code


RULES = """
rules:
  - {id: card-on-file, action: charge_card, requires: [card_on_file], say: There is no card on file.}
  - {id: order-first, action: charge_card, after: get_order}
"""


@pytest.fixture
def ruled(tmp_path: Path) -> str:
    text = Path(SHOP).read_text().replace("./policy.co", "./rules.yaml")
    (tmp_path / "agent.yaml").write_text(text)
    (tmp_path / "rules.yaml").write_text(RULES)
    return str(tmp_path / "agent.yaml")


def test_rules_are_checked_call_by_call_as_if_the_calls_before_had_run(ruled: str) -> None:
    desk = load_agent(ruled, context={"card_on_file": True})
    alone, after = (
        preview(desk, "charge order 4411 40.00"),
        preview(desk, "get order 4411, then charge order 4411 40.00"),
    )
    assert [call.verdict for call in alone.calls] == ["refuse"]
    assert [hit.rule for hit in alone.calls[0].hits if hit.effect == "refuse"] == ["order-first"]
    assert (alone.refused_at, alone.undone) == (1, ())
    assert [call.verdict for call in after.calls] == ["allow", "confirm"]
    assert (after.refused_at, after.undone) == (None, (2,))


def test_a_fact_is_given_with_context_and_a_refusal_names_rule_and_line(ruled: str, capsys) -> None:
    turn = "get order 4411, then charge order 4411 40.00"
    assert run(["plan", turn, "--agent", ruled]) == 0
    refused = capsys.readouterr().out
    assert "Refused by card-on-file: There is no card on file." in refused
    assert "rules.yaml:3)" in refused
    assert "The run stops at step 2, which is refused." in refused
    assert run(["plan", turn, "--agent", ruled, "--context", "card_on_file=true"]) == 0
    assert "Refused" not in capsys.readouterr().out
    assert run(["plan", turn, "--agent", ruled, "--context", "card_on_file=yes"]) == 0
    assert "Refused by card-on-file" in capsys.readouterr().out


def test_an_agent_whose_runs_are_independent_undoes_nothing(tmp_path: Path) -> None:
    shutil.copy(Path(SHOP).with_name("policy.co"), tmp_path)
    (tmp_path / "agent.yaml").write_text(Path(SHOP).read_text().replace("runs: atomic", "runs: independent"))
    found = preview(load_agent(tmp_path / "agent.yaml"), FAILED_ORDER)
    assert (found.undone, found.not_undoable) == ((), (1, 2, 3))
    assert found.calls[1].question == "Run send_receipt?"
    assert found.calls[1].warnings == ("Nothing can undo this step once it runs.",)


def test_the_undo_shows_what_is_known_and_where_the_rest_will_come_from() -> None:
    (call,) = preview(load_agent(SHOP), "charge order 4411 40.00").calls
    assert call.undo == UndoPreview(tool="refund_card", arguments={"charge_id": "$result.charge_id", "amount": "40.00"})


def test_the_python_agent_plans_the_same_without_a_server(monkeypatch) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")
    with_python = Agent.from_file(SHOP)
    assert with_python.plan(FAILED_ORDER) == preview(load_agent(SHOP), FAILED_ORDER)
    assert with_python.plan("obtenha o pedido 4411", language="pt-BR").language == "pt-BR"
    with_python.close()


def test_planning_loads_no_temporal() -> None:
    script = (
        "import sys; from amends.cli.main import run; "
        f"code = run(['plan', 'charge order 4411 40.00', '--agent', {SHOP!r}]); "
        "sys.exit(code or 'temporalio' in sys.modules and 99)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
