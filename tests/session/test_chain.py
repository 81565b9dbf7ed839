"""The chain of the record: every change inside it is found, and said what it is (SPEC 7.4). No server."""

import datetime as dt
import json
import sqlite3
from collections.abc import Sequence
from decimal import Decimal

import pytest
from amends.contract.canonical import canonical_json
from amends.contract.chain import LONGEST, Head, body_of, bounded, first_hash, link, parse, verify
from amends.contract.record import Entry, Ruling
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

SESSION = "desk:u-17:ab12cd"
NOON = dt.datetime(2026, 3, 5, 12, 0, 0, 123_456, tzinfo=dt.UTC)


def chained(entries: Sequence[Entry], session: str = SESSION) -> tuple[list[str], Head]:
    lines, previous = [], first_hash(session)
    for seq, entry in enumerate(entries, 1):
        line, previous = link(body_of(entry), seq=seq, previous=previous)
        lines.append(line)
    return lines, Head(count=len(lines), hash=previous)


def calls(count: int) -> tuple[list[str], Head]:
    return chained(
        [
            Entry(kind="call", at=NOON + dt.timedelta(seconds=n), run="r", step=n + 1, tool="t", arguments={"n": n})
            for n in range(count)
        ]
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
entries = st.builds(
    Entry,
    kind=st.sampled_from(["turn", "question", "answer", "call", "undo", "end"]),
    at=st.integers(0, 4_000_000_000_000_000).map(
        lambda us: dt.datetime(2000, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=us)
    ),
    by=st.text(max_size=8),
    text=st.text(max_size=20),
    step=st.integers(0, 99),
    tool=st.sampled_from(["", "charge_card"]),
    arguments=st.none() | st.dictionaries(st.text(max_size=4), json_values, max_size=3).map(bounded),
    result=json_values.map(bounded),
    took_ms=st.none() | st.integers(0, 9),
    rules=st.just(()) | st.just((Ruling(rule="r", effect="confirm", file="policy.co", line=3),)),
)
records = st.lists(entries, min_size=2, max_size=6).map(chained)


@given(records)
def test_what_was_written_verifies(record):
    lines, head = record
    assert verify(SESSION, lines) is None
    assert verify(SESSION, lines, head) is None


@given(records, st.data())
def test_any_changed_value_is_found_where_it_is(record, data):
    lines, _ = record
    place = data.draw(st.integers(0, len(lines) - 1))
    said = parse(lines[place])
    name = data.draw(st.sampled_from(sorted(said)))
    said[name] = data.draw(st.sampled_from(["other", 7, None, [said[name]], {"a": said[name]}]))
    lines[place] = canonical_json(said)
    broken = verify(SESSION, lines)
    assert broken is not None
    assert (broken.line, broken.kind) == (place + 1, "edited")


@given(records, st.data())
def test_any_changed_character_is_found_or_changes_no_meaning(record, data):
    lines, _ = record
    place = data.draw(st.integers(0, len(lines) - 1))
    line = lines[place]
    at = data.draw(st.integers(0, len(line) - 1))
    edited = line[:at] + data.draw(st.sampled_from(['"', "0", "x", "}", " ", ","])) + line[at + 1 :]
    lines[place] = edited
    broken = verify(SESSION, lines)
    if broken is None:
        said = parse(edited)
        assert canonical_json({**said, "at": str(said["at"]).replace(" ", "T")}) == line
    else:
        assert broken.line == place + 1


@pytest.mark.parametrize(
    "written", ["2026-03-05012:00:00Z", "2026-03-05x12:00:00Z", "20260305T120000Z", "2026-W10-4T12:00:00Z"]
)
def test_a_time_that_is_written_in_another_way_than_a_store_would_is_found(written):
    lines, _ = calls(1)
    edited = lines[0].replace("2026-03-05T12:00:00Z", written)
    assert edited != lines[0]
    broken = verify(SESSION, [edited])
    assert broken is not None
    assert (broken.line, broken.kind) == (1, "edited")


@given(records, st.data())
def test_a_member_that_is_added_or_taken_away_is_found(record, data):
    lines, _ = record
    place = data.draw(st.integers(0, len(lines) - 1))
    said = parse(lines[place])
    if data.draw(st.booleans()):
        said["forged"] = "x"
    else:
        del said[data.draw(st.sampled_from(sorted(said)))]
    lines[place] = canonical_json(said)
    broken = verify(SESSION, lines)
    assert broken is not None
    assert (broken.line, broken.kind) == (place + 1, "edited")


@given(st.integers(3, 12), st.data())
def test_any_line_that_is_gone_is_found(count, data):
    lines, head = calls(count)
    place = data.draw(st.integers(0, count - 1))
    del lines[place]
    broken = verify(SESSION, lines, head)
    assert broken is not None
    assert (broken.line, broken.kind) == (place + 1, "cut tail" if place == count - 1 else "missing")


@given(st.integers(2, 12), st.data())
def test_any_two_lines_that_are_swapped_are_found(count, data):
    lines, _ = calls(count)
    one, other = sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=2, max_size=2)))
    lines[one], lines[other] = lines[other], lines[one]
    broken = verify(SESSION, lines)
    assert broken is not None
    assert (broken.line, broken.kind) == (one + 1, "swapped")


@given(st.integers(2, 12), st.data())
def test_a_tail_that_is_cut_is_found_with_a_head_and_only_with_one(count, data):
    lines, head = calls(count)
    kept = data.draw(st.integers(0, count - 1))
    assert verify(SESSION, lines[:kept]) is None
    broken = verify(SESSION, lines[:kept], head)
    assert broken is not None
    assert (broken.line, broken.kind) == (kept + 1, "cut tail")


@given(st.integers(2, 12), st.data())
def test_a_head_from_earlier_still_fits(count, data):
    lines, head = calls(count)
    earlier = data.draw(st.integers(1, count))
    assert verify(SESSION, lines, Head(count=earlier, hash=json.loads(lines[earlier - 1])["hash"]), head) is None


def test_a_record_written_anew_from_the_middle_is_found_with_a_head_and_only_with_one():
    lines, head = calls(5)
    forged = lines[:2]
    previous = json.loads(lines[1])["hash"]
    for seq in (3, 4, 5):
        body = {**parse(lines[seq - 1]), "tool": "other"}
        for name in ("seq", "previous", "hash"):
            del body[name]
        line, previous = link(body, seq=seq, previous=previous)
        forged.append(line)
    assert verify(SESSION, forged) is None
    broken = verify(SESSION, forged, head)
    assert broken is not None
    assert (broken.line, broken.kind) == (5, "edited")


def test_one_line_written_anew_with_its_hash_does_not_fit_its_neighbour():
    lines, _ = calls(3)
    body = parse(lines[1])
    previous = str(body["previous"])
    for name in ("seq", "previous", "hash"):
        del body[name]
    lines[1], _ = link({**body, "tool": "other"}, seq=2, previous=previous)
    broken = verify(SESSION, lines)
    assert broken is not None
    assert str(broken) == "line 3: edited: it does not follow line 2: one of the two was written anew"


def test_lines_of_another_session_do_not_fit():
    lines, _ = chained([Entry(kind="turn", at=NOON, text="x")], "desk:u-18:ab12cd")
    broken = verify(SESSION, lines)
    assert broken is not None
    assert (broken.line, broken.kind) == (1, "edited")


def test_a_line_that_stands_twice_is_told():
    lines, _ = calls(3)
    broken = verify(SESSION, [*lines[:2], *lines[1:]])
    assert broken is not None
    assert str(broken) == "line 3: repeated: line 2 stands here again"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "1",
        "{}",
        '{"a": NaN}',
        '{"at": "now", "seq": 1, "hash": "", "previous": ""}',
        '{"at": "2026-03-05T12:00:00", "seq": 1, "hash": "", "previous": ""}',
        '{"at": "0001-01-01T00:00:00+23:00", "seq": 1, "hash": "", "previous": ""}',
        '{"at": "2026-03-05T12:00:00Z", "seq": true, "hash": "", "previous": ""}',
        '{"at": "2026-03-05T12:00:00Z", "seq": 1, "seq": 1, "hash": "", "previous": ""}',
        '{"at": "2026-03-05T12:00:00Z", "seq": 1, "hash": "", "previous": "", "text": "\\ud800"}',
        "[" * 100_000,
    ],
)
def test_junk_is_an_edited_line_and_never_an_error(line: str):
    broken = verify(SESSION, [line])
    assert broken is not None
    assert (broken.line, broken.kind) == (1, "edited")


def test_a_line_reads_as_what_happened():
    entry = Entry(
        kind="call",
        at=NOON,
        by="ana",
        run="run:1",
        step=3,
        tool="charge_card",
        arguments={"amount": "40.00", "share": 0.5, "many": 1},
        key="k",
        verdict="allow",
        rules=(Ruling(rule="card-on-file", effect="confirm", file="rules.yaml", line=4),),
        outcome="done",
        tries=1,
        took_ms=0,
        result=False,
    )
    (line,), head = chained([entry])
    assert line == (
        '{"arguments":{"amount":"40.00","many":1,"share":0.5},"at":"2026-03-05T12:00:00Z","by":"ana",'
        f'"hash":"{head.hash}","key":"k","kind":"call","outcome":"done","previous":"{first_hash(SESSION)}","result":false,'
        '"rules":[{"effect":"confirm","file":"rules.yaml","line":4,"rule":"card-on-file"}],"run":"run:1","seq":1,"step":3,'
        '"took_ms":0,"tool":"charge_card","tries":1,"verdict":"allow"}'
    )
    assert Entry.model_validate_json(line) == entry.model_copy(update={"at": NOON.replace(microsecond=0)})


def test_hashes_are_the_same_for_ever():
    """A released record must verify with every later release, so this line may never change."""
    (line,), head = chained([Entry(kind="turn", at=NOON, by="ana", text="olá", language="pt-BR", facts={"x": 1})])
    assert first_hash(SESSION) == "79031ce34d322dc60c546f980ba2ca5d3cd98a68552799925f7a4f48949e3c38"
    assert head.hash == json.loads(line)["hash"]
    assert head.hash == "dc0dcef5431879598a5c2628eaf356f6fde8b033e94ed35d40150ca689840c90"


def test_values_that_are_too_long_are_kept_as_their_hash():
    long: dict[str, JsonValue] = {"text": "x" * LONGEST}
    kept = bounded(long)
    assert isinstance(kept, dict)
    assert kept["bytes"] == len(canonical_json(long))
    assert bounded({"text": "x"}) == {"text": "x"}
    one, other = "\u00e9", "e\u0301"
    assert bounded({one: 1, other: 2}) != bounded({one: 1, other: 3})


def test_a_store_with_coarser_times_and_another_spelling_gives_back_a_record_that_verifies():
    lines, head = chained([Entry(kind="turn", at=NOON, by="ana", text="olá", facts={"b": 1.5, "a": 10**30})] * 3)
    with sqlite3.connect(":memory:") as store:
        store.execute("CREATE TABLE record (at INTEGER, rest TEXT)")
        for line in lines:
            said = json.loads(line, parse_float=Decimal)
            at = int(dt.datetime.fromisoformat(said.pop("at")).timestamp())
            store.execute("INSERT INTO record VALUES (?, ?)", (at, json.dumps(said, default=float, indent=1)))
        restored = [
            json.dumps({"at": dt.datetime.fromtimestamp(at, dt.timezone(dt.timedelta(hours=2))).isoformat(" "), **rest})
            for at, rest in ((at, json.loads(rest)) for at, rest in store.execute("SELECT * FROM record"))
        ]
    assert restored != lines
    assert verify(SESSION, restored, head) is None
    assert verify(SESSION, [restored[0].replace(":00+02:00", ":01+02:00"), *restored[1:]]) is not None
