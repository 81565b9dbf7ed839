"""``amends openapi``: the document of the HTTP API."""

import json
import sys

import click

from ..console.app import document
from .exits import Exit

__all__ = ["command"]


@click.command()
def command() -> Exit:
    """Print the OpenAPI document of the HTTP API, as JSON."""
    sys.stdout.write(json.dumps(document(), indent=2, ensure_ascii=False) + "\n")
    return Exit.DONE
