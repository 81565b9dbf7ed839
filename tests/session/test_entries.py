"""What the record says of a run, and what of it still needs undoing. Tables; no server."""

import datetime as dt

import pytest
from amends.contract.decision import Decision, Hit
from amends.contract.ending import cut_short, still_to_undo
from amends.contract.outcome import Failure
from amends.contract.question import Answered, Asked
from amends.contract.run import RunView, Step, UndoView
from amends.contract.tool import Origin
from amends.workflows.entries import entries_of_run

NOON = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


def after(seconds: float) -> dt.datetime:
    return NOON + dt.timedelta(seconds=seconds)


def step(position: int, state: str, **fields: object) -> Step:
    said = {"position": position, "number": 40 + position, "tool": f"tool_{position}", "writes": True, "state": state}
    return Step.model_validate({**said, **fields})


def view(*steps: Step, state: str = "undone", **fields: object) -> RunView:
    said = {"run": "run:1", "session": "s", "agent": "desk", "user": "u-17", "turn": "t", "language": "en"}
    return RunView.model_validate({**said, "state": state, "steps": steps, "started_at": NOON, **fields})


def asked(name: str, kind: str, position: int, seconds: float) -> Asked:
    return Asked.model_validate(
        {
            "id": name,
            "kind": kind,
            "position": position,
            "tool": f"tool_{position}",
            "text": f"{kind}?",
            "warnings": ("careful",) if kind == "confirm" else (),
            "digest": "d",
            "asked_at": after(seconds),
        }
    )


def answered(name: str, word: str, seconds: float, *, reason: str = "", by: str = "ana") -> Answered:
    return Answered(question_id=name, answer=word, by=by, at=after(seconds), accepted=not reason, reason=reason)


def test_everything_that_happened_is_there_in_its_order():
    allowed = Decision(
        verdict="allow",
        hits=(Hit(rule="writes", effect="confirm", why="it writes", origin=Origin(file="rules.yaml", line=3)),),
        rulebook="r",
        digest="d",
    )
    refused = Decision(verdict="refuse", hits=(Hit(rule="never", effect="refuse", why="no"),), rulebook="r", digest="d")
    run = view(
        step(
            1,
            "undone",
            decision=allowed,
            confirmed_by="ana",
            key="k1",
            attempts=1,
            arguments={"amount": "40.00"},
            result={"id": "c-1"},
            landed=1,
            sent_at=after(3),
            ended_at=after(3.25),
            undo=UndoView(tool="undo_1", arguments={"id": "c-1"}, key="u1", tries=5, by="", ended_at=after(20)),
        ),
        step(2, "declined", confirmed_by="bo"),
        step(
            3,
            "did not happen",
            key="k3",
            attempts=1,
            sent_at=after(7),
            ended_at=after(8),
            failure=Failure(type="TimeoutError", message="late"),
            evidence=("asked bo: did not happen",),
        ),
        step(4, "refused", decision=refused),
        text="This run stopped.",
        ended_at=after(21),
        asked=(
            asked("q1", "confirm", 1, 1),
            asked("q2", "confirm", 2, 4),
            asked("q3", "outcome", 3, 9),
            asked("q4", "undo", 1, 15),
        ),
        answers=(
            answered("q1", "approve", 2.5),
            answered("q1", "skip", 2.7, reason="question_closed", by="bo"),
            answered("q2", "skip", 5, by="bo"),
            answered("", "", 6, reason="malformed", by=""),
            answered("q3", "did not happen", 10, by="bo"),
            answered("q4", "retry", 16),
        ),
    )
    entries = entries_of_run(run, ended_at=after(99), remains=())
    assert [(each.kind, each.step, each.by, each.outcome) for each in entries] == [
        ("question", 41, "", "confirm"),
        ("answer", 41, "ana", "taken"),
        ("answer", 41, "bo", "question_closed"),
        ("call", 41, "ana", "done"),
        ("question", 42, "", "confirm"),
        ("answer", 42, "bo", "taken"),
        ("call", 42, "bo", "declined"),
        ("answer", 0, "", "malformed"),
        ("call", 43, "", "did not happen"),
        ("call", 44, "", "refused"),
        ("question", 43, "", "outcome"),
        ("answer", 43, "bo", "taken"),
        ("question", 41, "", "undo"),
        ("answer", 41, "ana", "taken"),
        ("undo", 41, "", "undone"),
        ("end", 0, "", "undone"),
    ]
    call, doubtful, stopped, undo, end = (entries[place] for place in (3, 8, 9, 14, 15))
    assert (call.key, call.verdict, call.tries, call.took_ms, call.result) == ("k1", "allow", 1, 250, {"id": "c-1"})
    assert [(rule.rule, rule.file, rule.line) for rule in call.rules] == [("writes", "rules.yaml", 3)]
    assert (doubtful.error, doubtful.note) == ("TimeoutError: late", "asked bo: did not happen")
    assert (stopped.verdict, stopped.key, stopped.at) == ("refuse", "", after(7))
    assert (undo.tool, undo.key, undo.tries, undo.at) == ("undo_1", "u1", 5, after(20))
    assert (end.text, end.at) == ("This run stopped.", after(21))
    assert (entries[0].text, entries[0].warnings, entries[1].took_ms) == ("confirm?", ("careful",), 1500)


def test_a_run_that_could_not_say_when_it_ended_ends_when_it_was_noticed():
    run = view(step(1, "undoing", landed=1, sent_at=after(1), undo=UndoView(tool="undo_1")), state="left")
    assert [(each.kind, each.at) for each in entries_of_run(run, ended_at=after(9), remains=("tool_1",))] == [
        ("call", after(1)),
        ("undo", after(9)),
        ("end", after(9)),
    ]


UNDOABLE = frozenset(("tool_1", "tool_2"))


@pytest.mark.parametrize(
    ("state", "steps", "atomic", "remains"),
    [
        ("done", [step(1, "done", landed=1)], True, ()),
        ("undone", [step(1, "undone", landed=1)], True, ()),
        ("undone", [step(1, "undone by hand", landed=1)], True, ()),
        ("undone", [step(1, "failed")], True, ()),
        ("refused", [step(1, "refused")], True, ()),
        ("left", [step(3, "left", landed=1)], True, ()),
        ("left", [step(1, "done", landed=1)], False, ()),
        ("abandoned", [step(1, "done", landed=1), step(2, "undo failed", landed=2)], True, ("tool_2", "tool_1")),
        ("abandoned", [step(1, "undo failed", landed=1), step(3, "done", landed=2)], True, ("tool_1",)),
        ("left", [step(1, "done", landed=1), step(2, "proposed")], True, ("tool_1",)),
        ("left", [step(1, "sent")], True, ("tool_1",)),
        ("left", [step(3, "sent")], False, ("tool_3",)),
        ("left", [step(1, "sent", writes=False)], True, ()),
        ("left", [step(1, "in doubt"), step(2, "undoing", landed=1)], True, ("tool_1", "tool_2")),
    ],
)
def test_what_still_needs_undoing(state, steps, atomic, remains):
    assert still_to_undo(view(*steps, state=state), UNDOABLE, atomic=atomic) == remains


@pytest.mark.parametrize(
    ("steps", "undone", "state", "text"),
    [
        ([], (), "undone", ""),
        ([step(1, "proposed")], (), "undone", ""),
        ([step(1, "done", landed=1)], (), "left", " What it did is still done: tool_1."),
        ([step(1, "sent")], (), "left", " Nobody knows whether these took effect: tool_1."),
        ([step(1, "sent", writes=False)], (), "undone", ""),
        (
            [
                step(1, "done", landed=1),
                step(2, "undoing", landed=2, undo=UndoView(tool="undo_2")),
                step(3, "undone", landed=3, undo=UndoView(tool="undo_3")),
            ],
            (3,),
            "left",
            (
                " Undone, latest first: tool_3 (by undo_3). What it did is still done: tool_1."
                " Nobody knows whether these took effect: undo_2."
            ),
        ),
    ],
)
def test_a_run_that_was_cut_short_says_what_is_known(steps, undone, state, text):
    ended = cut_short(view(*steps, state="waiting", undone=undone))
    assert (ended.state, ended.text, ended.waiting) == (
        state,
        f"This run was ended from outside before it was over.{text}",
        (),
    )
