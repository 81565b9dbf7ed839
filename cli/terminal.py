"""What the commands print with: data to stdout, everything else to stderr, colour only where a person looks.

Text is never wrapped, cut or interpreted: what was said or returned could draw anything otherwise. rich decides about
colour: none into a pipe, with ``NO_COLOR`` or with ``TERM=dumb``.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ..contract.visible import visible

try:
    import termios as _termios
except ImportError:  # Windows: what was typed ahead stays
    _termios = None  # type: ignore[assignment]

__all__ = ["columns", "document", "forget_typed_ahead", "note", "prompting", "say", "styled", "visible"]


def say(text: str | Text = "") -> None:
    """Print a line of data, to stdout."""
    _console(stderr=False).print(text)


def note(text: str | Text = "") -> None:
    """Print a line for the person at the terminal, to stderr."""
    _console(stderr=True).print(text)


def document(schema: str, said: Mapping[str, object]) -> None:
    """Print the one JSON document of a command: ``said`` with its ``schema``, such as ``amends.run/1``."""
    sys.stdout.write(json.dumps({"schema": schema, **said}, ensure_ascii=False, indent=2) + "\n")


def prompting() -> bool:
    """Whether a person can be asked: they see what is asked, and what they type arrives here."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def forget_typed_ahead() -> None:
    """Drop what was typed before now: an answer that was typed before its question was shown answers another one."""
    if _termios is not None and sys.stdin.isatty():
        _termios.tcflush(sys.stdin.fileno(), _termios.TCIFLUSH)


def styled(*parts: str | Text | tuple[str, str]) -> Text:
    """Make a line of texts and ``(text, style)`` parts."""
    return Text.assemble(*parts)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align cells in columns, two spaces apart, as lines."""
    if not rows:
        return []
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _console(*, stderr: bool) -> Console:
    return Console(
        stderr=stderr,
        # rich itself would keep bold letters.
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )
