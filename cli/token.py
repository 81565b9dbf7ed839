"""``amends token``: a token for the console, and the entry that lets it in."""

from typing import get_args

import click

from ..console.people import Role, make_token, token_hash
from .exits import Exit
from .terminal import note, say

__all__ = ["command"]


@click.command()
@click.argument("name")
@click.option("--role", "roles", multiple=True, type=click.Choice(get_args(Role)), default=("desk",), show_default=True)
def command(*, name: str, roles: tuple[str, ...]) -> Exit:
    """Make a token for NAME: its entry for the people file to stdout, the token itself, once, to stderr."""
    token = make_token()
    say(f"{name}:\n  roles: [{', '.join(roles)}]\n  token: {token_hash(token)}")
    note(f"Token of {name}, shown this once: {token}")
    return Exit.DONE
