"""``amends audit``: the record of a person's session, exported, verified, and its head, to be kept elsewhere."""

import re
import sys
from pathlib import Path

import click

from ..client.audit import SessionRecord, parse_record
from ..client.blocking import Agent
from ..contract.chain import Head, Header
from .exits import Exit
from .options import agent_options, as_json_option, state_option
from .terminal import document, note, say

__all__ = ["command"]

_HEAD = re.compile(r"(\d+):([0-9a-f]{64})")


@click.group()
def command() -> None:
    """The record of a session: every turn, call, undo, question and answer, chained."""


@command.command()
@click.argument("user")
@agent_options
@state_option
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Where to.")
def export(*, user: str, file: Path, name: str | None, state: Path | None, output: Path | None) -> Exit:
    """Write a user's record as JSON lines: a header with the head, then one line for each thing that happened."""
    record = _record_of(user, file, name, state)
    text = "".join(f"{line}\n" for line in record.text())
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
    note(f"{len(record.lines)} lines; head {_head_text(record)}")
    return Exit.DONE


@command.command()
@click.argument("user")
@agent_options
@state_option
@as_json_option
def head(*, user: str, file: Path, name: str | None, state: Path | None, as_json: bool) -> Exit:
    """Print the head of a user's record: keep it elsewhere, and a tail that is cut off later is noticed."""
    record = _record_of(user, file, name, state)
    if as_json:
        header = record.header.model_dump(mode="json") if record.header else {}
        document("amends.head/1", header)
    else:
        say(_head_text(record))
    return Exit.DONE


@command.command()
@click.argument("exported", required=False, type=click.Path(path_type=Path, allow_dash=True), metavar="[FILE]")
@click.option("--user", help="Verify the record of this user's session as it is now, instead of a file.")
@click.option("--head", "heads", multiple=True, metavar="HEAD", help="A head kept elsewhere: COUNT:HASH, or its file.")
@agent_options
@state_option
@as_json_option
def verify(
    *,
    exported: Path | None,
    user: str | None,
    heads: tuple[str, ...],
    file: Path,
    name: str | None,
    state: Path | None,
    as_json: bool,
) -> Exit:
    """Check a record, from an exported FILE (- for stdin) or of a session: is it whole, and as it was written?

    A file is checked offline, with nothing but this program. The first bad line is named, with what is wrong: edited,
    swapped, missing, repeated, or cut tail. Exit status 10 if there is one.
    """
    if (exported is None) == (user is None):
        raise click.UsageError("give a FILE or --user, one of the two")
    known = [_read_head(said) for said in heads]
    record = _read(exported) if exported is not None else _record_of(str(user), file, name, state)
    broken = record.verify(*known)
    if as_json:
        said = {"lines": len(record.lines), "head": _head_text(record), "ok": broken is None}
        document("amends.audit/1", {**said, "broken": broken.model_dump() if broken else None})
    elif broken is not None:
        say(str(broken))
    else:
        say(f"ok: {len(record.lines)} lines, head {_head_text(record)}")
    return Exit.DONE if broken is None else Exit.FINDINGS


def _record_of(user: str, file: Path, name: str | None, state: Path | None) -> SessionRecord:
    with Agent.from_file(file, agent=name, state=state) as desk:
        return desk.record(user)


def _read(exported: Path) -> SessionRecord:
    try:
        text = sys.stdin.read() if str(exported) == "-" else exported.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{exported} cannot be read: {error}") from error
    return parse_record(text.split("\n"))


def _read_head(said: str) -> Head:
    """Read ``COUNT:HASH``, or a file that holds that or an exported record's first line."""
    path = Path(said)
    text = path.read_text(encoding="utf-8").split("\n", 1)[0].strip() if path.is_file() else said
    if found := _HEAD.fullmatch(text):
        return Head(count=int(found[1]), hash=found[2])
    try:
        return Header.model_validate_json(text).head
    except ValueError:
        raise click.UsageError(f"{said!r} is no head: COUNT:HASH as `amends audit head` prints it, or a file") from None


def _head_text(record: SessionRecord) -> str:
    return f"{record.header.head.count}:{record.header.head.hash}" if record.header else "unknown"
