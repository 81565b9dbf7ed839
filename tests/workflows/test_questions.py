"""Taking answers is total, the first one wins, and a repeat is told the same (SPEC 4.4)."""

from datetime import UTC, datetime

import pytest
from amends.contract.question import Answer, Question
from amends.workflows.questions import MOST_REMEMBERED, Questions
from hypothesis import given
from hypothesis import strategies as st

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def ask(questions: Questions) -> Question:
    return questions.ask(
        "confirm",
        position=1,
        tool="charge_card",
        arguments={"order_id": "4411", "amount": "40.00"},
        text="Run charge_card?",
        at=NOW,
        bound_to="sha",
    )


def said(answer: str = "approve", by: str = "ana", **fields: object) -> dict[str, object]:
    return {"question_id": "q1", "answer": answer, "by": by, **fields}


def test_the_first_answer_wins() -> None:
    questions = Questions("run:1")
    question = ask(questions)
    assert questions.take(said("approve", "ana"), NOW).accepted
    late = questions.take(said("cancel all", "bo"), NOW)
    assert (late.accepted, late.reason) == (False, "question_closed")
    winner = questions.winner(question)
    assert winner is not None
    assert (winner.answer, winner.by) == ("approve", "ana")
    assert [told.accepted for told in questions.answered] == [True, False]
    assert questions.open == ()


def test_the_same_answer_again_from_the_same_person_is_told_the_same() -> None:
    questions = Questions("run:1")
    ask(questions)
    first = questions.take(said(answer_id="click-1"), NOW)
    assert questions.take(said(answer_id="click-2"), NOW) == first
    assert len(questions.answered) == 1


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (said("Approve"), "answer_not_offered"),
        (said("yes"), "answer_not_offered"),
        (said("retry"), "answer_not_offered"),
        ({**said(), "question_id": "q2"}, "unknown_question"),
        ({**said(), "question_id": ""}, "unknown_question"),
        (said(digest="0" * 64), "digest_mismatch"),
        (said(by=""), "malformed"),
        (said(note="x" * 501), "malformed"),
        ({"question_id": "q1"}, "malformed"),
        ({"question_id": ["q1"], "answer": "approve", "by": "ana"}, "malformed"),
        ("approve", "malformed"),
        (None, "malformed"),
        (17, "malformed"),
    ],
)
def test_any_other_answer_changes_nothing_and_is_recorded(raw: object, reason: str) -> None:
    questions = Questions("run:1")
    question = ask(questions)
    told = questions.take(raw, NOW)
    assert (told.accepted, told.reason) == (False, reason)
    assert questions.answered == (told,)
    assert questions.open == (question,)
    assert questions.take(said(digest=question.digest), NOW).accepted


@given(JSON)
def test_whatever_arrives_nothing_raises(raw: object) -> None:
    questions = Questions("run:1")
    ask(questions)
    assert not questions.take(raw, NOW).accepted


def test_a_withdrawn_question_takes_no_answer() -> None:
    questions = Questions("run:1")
    question = ask(questions)
    questions.close(question)
    assert questions.take(said(), NOW).reason == "question_closed"
    assert questions.winner(question) is None


def test_refused_answers_are_remembered_up_to_a_bound() -> None:
    questions = Questions("run:1")
    ask(questions)
    for number in range(MOST_REMEMBERED + 50):
        questions.take(said("no", f"p{number}"), NOW)
    assert len(questions.answered) == MOST_REMEMBERED
    assert questions.take(said(), NOW).accepted


def test_a_digest_binds_everything_that_was_shown() -> None:
    shown = ask(Questions("run:1"))
    other_run = ask(Questions("run:2"))
    changed = Questions("run:1").ask(
        "confirm",
        position=1,
        tool="charge_card",
        arguments={"order_id": "4411", "amount": "400.00"},
        text="Run charge_card?",
        at=NOW,
        bound_to="sha",
    )
    assert len({shown.digest, other_run.digest, changed.digest}) == 3


def test_a_repeat_is_known_to_the_validator() -> None:
    questions = Questions("run:1")
    ask(questions)
    questions.take(said(), NOW)
    assert questions.repeats(Answer(question_id="q1", answer="approve", by="ana"))
    assert not questions.repeats(Answer(question_id="q1", answer="skip", by="ana"))
