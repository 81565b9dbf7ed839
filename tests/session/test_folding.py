"""What rules see of a record's lines is what they saw of the steps these were written from (SPEC 3.6). No server."""

import datetime as dt
import json

from amends.contract.chain import body_of, link
from amends.contract.record import Entry
from amends.contract.run import RunView, Step, UndoView
from amends.rulebook.effects import After, AtMost
from amends.rulebook.record import Record
from amends.rulebook.rules import Rulebook
from amends.rulebook.step_events import call_events, recorded_events
from amends.workflows.entries import entries_of_run
from hypothesis import given
from hypothesis import strategies as st

NOON = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
RULES = Rulebook(
    rules=(
        AtMost(id="total", actions=("charge",), total="amount", limit="100"),
        After(id="same", actions=("note",), tools=("charge",), same=("order_id",)),
    )
)
STATES = [
    *("proposed", "refused", "declined", "sent", "done", "failed", "in doubt", "did not happen"),
    *("undoing", "undone", "undone by hand", "undo failed", "left"),
]


@st.composite
def steps(draw: st.DrawFn) -> list[Step]:
    made = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        state = draw(st.sampled_from(STATES))
        undone = state.startswith("und")
        made.append(
            Step(
                position=number,
                number=number,
                tool=draw(st.sampled_from(["charge", "note", "look"])),
                arguments={
                    "order_id": draw(st.sampled_from(["1", "2"])),
                    "amount": draw(st.sampled_from(["1.50", "20", "x"])),
                },
                day=draw(st.sampled_from(["2026-03-05", "2026-03-06"])),
                state=state,
                sent_at=NOON + dt.timedelta(seconds=number),
                undo=UndoView(tool="refund", tries=draw(st.integers(0, 2))) if undone else None,
            )
        )
    return made


@given(steps())
def test_a_record_folds_to_what_its_runs_folded_to(made: list[Step]):
    view = RunView(run="run:1", session="s", agent="a", user="u", turn="t", language="en", state="left", steps=made)
    entries = entries_of_run(view, ended_at=NOON + dt.timedelta(minutes=1), remains=())
    lines = [link(body_of(entry), seq=seq, previous="")[0] for seq, entry in enumerate(entries, 1)]
    read = [Entry.model_validate(json.loads(line)) for line in lines]
    events = [event for step in made for event in call_events(step, "run:1")]
    assert Record.of(recorded_events(read), rulebook=RULES).state() == Record.of(events, rulebook=RULES).state()
