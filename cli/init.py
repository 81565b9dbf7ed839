"""``amends init``: a first agent, whose writes are undone and whose test passes before anything was typed."""

import shlex
from importlib.resources import files
from pathlib import Path

import click

from .exits import Exit
from .terminal import note, say

__all__ = ["FILES", "command"]

FILES = ("agent.yaml", "desk_tools.py", "rules.yaml", "test_desk.py")


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path, file_okay=False))
def command(*, folder: Path) -> Exit:
    """Write a small agent into DIR: its file, one write with its undo, a rule sheet, a test. It passes `amends verify`.

    No file that is there already is touched.
    """
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise click.UsageError(
            f"{folder} has {', '.join(there)} already; name a new folder, and nothing is overwritten"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        text = (files("amends.examples.first") / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
        say(str(folder / name))
    go = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
    note(f"Next: {go}amends verify && amends plan 'add 2 seats for order 4411'")
    note("      amends dev    # a console to say it in")
    return Exit.DONE
