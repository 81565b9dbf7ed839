"""``amends completion``: the lines that teach a shell to complete ``amends``."""

import click
from click.shell_completion import get_completion_class

from .exits import Exit
from .terminal import say

__all__ = ["command"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> Exit:
    """Print the completion of SHELL: eval "$(amends completion bash)" in a shell, or its file of start-up commands."""
    # Imported here, since the table of commands imports each command.
    from .main import commands  # noqa: PLC0415

    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(commands, {}, "amends", "_AMENDS_COMPLETE").source().rstrip())
    return Exit.DONE
