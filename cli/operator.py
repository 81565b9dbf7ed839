"""``amends operator``: the tokens with which an operator may undo any run, answer for others, and so on (SPEC 8.1)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import click

from ..client.connect import STATE_FOLDER, ConnectionSettings
from ..client.operators import SCOPES, Operator, Operators, OperatorScope, operators_path
from ..contract.durations import read_duration
from .exits import Exit
from .options import agent_file_option, as_json_option, state_option
from .terminal import columns, document, note, say

__all__ = ["command"]

_Command = TypeVar("_Command", bound=Callable[..., object])


def _place_options(command: _Command) -> _Command:
    return agent_file_option(state_option(command))


def _read_lifetime(_: click.Context, __: click.Parameter, said: str) -> timedelta:
    try:
        return read_duration(said)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.group()
def command() -> None:
    """Operator tokens: made, listed, revoked.

    They are kept in operators.json of the state folder, or where AMENDS_OPERATORS says, as hashes. To replace a token,
    make another of another name, hand it out, then revoke the old one.
    """


@command.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    default=("undo",),
    show_default=True,
    help="What it allows; may be given several times.",
)
@click.option(
    "--expires",
    "lifetime",
    default="90d",
    show_default=True,
    metavar="TIME",
    callback=_read_lifetime,
    help="How long it is valid, such as 90d, 12h or 30m; 366d at most.",
)
@_place_options
def create(
    *,
    name: str,
    scopes: tuple[OperatorScope, ...],
    lifetime: timedelta,
    file: Path,
    state: Path | None,
) -> Exit:
    """Make a token called NAME and print it, this once, to stdout."""
    operators = _operators(file, state)
    try:
        token = operators.create(name, scopes, lifetime)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    made = next(operator for operator in operators if operator.name == name)
    say(token)
    note(f"Operator token {name}: allows {', '.join(made.scopes)} until {_time(made.expires_at)}.")
    note(f"It is shown this once; {operators.path} keeps a hash of it.")
    note("Use it as AMENDS_OPERATOR_TOKEN or with --token-file.")
    return Exit.DONE


@command.command("list")
@_place_options
@as_json_option
def list_all(*, file: Path, state: Path | None, as_json: bool) -> Exit:
    """List every token there ever was, in the order of their making."""
    operators = _operators(file, state)
    found = list(operators)
    now = datetime.now(UTC)
    if as_json:
        lines = [{**operator.model_dump(mode="json"), "state": operator.state(now)} for operator in found]
        document("amends.operators/1", {"file": str(operators.path), "operators": lines})
    elif found:
        for line in columns(
            [("NAME", "STATE", "SCOPES", "CREATED", "EXPIRES", "REVOKED"), *(_row(each, now) for each in found)]
        ):
            say(line)
    else:
        note(f"{operators.path} has no operator token. Make one: amends operator create NAME")
    return Exit.DONE


@command.command()
@click.argument("name")
@_place_options
def revoke(*, name: str, file: Path, state: Path | None) -> Exit:
    """Make the token called NAME invalid, from now on and for ever. Its line stays, since records may name it."""
    revoked = _operators(file, state).revoke(name)
    note(f"Operator token {name} is revoked since {_time(revoked.revoked_at)}.")
    return Exit.DONE


def _operators(file: Path, state: Path | None) -> Operators:
    """Return the operators of an agent file's place. The agent file is not read: no mistake in it saves a token."""
    beside = file.resolve().parent
    path = operators_path(ConnectionSettings(state=state, beside=beside))
    if path.parent == beside / STATE_FOLDER and not file.exists():
        raise click.UsageError(
            f"there is no {file}, and tokens are kept beside the agent file; name it with --agent, or the folder with "
            "--state-folder, or the operators file in AMENDS_OPERATORS"
        )
    return Operators(path)


def _row(operator: Operator, now: datetime) -> tuple[str, ...]:
    return (
        operator.name,
        operator.state(now),
        ",".join(operator.scopes),
        _time(operator.created_at),
        _time(operator.expires_at),
        _time(operator.revoked_at),
    )


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}Z" if at else "-"
