"""The memory is a reading of the record: rewound, bounded where it travels, whole where it is asked for. No server."""

import datetime as dt

from amends.contract.memory import Memory, Message, Remembered
from amends.contract.record import Entry
from hypothesis import given
from hypothesis import strategies as st

NOON = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)


def entry(kind: str, run: str = "run:1", **fields: object) -> Entry:
    return Entry.model_validate({"kind": kind, "at": NOON, "run": run, **fields})


def turn_of(run: str, calls: int, size: int, *, rewound: bool) -> list[Entry]:
    said = [entry("turn", run, text="x" * size)]
    said += [entry("question", run), entry("answer", run)]
    said += [
        entry("call", run, tool="look", arguments={"n": n}, outcome="done", result="y" * size) for n in range(calls)
    ]
    said += [entry("undo", run, tool="unlook"), entry("end", run, text="z" * size)]
    return said + [entry("rewind", run)] * rewound


def shown(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(message.role, message.text or message.tool) for message in messages]


def test_a_run_is_remembered_as_its_turn_its_calls_and_its_reply():
    entries = turn_of("run:1", 2, 1, rewound=False)
    assert shown(Memory.of(entries)) == [("user", "x"), ("tool", "look"), ("tool", "look"), ("assistant", "z")]
    call = Memory.of(entries)[1]
    assert (call.arguments, call.outcome, call.result) == ({"n": 0}, "done", "y")


def test_a_rewound_run_leaves_its_turn_and_one_reply():
    entries = [*turn_of("run:1", 1, 1, rewound=False), *turn_of("run:2", 3, 1, rewound=True)]
    assert shown(Memory.of(entries))[3:] == [("user", "x"), ("assistant", "z")]


def test_only_the_run_that_is_rewound_is():
    entries = [*turn_of("run:1", 1, 1, rewound=False), *turn_of("run:2", 1, 1, rewound=False), entry("rewind", "run:1")]
    assert shown(Memory.of(entries)) == [
        ("user", "x"),
        ("assistant", "z"),
        ("user", "x"),
        ("tool", "look"),
        ("assistant", "z"),
    ]


def test_what_travels_is_whole_turns_and_the_latest_one_always():
    memory = Memory(most=10)
    for number in range(3):
        for each in turn_of(f"run:{number}", 1, 1, rewound=False):
            memory.take(each)
    assert {message.run for message in memory.remembered.messages} == {"run:2"}
    assert memory.remembered.earlier == 2
    assert shown(memory.remembered.messages) == [("user", "x"), ("tool", "look"), ("assistant", "z")]


turns = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 60), st.booleans(), st.booleans()), min_size=1, max_size=12
)


@given(turns, st.integers(100, 2_000))
def test_what_travels_is_the_end_of_the_whole_and_goes_on_from_where_it_stood(said, most):
    entries = [
        each
        for number, (calls, size, rewound, _) in enumerate(said)
        for each in turn_of(f"run:{number}", calls, size, rewound=rewound)
    ]
    starts = {number for number, (_, _, _, carried) in enumerate(said) if carried}
    memory = Memory(most=most)
    seen = -1
    for each in entries:
        if each.kind == "turn":
            seen += 1
            if seen in starts:
                carried = memory.remembered.model_dump_json()
                memory = Memory(Remembered.model_validate_json(carried), most=most)
        memory.take(each)
    whole, travels = Memory.of(entries), memory.remembered
    assert whole[len(whole) - len(travels.messages) :] == travels.messages
    assert travels.earlier + sum(message.role == "user" for message in travels.messages) == len(said)
    turns_held = sum(message.role == "user" for message in travels.messages)
    assert turns_held == 1 or sum(len(message.model_dump_json()) for message in travels.messages) <= most
