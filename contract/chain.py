"""The hash chain of the record: how a line is made, and how a broken chain is told (SPEC 7.4).

A line is one JSON object. ``seq`` counts from 1, ``previous`` is the hash of the line before (of the session, for the
first), and ``hash`` is the SHA-256 of the canonical JSON of everything else in the line. The meaning is hashed, not the
spelling: a store may change the order of keys, the white space, or how it writes a time, and the record still verifies.
Times have whole seconds, which every store can hold; what took less is counted in milliseconds, as an integer.

A chain by itself shows every change inside it. It cannot show that its end was cut off, nor that somebody who can write
all of it wrote all of it anew: for that, keep the head (a number and a hash) elsewhere and verify against it.
"""

import dataclasses
import datetime as dt
import hashlib
import json
import math
import re
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from .canonical import canonical_json, sha256
from .model import Wire
from .record import Entry

__all__ = [
    "BreakKind",
    "BrokenChain",
    "Head",
    "Header",
    "body_of",
    "bounded",
    "exact",
    "first_hash",
    "link",
    "parse",
    "verify",
]

FORMAT = "amends.record/1"
LONGEST = 4_000
"""Arguments and results whose canonical JSON is longer, in bytes, are replaced by their hash and length."""

_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)

_VALUES = ("arguments", "result", "facts", "took_ms")
"""Fields in which a zero or an empty text says something."""

BreakKind = Literal["edited", "swapped", "missing", "repeated", "cut tail"]


class Head(Wire):
    """The end of a chain: how many lines, and the hash of the last. Kept elsewhere, it shows a tail that was cut."""

    count: int
    hash: str


class Header(Wire):
    """The first line of an exported record: whose it is, and its head at that moment.

    ``open_run`` is a run whose lines are not in the record yet: they follow when it ends.
    """

    record: str = FORMAT
    session: str
    agent: str
    user: str
    at: dt.datetime
    head: Head
    open_run: str = ""


class BrokenChain(Wire):
    """Where a record is not what was written.

    ``line`` counts the lines of the record from 1, as they were given; the header is line 0.
    """

    line: int
    kind: BreakKind
    why: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind}: {self.why}"


def first_hash(session: str) -> str:
    """Return what the first line of a session's record has as ``previous``, so that no other session's line fits."""
    return sha256({"record": FORMAT, "session": session})


def body_of(entry: Entry) -> dict[str, object]:
    """Return what the line of ``entry`` says: values with a canonical form, and nothing that does not apply."""
    said: dict[str, object] = {}
    for name, value in entry:
        if value is not None and (name in _VALUES or value not in ("", 0, ())):
            said[name] = exact(value)
    if entry.rules:
        said["rules"] = [rule.model_dump(exclude_defaults=True) for rule in entry.rules]
    return {**said, "at": _time(entry.at.replace(microsecond=0))}


def link(body: Mapping[str, object], *, seq: int, previous: str) -> tuple[str, str]:
    """Return the line that says ``body`` at its place in a chain, as canonical JSON, and its hash."""
    said = {**body, "seq": seq, "previous": previous}
    digest = sha256(said)
    return canonical_json({**said, "hash": digest}), digest


def parse(line: str) -> dict[str, object]:
    """Read a line of JSON with exact numbers.

    Raises:
        ValueError: it is no JSON object, has two members of one name, or a number that is none.
    """
    said = json.loads(line, parse_float=Decimal, parse_constant=_no_number, object_pairs_hook=_members)
    if not isinstance(said, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - what is wrong is the text
    return said


def verify(session: str, lines: Sequence[str], *heads: Head) -> BrokenChain | None:
    """Return the first place where ``lines`` are not the record of ``session``, or None when all is as written.

    Args:
        session: whose record it is.
        lines: the lines, from the first one on.
        heads: ends of the chain that are known from elsewhere, in any order.
    """
    read = [_read(line) for line in lines]
    present = {line.seq for line in read if isinstance(line, _Line)}
    known = {head.count: head.hash for head in heads}
    before = first_hash(session)
    for number, line in enumerate(read, 1):
        if isinstance(line, str):
            return BrokenChain(line=number, kind="edited", why=line)
        broken = _broken(number, line, before, present)
        if broken is None and known.get(number, line.hash) != line.hash:
            why = "the head that was kept has another hash: the record was written anew"
            broken = BrokenChain(line=number, kind="edited", why=why)
        if broken is not None:
            return broken
        before = line.hash
    most = max(known, default=0)
    if most > len(read):
        gone = f"lines {len(read) + 1} to {most} are gone" if most > len(read) + 1 else f"line {most} is gone"
        return BrokenChain(line=len(read) + 1, kind="cut tail", why=f"{gone}; the head says that there are {most}")
    return None


@dataclasses.dataclass(frozen=True)
class _Line:
    seq: int
    previous: str
    hash: str
    computed: str


def _broken(number: int, line: _Line, before: str, present: Container[int]) -> BrokenChain | None:
    if line.hash != line.computed:
        return BrokenChain(line=number, kind="edited", why="what it says is not what its hash was made of")
    if line.seq == number:
        if line.previous == before:
            return None
        other = f"line {number - 1}" if number > 1 else "this session"
        return BrokenChain(
            line=number, kind="edited", why=f"it does not follow {other}: one of the two was written anew"
        )
    if line.seq < number:
        return BrokenChain(line=number, kind="repeated", why=f"line {line.seq} stands here again")
    if number in present:
        return BrokenChain(line=number, kind="swapped", why=f"line {line.seq} stands here, and line {number} elsewhere")
    return BrokenChain(line=number, kind="missing", why=f"line {number} is gone; line {line.seq} stands in its place")


def _read(line: str) -> _Line | str:
    """Return what links a line, or why it cannot be one."""
    try:
        said = parse(line)
        said["at"] = _time(_moment(str(said["at"])))
        digest, seq, previous = said.pop("hash"), said["seq"], said["previous"]
        computed = sha256(said)
    except KeyError as error:
        return f"it has no {error}"
    except (ValueError, OverflowError, RecursionError) as error:
        return f"it cannot be read: {error}"
    if type(seq) is not int or not isinstance(digest, str) or not isinstance(previous, str):
        return "its seq is no whole number, or a hash is no text"
    return _Line(seq=seq, previous=previous, hash=digest, computed=computed)


def _moment(said: str) -> dt.datetime:
    # Python reads many more: any sign at all may stand between date and hour.
    if not _WRITTEN.fullmatch(said):
        raise ValueError(f"{said!r} is no time as a record has it")
    return dt.datetime.fromisoformat(said)


def _time(at: dt.datetime) -> str:
    """Write a time as a line has it: UTC, whole seconds.

    A store that gave the seconds a fraction of zeros changed nothing; any other fraction is kept, and does not verify.
    """
    if at.tzinfo is None:
        raise ValueError(f"the time {at.isoformat()} has no zone")
    return at.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")


def bounded(value: JsonValue) -> JsonValue:
    """Return a value as the record keeps it: as it is, or its hash and length if it is longer than `LONGEST`."""
    try:
        text = canonical_json(exact(value))
    except ValueError:
        # Two keys that are one in NFC. No two programs need to agree on this hash, so any form will do.
        return _stand_in(json.dumps(value, sort_keys=True))
    return value if len(text) <= LONGEST and len(text.encode()) <= LONGEST else _stand_in(text)


def _stand_in(text: str) -> JsonValue:
    raw = text.encode()
    return {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}


def exact(value: object) -> object:
    """Return a JSON value that has a canonical form: a float becomes the shortest decimal that reads as it."""
    match value:
        case str():
            return value if value.isascii() else value.encode(errors="replace").decode()
        case float():
            return Decimal(repr(value)) if math.isfinite(value) else repr(value)
        case dict() | Mapping():
            return {str(name): exact(item) for name, item in value.items()}
        case list() | tuple():
            return [exact(item) for item in value]
        case _:
            return value


def _members(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    said = dict(pairs)
    if len(said) != len(pairs):
        raise ValueError("two members have one name")
    return said


def _no_number(said: str) -> object:
    raise ValueError(f"{said} is no number")
