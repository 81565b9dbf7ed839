"""What is shown on the terminal, and what may be typed there."""

from datetime import UTC, datetime
from typing import get_args

import pytest
from amends.cli.answers import answer_typed
from amends.cli.cards import card
from amends.cli.exits import Exit, exit_of_error, exit_of_run
from amends.cli.terminal import columns, visible
from amends.contract.decision import Hit
from amends.contract.errors import Ambiguous, Conflict, NotAllowed, NotFound, Unreachable
from amends.contract.mistakes import FileMistake, FileMistakes
from amends.contract.question import ANSWERS, Question, QuestionKind
from amends.contract.run import OPEN_STATES, RunState
from amends.contract.tool import Origin
from amends.worker.settings import BadSetting


def question(kind: QuestionKind = "confirm", **said) -> Question:
    return Question(
        id="q1",
        kind=kind,
        run="run:desk:u:1:1",
        position=1,
        tool="charge_card",
        answers=ANSWERS[kind],
        digest="d",
        asked_at=datetime(2026, 11, 30, tzinfo=UTC),
        **{"text": "Run charge_card?", **said},
    )


@pytest.mark.parametrize(
    ("kind", "typed", "answer"),
    [
        ("confirm", "approve", "approve"),
        ("confirm", " Approve ", "approve"),
        ("confirm", "Cancel  all", "cancel all"),
        ("confirm", "skip this step", "skip"),
        ("confirm", "aprovar", "approve"),
        ("confirm", "PULAR", "skip"),
        ("confirm", "pular este passo", "skip"),
        ("confirm", "cancelar tudo", "cancel all"),
        ("outcome", "não aconteceu", "did not happen"),
        ("outcome", "nao aconteceu", "did not happen"),
        ("outcome", "aconteceu", "happened"),
        ("undo", "feito à mão", "done by hand"),
        ("undo", "tentar de novo", "retry"),
        ("undo", "deixar", "abandon"),
    ],
)
def test_an_answer_is_typed_in_full_in_either_language(kind, typed, answer) -> None:
    assert answer_typed(typed, question(kind)) == answer


@pytest.mark.parametrize(
    "typed", ["", " ", "y", "yes", "sim", "a", "appr", "approve all", "ok", "happened", "aconteceu"]
)
def test_nothing_short_and_nothing_of_another_question_is_an_answer(typed) -> None:
    assert answer_typed(typed, question()) is None


def test_every_answer_of_every_question_may_be_typed() -> None:
    for kind, words in ANSWERS.items():
        assert [answer_typed(word, question(kind)) for word in words] == list(words)


def test_a_card_shows_every_argument_whole_and_what_cannot_be_seen_by_its_code() -> None:
    asked = question(arguments={"order_id": "4411", "text": " a\u202eb\nc ", "long": "x" * 300}, undo="refund_card")
    assert [str(line) for line in card(asked, atomic=True)] == [
        "Step 1  charge_card",
        "        order_id  4411",
        "        text      ·a\u2039U+202E\u203ab\u2039U+000A\u203ac·",
        f"        long      {'x' * 300}",
        "        If a later step fails, it is undone by refund_card.",
        "        Run charge_card?",
    ]


def test_a_card_of_an_irreversible_step_has_both_warnings_word_for_word() -> None:
    asked = question(
        warnings=("Nothing can undo this step once it runs.",),
        text="Run charge_card? Nothing undoes this step, and the steps after it cannot undo it.",
    )
    assert [str(line).strip() for line in card(asked, atomic=True)][1:] == [
        "Nothing can undo this step once it runs.",
        "Run charge_card? Nothing undoes this step, and the steps after it cannot undo it.",
    ]


def test_a_card_says_so_where_a_failed_run_is_not_undone() -> None:
    lines = [str(line).strip() for line in card(question(undo="refund_card"), atomic=False)]
    assert lines[1] == "If a later step fails, it stays: runs of this agent are independent."


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("  ", "··"), ("a b", "a b"), ("\x1b[2J", "\u2039U+001B\u203a[2J")]
)
def test_text_from_outside_cannot_draw_on_the_terminal(text, shown) -> None:
    assert visible(text) == shown


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert columns([("a", "bb", ""), ("ccc", "d", "e")]) == ["a    bb", "ccc  d   e"]
    assert columns([]) == []


@pytest.mark.parametrize("state", get_args(RunState))
def test_every_state_of_a_run_has_an_exit_code(state: RunState) -> None:
    codes = {"done": 0, "refused": 4, "undone": 4, "left": 5, "abandoned": 5, "stuck": 6, "condemned": 7}
    assert exit_of_run(state, ()) == codes.get(state, 3)
    assert state in codes or state in OPEN_STATES


def test_a_run_that_asks_waits_and_one_in_doubt_is_stuck() -> None:
    assert exit_of_run("waiting", (question(),)) is Exit.WAITS
    assert exit_of_run("waiting", (question("outcome"),)) is Exit.STUCK
    assert exit_of_run("stuck", (question("undo"),)) is Exit.STUCK


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileMistakes([FileMistake("no", Origin(file="agent.yaml", line=3))]), 2),
        (BadSetting("--drain", "x", "a time"), 2),
        (Ambiguous("several_agents", "two"), 2),
        (Ambiguous("several_questions", "two"), 7),
        (Conflict("question_closed", "late"), 7),
        (NotAllowed("operator_token_required", "no"), 8),
        (NotFound("no_such_run", "none"), 9),
        (Unreachable("temporal_unreachable", "gone"), 11),
    ],
)
def test_every_error_has_the_exit_code_of_what_can_be_done_about_it(error, code) -> None:
    assert exit_of_error(error) == code


def test_a_card_names_the_rules_of_files_that_ask_and_not_that_every_write_is_confirmed() -> None:
    asked = Hit(rule="mid-charge", effect="confirm", why="Over ten.", origin=Origin(file="/a/rules.yaml", line=4))
    lines = list(
        map(str, card(question(rules=(Hit(rule="writes", effect="confirm", why="a write"), asked)), atomic=True))
    )
    assert [line.strip() for line in lines if "because" in line] == [
        "Asked because of mid-charge: Over ten. (rules.yaml:4)"
    ]
