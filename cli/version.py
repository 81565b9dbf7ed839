"""``amends version``: which versions are in use, for reports."""

import platform
from importlib.metadata import version

import click

from .. import __version__
from ..rulebook.rules import SEMANTICS
from .exits import Exit
from .options import as_json_option
from .terminal import document, say

__all__ = ["command"]


@click.command()
@as_json_option
def command(*, as_json: bool) -> Exit:
    """Say which versions are in use: amends, the meaning of its check, Temporal's SDK, Python."""
    said: dict[str, object] = {
        "amends": __version__,
        "semantics": SEMANTICS,
        "temporalio": version("temporalio"),
        "python": platform.python_version(),
    }
    if as_json:
        document("amends.version/1", said)
    else:
        say(f"amends {said['amends']}, check semantics {SEMANTICS}")
        say(f"temporalio {said['temporalio']}, Python {said['python']}")
    return Exit.DONE
