"""The options of a console: where it listens, and who may sign in."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from ..console.people import People
from ..console.serving import PORT

__all__ = ["console_options", "people_of"]

_Command = TypeVar("_Command", bound=Callable[..., object])


def console_options(command: _Command) -> _Command:
    """Add ``--host``, ``--port``, ``--root-path``, ``--people`` and ``--as``."""
    for option in (
        click.option("--as", "who", metavar="NAME", help="Who you are, where nobody signs in.  [default: login name]"),
        click.option(
            "--people",
            "people_file",
            type=click.Path(path_type=Path, dir_okay=False),
            envvar="AMENDS_PEOPLE",
            metavar="FILE",
            help="Who may sign in; `amends token` makes its entries.  [default: nobody signs in, this machine only]",
        ),
        click.option("--root-path", default="", metavar="PATH", help="The path a proxy serves it under."),
        click.option("--port", default=PORT, type=click.IntRange(0, 65535), show_default=True, help="0: any free one."),
        click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on."),
    ):
        command = option(command)
    return command


def people_of(file: Path | None, who: str | None) -> People:
    """Return who may sign in.

    Raises:
        FileMistakes: the people file has mistakes.
        click.UsageError: both a file and a name are given.
    """
    if file is None:
        return People.alone(who)
    if who is not None:
        raise click.UsageError("--as is for a console where nobody signs in; --people says who may")
    return People.of_file(file)
