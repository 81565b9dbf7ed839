"""A side store: the only witness of what took effect, outside the engine (SPEC 5.6).

It is a small SQLite file that worker processes write to while they are killed, and that a test reads. Nothing in it
comes from the engine's own bookkeeping: a line is written by the code that plays the target system, at the moment it is
reached, so what the engine says can be held against it::

    witness = Witness(folder / "witness.db")
    ...
    assert witness.standing() == []          # nothing that took effect is still there
    assert witness.broken_promises() == []   # no call was delivered twice without its key, no undo came twice

A *delivery* is one call that reached the target, an *effect* what one of them changed. An undo is an effect that names
the one it takes back.
"""

import os
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ..tools.context import ToolContext

__all__ = ["Delivery", "Effect", "Witness"]

_SCHEMA = """
pragma journal_mode = wal;
create table if not exists delivery (
    id integer primary key, tool text, subject text, key text, run text, step integer, attempt integer, nth integer,
    writes integer, fault text, pid integer, begun real, effect integer, ended text, ended_at real
);
create table if not exists effect (
    id integer primary key, tool text, subject text, key text, run text, step integer, undoes integer, at real
);
create index if not exists effect_key on effect (key);
create table if not exists script (subject text, tool text, nth integer, fault text, primary key (subject, tool, nth));
create table if not exists trap (name text primary key);
"""


@dataclass(frozen=True)
class Delivery:
    """One call that reached the target.

    ``subject`` is what the call is about, by which scripts find it. ``writes`` is false for a read. ``nth`` counts the
    deliveries of this tool for this subject, from 1. ``fault`` is what the script told the target to do, empty for
    nothing. ``effect`` is the effect the call caused or was answered with. ``ended`` says how the target's code ended:
    ``returned``, ``raised <error>``, ``given up``; empty while it runs, and for ever when its process died.
    """

    id: int
    tool: str
    subject: str
    key: str
    run: str
    step: int
    attempt: int
    nth: int
    writes: bool
    fault: str
    pid: int
    begun: float
    effect: int | None
    ended: str | None
    ended_at: float | None


@dataclass(frozen=True)
class Effect:
    """One thing that took effect. ``undoes`` is the id of the effect it took back, None for a write of its own."""

    id: int
    tool: str
    subject: str
    key: str
    run: str
    step: int
    undoes: int | None
    at: float


class Witness:
    """The store. Any number of processes may use one file at a time.

    Args:
        file: where it is; made when it is not there.
    """

    def __init__(self, file: str | Path) -> None:
        self.file = Path(file)
        with self._open() as store:
            store.executescript(_SCHEMA)

    # Said by a test

    def script(self, subject: str, tool: str, *faults: str) -> None:
        """Say what the target does with the deliveries of ``tool`` for ``subject``: the first fault with the first.

        An empty fault, and every delivery beyond the last one said, goes well.
        """
        with self._open() as store:
            store.executemany(
                "insert or replace into script values (?, ?, ?, ?)",
                [(subject, tool, nth, fault) for nth, fault in enumerate(faults, start=1)],
            )

    def set_trap(self, name: str) -> None:
        """Set a trap, which exactly one process springs."""
        with self._open() as store:
            store.execute("insert or ignore into trap values (?)", (name,))

    # Said by what plays the target

    def springs_trap(self, name: str) -> bool:
        """Say whether the trap was set, and take it away."""
        with self._open() as store:
            return store.execute("delete from trap where name = ?", (name,)).rowcount == 1

    def begin(self, tool: str, subject: str, context: ToolContext, *, writes: bool = True) -> Delivery:
        """Note that a call reached the target, before anything else happens."""
        with self._open() as store:
            store.execute("begin immediate")
            (before,) = store.execute(
                "select count(*) from delivery where subject = ? and tool = ?", (subject, tool)
            ).fetchone()
            found = store.execute(
                "select fault from script where subject = ? and tool = ? and nth = ?", (subject, tool, before + 1)
            ).fetchone()
            added = store.execute(
                "insert into delivery values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, null, null, null)",
                (
                    tool, subject, context.idempotency_key, context.run, context.step, context.attempt, before + 1,
                    writes, found[0] if found else "", os.getpid(), time.time(),
                ),
            )  # fmt: skip
            return _delivery(store.execute("select * from delivery where id = ?", (added.lastrowid,)).fetchone())

    def take_effect(self, delivery: Delivery, *, keeps_keys: bool, undoes: int | None = None) -> int:
        """Let a call take effect; return the effect's id.

        A target that keeps keys lets one key take effect once, and answers it again with the first effect.
        """
        with self._open() as store:
            store.execute("begin immediate")
            known = store.execute("select id from effect where key = ? order by id", (delivery.key,)).fetchone()
            if known and keeps_keys:
                effect = int(known[0])
            else:
                added = store.execute(
                    "insert into effect values (null, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        delivery.tool, delivery.subject, delivery.key, delivery.run, delivery.step, undoes,
                        time.time(),
                    ),
                )  # fmt: skip
                effect = int(added.lastrowid or 0)
            store.execute("update delivery set effect = ? where id = ?", (effect, delivery.id))
            return effect

    def end(self, delivery: Delivery, how: str) -> None:
        """Note how the target's code ended."""
        with self._open() as store:
            store.execute("update delivery set ended = ?, ended_at = ? where id = ?", (how, time.time(), delivery.id))

    def by_hand(self, effect: Effect) -> None:
        """Take an effect back as a person does, past every tool."""
        with self._open() as store:
            store.execute(
                "insert into effect values (null, 'by hand', ?, ?, ?, ?, ?, ?)",
                (effect.subject, f"by hand {effect.id}", effect.run, effect.step, effect.id, time.time()),
            )

    # Asked by anybody

    def effect_of(self, key: str) -> Effect | None:
        """Return what took effect under a key, if anything did."""
        with self._open() as store:
            row = store.execute("select * from effect where key = ? order by id", (key,)).fetchone()
        return Effect(*row) if row else None

    def deliveries(self, run: str | None = None) -> list[Delivery]:
        """Return every delivery in order, or those of one run."""
        with self._open() as store:
            rows = store.execute("select * from delivery where ? is null or run = ? order by id", (run, run)).fetchall()
        return [_delivery(row) for row in rows]

    def effects(self, run: str | None = None) -> list[Effect]:
        """Return every effect in order, undos included, or those of one run."""
        with self._open() as store:
            rows = store.execute("select * from effect where ? is null or run = ? order by id", (run, run)).fetchall()
        return [Effect(*row) for row in rows]

    def standing(self, run: str | None = None) -> list[Effect]:
        """Return the writes that took effect and were not taken back, in order."""
        effects = self.effects(run)
        taken_back = {effect.undoes for effect in effects}
        return [effect for effect in effects if effect.undoes is None and effect.id not in taken_back]

    def tools(self, run: str | None = None) -> list[str]:
        """Return the tools of the effects in order: what happened to the world, in one line."""
        return [effect.tool for effect in self.effects(run)]

    def broken_promises(self, run: str | None = None) -> list[str]:
        """Say in words where a call was delivered without its key, or took effect more often than it may."""
        return [*self._several_keys(run), *self._effects_twice(run)]

    def _several_keys(self, run: str | None) -> Iterator[str]:
        keys: dict[tuple[str, int, str, str], set[str]] = defaultdict(set)
        calls: dict[str, set[tuple[str, int, str, str]]] = defaultdict(set)
        for delivery in (delivery for delivery in self.deliveries(run) if delivery.writes):
            call = (delivery.run, delivery.step, delivery.tool, delivery.subject)
            keys[call].add(delivery.key)
            calls[delivery.key].add(call)
        for (of_run, step, tool, _), several in keys.items():
            if len(several) > 1:
                yield f"{tool} of {of_run}, step {step}, was delivered under {len(several)} keys"
        for key, sharing in calls.items():
            if len(sharing) > 1:
                yield f"{len(sharing)} calls were delivered under the key {key[:8]}"

    def _effects_twice(self, run: str | None) -> Iterator[str]:
        effects = self.effects(run)
        for key, times in Counter(effect.key for effect in effects).items():
            if times > 1:
                tool = next(effect.tool for effect in effects if effect.key == key)
                yield f"{tool} took effect {times} times under the key {key[:8]}"
        for undone, times in Counter(effect.undoes for effect in effects if effect.undoes is not None).items():
            if times > 1:
                yield f"the effect {undone} was taken back {times} times"

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.file, timeout=30, isolation_level=None)) as store:
            # A killed process loses nothing that it wrote; only a machine that loses its power does.
            store.execute("pragma synchronous = off")
            yield store
            if store.in_transaction:
                store.execute("commit")


def _delivery(row: tuple[object, ...]) -> Delivery:
    delivery = Delivery(*row)  # type: ignore[arg-type]
    return replace(delivery, writes=bool(delivery.writes))
